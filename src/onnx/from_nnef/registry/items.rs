//! Element-wise operations, and normalizations along axes.

use super::super::formula::{combine, evaluate};
use super::super::pool::local_means;
use super::super::translated_call::{Refused, TranslatedCall, Translation};
use super::super::value::{ModelValue, NnefElement, text};
use super::arrange::input_and_axis;
use crate::dictionary::Operands;
use crate::onnx::model::AttributeValue;

/// The approximation of `gelu` by `tanh`; the fast variant has a square instead of a cube.
pub(in crate::onnx::from_nnef) fn gelu_by_tanh(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let power = if call.flag_or_false("fast_impl")? { "2.0" } else { "3.0" };
    let inner = format!("Mul(0.7978845608028654, Add(input, Mul(0.044715, Pow(input, {power}))))");
    Ok(vec![evaluate(call, Operands::Real, &format!("Mul(Mul(0.5, input), Add(1.0, Tanh({inner})))"))?])
}

/// Whether items are infinite.
pub(in crate::onnx::from_nnef) fn is_inf(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.scalars("input")?;
    let detected = |name| Ok((name, AttributeValue::Int(i64::from(call.flag(name)?))));
    let attributes = ["detect_positive", "detect_negative"].map(detected);
    let attributes = attributes.into_iter().collect::<Translation<Vec<_>>>()?;
    Ok(vec![call.node("IsInf", &[&value], attributes)])
}

/// An operation on the bits of integers, which on logicals is another one.
pub(in crate::onnx::from_nnef) fn bits(
    call: &mut TranslatedCall,
    on_integers: &str,
    on_logicals: &str,
) -> Translation<Vec<ModelValue>> {
    let mut elements = vec![call.value_at("x", 0)?.element];
    if on_integers != "BitwiseNot" {
        elements.push(call.value_at("y", 1)?.element);
    }
    let operands = if elements.len() == 1 { "(x)" } else { "(x, y)" };
    if elements.iter().all(|element| *element == NnefElement::Bool) {
        return Ok(vec![evaluate(call, Operands::Logicals, &format!("{on_logicals}{operands}"))?]);
    }
    if elements.iter().any(|element| *element != NnefElement::Int) {
        return Err(Refused::meaning(format!("`{}` of operands that are not integers", call.name())));
    }
    Ok(vec![evaluate(call, Operands::Numbers, &format!("{on_integers}{operands}"))?])
}

/// The element type of unsigned integers of 64 bits, which are the only ones that are shifted.
const UNSIGNED: i64 = 13;

/// The operands of a shift.
fn shifted(call: &mut TranslatedCall) -> Translation<[ModelValue; 2]> {
    let operands = [call.value_at("x", 0)?, call.value_at("y", 1)?];
    if operands.iter().any(|value| value.element != NnefElement::Int) {
        return Err(Refused::meaning(format!("`{}` of operands that are not integers", call.name())));
    }
    Ok(operands)
}

/// A shift of the bits of an integer without a sign.
fn shift(call: &mut TranslatedCall, x: &ModelValue, y: &ModelValue, direction: &str) -> ModelValue {
    let to = |element: i64| vec![("to", AttributeValue::Int(element))];
    let [x, y] = [x, y].map(|value| call.node("Cast", &[value], to(UNSIGNED)));
    let made = call.node("BitShift", &[&x, &y], vec![("direction", text(direction))]);
    call.node("Cast", &[&made], to(NnefElement::Int.number().into()))
}

/// A left shift; bits that leave the 64 bits are dropped.
pub(in crate::onnx::from_nnef) fn shift_left(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let [x, y] = shifted(call)?;
    Ok(vec![shift(call, &x, &y, "LEFT")])
}

/// A right shift, which keeps the sign: that of the inverted bits of a negative number, inverted.
pub(in crate::onnx::from_nnef) fn shift_right(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let [x, y] = shifted(call)?;
    let zero = call.out.integer(0);
    let negative = call.node("Less", &[&x, &zero], Vec::new());
    let inverted = call.node("BitwiseNot", &[&x], Vec::new());
    let positive = call.node("Where", &[&negative, &inverted, &x], Vec::new());
    let made = shift(call, &positive, &y, "RIGHT");
    let inverted = call.node("BitwiseNot", &[&made], Vec::new());
    Ok(vec![call.node("Where", &[&negative, &inverted, &made], Vec::new())])
}

/// The input divided by the root of its mean square along an axis.
pub(in crate::onnx::from_nnef) fn rms_norm(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, place) = input_and_axis(call, 1)?;
    let value = call.out.cast(&value, NnefElement::Float);
    let epsilon = call.literal_at("eps", usize::MAX)?.unwrap_or(1e-6);
    let axes = call.out.list("axes", &[place as i64]);
    let squares = call.node("Mul", &[&value, &value], Vec::new());
    let means = call.node("ReduceMean", &[&squares, &axes], Vec::new());
    let epsilon = call.out.number(NnefElement::Float, epsilon);
    let shifted = call.node("Add", &[&means, &epsilon], Vec::new());
    let root = call.node("Sqrt", &[&shifted], Vec::new());
    Ok(vec![call.node("Div", &[&value, &root], Vec::new())])
}

/// Local response normalization over channels.
pub(in crate::onnx::from_nnef) fn lrn(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.scalars("input")?;
    let size = call.int("size")?.max(1);
    let number =
        |name: &str, default: f64| -> Translation<f64> { Ok(call.literal_at(name, usize::MAX)?.unwrap_or(default)) };
    let (alpha, beta, bias) = (number("alpha", 0.0001)?, number("beta", 0.75)?, number("bias", 1.0)?);
    let rank = call.rank(&value)?;
    // onnxruntime supports the operator only for four axes and windows of odd extent.
    if rank == 4 && size.rem_euclid(2) == 1 {
        let attributes = vec![
            ("alpha", AttributeValue::Float(alpha as f32)),
            ("beta", AttributeValue::Float(beta as f32)),
            ("bias", AttributeValue::Float(bias as f32)),
            ("size", AttributeValue::Int(size)),
        ];
        return Ok(vec![call.node("LRN", &[&value], attributes)]);
    }
    if rank < 2 {
        return Err(Refused::meaning(format!("`{}` of {rank} axes", call.name())));
    }
    let window: Vec<i64> = (0..rank).map(|axis| if axis == 1 { size } else { 1 }).collect();
    let squares = call.node("Mul", &[&value, &value], Vec::new());
    let means = local_means(call, squares, &window)?;
    let [alpha, beta, bias] = [alpha, beta, bias].map(|number| call.out.number(NnefElement::Float, number));
    let operands = [("x", &value), ("m", &means), ("alpha", &alpha), ("beta", &beta), ("bias", &bias)];
    Ok(vec![combine(call, "Div(x, Pow(Add(bias, Mul(alpha, m)), beta))", &operands)?])
}
