//! Numbers that became operands, and constants.

use super::super::simplify::constant_value;
use super::axes::{to_attribute, to_operand};
use super::step::{OpsetStep, Stepped, ints_value, text_value};
use crate::graph::Element;
use crate::graph::names::NameId;
use crate::onnx::model::AttributeValue;
use crate::onnx::types::ElementType;
use crate::tensor::Data;

/// Makes a float attribute an operand of the type of the first one.
fn number_to_operand(step: &mut OpsetStep, name: &str, at: usize) -> Stepped {
    if step.has(name) {
        let (value, element) = (step.float(name, 0.0)?, step.element(0)?);
        step.take(name)?;
        let number = step.number(element, value)?;
        step.give(at, number);
    }
    Ok(())
}

/// Makes an operand with one number an attribute; without it the attribute gets another value, if there is one.
fn number_to_attribute(step: &mut OpsetStep, name: &str, at: usize, otherwise: Option<f32>) -> Stepped {
    let value = match step.operand(at) {
        Some(_) => Some(*step.floats(at)?.first().ok_or_else(|| format!("operand {at} has no number"))?),
        None => otherwise,
    };
    step.omit(at);
    value.into_iter().for_each(|value| step.put(name, AttributeValue::Float(value)));
    Ok(())
}

/// The limits that `Clip` had without attributes.
const LEAST: f32 = f32::MIN;
const GREATEST: f32 = f32::MAX;

/// Without attributes there were no limits at first, then those of floats.
pub(super) fn clip_limits(step: &mut OpsetStep) -> Stepped {
    for (name, limit) in [("min", f32::NEG_INFINITY), ("max", f32::INFINITY)] {
        if !step.has(name) {
            step.put(name, AttributeValue::Float(limit));
        }
    }
    Ok(())
}

/// The limits of `Clip` as operands, and back
pub(super) fn clip_up(step: &mut OpsetStep) -> Stepped {
    for (at, name, limit, none) in [(1, "min", LEAST, f32::NEG_INFINITY), (2, "max", GREATEST, f32::INFINITY)] {
        let value = step.float(name, limit)?;
        step.take(name)?;
        if value.to_bits() != none.to_bits() {
            let element = step.element(0)?;
            let number = step.number(element, value)?;
            step.give(at, number);
        }
    }
    Ok(())
}

pub(super) fn clip_down(step: &mut OpsetStep) -> Stepped {
    number_to_attribute(step, "min", 1, Some(f32::NEG_INFINITY))?;
    number_to_attribute(step, "max", 2, Some(f32::INFINITY))
}

/// The shape of `Reshape` as an operand, and back
pub(super) fn shape_to_operand(step: &mut OpsetStep) -> Stepped {
    to_operand(step, "shape", 1)
}

pub(super) fn shape_to_attribute(step: &mut OpsetStep) -> Stepped {
    to_attribute(step, "shape", 1)
}

/// An extent of 0 meant that of the operand.
pub(super) fn zeros_down(step: &mut OpsetStep) -> Stepped {
    if step.take_int("allowzero", 0)? != 0 && step.integers(1)?.contains(&0) {
        return Err("an extent of the result is 0, as `allowzero` says".to_owned());
    }
    Ok(())
}

/// `Tile` along one axis
pub(super) fn tile_up(step: &mut OpsetStep) -> Stepped {
    let (rank, times, axis) = (step.rank(0)?, one(step, 1)?, one(step, 2)?);
    let place = usize::try_from(rank).ok().and_then(|rank| crate::extents::axis(axis, rank));
    let place = place.ok_or("the axis is not one of the operand")?;
    let repeats: Vec<i64> = (0..rank as usize).map(|axis| if axis == place { times } else { 1 }).collect();
    step.omit(2);
    let list = step.list(&repeats)?;
    step.give(1, list);
    Ok(())
}

