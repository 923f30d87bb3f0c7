//! Shapes of what exporters write beside the standard: as much as scans depend on.

use super::call::{Call, Extents};
use super::shape::{Extent, Shape};
use super::{Inferred, Outcome, Rule};
use crate::graph::{Operand, Value};

/// The rules, each with the operations it is for.
pub(crate) const RULES: &[(Rule, &str)] = &[
    (external, "tract_core_external"),
    (same, "tract_core_cast tract_core_erf tract_core_gelu_approximate tract_core_hard_swish"),
    (same, "tract_core_log_softmax tract_core_silu tract_core_softmax"),
];

/// A tensor whose shape is an attribute, symbols in it being extents that are not known.
fn external(call: &Call) -> Outcome {
    let extent = |item: &Value| match item {
        Value::Int(extent) if *extent > 0 => Extent::new(*extent),
        _ => Extent::UNKNOWN,
    };
    let extents: Option<Extents> = match call.graph.argument(call.operation, "shape") {
        Some(Operand::Tensors(items)) => Some(items.iter().map(|_| Extent::UNKNOWN).collect()),
        Some(Operand::Value(Value::Integers(items))) => {
            Some(items.iter().map(|&item| extent(&Value::Int(item))).collect())
        }
        Some(Operand::Value(Value::Array(items))) => Some(items.iter().map(extent).collect()),
        _ => None,
    };
    Ok(Inferred::Same(extents.map(|extents| Shape::new(&extents))))
}

/// The shape of the first operand.
fn same(call: &Call) -> Outcome {
    let mut first = None;
    if let Some((_, operand)) = call.graph.arguments(call.operation).next() {
        operand.each_tensor(&mut |tensor| first = first.or(Some(tensor)));
    }
    Ok(Inferred::Same(first.and_then(|tensor| call.graph.shape(tensor).cloned())))
}
