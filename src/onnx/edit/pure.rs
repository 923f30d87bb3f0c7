//! Operators whose results depend on more than their operands and attributes.

use std::sync::Arc;

use crate::onnx::functions::Imports;
use crate::onnx::model::{ModelNames, NodeProto};
use crate::onnx::schema::{MICROSOFT_DOMAIN, Schema, SchemaLookup, Schemas};
use crate::tensor::{DType, Tensor};

/// Operators that draw random numbers.
const RANDOM: &[&str] =
    &["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Sampling"];

/// Operators that draw random numbers in training, where they have an operand that says so.
const RANDOM_IN_TRAINING: &[(&str, usize)] =
    &[("BiasDropout", 4), ("BitmaskBiasDropout", 4), ("BitmaskDropout", 2), ("Dropout", 2)];

/// Operators that make numbers of the codes of quantized tensors. Their results are several times as large.
const WIDENING: &[&str] = &["DequantizeLinear"];

/// Operators that make texts of numbers, if their results are texts.
const SPELLING: &[&str] = &["Cast", "CastLike"];

/// Operators that move a window over spatial axes.
const WINDOWS: &[&str] = &["AveragePool", "Conv", "ConvInteger", "DeformConv", "LpPool", "MaxPool", "QLinearConv"];

/// Whether a node computes with the codes of quantized tensors, or makes such.
pub(super) fn is_quantized(names: &ModelNames, node: &NodeProto) -> bool {
    let (domain, operator) = names.operator(node);
    has_part(operator, &["uantize", "QLinear", "Integer"])
        || domain == MICROSOFT_DOMAIN && is_quantized_of_microsoft(operator)
}

/// `QAttention`, `QMoE` and others, but not `QuickGelu`; products and tables with weights of few bits.
fn is_quantized_of_microsoft(operator: &str) -> bool {
    let of_codes =
        operator.strip_prefix('Q').is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_uppercase()));
    of_codes || has_part(operator, &["NBits", "Bnb4", "FpQ4"])
}

/// Whether a name has one of these parts. Names are short, so that looking at each place is faster than a search.
fn has_part(name: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| name.as_bytes().windows(part.len()).any(|at| at == part.as_bytes()))
}

/// Whether a node makes numbers of the codes of quantized tensors.
pub(super) fn widens_codes(names: &ModelNames, node: &NodeProto) -> bool {
    WIDENING.contains(&names.operator(node).1)
}

/// Whether a node writes numbers as texts, where programs differ: onnxruntime writes `1` and `1e+10`, the reference of ONNX
/// `True` and `10000000000.0`. All write integers alike.
pub(super) fn spells_numbers(names: &ModelNames, node: &NodeProto, operands: &[Option<Arc<Tensor>>]) -> bool {
    let is_spelt = |of: &Tensor| of.dtype().is_float() || of.dtype() == DType::Bool;
    SPELLING.contains(&names.operator(node).1) && operands.first().is_some_and(|of| of.as_deref().is_some_and(is_spelt))
}

/// Whether a node moves a window over its operand.
pub(super) fn has_window(names: &ModelNames, node: &NodeProto) -> bool {
    WINDOWS.contains(&names.operator(node).1)
}

/// The schema of a node and the version of its operator set, if the node is a standard operator without graphs whose
/// results depend on its operands and attributes only.
pub(super) fn schema_of(names: &ModelNames, imports: &Imports, node: &NodeProto) -> Option<(&'static Schema, i64)> {
    let (domain, operator) = names.operator(node);
    let version = imports.version(names, node.domain)?;
    match Schemas::new().find(domain, operator, version) {
        SchemaLookup::Schema(schema) if !node.has_graphs() && is_function(operator, node.inputs.len()) => {
            Some((schema, version))
        }
        _ => None,
    }
}

/// Whether the results of a standard operator with a number of operands depend on its operands and attributes only.
pub(crate) fn is_function(operator: &str, operands: usize) -> bool {
    let in_training = |(name, operand): &(&str, usize)| *name == operator && operands > *operand;
    !RANDOM.contains(&operator) && !RANDOM_IN_TRAINING.iter().any(in_training)
}
