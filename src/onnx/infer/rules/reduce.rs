//! Reductions.

use super::arithmetic::is_exact;
use super::arrange::listed;
use super::axes::{axis, marked};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;

/// The axes that are reduced, as marks; none if they are not known.
fn axes(call: &InferCall, rank: usize) -> Option<Vec<bool>> {
    let given = call.has(1) || call.has_attribute("axes");
    let axes = if given { listed(call, 1, "axes")? } else { Vec::new() };
    if axes.is_empty() {
        return Some(vec![call.int_or("noop_with_empty_axes", 0) == 0; rank]);
    }
    marked(&axes, rank)
}

fn reduced(extents: &[Dim], marks: &[bool], keeps: bool) -> Vec<Dim> {
    let kept = extents.iter().zip(marks).filter(|(_, mark)| keeps || !**mark);
    kept.map(|(extent, mark)| if *mark { Dim::Int(1) } else { extent.clone() }).collect()
}

/// `ReduceSum` and the other reductions of axes.
pub(crate) fn reduce(call: &mut InferCall) -> Option<()> {
    let keeps = call.int_or("keepdims", 1) != 0;
    let extents = call.extents(0)?;
    let shape = match axes(call, extents.len()) {
        Some(marks) => reduced(extents, &marks, keeps),
        None if keeps => vec![Dim::Unknown; extents.len()],
        None => {
            // The number of axes may be known without the axes themselves.
            let removed = call.listed_axes(1).filter(|count| *count > 0)?;
            vec![Dim::Unknown; extents.len().checked_sub(removed)?]
        }
    };
    call.give(0, shape);
    Some(())
}

/// `ArgMax`, `ArgMin`
pub(crate) fn arg(call: &mut InferCall) -> Option<()> {
    let extents = call.extents(0)?;
    let mut marks = vec![false; extents.len()];
    marks[axis(call.int_or("axis", 0), extents.len())?] = true;
    let shape = reduced(extents, &marks, call.int_or("keepdims", 1) != 0);
    call.give(0, shape);
    Some(())
}

/// The items of a reduction of a tensor of one axis to one item.
pub(crate) fn whole(call: &mut InferCall, f: fn(Dim, Dim) -> Dim, start: Option<Dim>) -> Option<()> {
    if !is_exact(call) || call.rank(0) != Some(1) {
        return None;
    }
    let items = call.items(0)?;
    let marks = axes(call, 1)?;
    if marks != [true] {
        call.give_items(0, items);
        return Some(());
    }
    let mut items = items.iter().cloned();
    let first = start.or_else(|| items.next())?;
    call.give_items(0, [items.fold(first, f)]);
    Some(())
}

/// The items of `ReduceMin`.
pub(crate) fn min(call: &mut InferCall) -> Option<()> {
    whole(call, Dim::min, None)
}

/// The items of `ReduceMax`.
pub(crate) fn max(call: &mut InferCall) -> Option<()> {
    whole(call, Dim::max, None)
}

/// `GlobalAveragePool` and others: the spatial axes are reduced to 1.
pub(crate) fn global(call: &mut InferCall) -> Option<()> {
    let extents = call.extents(0)?;
    let shape: Vec<Dim> =
        extents.iter().enumerate().map(|(i, extent)| if i < 2 { extent.clone() } else { Dim::Int(1) }).collect();
    call.give(0, shape);
    Some(())
}
