//! Operations that only change the axes: reshape, transpose, squeeze, unsqueeze (H5, H6, H10).

use super::axes::{AxisSet, twice};
use super::call::{Call, Ints, MAX_RANK, Role, shown};
use super::outcome::{RuleResult, ShapeError, UNKNOWN, known, of_rank, refuse, same};
use super::shape::{Extent, Extents};
use crate::diagnostics::Code;
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

/// The product of extents; unknown if one of them is.
fn volume(extents: &[Extent]) -> Dim {
    extents.iter().fold(Dim::Int(1), |volume, extent| volume.times(extent.dim()))
}

/// Changes the shape, but not the number of items.
pub(crate) fn reshape(call: &Call) -> RuleResult {
    let Some(wanted) = call.dims(Role::Shape) else { return UNKNOWN };
    let shown = || shown(&wanted.iter().map(|dim| dim.known()).collect::<Ints>());
    let error = |message: String| refuse(Code::ReshapeVolume, message);
    if wanted.iter().filter(|item| **item == Dim::Int(-1)).count() > 1 {
        return error(format!("shape {} has more than one -1", shown()));
    }
    if wanted.iter().any(|item| matches!(item, Dim::Int(..=-2))) {
        return error(format!("shape {} has an extent below -1", shown()));
    }
    let Some(input) = call.extents_to(0, wanted.len().min(MAX_RANK)) else {
        return reshape_unknown(call, &wanted);
    };
    let Some((first, last)) = affected(call, input.len())? else { return UNKNOWN };
    let mut middle = Extents::new();
    // The extents of the affected items; copied extents cancel out, whether they are known or not.
    let mut from: Extents = input[first..last].into();
    let mut to = Extents::new();
    for (i, item) in wanted.iter().enumerate() {
        let extent = match item {
            Dim::Int(0) => {
                let Some(extent) = input.get(first + i) else {
                    return error(format!("item {i} of shape {} copies an axis that the input has not", shown()));
                };
                if first + i < last {
                    from[i] = Extent::ONE;
                } else {
                    to.push(extent.clone());
                }
                extent.clone()
            }
            Dim::Int(-1) => Extent::UNKNOWN,
            item => {
                let extent = Extent::from(item.clone());
                to.push(extent.clone());
                extent
            }
        };
        middle.push(extent);
    }
    let (from, to) = (volume(&from), volume(&to));
    match (wanted.iter().position(|item| *item == Dim::Int(-1)), from, to) {
        (Some(i), Dim::Int(from), Dim::Int(to)) if to > 0 && from % to == 0 => middle[i] = Extent::new(from / to),
        (None, Dim::Int(from), Dim::Int(to)) if from == to => {}
        (_, Dim::Int(_), Dim::Int(_)) => {
            let input = &input[first..last];
            return error(format!("{:?} items of shape {input:?} cannot be arranged as {}", volume_of(input), shown()));
        }
        (Some(i), from, to) => {
            let exact = from.clone().exactly_over(to.clone());
            middle[i] = Extent::from(if exact == Dim::Unknown && to.is_at_least(1) { from.over(to) } else { exact });
        }
        (None, from, _) => complete(&mut middle, &wanted, from),
    }
    known([&input[..first], &middle[..], &input[last..]].concat().into())
}

/// The number of items for messages.
fn volume_of(extents: &[Extent]) -> Extent {
    Extent::from(volume(extents))
}

/// Computes a single unknown extent from the number of items; copied extents do not count.
fn complete(extents: &mut Extents, wanted: &[Dim], from: Dim) {
    let mut open = wanted.iter().enumerate().filter(|(_, item)| **item == Dim::Unknown).map(|(i, _)| i);
    if let (Some(i), None) = (open.next(), open.next()) {
        let others = wanted.iter().filter(|item| !matches!(item, Dim::Unknown | Dim::Int(0)));
        let product = others.fold(Dim::Int(1), |product, item| product.times(item.clone()));
        extents[i] = Extent::from(from.exactly_over(product));
    }
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
