//! Padding, and shuffles between channels and pixels.

use super::settings::AnyNumber;
use super::windows::spatial;
use super::{Line, Lowered, Refusal, extent_of, in_groups, product};
use crate::graph::operators::exact_quotient;
use crate::graph::{TensorId, Value};
use crate::library::assembly::{Assembly, pairs};

/// The border mode in which the items of an axis follow each other without end. NNEF does not have it.
pub(super) const CIRCULAR: &str = "circular";

/// Pads axes by the items at their other ends.
pub(super) fn circular(line: &mut Line, x: TensorId, padding: &[(i64, i64)]) -> Lowered<TensorId> {
    let mut y = x;
    for (axis, (before, after)) in (0..).zip(padding).filter(|(_, padding)| **padding != (0, 0)) {
        let extent = extent_of(&line.extents(y)?, axis)?;
        let count = before.checked_add(extent).and_then(|count| count.checked_add(*after)).ok_or(Refusal::UNFIT)?;
        line.items_of(&[count])?;
        let place = |at: i64| at.checked_sub(*before)?.checked_rem_euclid(extent);
        let places = (0..count).map(place).collect::<Option<Vec<i64>>>().ok_or(Refusal::UNFIT)?;
        y = line.taken_at(y, places, axis)?;
    }
    Ok(y)
}

/// Removes the items that negative amounts of padding count.
fn cropped(line: &mut Line, key: &str, x: TensorId, padding: &[(i64, i64)]) -> Lowered<TensorId> {
    let mut y = x;
    for (axis, (before, after)) in (0..).zip(padding).filter(|(_, (before, after))| *before < 0 || *after < 0) {
        let extent = extent_of(&line.extents(x)?, axis)?;
        let range = 0i64.checked_sub((*before).min(0)).zip(extent.checked_add((*after).min(0)));
        let range = range.map(|(begin, end)| begin..end).filter(|range| !range.is_empty());
        line.require(key, range.is_some(), "a list of numbers that leave items of each axis")?;
        y = line.part_of(y, axis, range.ok_or(Refusal::UNFIT)?)?;
    }
    Ok(y)
}

/// Pads a tensor by a setting with pairs for the axes from the last one on.
fn padded(line: &mut Line, key: &str, border: &str, value: f64) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x)? as usize;
    let amounts: Vec<i64> = line.required(key)?;
    let fits = amounts.len().is_multiple_of(2) && amounts.len() / 2 <= rank;
    line.require(key, fits, "a list with two integers for each axis")?;
    let mut padding: Vec<(i64, i64)> = amounts.as_chunks().0.iter().map(|[before, after]| (*before, *after)).collect();
    padding.resize(rank, (0, 0));
    padding.reverse();
    let more: Vec<(i64, i64)> = padding.iter().map(|(before, after)| ((*before).max(0), (*after).max(0))).collect();
    let pad = |line: &mut Line, x| {
        let amount =
            |x, value| vec![Value::Tensor(x), pairs(more.clone()), Value::String(border.into()), Value::Scalar(value)];
        if value.is_finite() {
            return line.add("pad", amount(x, value));
        }
        let inside = marked(line, x, &more)?;
        let inside = line.add("pad", amount(inside, 0.0))?;
        let y = line.add("pad", amount(x, 0.0))?;
        beside(line, y, inside, value)
    };
    if border == "reflect" {
        // Items that are removed are reflected, too.
        let y = pad(line, x)?;
        return Ok(vec![cropped(line, key, y, &padding)?]);
    }
    let x = cropped(line, key, x, &padding)?;
    if border == CIRCULAR {
        let fits = line.extents(x)?.iter().zip(&more).all(|(extent, (before, after))| before.max(after) <= extent);
        line.require(key, fits, "a list of numbers that are no larger than the extents")?;
        return circular(line, x, &more).map(|y| vec![y]);
    }
    Ok(vec![pad(line, x)?])
}

/// Ones, with the extents of a tensor along the axes that are padded.
fn marked(line: &mut Line, x: TensorId, padding: &[(i64, i64)]) -> Lowered<TensorId> {
    let axes = line.extents(x)?.into_iter().zip(padding);
    let extents: Vec<i64> = axes.map(|(extent, padding)| if *padding == (0, 0) { 1 } else { extent }).collect();
    line.numbers(&extents, |_| 1.0)
}

