//! Sequences of tensors, whose lengths are known.

use std::rc::Rc;
use std::sync::Arc;

use crate::library::assembly::Assembly;
use crate::onnx::to_nnef::item::{NnefItem, NnefOutcome};
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::onnx::to_nnef::shape::axis_of;
use crate::tensor::Tensor;

fn sequence(items: impl IntoIterator<Item = NnefItem>) -> NodeResults {
    Ok(vec![NnefOutcome::Held(NnefItem::Sequence(items.into_iter().collect::<Vec<_>>().into()))])
}

fn items(line: &NodeLine) -> Lowered<Rc<[NnefItem]>> {
    match line.item(0)? {
        NnefItem::Sequence(items) => Ok(Rc::clone(items)),
        _ => Err(NodeRefusal::because("its operand is not a sequence whose length is known")),
    }
}

/// A place in a sequence; a negative one counts from the end, and the default is after the end.
fn place(line: &NodeLine, operand: usize, count: usize) -> Lowered<usize> {
    match line.number(operand)? {
        None => Ok(count),
        Some(at) => axis_of(at as i64, count),
    }
}

pub(in crate::onnx::to_nnef) fn construct(line: &mut NodeLine) -> NodeResults {
    let all: Lowered<Vec<NnefItem>> = (0..line.count()).map(|i| line.item(i).cloned()).collect();
    sequence(all?)
}

pub(in crate::onnx::to_nnef) fn empty(_: &mut NodeLine) -> NodeResults {
    sequence([])
}

pub(in crate::onnx::to_nnef) fn at(line: &mut NodeLine) -> NodeResults {
    let items = items(line)?;
    let at = place(line, 1, items.len())?;
    Ok(vec![NnefOutcome::Held(items.get(at).cloned().ok_or(NodeRefusal::UNFIT)?)])
}

pub(in crate::onnx::to_nnef) fn length(line: &mut NodeLine) -> NodeResults {
    let count = Tensor::integers(&[], vec![items(line)?.len() as i64]).map_err(|_| NodeRefusal::UNFIT)?;
    Ok(vec![NnefOutcome::Known(Arc::new(count))])
}

pub(in crate::onnx::to_nnef) fn insert(line: &mut NodeLine) -> NodeResults {
    let mut items = items(line)?.to_vec();
    // The place before an item, or after the end.
    let at = match line.number(2)? {
        Some(at) if at >= 0.0 => axis_of(at as i64, items.len().saturating_add(1))?,
        _ => place(line, 2, items.len())?,
    };
    items.insert(at, line.item(1)?.clone());
    sequence(items)
}

pub(in crate::onnx::to_nnef) fn erase(line: &mut NodeLine) -> NodeResults {
    let mut items = items(line)?.to_vec();
    let last = items.len().checked_sub(1).ok_or(NodeRefusal::UNFIT)?;
    let at = if line.has(1) { place(line, 1, items.len())? } else { last };
    items.remove(at);
    sequence(items)
}

/// The lengths of parts of one length, of which the last may be shorter. Each becomes an operation.
fn parts(line: &NodeLine, extent: i64, each: i64) -> Lowered<Vec<i64>> {
    line.emit.allows(extent / each)?;
    let step = usize::try_from(each).map_err(|_| NodeRefusal::UNFIT)?;
    Ok((0..extent).step_by(step).map(|at| each.min(extent - at)).collect())
}

/// The parts of a tensor along an axis: of stated lengths, or of one length of which the last may be shorter.
pub(in crate::onnx::to_nnef) fn split(line: &mut NodeLine) -> NodeResults {
    let extents = line.shape(0)?;
    let axis = line.axis(0, extents.len())?;
    let extent = extents[axis];
    let single = !line.has(1);
    let lengths = match (line.list(1)?, line.has(1) && line.rank(1)? == 0) {
        (None, _) => parts(line, extent, 1)?,
        (Some(list), false) => list,
        (Some(list), true) => {
            let each = list.first().copied().filter(|each| *each > 0).ok_or(NodeRefusal::UNFIT)?;
            parts(line, extent, each)?
        }
    };
    let drops = single && !line.flag("keepdims", true)?;
    let x = line.flat(0)?;
    let (mut parts, mut begin) = (Vec::new(), 0i64);
    for length in lengths {
        let end = begin.checked_add(length).ok_or(NodeRefusal::UNFIT)?;
        let part = line.emit.part_of(x, axis as i64, begin..end)?;
        parts.push(NnefItem::FlatTensor(if drops { line.emit.squeeze(part, &[axis])? } else { part }));
        begin = end;
    }
    sequence(parts)
}

pub(in crate::onnx::to_nnef) fn concat(line: &mut NodeLine) -> NodeResults {
    let items = items(line)?;
    let flats = items.iter().map(|item| line.emit.flat(item)).collect::<Lowered<Vec<_>>>()?;
    let first = *flats.first().ok_or(NodeRefusal::because("it concatenates no items"))?;
    let rank = line.emit.rank(first)?;
    if !line.flag("new_axis", false)? {
        let axis = line.axis(0, rank)?;
        return one(line.emit.concatenated(&flats, axis as i64)?);
    }
    let axis = line.axis(0, rank.saturating_add(1))?;
    let wide = flats.into_iter().map(|flat| line.emit.with_axes(flat, [axis as i64])).collect::<Lowered<Vec<_>>>()?;
    one(line.emit.concatenated(&wide, axis as i64)?)
}
