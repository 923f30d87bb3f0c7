//! Normalizations and quantization.

use super::axes::axis;
use super::elementwise::same;
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// `BatchNormalization`: the statistics are vectors over the channels.
pub(crate) fn batch(call: &mut InferCall) -> Option<()> {
    same(call);
    let channels = match call.extent(0, 1) {
        Dim::Unknown => call.extent(1, 0),
        channels => channels,
    };
    for result in 1..call.result_count() {
        call.give(result, [channels.clone()]);
    }
    Some(())
}

/// `LayerNormalization`: the statistics have the extent 1 along the normalized axes. They have the type in which they
/// are computed.
pub(crate) fn layer(call: &mut InferCall) -> Option<()> {
    same(call);
    let statistics = call.int("stash_type").unwrap_or(1);
    if let Some(element) = Element::numbered(statistics) {
        call.give_element(1, element);
        call.give_element(2, element);
    }
    let mut shape = call.extents(0)?.to_vec();
    let first = axis(call.int_or("axis", -1), shape.len())?;
    shape.iter_mut().skip(first).for_each(|extent| *extent = Dim::Int(1));
    call.give(1, shape.clone());
    call.give(2, shape);
    Some(())
}

/// `QuantizeLinear`: the type is that of the zero point, else of an attribute, else bytes.
pub(crate) fn quantize(call: &mut InferCall) -> Option<()> {
    let given = || call.int("output_dtype").and_then(Element::numbered);
    let element = match call.element(2) {
        Some(element) => Some(element),
        None if call.has(2) => None,
        None => given().or(Some(Element::Uint8)),
    };
    if let Some(element) = element {
        call.give_element(0, element);
    }
    same(call)
}

/// `DequantizeLinear`: the type is that of the scale, or of an attribute.
pub(crate) fn dequantize(call: &mut InferCall) -> Option<()> {
    let given = call.int("output_dtype").and_then(Element::numbered);
    let element = given.or_else(|| if call.version() < 19 { Some(Element::Float32) } else { call.element(1) });
    if let Some(element) = element {
        call.give_element(0, element);
    }
    same(call)
}

/// `DynamicQuantizeLinear`: one scale and one zero point.
pub(crate) fn dynamic_quantize(call: &mut InferCall) -> Option<()> {
    same(call);
    call.give(1, []);
    call.give(2, []);
    Some(())
}
