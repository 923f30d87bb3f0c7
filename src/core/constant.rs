//! Conversion of literal arrays to constant tensors: shape and row-major items.

use std::sync::Arc;

use super::budget::{Budget, Failure, Outcome};
use super::value::Value;
use crate::diagnostics::Code;
use crate::graph;
use crate::graph::Primitive;

/// The most axes of a constant.
const MAX_AXES: usize = 64;

/// The shape and the items of nested arrays; none for ragged arrays, and arrays with items other than numbers and
/// logicals. Fails for too many items or axes: since arrays can share their parts, these numbers are not limited
/// otherwise.
pub(crate) fn flatten(value: &Value, budget: &Budget) -> Outcome<Option<(Vec<i64>, Vec<Value>)>> {
    let mut shape = Vec::new();
    let mut level = vec![value.clone()];
    while matches!(level.first(), Some(Value::Array(_))) {
        let mut extent = None;
        let mut below = Vec::new();
        for value in &level {
            let Value::Array(list) = value else { return Ok(None) };
            if *extent.get_or_insert(list.len()) != list.len() {
                return Ok(None);
            }
            budget.allow(below.len() + list.len(), 0)?;
            budget.spend(list.len() + 1)?;
            below.extend(list.to_values());
        }
        shape.push(extent.unwrap_or(0) as i64);
        level = below;
        if shape.len() > MAX_AXES {
            let message = format!("an array that is used as a tensor has more than {MAX_AXES} axes");
            return Err(Failure::new(Code::DynamicType, message).label("not the items of a tensor"));
        }
    }
    let number = |value: &Value| matches!(value, Value::Int(_) | Value::Scalar(_) | Value::Logical(_));
    Ok(level.iter().all(number).then_some((shape, level)))
}

/// The items as the `value` of `constant`, and their type.
pub(crate) fn pack(items: &[Value]) -> (graph::Value, Option<Primitive>) {
    let ints: Option<Vec<i64>> = items.iter().map(Value::as_int).collect();
    if let Some(ints) = ints.filter(|ints| !ints.is_empty()) {
        return (graph::Value::Integers(ints.into()), Some(Primitive::Integer));
    }
    if items.iter().all(|item| matches!(item, Value::Logical(_))) && !items.is_empty() {
        let logical = |item: &Value| match item {
            Value::Logical(b) => Some(graph::Value::Logical(*b)),
            _ => None,
        };
        let values: Arc<[graph::Value]> = items.iter().filter_map(logical).collect();
        return (graph::Value::Array(values), Some(Primitive::Logical));
    }
    let scalar = |item: &Value| match item {
        Value::Scalar(s) => *s,
        Value::Int(i) => *i as f64,
        Value::Logical(b) => f64::from(u8::from(*b)),
        _ => f64::NAN,
    };
    let scalars: Arc<[f64]> = items.iter().map(scalar).collect();
    (graph::Value::Scalars(scalars), Some(Primitive::Scalar))
}