/// The whole number that an operand has, be it stored as a float.
fn one(step: &OpsetStep, at: usize) -> Stepped<i64> {
    if let Ok(items) = step.integers(at) {
        return items.first().copied().ok_or_else(|| format!("operand {at} has no number"));
    }
    let found = step.floats(at)?.first().copied().filter(|number| number.fract() == 0.0 && number.abs() < 1e9);
    found.map(|number| number as i64).ok_or_else(|| format!("operand {at} is not a whole number"))
}

pub(super) fn renamed(step: &mut OpsetStep, from: &str, to: &str) -> Stepped {
    if let Some(value) = step.take(from)? {
        step.put(to, value);
    }
    Ok(())
}

/// The paddings of `Pad` as operands, and back
pub(super) fn pad_up(step: &mut OpsetStep) -> Stepped {
    to_operand(step, "pads", 1)?;
    match step.text("mode", "constant")?.as_str() {
        "constant" => number_to_operand(step, "value", 2),
        _ => step.take("value").map(drop),
    }
}

pub(super) fn pad_down(step: &mut OpsetStep) -> Stepped {
    match step.text("mode", "constant")?.as_str() {
        "constant" => number_to_attribute(step, "value", 2, None)?,
        _ => step.omit(2),
    }
    to_attribute(step, "pads", 1)
}

/// Paddings of some axes as those of all
pub(super) fn pad_axes_down(step: &mut OpsetStep) -> Stepped {
    let Some(axes) = step.optional_integers(3)? else { return Ok(()) };
    let (rank, pads) = (step.rank(0)? as usize, step.integers(1)?);
    let mut all = vec![0; 2 * rank];
    for (i, axis) in axes.iter().enumerate() {
        let place = crate::extents::axis(*axis, rank).ok_or("an axis is not one of the operand")?;
        for (half, at) in [(0, i), (rank, i + axes.len())] {
            let pad = pads.get(at).ok_or("there are fewer paddings than axes")?;
            *all.get_mut(place + half).ok_or("there are more axes than the operand has")? = *pad;
        }
    }
    step.omit(3);
    let list = step.list(&all)?;
    step.give(1, list);
    Ok(())
}

/// Refuses a value of a text attribute that came later.
pub(super) fn without(step: &OpsetStep, name: &str, default: &str, later: &[&str]) -> Stepped {
    let value = step.text(name, default)?;
    if later.contains(&value.as_str()) { Err(format!("`{name}` is '{value}'")) } else { Ok(()) }
}

/// `Slice` with operands, and back
pub(super) fn slice_up(step: &mut OpsetStep) -> Stepped {
    to_operand(step, "starts", 1)?;
    to_operand(step, "ends", 2)?;
    to_operand(step, "axes", 3)
}

pub(super) fn slice_down(step: &mut OpsetStep) -> Stepped {
    if step.optional_integers(4)?.is_some_and(|steps| steps.iter().any(|step| *step != 1)) {
        return Err("a step is not 1".to_owned());
    }
    step.omit(4);
    to_attribute(step, "axes", 3)?;
    to_attribute(step, "ends", 2)?;
    to_attribute(step, "starts", 1)
}

/// The lengths of the parts of `Split` as an operand, and back
pub(super) fn split_to_operand(step: &mut OpsetStep) -> Stepped {
    to_operand(step, "split", 1)
}

pub(super) fn split_to_attribute(step: &mut OpsetStep) -> Stepped {
    to_attribute(step, "split", 1)
}

/// From version 18 on it is said that parts are equal.
pub(super) fn split_up(step: &mut OpsetStep) -> Stepped {
    if step.operand(1).is_none() {
        let count = step.node.outputs.len() as i64;
        step.put("num_outputs", AttributeValue::Int(count));
    }
    Ok(())
}

