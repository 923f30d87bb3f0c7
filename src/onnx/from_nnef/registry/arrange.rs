//! Extents, conversions, ranges, and parts of tensors.

use super::super::arrange::axis;
use super::super::translated_call::{Refused, TranslatedCall, Translation, checked_axis};
use super::super::value::{ModelValue, NnefElement};
use crate::graph::Primitive;
use crate::onnx::model::AttributeValue;

/// The operand `input`, and an axis of it.
pub(super) fn input_and_axis(call: &mut TranslatedCall, position: usize) -> Translation<(ModelValue, usize)> {
    let value = call.value("input")?;
    let given = call.ints_at("axis", position)?.first().copied();
    let given = given.ok_or_else(|| call.missing("axis"))?;
    let place = checked_axis(call, given, value.rank())?;
    Ok((value, place))
}

/// The extents of a tensor: a constant if they are known.
pub(in crate::onnx::from_nnef) fn shape_of(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("input")?;
    Ok(vec![call.extents_from(&value, 0)])
}

/// The element type of the name of one.
pub(super) fn named_element(call: &TranslatedCall, name: &str) -> Translation<NnefElement> {
    let element = Primitive::of_datum_type(name).and_then(NnefElement::of);
    element.ok_or_else(|| Refused::meaning(format!("`{}` to the type '{name}'", call.name())))
}

/// A conversion to a named type. Without a name it is a quantized one, which `graph.quant` has.
pub(in crate::onnx::from_nnef) fn cast(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("input")?;
    let to = call.text("to")?;
    if to.is_empty() {
        // Its result is rounded like any quantized tensor.
        if call.results().first().is_some_and(|result| call.quantizations.has(*result)) {
            return Ok(vec![value]);
        }
        return Err(Refused::meaning(format!("`{}` to a quantized type", call.name())));
    }
    let element = named_element(call, to)?;
    Ok(vec![call.out.cast(&value, element)])
}

/// The operands `start`, `end` and `step` of a range: integers if all are.
pub(in crate::onnx::from_nnef) fn range(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let mut operands = Vec::new();
    for (position, name) in ["start", "end", "step"].into_iter().enumerate() {
        let value = call.value_at(name, position)?;
        operands.push(if value.rank() == Some(0) { value } else { call.out.reshape(&value, &[]) });
    }
    let whole = operands.iter().all(|value| value.element != NnefElement::Float);
    let element = if whole { NnefElement::Int } else { NnefElement::Float };
    let operands: Vec<ModelValue> = operands.iter().map(|value| call.out.cast(value, element)).collect();
    Ok(vec![call.node("Range", &operands.iter().collect::<Vec<_>>(), Vec::new())])
}

/// Repeats items to a shape, with the last axes aligned.
pub(in crate::onnx::from_nnef) fn broadcast(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, shape) = (call.value("input")?, call.integer_list_at("shape", 1)?);
    Ok(vec![call.node("Expand", &[&value, &shape], Vec::new())])
}

/// Every `stride`th item from index `modulo` on; in reverse order for a negative stride.
pub(in crate::onnx::from_nnef) fn every_nth(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, place) = input_and_axis(call, 1)?;
    let (stride, modulo) = (call.int("stride")?, call.int("modulo")?);
    if stride == 0 || modulo < 0 {
        return Err(Refused::meaning(format!("`{}` with a stride of {stride} from {modulo} on", call.name())));
    }
    let (start, end) = match stride {
        1.. => (modulo, i64::MAX),
        _ if modulo == 0 => (-1, i64::MIN),
        _ => (-1, modulo.saturating_sub(1)),
    };
    let lists = [("starts", start), ("ends", end), ("axes", place as i64), ("steps", stride)];
    let lists = lists.map(|(name, item)| call.out.list(name, &[item]));
    let inputs: Vec<&ModelValue> = std::iter::once(&value).chain(&lists).collect();
    Ok(vec![call.node("Slice", &inputs, Vec::new())])
}

/// The range between two computed indices along an axis.
pub(in crate::onnx::from_nnef) fn dyn_slice(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, place) = input_and_axis(call, 4)?;
    let (start, end) = (call.integer_list_at("start", 1)?, call.integer_list_at("end", 2)?);
    let axes = call.out.list("axes", &[place as i64]);
    Ok(vec![call.node("Slice", &[&value, &start, &end, &axes], Vec::new())])
}

/// The triangle above or below a diagonal.
pub(in crate::onnx::from_nnef) fn trilu(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("input")?;
    let diagonal = call.integer_at("k", 1)?;
    let upper = AttributeValue::Int(i64::from(call.flag("upper")?));
    Ok(vec![call.node("Trilu", &[&value, &diagonal], vec![("upper", upper)])])
}

/// The greatest or the least items along an axis in order, and their places.
pub(in crate::onnx::from_nnef) fn top_k(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, place) = input_and_axis(call, 2)?;
    let count = call.integer_list_at("k", 1)?;
    let largest = AttributeValue::Int(i64::from(call.flag("largest")?));
    let element = value.element;
    let operand = if element == NnefElement::Bool { call.out.cast(&value, NnefElement::Int) } else { value };
    let mut made = call.out.nodes("TopK", &[&operand, &count], vec![axis(place), ("largest", largest)], 2);
    let places = made.pop().map(|places| ModelValue { element: NnefElement::Int, ..places });
    let (Some(places), Some(best)) = (places, made.pop()) else { return Err(call.missing("k")) };
    Ok(vec![call.out.cast(&best, element), places])
}

/// The places of items that are not zero, one in each column.
pub(in crate::onnx::from_nnef) fn non_zero(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("input")?;
    Ok(vec![call.node("NonZero", &[&value], Vec::new())])
}
