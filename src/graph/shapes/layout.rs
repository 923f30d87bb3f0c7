//! Operations that only change the axes: reshape, transpose, squeeze, unsqueeze (H5, H6, H10).

use super::axes::{AxisSet, twice};
use super::outcome::{RuleResult, ShapeError, UNKNOWN, known, of_rank, refuse, same};
use super::shape::{Extent, Extents};
use super::shape_call::{Call, Ints, MAX_RANK, Role, shown};
use crate::diagnostics::Code;
use crate::extents::{self, ReshapeError};
use crate::graph::dims::Dim;

/// The axes `first..last` that a reshape affects; none if they are unknown.
fn affected(call: &Call, rank: usize) -> Result<Option<(usize, usize)>, ShapeError> {
    // The draft has no parameters for a range of axes.
    if !call.has(Role::AxisStart) {
        return Ok(Some((0, rank)));
    }
    let (Some(start), Some(count)) = (call.int(Role::AxisStart), call.int(Role::AxisCount)) else { return Ok(None) };
    let first = usize::try_from(start).ok().filter(|&first| first <= rank);
    let last = first.and_then(|first| match count {
        -1 => Some(rank),
        count => first.checked_add(usize::try_from(count).ok()?).filter(|&last| last <= rank),
    });
    if last.is_none() {
        let given = format!("`axis_start` = {start} and `axis_count` = {count}");
        return refuse(Code::ReshapeVolume, format!("{given} do not fit a tensor of rank {rank}"));
    }
    Ok(first.zip(last))
}

/// Changes the shape, but not the number of items.
pub(crate) fn reshape(call: &Call) -> RuleResult {
    let Some(wanted) = call.dims(Role::Shape) else { return UNKNOWN };
    let shown = || shown(&wanted.iter().map(|dim| dim.known()).collect::<Ints>());
    let error = |message: String| refuse(Code::ReshapeVolume, message);
    let asked: Vec<Option<Dim>> = wanted.iter().map(|item| item.clone().determined()).collect();
    let refused = |wrong| match wrong {
        ReshapeError::Rests => error(format!("shape {} has more than one -1", shown())),
        ReshapeError::Negative(_) => error(format!("shape {} has an extent below -1", shown())),
        ReshapeError::Copied(i) => {
            error(format!("item {i} of shape {} copies an axis that the input has not", shown()))
        }
    };
    let rest = match extents::rest(&asked) {
        Ok(rest) => rest,
        Err(wrong) => return refused(wrong),
    };
    let Some(input) = call.extents_to(0, wanted.len().min(MAX_RANK)) else {
        return reshape_unknown(call, &wanted);
    };
    let Some((first, last)) = affected(call, input.len())? else { return UNKNOWN };
    let own: Vec<Option<Dim>> = input[first..].iter().map(|extent| extent.dim().determined()).collect();
    let found = match extents::reshaped(&own, last - first, &asked, true, false) {
        Ok(found) => found,
        Err(wrong) => return refused(wrong),
    };
    let volume = input[first..last].iter().fold(Dim::Int(1), |volume, extent| volume.times(extent.dim()));
    // What remains of no items is not determined.
    let is_open = |at: usize| found.extents[at].is_none() && found.extents.contains(&Some(Dim::Int(0)));
    if !found.fits || volume.known().is_some() && rest.is_some_and(is_open) {
        let (items, input) = (Extent::from(volume), &input[first..last]);
        return error(format!("{items:?} items of shape {input:?} cannot be arranged as {}", shown()));
    }
    let middle: Vec<Extent> = found.extents.into_iter().map(|extent| Extent::from(Dim::from(extent))).collect();
    known([&input[..first], &middle[..], &input[last..]].concat().into())
}

/// The shape if the input is unknown and all axes are affected.
fn reshape_unknown(call: &Call, wanted: &[Dim]) -> RuleResult {
    let all = matches!(affected(call, MAX_RANK), Ok(Some((0, MAX_RANK))));
    let extents = wanted.iter().map(|item| match item {
        Dim::Int(..=0) => Extent::UNKNOWN,
        item => Extent::from(item.clone()),
    });
    same(all.then(|| extents.collect()))
}

/// Permutes the axes; axes that are not mentioned stay at the end.
pub(crate) fn transpose(call: &Call) -> RuleResult {
    let axes = call.ints(Role::Axes);
    let given = axes.as_deref().unwrap_or(&[]);
    let error = |message: String| refuse(Code::TransposeAxes, message);
    let in_range = |axis: i64| usize::try_from(axis).is_ok_and(|axis| axis < given.len());
    if given.iter().flatten().any(|&axis| !in_range(axis)) || twice(given).is_some() {
        return error(format!("axes {} are not a permutation of 0..{}", shown(given), given.len().saturating_sub(1)));
    }
    let Some(input) = call.extents_to(0, given.len().min(MAX_RANK)) else { return UNKNOWN };
    if given.len() > input.len() {
        return error(format!("{} axes are given, the input has rank {}", given.len(), input.len()));
    }
    if axes.is_none() {
        return call.any_axes(input.len());
    }
    let moved = |axis: &Option<i64>| axis.map_or(Extent::UNKNOWN, |axis| input[axis as usize].clone());
    known(given.iter().map(moved).chain(input[given.len()..].iter().cloned()).collect())
}

/// Removes axes of extent 1.
pub(crate) fn squeeze(call: &Call) -> RuleResult {
    let axes = call.ints(Role::Axes);
    call.check_axes(axes.as_deref().unwrap_or(&[]), call.rank(0), Code::AxisInsertion)?;
    let (Some(input), Some(axes)) = (call.extents(0), axes) else { return UNKNOWN };
    if axes.contains(&None) {
        return of_rank(Some(input.len().saturating_sub(axes.len())));
    }
    let mut extents = Extents::new();
    let dropped = AxisSet::new(&axes);
    for (i, extent) in input.iter().enumerate() {
        if !dropped.contains(i) {
            extents.push(extent.clone());
        } else if extent.unify(&Extent::ONE).is_none() {
            return refuse(
                Code::AxisInsertion,
                format!("axis {i} has extent {extent:?}: only axes of extent 1 can be dropped"),
            );
        }
    }
    known(extents)
}

/// Inserts axes of extent 1 at the specified positions of the result.
pub(crate) fn unsqueeze(call: &Call) -> RuleResult {
    let axes = call.ints(Role::Axes);
    let given = axes.as_deref().unwrap_or(&[]);
    call.check_axes(given, call.rank(0).map(|rank| rank + given.len()), Code::AxisInsertion)?;
    let (Some(input), Some(axes)) = (call.extents(0), axes) else { return UNKNOWN };
    let rank = input.len() + axes.len();
    if axes.contains(&None) {
        return of_rank(Some(rank));
    }
    let mut rest = input.iter().cloned();
    let new = AxisSet::new(&axes);
    let extent = |i: usize| if new.contains(i) { None } else { rest.next() };
    known((0..rank).map(extent).map(|extent| extent.unwrap_or(Extent::ONE)).collect())
}
