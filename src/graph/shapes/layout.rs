//! The same items arranged anew: reshape, transpose, squeeze, unsqueeze (H5, H6, H10).

use super::call::{Call, Extents, MAX_RANK, Role, Shown};
use super::shape::Extent;
use super::{Inferred, Outcome, ShapeError, known, of_rank};
use crate::diagnostics::Code;

/// The axes that a reshape affects: from, and to; none where that is not known.
fn affected(call: &Call, rank: usize) -> Result<Option<(usize, usize)>, ShapeError> {
    // The draft has neither parameter.
    if !call.has(Role::AxisStart) {
        return Ok(Some((0, rank)));
    }
    let [start, count] = [Role::AxisStart, Role::AxisCount].map(|role| call.int(role).known());
    let (Some(start), Some(count)) = (start, count) else { return Ok(None) };
    let first = usize::try_from(start).ok().filter(|&first| first <= rank);
    let last = match (first, count) {
        (Some(_), -1) => Some(rank),
        (Some(first), count) => usize::try_from(count).ok().and_then(|count| first.checked_add(count)),
        _ => None,
    };
    match (first, last.filter(|&last| last <= rank)) {
        (Some(first), Some(last)) => Ok(Some((first, last))),
        _ => {
            let message =
                format!("`axis_start` = {start} and `axis_count` = {count} do not fit a tensor of rank {rank}");
            Err(ShapeError::new(Code::ReshapeVolume, message))
        }
    }
}

/// Items in a product, of which some factors may be unknown.
#[derive(Clone, Copy)]
struct Volume {
    known: Option<i64>,
    unknown: usize,
}

fn volume(extents: &[Extent]) -> Volume {
    let known = extents.iter().filter_map(|extent| extent.known()).try_fold(1i64, i64::checked_mul);
    Volume { known, unknown: extents.iter().filter(|extent| extent.known().is_none()).count() }
}

/// The same items under a new shape.
pub(crate) fn reshape(call: &Call) -> Outcome {
    let Some(wanted) = call.ints(Role::Shape) else { return Ok(Inferred::UNKNOWN) };
    let error = |message: String| Err(ShapeError::new(Code::ReshapeVolume, message));
    if wanted.iter().filter(|item| **item == Some(-1)).count() > 1 {
        return error(format!("shape {} has more than one -1", Shown(&wanted)));
    }
    if wanted.iter().any(|item| item.is_some_and(|item| item < -1)) {
        return error(format!("shape {} has an extent below -1", Shown(&wanted)));
    }
    let Some(input) = call.extents_to(0, wanted.len().min(MAX_RANK)) else {
        return reshape_unknown(call, &wanted);
    };
    let Some((first, last)) = affected(call, input.len())? else { return Ok(Inferred::UNKNOWN) };
    let mut middle = Extents::new();
    // Unknown extents that are copied stand on both sides of the equation.
    let mut copied = 0;
    for (i, item) in wanted.iter().enumerate() {
        middle.push(match item {
            Some(0) => match input.get(first + i) {
                Some(extent) => {
                    copied += usize::from(extent.known().is_none() && first + i < last);
                    *extent
                }
                None => {
                    return error(format!(
                        "item {i} of shape {} copies an axis that the input has not",
                        Shown(&wanted)
                    ));
                }
            },
            Some(-1) | None => Extent::UNKNOWN,
            Some(extent) => Extent::new(*extent),
        });
    }
    let (from, to) = (volume(&input[first..last]), volume(&middle));
    let open = wanted.contains(&None);
    let inferred = wanted.iter().position(|item| *item == Some(-1));
    let balanced = !open && from.unknown == copied;
    if let (true, Some(from), Some(to)) = (balanced, from.known, to.known) {
        match inferred {
            Some(i) if to > 0 && from % to == 0 => middle[i] = Extent::new(from / to),
            None if from == to => {}
            _ => {
                let (input, wanted) = (&input[first..last], Shown(&wanted));
                return error(format!("{from} items of shape {input:?} cannot be arranged as {wanted}"));
            }
        }
    }
    let extents: Extents = input[..first].iter().chain(&middle).chain(&input[last..]).copied().collect();
    known(&extents)
}

