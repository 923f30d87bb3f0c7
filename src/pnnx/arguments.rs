//! The arguments of operations for operators that are passed through.

use rustc_hash::FxHashSet;

use super::item::ExpandedItem;
use super::model::{Operator, Role, Setting};
use super::tokens::Literal;
use super::tree::{Term, push_leaf};
use crate::graph::{TensorId, Value};
use crate::library::distinct::Distinct;
use crate::library::identifier::identifier;

/// The arguments of an operator that is not lowered: operands, data, then parameters.
pub(super) fn arguments(
    operator: &Operator,
    keys: &[String],
    operands: &[ExpandedItem],
    data: &[(String, TensorId)],
) -> Vec<(String, Value)> {
    let mut arguments: Vec<(String, Value)> = Vec::new();
    let mut names = Distinct::default();
    let mut add = |key: &str, value: Value| arguments.push((names.add(&identifier(key), false), value));
    for (key, item) in keys.iter().zip(operands) {
        match tensors_apart(item) {
            Some((tensors, form)) => {
                add(key, Value::Array(tensors.into_iter().map(Value::Tensor).collect()));
                add(&format!("{key}_form"), Value::String(form.as_str().into()));
            }
            None => add(key, value(item)),
        }
    }
    data.iter().for_each(|(key, tensor)| add(key, Value::Tensor(*tensor)));
    let stored: FxHashSet<&str> = data.iter().map(|(key, _)| key.as_str()).collect();
    for param in operator.params(Role::Value) {
        // Stored data replace a flag with the same key that indicates whether there are data.
        let is_flag = matches!(param.setting(), Setting::Literal(Literal::Bool(_)));
        if !(is_flag && stored.contains(param.key.as_str())) {
            add(&param.key, setting(&param.setting()));
        }
    }
    arguments
}

fn value(item: &ExpandedItem) -> Value {
    match item {
        ExpandedItem::Tensor(tensor) => Value::Tensor(*tensor),
        ExpandedItem::Literal(found) => literal(*found),
        ExpandedItem::Text(text) => Value::String(text.as_ref().into()),
        ExpandedItem::List(items) => {
            let values: Vec<Value> = items.iter().map(value).collect();
            match alike(&values) {
                true => items_of(values),
                false => Value::String(form(item, &mut Vec::new()).as_str().into()),
            }
        }
        ExpandedItem::Refused => Value::String("None".into()),
    }
}

/// The value of a setting.
pub(crate) fn setting(setting: &Setting) -> Value {
    match setting {
        Setting::Literal(found) => literal(*found),
        Setting::Word(word) => Value::String(word.as_str().into()),
        Setting::List(items) => {
            let values: Vec<Value> = items.iter().map(self::setting).collect();
            // An array of NNEF has items of one type.
            match alike(&values) {
                true => items_of(values),
                false => Value::String(text_of(items).as_str().into()),
            }
        }
    }
}

fn literal(literal: Literal) -> Value {
    match literal {
        Literal::Int(int) => Value::Int(int),
        Literal::Float(float) if float.is_finite() => Value::Scalar(float),
        Literal::Bool(truth) => Value::Logical(truth),
        Literal::Float(_) | Literal::Complex(..) | Literal::None => {
            let mut text = String::new();
            push_leaf(&mut text, Term::Literal(literal));
            Value::String(text.as_str().into())
        }
    }
}

/// An array value of a graph; arrays of integers are packed.
fn items_of(items: Vec<Value>) -> Value {
    let integers: Option<Vec<i64>> = items
        .iter()
        .map(|item| match item {
            Value::Int(int) => Some(*int),
            _ => None,
        })
        .collect();
    if let Some(integers) = integers {
        return Value::Integers(integers.into());
    }
    let number = |item: &Value| match item {
        Value::Int(int) => Some(*int as f64),
        Value::Scalar(scalar) => Some(*scalar),
        _ => None,
    };
    match items.iter().map(number).collect::<Option<Vec<f64>>>() {
        Some(scalars) => Value::Scalars(scalars.into()),
        None => Value::Array(items.into()),
    }
}

/// Whether values may be the items of an array: all are texts, truth values, numbers, tensors, or arrays of the same.
fn alike(values: &[Value]) -> bool {
    let mut rest = values.iter();
    rest.next().is_none_or(|first| rest.all(|other| same_type(first, other)))
}

fn same_type(a: &Value, b: &Value) -> bool {
    use Value::{Array, Int, Integers, Logical, Scalar, Scalars, String, Tensor};
    match (a, b) {
        (Int(_) | Scalar(_), Int(_) | Scalar(_)) => true,
        (Integers(_), Integers(_)) | (Scalars(_), Scalars(_)) => true,
        (Logical(_), Logical(_)) | (String(_), String(_)) | (Tensor(_), Tensor(_)) => true,
        (Array(a), Array(b)) => a.first().zip(b.first()).is_none_or(|(a, b)| same_type(a, b)),
        _ => false,
    }
}

/// The text of a list of settings.
fn text_of(items: &[Setting]) -> String {
    let text = |setting: &Setting| match setting {
        Setting::Literal(literal) => {
            let mut text = String::new();
            push_leaf(&mut text, Term::Literal(*literal));
            text
        }
        Setting::Word(word) => word.clone(),
        Setting::List(items) => text_of(items),
    };
    format!("({})", items.iter().map(text).collect::<Vec<String>>().join(","))
}

/// The tensors of a list that has other items, too, and the form of the list, in which `@0` is the first tensor.
fn tensors_apart(item: &ExpandedItem) -> Option<(Vec<TensorId>, String)> {
    let ExpandedItem::List(items) = item else { return None };
    let mut tensors = Vec::new();
    let form = form(item, &mut tensors);
    let mixed = !alike(&items.iter().map(value).collect::<Vec<Value>>());
    (mixed && !tensors.is_empty()).then_some((tensors, form))
}

/// The text of an item, in which tensors have the numbers of their places in a list.
fn form(item: &ExpandedItem, tensors: &mut Vec<TensorId>) -> String {
    let mut text = String::new();
    match item {
        ExpandedItem::Tensor(tensor) => {
            push_leaf(&mut text, Term::Argument(tensors.len() as u64));
            tensors.push(*tensor);
        }
        ExpandedItem::Literal(literal) => push_leaf(&mut text, Term::Literal(*literal)),
        ExpandedItem::Text(word) => text.push_str(word),
        ExpandedItem::List(items) => {
            let items: Vec<String> = items.iter().map(|item| form(item, tensors)).collect();
            text = format!("({})", items.join(","));
        }
        ExpandedItem::Refused => text.push_str("None"),
    }
    text
}
