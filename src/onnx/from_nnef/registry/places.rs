//! Items at places that other tensors have: gather, scatter and one-hot.

use super::super::arrange::{axis, unified};
use super::super::translated_call::{Refused, TranslatedCall, Translation, checked_axis};
use super::super::value::{Attributes, ModelValue, NnefElement, text};
use super::arrange::{input_and_axis, named_element};
use crate::onnx::model::AttributeValue;

/// The places of the operand `indices`.
fn indices(call: &mut TranslatedCall) -> Translation<ModelValue> {
    let places = call.value_at("indices", 1)?;
    Ok(call.out.cast(&places, NnefElement::Int))
}

/// Parts of the input at the places along an axis, as another type if there is a name of one.
pub(in crate::onnx::from_nnef) fn take(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, place) = input_and_axis(call, 2)?;
    let places = indices(call)?;
    let made = call.node("Gather", &[&value, &places], vec![axis(place)]);
    let named = call.text("datum_type").ok().filter(|name| !name.is_empty());
    let Some(name) = named else { return Ok(vec![made]) };
    let element = named_element(call, name)?;
    Ok(vec![call.out.cast(&made, element)])
}

/// Items at the places along an axis.
pub(in crate::onnx::from_nnef) fn gather_elements(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, place) = input_and_axis(call, 2)?;
    let places = indices(call)?;
    Ok(vec![call.node("GatherElements", &[&value, &places], vec![axis(place)])])
}

/// Parts at the places along the last axis of the indices.
pub(in crate::onnx::from_nnef) fn gather_nd(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, places) = (call.value("input")?, indices(call)?);
    let batch = AttributeValue::Int(call.int("batch_dims")?);
    Ok(vec![call.node("GatherND", &[&value, &places], vec![("batch_dims", batch)])])
}

/// How items are combined with those that were there.
fn reduction(call: &TranslatedCall) -> Translation<Attributes<'static>> {
    let name = if call.attribute("reduction", usize::MAX).is_some() { call.text("reduction")? } else { "none" };
    match name {
        "none" => Ok(Vec::new()),
        "add" | "mul" | "min" | "max" => Ok(vec![("reduction", text(name))]),
        other => Err(Refused::meaning(format!("the reduction '{other}' of `{}`", call.name()))),
    }
}

/// The operands of a scatter: the input and the updates with one type, and the indices. Logicals are combined as
/// integers.
fn scattered(call: &mut TranslatedCall, combined: bool) -> Translation<(Vec<ModelValue>, NnefElement)> {
    let (value, places, updates) = (call.value("input")?, indices(call)?, call.value_at("updates", 2)?);
    let mut both = unified(call, vec![value, updates]);
    let element = both.first().map_or(NnefElement::Float, |value| value.element);
    if combined && element == NnefElement::Bool {
        both = both.iter().map(|value| call.out.cast(value, NnefElement::Int)).collect();
    }
    both.insert(1, places);
    Ok((both, element))
}

/// Writes items to the places along an axis.
pub(in crate::onnx::from_nnef) fn scatter_elements(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let mut attributes = reduction(call)?;
    let (operands, element) = scattered(call, !attributes.is_empty())?;
    let shapes: Vec<_> = operands.iter().skip(1).filter_map(ModelValue::known).collect();
    if shapes.windows(2).any(|pair| pair.first() != pair.last()) {
        return Err(Refused::meaning(format!("`{}` with indices and updates of different shapes", call.name())));
    }
    let given = call.ints_at("axis", 3)?.first().copied().ok_or_else(|| call.missing("axis"))?;
    attributes.push(axis(checked_axis(call, given, operands.first().and_then(ModelValue::rank))?));
    let made = call.node("ScatterElements", &operands.iter().collect::<Vec<_>>(), attributes);
    Ok(vec![call.out.cast(&made, element)])
}

/// Writes parts to the places along the last axis of the indices.
pub(in crate::onnx::from_nnef) fn scatter_nd(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let attributes = reduction(call)?;
    let (operands, element) = scattered(call, !attributes.is_empty())?;
    let made = call.node("ScatterND", &operands.iter().collect::<Vec<_>>(), attributes);
    Ok(vec![call.out.cast(&made, element)])
}

/// A new axis whose item at each index is `value_on`, the others `value_off`.
pub(in crate::onnx::from_nnef) fn one_hot(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let value = call.value("input")?;
    let places = call.out.cast(&value, NnefElement::Int);
    let rank = places.rank().map(|rank| rank.saturating_add(1));
    let place = checked_axis(call, call.int("axis")?, rank)?;
    let depth = call.integer_at("dim", usize::MAX)?;
    let off = call.literal_at("value_off", usize::MAX)?.unwrap_or(0.0);
    let on = call.literal_at("value_on", usize::MAX)?.unwrap_or(1.0);
    let both = call.out.constant("values", NnefElement::Float, &[2], &[off, on]);
    let made = call.node("OneHot", &[&places, &depth, &both], vec![axis(place)]);
    Ok(vec![ModelValue { element: NnefElement::Float, ..made }])
}
