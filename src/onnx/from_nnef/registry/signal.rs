//! Discrete Fourier transforms. The last axis, of extent 2, has the real and imaginary parts.

use super::super::lists::known_at;
use super::super::translated_call::{Refused, TranslatedCall, Translation};
use super::super::value::{ModelValue, NnefElement};
use super::arrange::input_and_axis;
use crate::graph::{Operand, Value};
use crate::onnx::model::AttributeValue;

/// The operand and the axis of a transform, which is not the last.
fn operand(call: &mut TranslatedCall) -> Translation<(ModelValue, usize, usize)> {
    let (value, place) = input_and_axis(call, 1)?;
    let value = call.out.cast(&value, NnefElement::Float);
    let rank = call.rank(&value)?;
    if place.saturating_add(1) == rank {
        return Err(Refused::meaning(format!("`{}` along the axis of real and imaginary parts", call.name())));
    }
    Ok((value, place, rank))
}

/// The transform of a value along an axis.
fn transform(call: &mut TranslatedCall, value: &ModelValue, place: usize, inverse: bool) -> ModelValue {
    let axis = call.out.integer(place as i64);
    let inverse = if inverse { vec![("inverse", AttributeValue::Int(1))] } else { Vec::new() };
    let made = call.node("DFT", &[value, &ModelValue::ABSENT, &axis], inverse);
    ModelValue { dims: value.dims.clone(), ..made }
}

/// The transform along an axis; the inverse is not divided by the number of items.
pub(in crate::onnx::from_nnef) fn fft(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, place, _) = operand(call)?;
    let inverse = call.flag_or_false("inverse")?;
    let made = transform(call, &value, place, inverse);
    if !inverse {
        return Ok(vec![made]);
    }
    let count = value.dims.as_ref().and_then(|dims| known_at(dims, place)).ok_or_else(|| call.open_extents())?;
    let count = call.out.number(NnefElement::Float, count as f64);
    Ok(vec![call.node("Mul", &[&made, &count], Vec::new())])
}

/// The weights of a frame, if there are any: those of a shorter window are in its middle.
fn window(call: &mut TranslatedCall, frame: i64) -> Translation<Option<ModelValue>> {
    match call.attribute("window", 4) {
        None | Some(Operand::Value(Value::Logical(false))) => return Ok(None),
        Some(_) => {}
    }
    let value = call.value_at("window", 4)?;
    let value = call.out.cast(&value, NnefElement::Float);
    let count = value.known().and_then(|known| <[i64; 1]>::try_from(known).ok()).ok_or_else(|| call.open_extents())?;
    let missing = frame.checked_sub(count[0]).filter(|missing| *missing >= 0);
    let missing = missing.ok_or_else(|| Refused::meaning(format!("the window of `{}` is too long", call.name())))?;
    if missing == 0 {
        return Ok(Some(value));
    }
    let before = missing.div_euclid(2);
    let pads = call.out.list("pads", &[before, missing.saturating_sub(before)]);
    Ok(Some(call.node("Pad", &[&value, &pads], Vec::new())))
}

/// The most items of all frames whose places are listed.
const MOST_LISTED: i64 = 1 << 20;

/// Short-time transform: a new axis after the given one has the transform of each frame.
pub(in crate::onnx::from_nnef) fn stft(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (value, place, rank) = operand(call)?;
    let (frame, stride) = (call.int("frame")?, call.int("stride")?);
    if frame < 1 || stride < 1 {
        return Err(Refused::meaning(format!("`{}` of frames of {frame} in steps of {stride}", call.name())));
    }
    let window = window(call, frame)?;
    if (rank, place) == (3, 1) {
        let (step, length) = (call.out.integer(stride), call.out.integer(frame));
        let window = window.unwrap_or(ModelValue::ABSENT);
        let sides = vec![("onesided", AttributeValue::Int(0))];
        return Ok(vec![call.node("STFT", &[&value, &step, &window, &length], sides)]);
    }
    let count = value.dims.as_ref().and_then(|dims| known_at(dims, place)).ok_or_else(|| call.open_extents())?;
    let rest = count.checked_sub(frame).filter(|rest| *rest >= 0);
    let wrong = || Refused::meaning(format!("a frame of {frame} items of `{}` does not fit {count}", call.name()));
    let frames = rest.ok_or_else(wrong)?.checked_div(stride).and_then(|frames| frames.checked_add(1)).unwrap_or(1);
    if frames.checked_mul(frame).is_none_or(|all| all > MOST_LISTED) {
        return Err(Refused::meaning(format!("`{}` of {frames} frames along axis {place}", call.name())));
    }
    let places = (0..frames).flat_map(|at| (0..frame).map(move |i| at.saturating_mul(stride).saturating_add(i) as f64));
    let places = call.out.constant("places", NnefElement::Int, &[frames, frame], &places.collect::<Vec<f64>>());
    let mut parts = call.node("Gather", &[&value, &places], vec![("axis", AttributeValue::Int(place as i64))]);
    if let Some(window) = window {
        // The weights are along the axis after the frames, the last of which is that of the parts.
        let after: Vec<i64> = (1..rank.saturating_sub(place) as i64).collect();
        let weights = call.out.unsqueeze(&window, &after);
        parts = call.node("Mul", &[&parts, &weights], Vec::new());
    }
    Ok(vec![transform(call, &parts, place.saturating_add(1), false)])
}