/// The last part may be smaller than others.
pub(super) fn split_down(step: &mut OpsetStep) -> Stepped {
    if !step.has("num_outputs") {
        return Ok(());
    }
    let count = step.take_int("num_outputs", 1)?;
    let (axis, rank) = (step.int("axis", 0)?, step.rank(0)? as usize);
    let place = crate::extents::axis(axis, rank).ok_or("the axis is not one of the operand")?;
    let extent = step.shape(0)?.get(place).and_then(|extent| extent.known());
    let extent = extent.ok_or("it is not known whether its parts are equal")?;
    if !(1..=MAX_PARTS).contains(&count) || count != step.node.outputs.len() as i64 {
        return Err(format!("it has {count} parts"));
    }
    if extent % count != 0 {
        let size = extent / count + 1;
        let part = |i: i64| size.min(extent.saturating_sub(size.saturating_mul(i)).max(0));
        let parts: Vec<i64> = (0..count).map(part).collect();
        let list = step.list(&parts)?;
        step.give(1, list);
    }
    Ok(())
}

/// The most parts whose lengths are listed.
const MAX_PARTS: i64 = 1024;

/// The number of `TopK` as an operand, and back
pub(super) fn top_up(step: &mut OpsetStep) -> Stepped {
    let count = step.take_int("k", 0)?;
    let list = step.list(&[count])?;
    step.give(1, list);
    Ok(())
}

pub(super) fn top_down(step: &mut OpsetStep) -> Stepped {
    let [count] = step.integers(1)?[..] else { return Err("operand 1 is not one number".to_owned()) };
    step.omit(1);
    step.put("k", AttributeValue::Int(count));
    Ok(())
}

/// A part of a shape as a slice of it
pub(super) fn shape_down(step: &mut OpsetStep) -> Stepped {
    let start = step.take_int("start", 0)?;
    let end = if step.has("end") { Some(step.take_int("end", 0)?) } else { None };
    if start != 0 || end.is_some() {
        let [start, end, axis] = [start, end.unwrap_or(i64::MAX), 0].map(|item| step.list(&[item]));
        step.then(0, "Slice", &[start?, end?, axis?], Vec::new());
    }
    Ok(())
}

/// A constant in a form that is not a tensor
pub(super) fn constant_down(step: &mut OpsetStep) -> Stepped {
    if step.has("value") {
        return Ok(());
    }
    let name = step.node.outputs.first().copied().unwrap_or(NameId::ROOT);
    let constant = constant_value(step.names, &step.node, name);
    let constant = constant.ok_or("its value is no tensor of numbers")?;
    step.node.attributes.clear();
    step.put("value", AttributeValue::Tensor(Box::new(crate::onnx::model::TensorProto { name: None, ..constant })));
    Ok(())
}

/// The type of `Cast` by its number, and by its name
pub(super) fn cast_up(step: &mut OpsetStep) -> Stepped {
    let name = step.text("to", "")?.to_ascii_lowercase();
    let element = ElementType::named(&name).ok_or_else(|| format!("`{name}` is no type"))?;
    step.put("to", AttributeValue::Int(element.number.into()));
    Ok(())
}

pub(super) fn cast_down(step: &mut OpsetStep) -> Stepped {
    let number = step.int("to", 0)?;
    let element = i32::try_from(number).ok().and_then(ElementType::numbered);
    let name = element.ok_or_else(|| format!("{number} is no type"))?.name.to_ascii_uppercase();
    step.put("to", text_value(&name));
    Ok(())
}

/// Floats of 8 bits and fewer.
const SMALL: &[Element] = &[
    Element::Float8e4m3fn,
    Element::Float8e4m3fnuz,
    Element::Float8e5m2,
    Element::Float8e5m2fnuz,
    Element::Float8e8m0,
    Element::Float4e2m1,
];

/// Drops an attribute that says how floats of 8 bits are rounded, of other types.
pub(super) fn of_small_floats(step: &mut OpsetStep, name: &str) -> Stepped {
    let result = step.node.outputs.first().copied().unwrap_or(NameId::ROOT);
    let element = step.view().element(result);
    match element.is_some_and(|element| !SMALL.contains(&element)) {
        true => step.take(name).map(drop),
        false => Ok(()),
    }
}

/// Scales and zero points were those of a whole tensor.
pub(super) fn per_tensor(step: &mut OpsetStep) -> Stepped {
    let one = step.shape(1)?.iter().all(|extent| *extent == crate::graph::dims::Dim::Int(1));
    step.take("axis")?;
    if one { Ok(()) } else { Err("it has a scale for each place along an axis".to_owned()) }
}

