//! Rounding of values, and the values of codes.

use super::algorithm::{Algorithm, CodeType, Linear};
use super::codes;
use super::parameter::ChannelNumbers;
use crate::graph::TensorId;
use crate::onnx::from_nnef::formula::combine;
use crate::onnx::from_nnef::translated_call::{Refused, TranslatedCall, Translation};
use crate::onnx::from_nnef::value::{Attributes, ModelValue, NnefElement};
use crate::onnx::model::AttributeValue;

/// Rounds a value of a tensor, if the tensor is quantized. Integers and logicals are not changed.
pub(in crate::onnx::from_nnef) fn rounded(
    call: &mut TranslatedCall,
    tensor: TensorId,
    value: ModelValue,
) -> Translation<ModelValue> {
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

/// How a tensor is rounded; none if it is not.
pub(super) fn algorithm_of(call: &TranslatedCall, tensor: TensorId) -> Translation<Option<Algorithm>> {
    let Some((name, arguments)) = call.quantizations.of.get(&tensor) else { return Ok(None) };
    let refused = |why: String| {
        let tensor = call.graph.tensor_name(tensor);
        Refused::meaning(format!("the quantization `{name}` of `{tensor}` has no counterpart in ONNX: {why}"))
    };
    Algorithm::of(name, arguments).map(Some).map_err(refused)
}

/// The attribute of operators on codes.
pub(super) fn along_axis(axis: Option<usize>) -> Attributes<'static> {
    axis.map(|axis| ("axis", AttributeValue::Int(axis as i64))).into_iter().collect()
}

/// A parameter as a constant tensor.
fn constant(call: &mut TranslatedCall, what: &str, of: &ChannelNumbers) -> ModelValue {
    let dims = if of.only().is_some() { &[][..] } else { &of.dims };
    call.out.constant(what, NnefElement::Float, dims, &of.items)
}

impl Linear {
    /// The axis of the channels of a value, none if all items have one scale; none at all if ONNX cannot divide the
    /// value so.
    pub(super) fn along(&self, value: &ModelValue) -> Option<Option<usize>> {
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
        let all = |of: &ChannelNumbers| of.only().map_or_else(|| of.items.clone(), |item| vec![item; count]);
        let dims = if count == 1 { Vec::new() } else { vec![count as i64] };
        let scale = call.out.constant("scale", NnefElement::Float, &dims, &all(&self.scale));
        let zero = codes::packed(of.bits, all(&self.zero).into_iter().map(|zero| zero as i64));
        (scale, call.out.constant_codes("zero_point", of.number, &dims, zero))
    }

    /// The values of codes.
    pub(super) fn decoded(
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
