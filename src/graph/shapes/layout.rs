//! Operations that keep the items and change the axes: reshape, transpose, squeeze, unsqueeze (H5, H6, H10).

use super::call::{Call, Extents, MAX_RANK, Role, shown};
use super::shape::Extent;
use super::{RuleResult, ShapeError, UNKNOWN, known, of_rank, refuse, same};
use crate::diagnostics::Code;

/// The axes `first..last` that a reshape affects; none where that is not known.
fn affected(call: &Call, rank: usize) -> Result<Option<(usize, usize)>, ShapeError> {
    // The draft has neither parameter.
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

/// The product of the extents that are known, unless it overflows, and the number of the others.
fn volume(extents: &[Extent]) -> (Option<i64>, usize) {
    let known = extents.iter().filter_map(|extent| extent.known());
    (known.clone().try_fold(1i64, i64::checked_mul), extents.len() - known.count())
}

/// The same items under a new shape.
pub(crate) fn reshape(call: &Call) -> RuleResult {
    let Some(wanted) = call.ints(Role::Shape) else { return UNKNOWN };
    let error = |message: String| refuse(Code::ReshapeVolume, message);
    if wanted.iter().filter(|item| **item == Some(-1)).count() > 1 {
        return error(format!("shape {} has more than one -1", shown(&wanted)));
    }
    if wanted.iter().any(|item| item.is_some_and(|item| item < -1)) {
        return error(format!("shape {} has an extent below -1", shown(&wanted)));
    }
    let Some(input) = call.extents_to(0, wanted.len().min(MAX_RANK)) else {
        return reshape_unknown(call, &wanted);
    };
    let Some((first, last)) = affected(call, input.len())? else { return UNKNOWN };
    let mut middle = Extents::new();
    // Unknown extents that are copied stand on both sides of the equation.
    let mut copied = 0;
    for (i, item) in wanted.iter().enumerate() {
        middle.push(match item {
            Some(0) => {
                let Some(&extent) = input.get(first + i) else {
                    let wanted = shown(&wanted);
                    return error(format!("item {i} of shape {wanted} copies an axis that the input has not"));
                };
                copied += usize::from(extent.known().is_none() && first + i < last);
                extent
            }
            Some(-1) | None => Extent::UNKNOWN,
            Some(extent) => Extent::new(*extent),
        });
    }
    let ((from, from_unknown), (to, _)) = (volume(&input[first..last]), volume(&middle));
    let balanced = !wanted.contains(&None) && from_unknown == copied;
    if let (true, Some(from), Some(to)) = (balanced, from, to) {
        match wanted.iter().position(|item| *item == Some(-1)) {
            Some(i) if to > 0 && from % to == 0 => middle[i] = Extent::new(from / to),
            None if from == to => {}
            _ => {
                let (input, wanted) = (&input[first..last], shown(&wanted));
                return error(format!("{from} items of shape {input:?} cannot be arranged as {wanted}"));
            }
        }
    }
    known(&[&input[..first], &middle[..], &input[last..]].concat())
}

/// The shape where nothing is known of the input and all axes are affected.
fn reshape_unknown(call: &Call, wanted: &[Option<i64>]) -> RuleResult {
    let all = matches!(affected(call, MAX_RANK), Ok(Some((0, MAX_RANK))));
    let extents = wanted.iter().map(|item| item.filter(|&extent| extent > 0).into());
    same(all.then(|| extents.collect()))
}

/// The axes in another order; those that are not named stay at the end.
pub(crate) fn transpose(call: &Call) -> RuleResult {
    let axes = call.ints(Role::Axes);
    let given = axes.as_deref().unwrap_or(&[]);
    let error = |message: String| refuse(Code::TransposeAxes, message);
    let in_range = |axis: i64| usize::try_from(axis).is_ok_and(|axis| axis < given.len());
    let twice = |(i, axis): (usize, &Option<i64>)| axis.is_some() && given[..i].contains(axis);
    if given.iter().flatten().any(|&axis| !in_range(axis)) || given.iter().enumerate().any(twice) {
        return error(format!("axes {} are no permutation of 0..{}", shown(given), given.len().saturating_sub(1)));
    }
    let Some(input) = call.extents_to(0, given.len().min(MAX_RANK)) else { return UNKNOWN };
    if given.len() > input.len() {
        return error(format!("{} axes are given, the input has rank {}", given.len(), input.len()));
    }
    if axes.is_none() {
        return call.any_axes(input.len());
    }
    let moved = |axis: &Option<i64>| axis.map_or(Extent::UNKNOWN, |axis| input[axis as usize]);
    known(&given.iter().map(moved).chain(input[given.len()..].iter().copied()).collect::<Extents>())
}

/// Drops axes of extent 1.
pub(crate) fn squeeze(call: &Call) -> RuleResult {
    let axes = call.ints(Role::Axes);
    call.check_axes(axes.as_deref().unwrap_or(&[]), call.rank(0), Code::AxisInsertion)?;
    let (Some(input), Some(axes)) = (call.extents(0), axes) else { return UNKNOWN };
    if axes.contains(&None) {
        return of_rank(Some(input.len().saturating_sub(axes.len())));
    }
    let mut extents = Extents::new();
    for (i, extent) in input.iter().enumerate() {
        if !axes.contains(&Some(i as i64)) {
            extents.push(*extent);
        } else if extent.unify(Extent::ONE).is_none() {
            return refuse(
                Code::AxisInsertion,
                format!("axis {i} has extent {extent:?}: only axes of extent 1 can be dropped"),
            );
        }
    }
    known(&extents)
}

/// Adds axes of extent 1, which stand at the given places of the result.
pub(crate) fn unsqueeze(call: &Call) -> RuleResult {
    let axes = call.ints(Role::Axes);
    let given = axes.as_deref().unwrap_or(&[]);
    call.check_axes(given, call.rank(0).map(|rank| rank + given.len()), Code::AxisInsertion)?;
    let (Some(input), Some(axes)) = (call.extents(0), axes) else { return UNKNOWN };
    let rank = input.len() + axes.len();
    if axes.contains(&None) {
        return of_rank(Some(rank));
    }
    let mut rest = input.iter().copied();
    let extent = |i: usize| if axes.contains(&Some(i as i64)) { None } else { rest.next() };
    known(&(0..rank).map(extent).map(|extent| extent.unwrap_or(Extent::ONE)).collect::<Extents>())
}
