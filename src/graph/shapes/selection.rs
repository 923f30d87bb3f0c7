//! Parts and repetitions of one tensor: slice, tile, pad, gather (H9, H12, H13).

use super::call::{Call, Extents, Role};
use super::shape::Extent;
use super::window::check_positive;
use super::{Inferred, Outcome, ShapeError, known, of_rank};
use crate::diagnostics::Code;

/// What is taken along one axis.
#[derive(Clone, Copy, Debug)]
struct Range {
    begin: Option<i64>,
    end: Option<i64>,
    stride: Option<i64>,
}

impl Range {
    /// How many items it takes of an extent; `Err` for a range that runs against its stride.
    fn count(self, extent: Extent) -> Result<Option<i64>, ()> {
        let (Some(begin), Some(end), Some(stride)) = (self.begin, self.end, self.stride) else { return Ok(None) };
        // An end of 0 is the extent itself; a range up to item 0 would be empty.
        let open = end == 0 && stride > 0;
        let Some(extent) = extent.known() else {
            // One item is one item, whatever the extent.
            let single = (begin == 0 && end == 1) || (begin == -1 && open);
            return Ok(single.then_some(1));
        };
        let place = |at: i64| (if at < 0 { at.saturating_add(extent) } else { at }).clamp(-1, extent);
        let (first, last) = (place(begin), if open { extent } else { place(end) });
        if stride > 0 {
            let first = first.max(0);
            return if first <= last { Ok(Some((last - first + (stride - 1)) / stride)) } else { Err(()) };
        }
        let first = first.min(extent - 1);
        let step = stride.checked_neg().unwrap_or(i64::MAX);
        if first >= last { Ok(Some((first - last).saturating_add(step - 1) / step)) } else { Err(()) }
    }
}

/// A section along some axes.
pub(crate) fn slice(call: &Call) -> Outcome {
    const CODE: Code = Code::SliceRange;
    let [axes, begin, end, stride] = [Role::Axes, Role::Begin, Role::End, Role::Stride].map(|role| call.ints(role));
    let Some(axes) = axes else { return of_rank(call.rank(0)) };
    for (name, items, optional) in [("begin", &begin, false), ("end", &end, false), ("stride", &stride, true)] {
        let length = items.as_ref().map_or(axes.len(), |items| items.len());
        if length != axes.len() && !(optional && length == 0) {
            let message = format!("`axes` has {} items, `{name}` has {length}", axes.len());
            return Err(ShapeError::new(CODE, message));
        }
    }
    if stride.iter().flatten().any(|stride| *stride == Some(0)) {
        return Err(ShapeError::new(CODE, "a stride is 0".to_string()));
    }
    call.check_axes(&axes, call.rank(0), CODE)?;
    let Some(mut extents) = call.extents_to(0, 0) else { return Ok(Inferred::UNKNOWN) };
    for (i, axis) in axes.iter().enumerate() {
        let Some(axis) = axis.and_then(|axis| usize::try_from(axis).ok()) else { return of_rank(call.rank(0)) };
        let item = |items: &Option<super::call::Ints>| items.as_ref().and_then(|items| items.get(i).copied()?);
        let stride = match &stride {
            Some(items) if items.is_empty() => Some(1),
            items => item(items),
        };
        let range = Range { begin: item(&begin), end: item(&end), stride };
        let count = range.count(extents[axis]).map_err(|()| {
            let show = |bound: Option<i64>| bound.map_or("?".to_string(), |bound| bound.to_string());
            let (begin, end, stride) = (show(range.begin), show(range.end), show(range.stride));
            let extent = extents[axis];
            let message =
                format!("axis {axis} of extent {extent:?} has nothing from {begin} to {end} in steps of {stride}");
            ShapeError::new(CODE, message)
        })?;
        extents[axis] = count.into();
    }
    known(&extents)
}

fn lengths(call: &Call, name: &str, length: usize, rank: usize) -> Result<(), ShapeError> {
    if length == rank {
        return Ok(());
    }
    let message = format!("`{name}` of `{}` has {length} items, the input has rank {rank}", call.name());
    Err(ShapeError::new(Code::TilePadLengths, message))
}

/// The items several times.
pub(crate) fn tile(call: &Call) -> Outcome {
    let repeats = call.ints(Role::Repeats);
    check_positive("repeats", repeats.as_deref().unwrap_or(&[]), Code::TilePadLengths)?;
    let Some(input) = call.extents(0) else { return Ok(Inferred::UNKNOWN) };
    let Some(repeats) = repeats else { return of_rank(call.rank(0)) };
    lengths(call, "repeats", repeats.len(), input.len())?;
    let times = |(extent, times): (&Extent, &Option<i64>)| match times {
        Some(times) => extent.map(|extent| extent.checked_mul(*times)),
        None => Extent::UNKNOWN,
    };
    let extents: Extents = input.iter().zip(&repeats).map(times).collect();
    known(&extents)
}

/// Items around.
pub(crate) fn pad(call: &Call) -> Outcome {
    let Some(input) = call.extents(0) else { return Ok(Inferred::UNKNOWN) };
    let Some(padding) = call.pairs(Role::Padding) else { return of_rank(call.rank(0)) };
    lengths(call, "padding", padding.len(), input.len())?;
    let mut extents = Extents::new();
    for (i, (extent, padding)) in input.iter().zip(&padding).enumerate() {
        extents.push(match (extent.known(), padding) {
            (_, [Some(0), Some(0)]) => *extent,
            (Some(extent), [Some(before), Some(after)]) => {
                let padded = extent.checked_add(*before).and_then(|extent| extent.checked_add(*after));
                if let Some(padded) = padded.filter(|&padded| padded < 1) {
                    let message = format!("the padding of axis {i} takes away all {extent} items: {padded} are left");
                    return Err(ShapeError::new(Code::TilePadLengths, message));
                }
                padded.into()
            }
            _ => Extent::UNKNOWN,
        });
    }
    known(&extents)
}

/// Items at indices along an axis, which the axes of the indices replace.
pub(crate) fn gather(call: &Call) -> Outcome {
    if let Some(axis) = call.int(Role::Axis).known().filter(|&axis| axis < 0) {
        return Err(ShapeError::new(Code::GatherAxis, format!("axis {axis} is negative")));
    }
    let Some(input) = call.extents(0) else { return Ok(Inferred::UNKNOWN) };
    let axis = call.axis(input.len(), Code::GatherAxis)?;
    let Some(indices) = call.extents(1) else { return Ok(Inferred::UNKNOWN) };
    let Some(axis) = axis else { return of_rank((input.len() + indices.len()).checked_sub(1)) };
    let extents: Extents = input[..axis].iter().chain(indices).chain(&input[axis + 1..]).copied().collect();
    known(&extents)
}
