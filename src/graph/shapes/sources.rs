//! Inputs, variables, constants, updates, and copies (H14).

use super::outcome::{Inferred, RuleResult, UNKNOWN, known, refuse, same};
use super::shape::{Extent, unify};
use super::shape_call::{Call, Role};
use crate::diagnostics::Code;
use crate::graph::dims::Dim;

/// A tensor whose shape is an attribute. Extents that are not positive are unknown: inputs of the draft use 0
/// for unknown extents, and another rule reports invalid ones.
pub(crate) fn source(call: &Call) -> RuleResult {
    let Some(items) = call.dims(Role::Shape) else { return UNKNOWN };
    let extent = |item: &Dim| if let Dim::Int(..=0) = item { Extent::UNKNOWN } else { Extent::from(item.clone()) };
    known(items.iter().map(extent).collect())
}

/// The new value of a variable, which must have its shape.
pub(crate) fn update(call: &Call) -> RuleResult {
    let (Some(variable), Some(value)) = (call.extents(0), call.extents(1)) else {
        return Ok(Inferred::Same(call.shape(0).or(call.shape(1)).cloned()));
    };
    let rank = variable.len().max(value.len());
    match unify(&call.extended(variable, rank), &call.extended(value, rank)) {
        Some(extents) => known(extents),
        None => refuse(Code::UpdateShape, format!("the variable has shape {variable:?}, its new value {value:?}")),
    }
}

/// Copies of a tensor.
pub(crate) fn copies(call: &Call) -> RuleResult {
    let (count, name) = (call.outputs(), call.name());
    if let Some(times) = call.int(Role::Times).filter(|&times| usize::try_from(times) != Ok(count)) {
        return refuse(Code::LengthMismatch, format!("`{name}` makes {times} copies, the left side has {count} names"));
    }
    same(call.extents_to(0, 0))
}
