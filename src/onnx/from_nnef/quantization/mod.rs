//! Quantized tensors: each is rounded to the values that its codes represent, as `eval/quantized` does it.
//!
//! Codes that integers of ONNX hold become `QuantizeLinear` and `DequantizeLinear`, data of variables the codes with
//! `DequantizeLinear`. `QuantizeLinear` rounds halves to even numbers, NNEF up: items are moved to multiples of the
//! scale before.

mod algorithm;
mod codes;
mod parameter;
#[cfg(test)]
mod tests;

use algorithm::{Algorithm, CodeType, Linear};
use parameter::Parameter;

use super::call::{Refused, TranslatedCall, Translation};
use super::emit::{Attributes, ModelValue, NnefElement};
use super::formula::combine;
use super::sources::{BlockWeight, Weight};
use crate::graph::TensorId;
use crate::graph::names::NameId;
use crate::onnx::model::AttributeValue;

/// Rounds a value of a tensor, if the tensor is quantized. Integers and logicals are not changed.
pub(super) fn rounded(call: &mut TranslatedCall, tensor: TensorId, value: ModelValue) -> Translation<ModelValue> {
    if value.element != NnefElement::Float {
        return Ok(value);
    }
    let Some(algorithm) = algorithm_of(call, tensor)? else { return Ok(value) };
    let dims = value.dims.clone();
    let made = match &algorithm {
        Algorithm::Linear(linear) => match linear.code_type().zip(linear.along(&value)) {
            Some((of, along)) => {
                let near = linear.nearest(call, &value, (of.least, of.greatest), false)?;
                let (scale, zero) = linear.constants(call, of);
                let codes = call.node("QuantizeLinear", &[&near, &scale, &zero], along_axis(along));
                let codes = ModelValue { dims: dims.clone(), ..codes };
                linear.decoded(call, &codes, along, of)?
            }
            None => linear.nearest(call, &value, (f64::NEG_INFINITY, f64::INFINITY), true)?,
        },
        Algorithm::Logarithmic { lowest, highest } => {
            let (lowest, highest) = (constant(call, "exponent", lowest), constant(call, "exponent", highest));
            let exponent = "Min(Max(Div(Log(Abs(x)), 0.6931471805599453), l), h)";
            let exponent = combine(call, exponent, &[("x", &value), ("l", &lowest), ("h", &highest)])?;
            let two = call.out.number(NnefElement::Float, 2.0);
            let formula = "Mul(Sign(x), Pow(b, Floor(Add(e, 0.5))))";
            combine(call, formula, &[("x", &value), ("b", &two), ("e", &exponent)])?
        }
    };
    Ok(ModelValue { element: NnefElement::Float, dims, ..made })
}

/// The data of a quantized variable as codes, and their values; none if the data are to be written as they are.
pub(super) fn stored(call: &mut TranslatedCall, tensor: TensorId, weight: &Weight) -> Translation<Option<ModelValue>> {
    if weight.element != NnefElement::Float {
        return Ok(None);
    }
    let Some(Algorithm::Linear(linear)) = algorithm_of(call, tensor)? else { return Ok(None) };
    let dims: super::emit::KnownExtents = weight.dims.iter().copied().map(Some).collect();
    let like = ModelValue { id: NameId::ROOT, element: NnefElement::Float, dims: Some(dims.clone()) };
    let Some((of, along)) = linear.code_type().zip(linear.along(&like)) else { return Ok(None) };
    // Data that are not such values, which `graph.quant` does not describe, stay as they are.
    let Some(bytes) = codes::of(&linear, of, weight) else { return Ok(None) };
    let id = call.out.new_name(call.text("label")?);
    let codes = call.out.codes(id, of.number, &weight.dims, bytes.into());
    linear.decoded(call, &codes, along, of).map(|made| Some(made.shaped(dims)))
}