/// The type of results followed from the zero point.
pub(super) fn quantized_type(step: &mut OpsetStep) -> Stepped {
    let wanted = step.int("output_dtype", 0)?;
    let own = match step.operand(2) {
        Some(_) => step.element(2)? as i64,
        None => Element::Uint8 as i64,
    };
    if wanted == own {
        step.take("output_dtype")?;
    }
    Ok(())
}

/// The type of results was that of the scale.
pub(super) fn dequantized_type(step: &mut OpsetStep) -> Stepped {
    if step.has("output_dtype") && step.int("output_dtype", 0)? == step.element(1)? as i64 {
        step.take("output_dtype")?;
    }
    Ok(())
}

/// Drops a list whose items are all 1.
fn ones(step: &mut OpsetStep, name: &str) -> Stepped {
    match step.ints(name)?.is_none_or(|items| items.iter().all(|item| *item == 1)) {
        true => step.take(name).map(drop),
        false => Ok(()),
    }
}

pub(super) fn dilations_down(step: &mut OpsetStep) -> Stepped {
    ones(step, "dilations")
}

/// The power of a norm as a float, and as an integer
pub(super) fn power_up(step: &mut OpsetStep) -> Stepped {
    let power = step.float("p", 2.0)?;
    if power.fract() != 0.0 || power.abs() > 1e6 {
        return Err(format!("`p` is {power}"));
    }
    step.put("p", AttributeValue::Int(power as i64));
    Ok(())
}

pub(super) fn power_down(step: &mut OpsetStep) -> Stepped {
    let power = step.int("p", 2)?;
    step.put("p", AttributeValue::Float(power as f32));
    Ok(())
}

pub(super) fn sample_down(step: &mut OpsetStep) -> Stepped {
    if step.rank(0)? != 4 {
        return Err("the operand has not 4 axes".to_owned());
    }
    mode(step, "linear", &[("linear", "bilinear"), ("cubic", "bicubic")])
}

pub(super) fn mode(step: &mut OpsetStep, default: &str, names: &[(&str, &str)]) -> Stepped {
    let value = step.text("mode", default)?;
    let name = names.iter().find(|row| row.0 == value).map_or(&*value, |row| row.1);
    step.put_text("mode", name);
    Ok(())
}

/// The places of `RoiAlign` had no shift by half of an item.
pub(super) fn align_up(step: &mut OpsetStep) -> Stepped {
    step.put_text("coordinate_transformation_mode", "output_half_pixel");
    Ok(())
}

pub(super) fn align_down(step: &mut OpsetStep) -> Stepped {
    without(step, "coordinate_transformation_mode", "half_pixel", &["half_pixel"])?;
    step.take("coordinate_transformation_mode").map(drop)
}

/// `Scatter` under another name
pub(super) fn scatter_up(step: &mut OpsetStep) -> Stepped {
    step.rename("ScatterElements");
    Ok(())
}

pub(super) fn scatter_down(step: &mut OpsetStep) -> Stepped {
    super::axes::axis_from_front(step)?;
    step.rename("Scatter");
    Ok(())
}

/// The default of the direction was misspelt.
pub(super) fn direction_up(step: &mut OpsetStep) -> Stepped {
    if !step.has("direction") {
        step.put_text("direction", "forward");
    }
    Ok(())
}

/// The lengths of the parts were an operand at first.
pub(super) fn split_of_operand(step: &mut OpsetStep) -> Stepped {
    if step.operand(1).is_some() { to_attribute(step, "split", 1) } else { Ok(()) }
}

/// A list of integers that a program may overwrite had to be given.
pub(super) fn consumed(step: &mut OpsetStep) -> Stepped {
    step.put("consumed_inputs", ints_value([0, 0, 0, 1, 1]));
    Ok(())
}

/// A constant without items, of floats.
pub(super) fn no_floats(step: &mut OpsetStep) -> Stepped<NameId> {
    step.constant(&[0], Data::Float32(Vec::new()))
}