/// The shape where nothing is known of the input and all axes are affected.
fn reshape_unknown(call: &Call, wanted: &[Option<i64>]) -> Outcome {
    let all = matches!(affected(call, MAX_RANK), Ok(Some((0, MAX_RANK))));
    if !all {
        return Ok(Inferred::UNKNOWN);
    }
    let extents: Extents = wanted.iter().map(|item| item.filter(|&extent| extent > 0).into()).collect();
    known(&extents)
}

/// The axes in another order; those that are not named stay at the end.
pub(crate) fn transpose(call: &Call) -> Outcome {
    let axes = call.ints(Role::Axes);
    let given = axes.as_deref().unwrap_or(&[]);
    let error = |message: String| Err(ShapeError::new(Code::TransposeAxes, message));
    let in_range = |axis: i64| usize::try_from(axis).is_ok_and(|axis| axis < given.len());
    let twice = |(i, axis): (usize, &Option<i64>)| axis.is_some() && given[..i].contains(axis);
    if given.iter().flatten().any(|&axis| !in_range(axis)) || given.iter().enumerate().any(twice) {
        return error(format!("axes {} are no permutation of 0..{}", Shown(given), given.len().saturating_sub(1)));
    }
    let Some(input) = call.extents_to(0, given.len().min(MAX_RANK)) else { return Ok(Inferred::UNKNOWN) };
    if given.len() > input.len() {
        return error(format!("{} axes are given, the input has rank {}", given.len(), input.len()));
    }
    let moved = |axis: &Option<i64>| axis.map_or(Extent::UNKNOWN, |axis| input[axis as usize]);
    if axes.is_none() {
        // In the draft, axes that the input leaves out may be among them.
        return of_rank((!call.endless()).then_some(input.len()));
    }
    let extents: Extents = given.iter().map(moved).chain(input[given.len()..].iter().copied()).collect();
    known(&extents)
}

/// Drops axes of extent 1.
pub(crate) fn squeeze(call: &Call) -> Outcome {
    let axes = call.ints(Role::Axes);
    let rank = call.rank(0);
    call.check_axes(axes.as_deref().unwrap_or(&[]), rank, Code::AxisInsertion)?;
    let (Some(input), Some(axes)) = (call.extents(0), axes) else { return Ok(Inferred::UNKNOWN) };
    if axes.contains(&None) {
        return of_rank(Some(input.len().saturating_sub(axes.len())));
    }
    let dropped = |i: usize| axes.iter().flatten().any(|&axis| axis as usize == i);
    let mut extents = Extents::new();
    for (i, extent) in input.iter().enumerate() {
        if !dropped(i) {
            extents.push(*extent);
        } else if extent.unify(Extent::ONE).is_none() {
            let message = format!("axis {i} has extent {extent:?}: only axes of extent 1 can be dropped");
            return Err(ShapeError::new(Code::AxisInsertion, message));
        }
    }
    known(&extents)
}

/// Adds axes of extent 1, which stand at the given places of the result.
pub(crate) fn unsqueeze(call: &Call) -> Outcome {
    let axes = call.ints(Role::Axes);
    let given = axes.as_deref().unwrap_or(&[]);
    let rank = call.extents(0).map(|extents| extents.len() + given.len());
    call.check_axes(given, rank, Code::AxisInsertion)?;
    let (Some(input), Some(axes)) = (call.extents(0), &axes) else { return Ok(Inferred::UNKNOWN) };
    if axes.contains(&None) {
        return of_rank(Some(input.len() + axes.len()));
    }
    let mut rest = input.iter().copied();
    let added = |i: usize| axes.iter().flatten().any(|&axis| axis as usize == i);
    let extents: Extents = (0..input.len() + axes.len())
        .map(|i| if added(i) { Extent::ONE } else { rest.next().unwrap_or(Extent::ONE) })
        .collect();
    known(&extents)
}