/// A tensor with a number that is not finite where `inside` is 0. Texts of NNEF have no such number, but logarithms give it.
fn beside(line: &mut Line, y: TensorId, inside: TensorId, value: f64) -> Lowered<TensorId> {
    let rank = line.rank(y)? as usize;
    let of = line.numbers(&vec![1; rank], |_| if value.is_nan() { -1.0 } else { 0.0 })?;
    let number = if value == f64::INFINITY { "neg(log(@2))" } else { "log(@2)" };
    line.formula_of(&format!("select(gt(@1,0.5),@0,{number})"), &[y, inside, of])
}

/// A padding whose border mode is a parameter.
pub(super) fn pad(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let modes = [("constant", "constant"), ("reflect", "reflect"), ("replicate", "replicate"), (CIRCULAR, CIRCULAR)];
    let border = line.choice("mode", &modes, Some("constant"))?;
    let value = line.optional("value")?.map_or(0.0, |AnyNumber(value)| value);
    line.require("value", border == "constant" || value == 0.0, "`None` with this mode")?;
    padded(line, "pad", border, value)
}

/// A padding whose border mode is determined by the kind of the operator.
pub(super) fn pad_with(line: &mut Line, border: &'static str) -> Lowered<Vec<TensorId>> {
    let constant = line.kind.starts_with("nn.ConstantPad");
    let AnyNumber(value) = if constant { line.required("value")? } else { AnyNumber(0.0) };
    let (given, wanted) = (line.required::<Vec<i64>>("padding")?.len(), spatial(line)?.saturating_mul(2));
    line.require("padding", given == wanted, &format!("a list of {wanted} integers"))?;
    padded(line, "padding", border, value)
}

/// The extents of an image: the outer extents, and channels, height and width.
fn image(line: &Line, x: TensorId) -> Lowered<(Vec<i64>, [i64; 3])> {
    let extents = line.extents(x)?;
    match &extents[..] {
        [outer @ .., c, h, w] if !extents.contains(&0) => Ok((outer.to_vec(), [*c, *h, *w])),
        _ => Err(Refusal::UNFIT),
    }
}

/// The axis order of a transposition that does not change the outer axes.
fn behind(outer: &[i64], order: &[i64]) -> Vec<i64> {
    let count = outer.len() as i64;
    (0..count).chain(order.iter().map(|axis| axis.saturating_add(count))).collect()
}

/// Moves channels to pixels.
pub(super) fn pixel_shuffle(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, r) = (line.tensor("input")?, line.at_least("upscale_factor", 1, None)?);
    let (outer, [c, h, w]) = image(line, x)?;
    let channels = r.checked_mul(r).and_then(|square| exact_quotient(c, square));
    let expected = || line.refuse("upscale_factor", format!("a root of a divisor of {c} channels"));
    let channels = channels.ok_or_else(expected)?;
    let apart = [&outer[..], &[channels, r, r, h, w]].concat();
    let to = [&outer[..], &[channels, product(&[h, r])?, product(&[w, r])?]].concat();
    Ok(vec![line.shuffled(x, &apart, &behind(&outer, &[0, 3, 1, 4, 2]), &to)?])
}

/// Moves pixels to channels.
pub(super) fn pixel_unshuffle(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, r) = (line.tensor("input")?, line.at_least("downscale_factor", 1, None)?);
    let (outer, [c, h, w]) = image(line, x)?;
    let (Some(rows), Some(columns)) = (exact_quotient(h, r), exact_quotient(w, r)) else {
        return Err(line.refuse("downscale_factor", format!("a divisor of {h} and {w}")));
    };
    let apart = [&outer[..], &[c, rows, r, columns, r]].concat();
    let to = [&outer[..], &[product(&[c, r, r])?, rows, columns]].concat();
    Ok(vec![line.shuffled(x, &apart, &behind(&outer, &[0, 2, 4, 1, 3]), &to)?])
}

/// Interleaves the channels of groups.
pub(super) fn channel_shuffle(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, groups) = (line.tensor("input")?, line.at_least("groups", 1, None)?);
    let extents = line.extents(x)?;
    let channels = extent_of(&extents, 1)?;
    if extents.contains(&0) {
        return Err(Refusal::UNFIT);
    }
    let expected = || line.refuse("groups", format!("a divisor of {channels} channels"));
    let apart = in_groups(&extents, groups).ok_or_else(expected)?;
    let order: Vec<i64> = [0, 2, 1].into_iter().chain(3..apart.len() as i64).collect();
    Ok(vec![line.shuffled(x, &apart, &order, &extents)?])
}
