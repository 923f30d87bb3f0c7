//! Operators that read items at given places.

use super::axes::{axis, product};
use super::source::natural;
use crate::extents::{AxisSection, Before, Bounds, replaced};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// `Gather`
pub(crate) fn gather(call: &mut InferCall) -> Option<()> {
    let (data, indices) = (call.extents(0)?, call.extents(1)?);
    let at = axis(call.int_or("axis", 0), data.len())?;
    let shape = replaced(data, at, indices);
    call.give(0, shape);
    Some(())
}

/// The items of `Gather` of a tensor of one axis.
pub(crate) fn gather_items(call: &mut InferCall) -> Option<()> {
    let items = call.items(0).filter(|_| call.rank(0) == Some(1))?;
    let read = |index: &Dim| match index {
        Dim::Int(index) => axis(*index, items.len()).and_then(|at| items.get(at)).cloned().unwrap_or(Dim::Unknown),
        _ => Dim::Unknown,
    };
    let read: Vec<Dim> = call.items(1)?.iter().map(read).collect();
    call.give_items(0, read);
    Some(())
}

/// `GatherElements`
pub(crate) fn gather_elements(call: &mut InferCall) -> Option<()> {
    let shape = call.shape(1)?;
    call.give(0, shape);
    Some(())
}

/// `GatherND`
pub(crate) fn gather_nd(call: &mut InferCall) -> Option<()> {
    let batch = usize::try_from(call.int_or("batch_dims", 0)).ok()?;
    let (data, indices) = (call.extents(0)?, call.extents(1)?);
    let (last, places) = indices.split_last()?;
    let depth = usize::try_from(last.known()?).ok()?;
    let shape = [places, data.get(batch.checked_add(depth)?..)?].concat();
    call.give(0, shape);
    Some(())
}

/// What a slice does along axes; a step that is unknown is 0.
fn cuts(call: &InferCall, rank: usize) -> Option<Vec<(usize, Bounds<Dim>)>> {
    let list = |operand: usize, name: &str| -> Option<Vec<Dim>> {
        if call.version() < 10 {
            return call.ints(name).map(|values| values.into_iter().map(Dim::Int).collect());
        }
        call.items(operand).map(|items| items.to_vec())
    };
    let (starts, ends) = (list(1, "starts"), list(2, "ends"));
    let has_axes = if call.version() < 10 { call.has_attribute("axes") } else { call.has(3) };
    let axes: Vec<usize> = if has_axes {
        let axes = list(3, "axes")?;
        axes.iter().map(|number| axis(number.known()?, rank)).collect::<Option<_>>()?
    } else {
        let length = call.extent(1, 0).known().and_then(|length| usize::try_from(length).ok());
        (0..starts.as_ref().map(Vec::len).or_else(|| ends.as_ref().map(Vec::len)).or(length)?.min(rank)).collect()
    };
    let steps = if call.has(4) { Some(call.items(4)) } else { None };
    let cut = |(i, axis): (usize, usize)| {
        let step = match &steps {
            None => Some(1),
            Some(steps) => steps.as_ref().and_then(|steps| steps.get(i)?.known()),
        };
        let item =
            |list: &Option<Vec<Dim>>| list.as_ref().and_then(|list| list.get(i)).cloned().unwrap_or(Dim::Unknown);
        (axis, Bounds { start: item(&starts), end: item(&ends), step: step.unwrap_or(0) })
    };
    Some(axes.into_iter().enumerate().map(cut).collect())
}

/// A bound of a slice within an extent: it counts from the end if it is negative, and is between `least` and `most`.
fn bound(value: &Dim, extent: &Dim, least: Dim, most: Dim) -> Dim {
    let value = match value {
        Dim::Int(..=-1) => value.clone().plus(extent.clone()),
        value if value.is_at_least(0) => value.clone(),
        // It counts from the end.
        value if value.clone().negated().is_at_least(1) => value.clone().plus(extent.clone()),
        _ => return Dim::Unknown,
    };
    // The largest integers stand for an end that no extent reaches.
    if value.known().is_some_and(|value| value >= i64::from(i32::MAX)) {
        return most;
    }
    value.max(least).min(most)
}

