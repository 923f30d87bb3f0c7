//! The bodies of the operators of onnxruntime.

use std::collections::BTreeMap;

use super::body_table::{BodyBuilder, BodyRow, BodyTable, of_attributes, of_elements, plain, row};
use super::builders::microsoft::{
    activations, arrangement, attention, embedding, grouped, matrices, normalizations, packed, quantization, recurrent,
};
use crate::Options;
use crate::onnx::functions::{FunctionKey, is_lowered};
use crate::onnx::model::ModelProto;
use crate::onnx::schema::MICROSOFT_DOMAIN;
use crate::onnx::walk::each_node_of_model;

/// The files with templates.
pub(super) const FILES: &[&str] = &[
    include_str!("bodies/microsoft/activations.txt"),
    include_str!("bodies/microsoft/arrangement.txt"),
    include_str!("bodies/microsoft/attention.txt"),
    include_str!("bodies/microsoft/matrices.txt"),
    include_str!("bodies/microsoft/normalizations.txt"),
    include_str!("bodies/microsoft/quantization.txt"),
];

/// The body of an operator that depends on types and shapes.
const fn typed(name: &'static str, build: BodyBuilder) -> BodyRow {
    BodyRow { domain: MICROSOFT_DOMAIN, ..row(name, 1, build) }
}

/// The body of an operator that depends on nothing but attributes and types of elements.
const fn elements(name: &'static str, build: BodyBuilder) -> BodyRow {
    BodyRow { domain: MICROSOFT_DOMAIN, ..of_elements(name, 1, build) }
}

/// The body of an operator that depends on nothing but attributes.
const fn attributes(name: &'static str, build: BodyBuilder) -> BodyRow {
    BodyRow { domain: MICROSOFT_DOMAIN, ..of_attributes(name, 1, build) }
}

/// The bodies, in alphabetic order of the operators in each domain.
pub(super) static TABLE: &[BodyRow] = &[
    row("SimplifiedLayerNormalization", 1, normalizations::simplified),
    typed("Attention", attention::attention),
    BodyRow { domain: MICROSOFT_DOMAIN, ..plain("BiasAdd", 1) },
    attributes("BiasDropout", activations::bias_dropout),
    elements("BiasGelu", activations::gelu),
    elements("BiasSplitGelu", activations::gelu),
    attributes("CDist", matrices::distances),
    typed("DequantizeLinear", quantization::dequantize),
    typed("DynamicQuantizeLSTM", recurrent::lstm),
    attributes("DynamicQuantizeMatMul", matrices::dynamic_product),
    elements("EmbedLayerNormalization", embedding::embedding),
    typed("ExpandDims", arrangement::expand_dims),
    elements("FastGelu", activations::fast_gelu),
    elements("FusedConv", matrices::fused_conv),
    elements("FusedGemm", matrices::fused_gemm),
    typed("FusedMatMul", matrices::fused_mat_mul),
    typed("GatherBlockQuantized", packed::gather_blocks),
    elements("GatherND", arrangement::gather_nd),
    elements("Gelu", activations::gelu),
    attributes("GridSample", arrangement::grid_sample),
    typed("GroupQueryAttention", grouped::grouped),
    typed("Inverse", arrangement::inverse),
    elements("MatMulBnb4", packed::mat_mul_bnb4),
    elements("MatMulInteger16", matrices::mat_mul_integer16),
    elements("MatMulIntegerToFloat", matrices::to_float),
    elements("MatMulNBits", packed::mat_mul_bits),
    attributes("MulInteger", matrices::mul_integer),
    typed("MultiHeadAttention", attention::multi_head),
    typed("NhwcMaxPool", quantization::max_pool),
    attributes("Pad", arrangement::pad),
    typed("QAttention", attention::quantized),
    attributes("QEmbedLayerNormalization", embedding::quantized),
    attributes("QGemm", matrices::quantized_gemm),
    typed("QLinearAdd", quantization::binary),
    typed("QLinearAveragePool", quantization::average_pool),
    typed("QLinearConcat", quantization::concat),
    typed("QLinearConv", quantization::convolution),
    typed("QLinearGlobalAveragePool", quantization::global_average),
    typed("QLinearLeakyRelu", quantization::unary),
    typed("QLinearMul", quantization::binary),
    typed("QLinearReduceMean", quantization::reduce_mean),
    typed("QLinearSigmoid", quantization::unary),
    typed("QLinearSoftmax", quantization::softmax),
    typed("QLinearWhere", quantization::choice),
    typed("QuantizeLinear", quantization::quantize),
    elements("QuickGelu", activations::quick_gelu),
    typed("Range", arrangement::range),
    attributes("ReduceSumInteger", quantization::reduce_sum),
    typed("RotaryEmbedding", attention::rotary),
    elements("SkipLayerNormalization", normalizations::skip),
    elements("SkipSimplifiedLayerNormalization", normalizations::skip),
    BodyRow { domain: MICROSOFT_DOMAIN, ..plain("TorchEmbedding", 1) },
    typed("TransposeMatMul", matrices::fused_mat_mul),
    attributes("Trilu", arrangement::triangle),
    attributes("Unique", |call, _| arrangement::from_version(call, 11)),
];

/// Whether a row is of an operator of onnxruntime.
pub(super) fn is_of(row: &BodyRow) -> bool {
    TABLE.iter().any(|own| std::ptr::eq(own, row))
}

/// The domain of operators on tensors in a layout of the memory of one kind of processors.
const LAYOUTS: &str = "com.microsoft.nchwc";

/// The operators of onnxruntime that are to be expanded, and stay because there is no body for them, with the reason.
pub(super) fn without_bodies(model: &ModelProto, options: &Options) -> Vec<(String, &'static str)> {
    let names = &model.names;
    if names.texts.get(MICROSOFT_DOMAIN).or(names.texts.get(LAYOUTS)).is_none() {
        return Vec::new();
    }
    let own = model.functions.iter().map(|function| FunctionKey::of_function(names, function)).collect::<Vec<_>>();
    let mut found = BTreeMap::new();
    each_node_of_model(model, &mut |node| {
        let key = FunctionKey::of_node(names, node);
        let reason = match key.domain(names) {
            LAYOUTS => "it is for a layout of the memory of one kind of processors",
            MICROSOFT_DOMAIN if BodyTable::Functions.needs(MICROSOFT_DOMAIN, key.name(names)).is_none() => {
                "it has no body of standard operators"
            }
            _ => return,
        };
        if is_lowered(names, key, options) && !own.contains(&key) {
            found.insert(key.describe(names), reason);
        }
    });
    found.into_iter().collect()
}

/// Removes the import of the operators of onnxruntime, if a model that has been lowered has none left.
pub(super) fn forget_import(model: &mut ModelProto) {
    let names = &model.names;
    let Some(domain) = names.texts.get(MICROSOFT_DOMAIN) else { return };
    let mut used = model.rest.iter().next().is_some();
    each_node_of_model(model, &mut |node| used |= node.domain == Some(domain));
    used |= model.functions.iter().any(|function| function.domain == Some(domain));
    if !used {
        model.opsets.retain(|opset| opset.domain != Some(domain));
    }
}