/// Codes in blocks as a constant tensor, and their values.
pub(super) fn blocks(
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

/// How a tensor is rounded; none if it is not.
fn algorithm_of(call: &TranslatedCall, tensor: TensorId) -> Translation<Option<Algorithm>> {
    let Some((name, arguments)) = call.quantizations.of.get(&tensor) else { return Ok(None) };
    let refused = |why: String| {
        let tensor = call.graph.tensor_name(tensor);
        Refused::meaning(format!("the quantization `{name}` of `{tensor}` has no counterpart in ONNX: {why}"))
    };
    Algorithm::of(name, arguments).map(Some).map_err(refused)
}

/// The attribute of operators on codes.
fn along_axis(axis: Option<usize>) -> Attributes<'static> {
    axis.map(|axis| ("axis", AttributeValue::Int(axis as i64))).into_iter().collect()
}

/// A parameter as a constant tensor.
fn constant(call: &mut TranslatedCall, what: &str, of: &Parameter) -> ModelValue {
    let dims = if of.only().is_some() { &[][..] } else { &of.dims };
    call.out.constant(what, NnefElement::Float, dims, &of.items)
}

impl Linear {
    /// The axis of the channels of a value, none if all items have one scale; none at all if ONNX cannot divide the
    /// value so.
    fn along(&self, value: &ModelValue) -> Option<Option<usize>> {
        let (scale, zero) = (self.scale.axis().ok()?, self.zero.axis().ok()?);
        let Some(axis) = scale.or(zero) else { return Some(None) };
        let extent = value.dims.as_ref()?.get(axis).copied()?;
        let wanted = self.scale.items.len().max(self.zero.items.len()) as i64;
        extent.is_none_or(|extent| extent == wanted).then_some(Some(axis))
    }

    /// Moves items to the nearest multiples of the scale; those beyond the codes to the last ones, where a type that
    /// does this itself has other bounds. The offset is added again if `whole`.
    fn nearest(
        &self,
        call: &mut TranslatedCall,
        value: &ModelValue,
        bounds: (f64, f64),
        whole: bool,
    ) -> Translation<ModelValue> {
        let scale = constant(call, "scale", &self.scale);
        let offset = self.offset.as_ref().map(|offset| constant(call, "offset", offset));
        let mut made = match &offset {
            Some(offset) => combine(call, "Sub(x, o)", &[("x", value), ("o", offset)])?,
            None => value.clone(),
        };
        made = combine(call, "Floor(Add(Div(x, s), 0.5))", &[("x", &made), ("s", &scale)])?;
        for (operator, bound, own) in [("Max(x, b)", self.lowest, bounds.0), ("Min(x, b)", self.highest, bounds.1)] {
            if bound != own {
                let bound = constant(call, "bound", &self.zero.map(|zero| bound - zero));
                made = combine(call, operator, &[("x", &made), ("b", &bound)])?;
            }
        }
        made = combine(call, "Mul(x, s)", &[("x", &made), ("s", &scale)])?;
        match offset.filter(|_| whole) {
            Some(offset) => combine(call, "Add(x, o)", &[("x", &made), ("o", &offset)]),
            None => Ok(made),
        }
    }

    /// Scales and zero points as operands of operators on codes.
    fn constants(&self, call: &mut TranslatedCall, of: CodeType) -> (ModelValue, ModelValue) {
        let count = self.scale.items.len().max(self.zero.items.len());
        let all = |of: &Parameter| of.only().map_or_else(|| of.items.clone(), |item| vec![item; count]);
        let dims = if count == 1 { Vec::new() } else { vec![count as i64] };
        let scale = call.out.constant("scale", NnefElement::Float, &dims, &all(&self.scale));
        let zero = codes::packed(of.bits, all(&self.zero).into_iter().map(|zero| zero as i64));
        (scale, call.out.constant_codes("zero_point", of.number, &dims, zero))
    }

    /// The values of codes.
    fn decoded(
        &self,
        call: &mut TranslatedCall,
        codes: &ModelValue,
        along: Option<usize>,
        of: CodeType,
    ) -> Translation<ModelValue> {
        let (scale, zero) = self.constants(call, of);
        let made = call.node("DequantizeLinear", &[codes, &scale, &zero], along_axis(along));
        let made = ModelValue { element: NnefElement::Float, dims: codes.dims.clone(), ..made };
        match &self.offset {
            Some(offset) => {
                let offset = constant(call, "offset", offset);
                combine(call, "Add(x, o)", &[("x", &made), ("o", &offset)])
            }
            None => Ok(made),
        }
    }
}
