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
    keys.iter().zip(operands).for_each(|(key, item)| add(key, value(item)));
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
        ExpandedItem::List(items) => items_of(items.iter().map(value).collect()),
        ExpandedItem::Refused => Value::String("None".into()),
    }
}

/// The value of a setting.
pub(crate) fn setting(setting: &Setting) -> Value {
    match setting {
        Setting::Literal(found) => literal(*found),
        Setting::Word(word) => Value::String(word.as_str().into()),
        Setting::List(items) => items_of(items.iter().map(self::setting).collect()),
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
