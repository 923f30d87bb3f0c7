//! Shapes of vendor operations, as far as scans and translations depend on them.

use super::call::{Call, Extents};
use super::shape::Extent;
use super::{Inferred, Rule, RuleResult, is_one_of, same, without_variant};
use crate::graph::{Operand, Value};

/// The rules, each with the operations it is for.
pub(crate) const RULES: &[(Rule, &str)] = &[
    (external, "tract_core_external"),
    (like_first, "tract_core_cast tract_core_erf tract_core_gelu_approximate tract_core_hard_swish"),
    (like_first, "tract_core_log_softmax tract_core_silu tract_core_softmax"),
    (like_first, OF_CONVERTERS),
];

/// Operations of Khronos' converters, which have no declarations, named after operations of ONNX.
const OF_CONVERTERS: &str = "erf HardSigmoid mean_variance_normalization";

/// Whether an operation is one that Khronos' converters write, and that is computed here.
pub(crate) fn is_of_converter(name: &str) -> bool {
    is_one_of(OF_CONVERTERS, without_variant(name))
}

/// A tensor whose shape is an attribute. Symbols in it stand for extents that are not known.
fn external(call: &Call) -> RuleResult {
    let extent = |extent: i64| if extent > 0 { Extent::new(extent) } else { Extent::UNKNOWN };
    let item = |item: &Value| if let Value::Int(item) = item { extent(*item) } else { Extent::UNKNOWN };
    let extents: Option<Extents> = match call.graph.argument(call.operation, "shape") {
        Some(Operand::Tensors(items)) => Some(items.iter().map(|_| Extent::UNKNOWN).collect()),
        Some(Operand::Value(Value::Integers(items))) => Some(items.iter().map(|&item| extent(item)).collect()),
        Some(Operand::Value(Value::Array(items))) => Some(items.iter().map(item).collect()),
        _ => None,
    };
    same(extents)
}

/// The shape of the first operand.
fn like_first(call: &Call) -> RuleResult {
    let mut first = None;
    if let Some((_, operand)) = call.graph.arguments(call.operation).next() {
        operand.each_tensor(&mut |tensor| first = first.or(Some(tensor)));
    }
    Ok(Inferred::Same(first.and_then(|tensor| call.graph.shape(tensor).cloned())))
}
