//! How operands are broadcast: by attributes at first, from version 7 on as arrays are elsewhere.

use super::super::simplify::{StepExtents, is_same};
use super::axes::from_front;
use super::step::{OpsetStep, Stepped, ints_value};
use crate::graph::dims::Dim;
use crate::onnx::model::AttributeValue;

/// Axes as an attribute of `Squeeze` and `Unsqueeze`.
fn axes(first: usize, last: usize) -> Vec<(&'static str, AttributeValue)> {
    vec![("axes", ints_value((first as i64)..(last as i64)))]
}

/// `axis` says where the axes of the second operand begin.
pub(super) fn broadcast_up(step: &mut OpsetStep) -> Stepped {
    step.take("broadcast")?;
    let axis = match step.has("axis") {
        true => step.take_int("axis", 0)?,
        false => return Ok(()),
    };
    let (a, b) = (step.rank(0)?, step.rank(1)?);
    if b >= a {
        return Ok(());
    }
    let rest = a - from_front(axis, a)? - b;
    if rest < 0 {
        return Err("`axis` leaves too few axes for the second operand".to_owned());
    }
    if rest > 0 {
        let operand = step.required(1)?;
        let wide = step.add("Unsqueeze", &[operand], axes(b as usize, (b + rest) as usize));
        step.give(1, wide);
    }
    Ok(())
}

/// Operators whose operands can be exchanged, with the operator that has them exchanged.
const EXCHANGED: &[(&str, &str)] = &[
    ("Add", "Add"),
    ("And", "And"),
    ("Equal", "Equal"),
    ("Greater", "Less"),
    ("Less", "Greater"),
    ("Mul", "Mul"),
    ("Or", "Or"),
    ("Xor", "Xor"),
];

/// Where the axes of the second operand are among those of the first one, without its axes of extent 1 at both ends: the
/// number of such axes at the start, that of the others, and the first of these in the first operand.
fn section(a: &StepExtents, b: &StepExtents) -> Option<(usize, usize, usize)> {
    let lead = a.len().checked_sub(b.len())?;
    let is_one = |extent: &Dim| *extent == Dim::Int(1);
    let ones = b.iter().take_while(|extent| is_one(extent)).count();
    let behind = b.iter().skip(ones).rev().take_while(|extent| is_one(extent)).count();
    let kept = b.len() - ones - behind;
    let at = lead + ones;
    is_same(&b[ones..ones + kept], a.get(at..at + kept)?).then_some((ones, kept, at))
}

/// Says by attributes how the second operand is broadcast.
pub(super) fn broadcast_down(step: &mut OpsetStep) -> Stepped {
    let (mut a, mut b) = (step.shape(0)?, step.shape(1)?);
    if is_same(&a, &b) {
        return Ok(());
    }
    if section(&a, &b).is_none() {
        let other = EXCHANGED.iter().find(|row| row.0 == step.operator()).map(|row| row.1);
        let other = other.filter(|_| section(&b, &a).is_some());
        let other = other.ok_or("the operands are broadcast in a way that attributes do not say")?;
        (a, b) = (b, a);
        step.node.inputs.swap(0, 1);
        step.rename(other);
    }
    let Some((ones, kept, at)) = section(&a, &b) else { return Ok(()) };
    if kept < b.len() {
        let gone = (0..ones).chain(ones + kept..b.len()).map(|axis| axis as i64);
        let operand = step.required(1)?;
        let narrow = step.add("Squeeze", &[operand], vec![("axes", ints_value(gone))]);
        step.give(1, narrow);
    }
    step.put("broadcast", AttributeValue::Int(1));
    if kept > 0 && at + kept < a.len() {
        step.put("axis", AttributeValue::Int(at as i64));
    }
    Ok(())
}

pub(super) fn gemm_down(step: &mut OpsetStep) -> Stepped {
    let shape = step.shape(2)?;
    let is_row = shape.len() < 2;
    let is_whole = shape.len() == 2 && !shape.contains(&Dim::Int(1));
    match is_row || is_whole {
        true => {
            step.put("broadcast", AttributeValue::Int(is_row.into()));
            Ok(())
        }
        false => Err("the third operand is broadcast in a way that an attribute does not say".to_owned()),
    }
}

/// The third operand of `Gemm` had to be given: nothing is added by the zero that adding to any zero leaves as it is.
pub(super) fn gemm_operand(step: &mut OpsetStep) -> Stepped {
    if step.operand(2).is_none() {
        let element = step.element(0)?;
        let zero = step.number(element, -0.0)?;
        step.give(2, zero);
        step.put("beta", AttributeValue::Float(1.0));
    }
    Ok(())
}

/// Operands of several that had to have one shape
pub(super) fn of_one_shape(step: &mut OpsetStep) -> Stepped {
    let first = step.shape(0)?;
    let mut others = 1..step.node.inputs.len();
    match others.all(|at| step.shape(at).is_ok_and(|shape| is_same(&shape, &first))) {
        true => Ok(()),
        false => Err("operands are broadcast, or their shapes are not known to be the same".to_owned()),
    }
}

/// The slopes of `PRelu` were those of channels.
pub(super) fn slopes_up(step: &mut OpsetStep) -> Stepped {
    let shape = step.shape(1)?;
    let channels = shape.len() == 1 && shape.first() != Some(&Dim::Int(1));
    let rank = if channels { step.rank(0)? } else { 0 };
    if rank > 2 {
        let operand = step.required(1)?;
        let wide = step.add("Unsqueeze", &[operand], axes(1, rank as usize - 1));
        step.give(1, wide);
    }
    Ok(())
}

pub(super) fn slopes_down(step: &mut OpsetStep) -> Stepped {
    let (x, slope) = (step.rank(0)?, step.shape(1)?);
    let is_one = |extent: &Dim| *extent == Dim::Int(1);
    let of_channels = slope.len() as i64 + 1 == x && slope.iter().skip(1).all(is_one);
    if slope.is_empty() || !(of_channels || slope.iter().all(is_one)) {
        return Err("the slopes are neither one nor those of channels".to_owned());
    }
    if slope.len() > 1 {
        let operand = step.required(1)?;
        let narrow = step.add("Squeeze", &[operand], axes(1, slope.len()));
        step.give(1, narrow);
    }
    Ok(())
}
