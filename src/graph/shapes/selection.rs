//! Parts and repetitions of one tensor: slice, tile, pad, gather (H9, H12, H13).

use super::call::{Call, Extents, Ints, Role};
use super::shape::Extent;
use super::{RuleResult, ShapeError, UNKNOWN, known, of_rank, refuse};
use crate::diagnostics::Code;

/// How many items of an axis the range from `begin` to `end` in steps of `stride` takes.
fn count(axis: usize, extent: Extent, (begin, end, stride): (i64, i64, i64)) -> Result<Extent, ShapeError> {
    // An end of 0 is the extent itself; a range up to item 0 would be empty.
    let open = end == 0 && stride > 0;
    let Some(items) = extent.known() else {
        // One item is one item, whatever the extent.
        let single = (begin == 0 && end == 1) || (begin == -1 && open);
        return Ok(single.then_some(1).into());
    };
    let place = |at: i64| (if at < 0 { at.saturating_add(items) } else { at }).clamp(-1, items);
    let (first, last) = (place(begin), if open { items } else { place(end) });
    let length = if stride > 0 { last - first.max(0) } else { first.min(items - 1) - last };
    if length < 0 {
        let range = format!("nothing from {begin} to {end} in steps of {stride}");
        return refuse(Code::SliceRange, format!("axis {axis} of extent {extent:?} has {range}"));
    }
    let step = stride.checked_abs().unwrap_or(i64::MAX);
    Ok(Extent::new(length.saturating_add(step - 1) / step))
}

/// A section along some axes.
pub(crate) fn slice(call: &Call) -> RuleResult {
    const CODE: Code = Code::SliceRange;
    let [axes, begin, end, stride] = [Role::Axes, Role::Begin, Role::End, Role::Stride].map(|role| call.ints(role));
    let Some(axes) = axes else { return of_rank(call.rank(0)) };
    for (role, items) in [(Role::Begin, &begin), (Role::End, &end), (Role::Stride, &stride)] {
        let length = items.as_ref().map_or(axes.len(), |items| items.len());
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
        let item = |items: &Option<Ints>, absent: Option<i64>| items.as_ref()?.get(i).copied().unwrap_or(absent);
        let range = item(&begin, None).zip(item(&end, None)).zip(item(&stride, Some(1)));
        extents[axis] = match range {
            Some(((begin, end), stride)) => count(axis, extents[axis], (begin, end, stride))?,
            None => Extent::UNKNOWN,
        };
    }
    known(&extents)
}

fn check_length(call: &Call, role: Role, length: usize, rank: usize) -> Result<(), ShapeError> {
    if length == rank {
        return Ok(());
    }
    let (attribute, name) = (role.name(), call.name());
    refuse(Code::TilePadLengths, format!("`{attribute}` of `{name}` has {length} items, the input has rank {rank}"))
}

/// The items several times.
pub(crate) fn tile(call: &Call) -> RuleResult {
    let repeats = call.positive(Role::Repeats, Code::TilePadLengths)?;
    let Some(input) = call.extents(0) else { return UNKNOWN };
    let Some(repeats) = repeats else { return of_rank(call.rank(0)) };
    check_length(call, Role::Repeats, repeats.len(), input.len())?;
    let times = |(extent, times): (&Extent, &Option<i64>)| extent.map(|extent| extent.checked_mul((*times)?));
    known(&input.iter().zip(&repeats).map(times).collect::<Extents>())
}

/// Items added before and after each axis.
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
        let padded = extent.known().and_then(|extent| extent.checked_add(before)?.checked_add(after));
        if let Some(padded) = padded.filter(|&padded| padded < 1 && (before, after) != (0, 0)) {
            return refuse(
                Code::TilePadLengths,
                format!("the padding of axis {i} takes away all {extent:?} items: {padded} are left"),
            );
        }
        extents.push(padded.into());
    }
    known(&extents)
}

/// Items at indices along an axis, which the axes of the indices replace.
pub(crate) fn gather(call: &Call) -> RuleResult {
    if let Some(axis) = call.int(Role::Axis).filter(|&axis| axis < 0) {
        return refuse(Code::GatherAxis, format!("axis {axis} is negative"));
    }
    let Some(input) = call.extents(0) else { return UNKNOWN };
    let axis = call.axis(input.len(), Code::GatherAxis)?;
    let Some(indices) = call.extents(1) else { return UNKNOWN };
    let Some(axis) = axis else { return of_rank((input.len() + indices.len()).checked_sub(1)) };
    known(&[&input[..axis], indices, &input[axis + 1..]].concat())
}