fn cut_extent(Bounds { start, end, step }: &Bounds<Dim>, extent: &Dim) -> Dim {
    let step = *step;
    let length = if step > 0 {
        let start = bound(start, extent, Dim::Int(0), extent.clone());
        let end = bound(end, extent, Dim::Int(0), extent.clone());
        end.minus(start).over_up(Dim::Int(step))
    } else if step < 0 && step != i64::MIN {
        let last = extent.clone().minus(Dim::Int(1));
        // The start is one of the items, the end may be before the first one.
        let end = match end {
            Dim::Int(value) if *value <= -i64::from(i32::MAX) => Dim::Int(-1),
            end => bound(end, extent, Dim::Int(-1), last.clone()),
        };
        let start = bound(start, extent, Dim::Int(0), last);
        start.minus(end).over_up(Dim::Int(-step))
    } else {
        return Dim::Unknown;
    };
    length.max(Dim::Int(0))
}

/// `Slice`
pub(crate) fn slice(call: &mut InferCall) -> Option<()> {
    let mut shape = call.extents(0)?.to_vec();
    let Some(cuts) = cuts(call, shape.len()) else {
        call.give(0, vec![Dim::Unknown; shape.len()]);
        return Some(());
    };
    for (axis, cut) in cuts {
        shape[axis] = cut_extent(&cut, &shape[axis]);
    }
    call.give(0, shape);
    Some(())
}

/// The items of `Slice` of a tensor of one axis.
pub(crate) fn slice_items(call: &mut InferCall) -> Option<()> {
    let items = call.items(0).filter(|_| call.rank(0) == Some(1))?;
    let extent = i64::try_from(items.len()).ok()?;
    let [(_, cut)] = &cuts(call, 1)?[..] else { return None };
    let bounds = Bounds { start: cut.start.known()?, end: cut.end.known()?, step: cut.step };
    if bounds.step == 0 {
        return None;
    }
    let section = AxisSection::new(bounds, extent, Before::First);
    let read: Vec<Dim> = section.places().map(|at| items.get(at).cloned()).collect::<Option<_>>()?;
    call.give_items(0, read);
    Some(())
}

/// `Compress`
pub(crate) fn compress(call: &mut InferCall) -> Option<()> {
    let taken = call.integers(1).map(|items| items.iter().filter(|item| **item != 0).count());
    let taken = taken.map_or(Dim::Unknown, super::source::count);
    let Some(number) = call.int("axis") else {
        call.give(0, [taken]);
        return Some(());
    };
    let mut shape = call.extents(0)?.to_vec();
    let at = axis(number, shape.len())?;
    shape[at] = taken;
    call.give(0, shape);
    Some(())
}

/// `NonZero`: the places of items, as columns.
pub(crate) fn non_zero(call: &mut InferCall) -> Option<()> {
    let rank = call.rank(0).map_or(Dim::Unknown, super::source::count);
    call.give(0, [rank, Dim::Unknown]);
    Some(())
}

/// `TopK`
pub(crate) fn top_k(call: &mut InferCall) -> Option<()> {
    let mut shape = call.extents(0)?.to_vec();
    let at = axis(call.int_or("axis", -1), shape.len())?;
    shape[at] = match call.int("k") {
        Some(k) => Dim::Int(k),
        None => natural(call.item(1)),
    };
    call.give(1, shape.clone());
    call.give(0, shape);
    Some(())
}

/// `Unique`: its results have as many items as there are different ones.
pub(crate) fn unique(call: &mut InferCall) -> Option<()> {
    let own = call.extents(0).map(<[Dim]>::to_vec);
    for result in 1..call.result_count() {
        call.give(result, [Dim::Unknown]);
    }
    let Some(number) = call.int("axis") else {
        call.give(0, [Dim::Unknown]);
        if let Some(own) = own {
            call.give(2, [product(&own)]);
        }
        return Some(());
    };
    let mut shape = own?;
    let at = axis(number, shape.len())?;
    call.give(2, [shape[at].clone()]);
    shape[at] = Dim::Unknown;
    call.give(0, shape);
    Some(())
}

/// `NonMaxSuppression`: batch, class and box of each box that is selected.
pub(crate) fn non_max_suppression(call: &mut InferCall) -> Option<()> {
    call.give(0, [Dim::Unknown, Dim::Int(3)]);
    Some(())
}
