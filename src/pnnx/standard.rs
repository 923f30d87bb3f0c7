//! Reads the operators that stand for operations of NNEF in files that this program wrote: `nnef.NAME`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::item::ExpandedItem;
use super::model::{Operator, Role, Setting};
use super::tokens::Literal;
use crate::graph::Value;
use crate::library::declared::{Declared, DeclaredParam};

/// The prefix of the kinds of these operators.
pub(super) const PREFIX: &str = "nnef.";

/// The arguments by position for an operator that stands for an operation of the standard, and whether its results are
/// an array; none if they do not fit.
pub(super) fn arguments(
    declared: &Declared,
    operator: &Operator,
    operands: &[ExpandedItem],
) -> Option<(Vec<Option<Value>>, bool)> {
    let is_array = declared.results.first().is_some_and(|result| result.gives.is_none());
    let params = &declared.params;
    let mut named: FxHashMap<&str, Value> = FxHashMap::default();
    for param in operator.params(Role::Value) {
        let known = params.iter().find(|known| known.name == param.key)?;
        named.insert(&param.key, setting(&param.setting(), known)?);
    }
    let (keys, _) = operator.argument_names();
    let given: FxHashSet<&str> = operator.params(Role::Argument).map(|param| param.key.as_str()).collect();
    let mut unnamed = Vec::new();
    for (key, item) in keys.iter().zip(operands) {
        let value = value(item)?;
        match params.iter().find(|known| known.name == *key) {
            Some(known) if given.contains(key.as_str()) => drop(named.insert(known.name, value)),
            None if given.contains(key.as_str()) => return None,
            _ => unnamed.push(value),
        }
    }
    // Operands without a key are those of the tensor parameters that are not given, in their order.
    let mut unnamed = unnamed.into_iter();
    let mut arguments = Vec::with_capacity(params.len());
    for param in params {
        arguments.push(match named.remove(param.name) {
            Some(value) => Some(value),
            None if param.tensor && param.takes.is_none() => Some(Value::Array(unnamed.by_ref().collect())),
            None if param.tensor => unnamed.next(),
            None => None,
        });
        if param.default.is_none() && arguments.last() == Some(&None) {
            return None;
        }
    }
    (named.is_empty() && unnamed.next().is_none()).then_some((arguments, is_array))
}

fn value(item: &ExpandedItem) -> Option<Value> {
    match item {
        ExpandedItem::Tensor(tensor) => Some(Value::Tensor(*tensor)),
        ExpandedItem::Literal(found) => literal(*found),
        ExpandedItem::Text(text) => Some(Value::String(text.as_ref().into())),
        ExpandedItem::List(_) | ExpandedItem::Refused => None,
    }
}

fn literal(literal: Literal) -> Option<Value> {
    match literal {
        Literal::Int(int) => Some(Value::Int(int)),
        Literal::Float(float) => Some(Value::Scalar(float)),
        Literal::Bool(truth) => Some(Value::Logical(truth)),
        Literal::Complex(..) | Literal::None => None,
    }
}

/// The value of a parameter. Lists of pairs are written as one list.
fn setting(setting: &Setting, param: &DeclaredParam) -> Option<Value> {
    match setting {
        Setting::Literal(found) => literal(*found),
        Setting::Word(word) => Some(Value::String(word.as_str().into())),
        Setting::List(items) if items.is_empty() => {
            Some(param.default.clone().unwrap_or_else(|| Value::Integers([].as_slice().into())))
        }
        Setting::List(items) => {
            let one = |item: &Setting| match item {
                Setting::Literal(found) => literal(*found),
                Setting::Word(word) => Some(Value::String(word.as_str().into())),
                Setting::List(_) => None,
            };
            let items: Vec<Value> = items.iter().map(one).collect::<Option<_>>()?;
            if param.name == "padding" {
                let pairs = items.chunks_exact(2);
                let whole = pairs.remainder().is_empty();
                return whole.then(|| Value::Array(pairs.map(|pair| Value::Tuple(pair.into())).collect()));
            }
            Some(Value::list(items))
        }
    }
}
