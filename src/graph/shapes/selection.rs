//! Parts and repetitions of one tensor: slice, tile, pad, gather (H9, H12, H13).

use super::outcome::{RuleResult, ShapeError, UNKNOWN, known, of_rank, refuse};
use super::shape::{Extent, Extents};
use super::shape_call::{Call, Dims, Role};
use crate::diagnostics::Code;
use crate::dictionary::Deviation;
use crate::extents::{Bounds, nnef_section, replaced};
use crate::graph::dims::Dim;

/// The number of items of a range along an axis.
fn count(axis: usize, extent: Extent, range: Bounds<Dim>) -> Result<Extent, ShapeError> {
    let (Dim::Int(begin), Dim::Int(end), Some(items)) = (&range.start, &range.end, extent.known()) else {
        return Ok(symbolic_count(extent.dim(), range));
    };
    let (begin, end, stride) = (*begin, *end, range.step);
    let section = nnef_section(Bounds { start: begin, end, step: stride }, items);
    if section.way < 0 {
        let range = format!("nothing from {begin} to {end} in steps of {stride}");
        return refuse(Code::SliceRange, format!("axis {axis} of extent {extent:?} has {range}"));
    }
    Ok(Extent::new(section.count()))
}

/// The number of items of a range with unknown or symbolic bounds or extent.
fn symbolic_count(extent: Dim, Bounds { start: begin, end, step: stride }: Bounds<Dim>) -> Extent {
    let open = end == Dim::Int(0) && stride > 0;
    // A single item, regardless of the extent.
    if (begin == Dim::Int(0) && end == Dim::Int(1)) || (begin == Dim::Int(-1) && open) {
        return Extent::ONE;
    }
    // A bound whose sign is open is assumed not to be negative.
    let is_negative = |at: &Dim| Dim::Int(0).minus(at.clone()).is_at_least(0) && *at != Dim::Int(0);
    let counted = |at: Dim| if is_negative(&at) { extent.clone().plus(at) } else { at };
    if stride < 0 {
        return Extent::UNKNOWN;
    }
    let begin = counted(begin);
    let end = match end {
        _ if open => extent.clone(),
        // An end that is a number is limited by the extent; other ends are assumed to be within it.
        Dim::Int(0..) => end.min(extent.clone()),
        end => counted(end),
    };
    let length = end.minus(begin);
    if is_negative(&length) { Extent::UNKNOWN } else { Extent::from(length.over_up(Dim::Int(stride))) }
}

/// A range along some axes.
pub(crate) fn slice(call: &Call) -> RuleResult {
    const CODE: Code = Code::SliceRange;
    let [axes, stride] = [Role::Axes, Role::Stride].map(|role| call.ints(role));
    let [begin, end] = [Role::Begin, Role::End].map(|role| call.dims(role));
    let Some(axes) = axes else { return of_rank(call.rank(0)) };
    let count_of = |role, length: Option<usize>| (role, length.unwrap_or(axes.len()));
    for (role, length) in [
        count_of(Role::Begin, begin.as_ref().map(|items| items.len())),
        count_of(Role::End, end.as_ref().map(|items| items.len())),
        count_of(Role::Stride, stride.as_ref().map(|items| items.len())),
    ] {
        if length != axes.len() && (length > 0 || role != Role::Stride) {
            let (name, axes) = (role.name(), axes.len());
            return refuse(CODE, format!("`axes` has {axes} items, `{name}` has {length}"));
        }
    }
    if stride.iter().flatten().any(|stride| *stride == Some(0)) {
        return refuse(CODE, "a stride is 0".to_string());
    }
    call.check_axes(&axes, call.rank(0), CODE)?;
    let Some(mut extents) = call.extents_to(0, 0) else { return UNKNOWN };
    for (i, axis) in axes.iter().enumerate() {
        let Some(axis) = axis.and_then(|axis| usize::try_from(axis).ok()) else { return of_rank(call.rank(0)) };
        let item =
            |items: &Option<Dims>| items.as_ref().and_then(|items| items.get(i).cloned()).unwrap_or(Dim::Unknown);
        let step = stride.as_ref().and_then(|items| items.get(i).cloned().unwrap_or(Some(1)));
        extents[axis] = match step {
            Some(step) => {
                let range = Bounds { start: item(&begin), end: item(&end), step };
                let range = if call.deviates(Deviation::CutFirst) { cut_first(range) } else { range };
                count(axis, extents[axis].clone(), range)?
            }
            None => Extent::UNKNOWN,
        };
    }
    known(extents)
}

/// The range with as many items as one of [`Deviation::CutFirst`].
fn cut_first(range: Bounds<Dim>) -> Bounds<Dim> {
    let step = range.step.checked_abs().unwrap_or(i64::MAX);
    match (&range.start, &range.end) {
        (Dim::Int(0), Dim::Int(0)) => Bounds { start: Dim::Int(1), end: Dim::Int(1), step },
        _ => Bounds { step, ..range },
    }
}

fn check_length(call: &Call, role: Role, length: usize, rank: usize) -> Result<(), ShapeError> {
    if length == rank {
        return Ok(());
    }
    let (attribute, name) = (role.name(), call.name());
    refuse(Code::TilePadLengths, format!("`{attribute}` of `{name}` has {length} items, the input has rank {rank}"))
}

/// Repeats the tensor along each axis.
pub(crate) fn tile(call: &Call) -> RuleResult {
    let repeats = call.positive(Role::Repeats, Code::TilePadLengths)?;
    let Some(input) = call.extents(0) else { return UNKNOWN };
    let Some(repeats) = repeats.and(call.dims(Role::Repeats)) else { return of_rank(call.rank(0)) };
    check_length(call, Role::Repeats, repeats.len(), input.len())?;
    let times = |(extent, times): (&Extent, &Dim)| Extent::from(extent.dim().times(times.clone()));
    known(input.iter().zip(&repeats).map(times).collect())
}

/// Adds items before and after each axis.
pub(crate) fn pad(call: &Call) -> RuleResult {
    let Some(input) = call.extents(0) else { return UNKNOWN };
    let Some(padding) = call.pairs(Role::Padding) else { return of_rank(call.rank(0)) };
    check_length(call, Role::Padding, padding.len(), input.len())?;
    let mut extents = Extents::new();
    for (i, (extent, padding)) in input.iter().zip(&padding).enumerate() {
        let [Some(before), Some(after)] = *padding else {
            extents.push(Extent::UNKNOWN);
            continue;
        };
        let padded = extent.dim().plus(Dim::Int(before)).plus(Dim::Int(after));
        if let Some(padded) = padded.known().filter(|&padded| padded < 1 && (before, after) != (0, 0)) {
            return refuse(
                Code::TilePadLengths,
                format!("the padding of axis {i} takes away all {extent:?} items: {padded} are left"),
            );
        }
        extents.push(padded.into());
    }
    known(extents)
}

/// Selects items by their indices along an axis, which is replaced by the axes of the indices.
pub(crate) fn gather(call: &Call) -> RuleResult {
    if let Some(axis) = call.int(Role::Axis).filter(|&axis| axis < 0) {
        return refuse(Code::GatherAxis, format!("axis {axis} is negative"));
    }
    let Some(input) = call.extents(0) else { return UNKNOWN };
    let axis = call.axis(input.len(), Code::GatherAxis)?;
    let Some(indices) = call.extents(1) else { return UNKNOWN };
    let Some(axis) = axis else { return of_rank((input.len() + indices.len()).checked_sub(1)) };
    known(replaced(input, axis, indices).into())
}
