//! Data of variables as codes.

use super::algorithm::Algorithm;
use super::codes;
use super::rounding::{algorithm_of, along_axis};
use crate::graph::TensorId;
use crate::graph::names::NameId;
use crate::onnx::from_nnef::sources::{BlockWeight, Weight};
use crate::onnx::from_nnef::translated_call::{TranslatedCall, Translation};
use crate::onnx::from_nnef::value::{KnownExtents, ModelValue, NnefElement};
use crate::onnx::model::AttributeValue;

/// The data of a quantized variable as codes, and their values; none if the data are to be written as they are.
pub(in crate::onnx::from_nnef) fn stored(
    call: &mut TranslatedCall,
    tensor: TensorId,
    weight: &Weight,
) -> Translation<Option<ModelValue>> {
    if weight.element != NnefElement::Float {
        return Ok(None);
    }
    let Some(Algorithm::Linear(linear)) = algorithm_of(call, tensor)? else { return Ok(None) };
    let dims: KnownExtents = weight.dims.iter().copied().map(Some).collect();
    let like = ModelValue { id: NameId::ROOT, element: NnefElement::Float, dims: Some(dims.clone()) };
    let Some((of, along)) = linear.code_type().zip(linear.along(&like)) else { return Ok(None) };
    // Data that are not such values, which `graph.quant` does not describe, stay as they are.
    let Some(bytes) = codes::of(&linear, of, weight) else { return Ok(None) };
    let id = call.out.new_name(call.text("label")?);
    let codes = call.out.codes(id, of.number, &weight.dims, bytes.into());
    linear.decoded(call, &codes, along, of).map(|made| Some(made.shaped(dims)))
}

/// Codes in blocks as a constant tensor, and their values.
pub(in crate::onnx::from_nnef) fn blocks(
    call: &mut TranslatedCall,
    id: NameId,
    of: &BlockWeight,
    shape: &[i64],
) -> Translation<ModelValue> {
    let size = of.size as i64;
    let counts = shape.split_last().and_then(|(last, outer)| {
        let count = last.checked_div(size).filter(|_| last.checked_rem(size) == Some(0))?;
        Some(outer.iter().copied().chain([count]).collect::<Vec<i64>>())
    });
    let codes = codes::of_blocks(of);
    let scales = |call: &mut TranslatedCall, dims: &[i64]| {
        let bytes = of.scales.iter().flat_map(|scale| scale.to_le_bytes()).collect::<Vec<u8>>();
        let name = call.out.new_name("scale");
        call.out.initializer(name, NnefElement::Float, dims, bytes.into())
    };
    let Some(counts) = counts else {
        // Blocks go beyond rows.
        let rows = of.scales.len() as i64;
        let codes = call.out.codes(id, codes.0, &[rows, size], codes.1.into());
        let scales = scales(call, &[rows]);
        let made = call.node("DequantizeLinear", &[&codes, &scales], along_axis(Some(0)));
        return Ok(call.out.reshape(&made, shape));
    };
    let axis = counts.len().saturating_sub(1);
    let codes = call.out.codes(id, codes.0, shape, codes.1.into());
    let scales = scales(call, &counts);
    let mut attributes = along_axis(Some(axis));
    attributes.push(("block_size", AttributeValue::Int(size)));
    let made = call.node("DequantizeLinear", &[&codes, &scales], attributes);
    Ok(made.with(shape.iter().copied().map(Some)))
}
