//! Operators that take items at indices.
//!
//! Indices of several axes are those of one axis: a row-major place is a sum of products, so that `gather` of NNEF,
//! which takes slices along one axis, takes single items, too.

use super::LoweringRule::By;
use super::shaping::{AxisRange, ranges};
use super::{Line, Lowered, LoweringRow, Refusal, extent_of, integers, product};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;
use crate::pnnx::parse::{Reading, parse};
use crate::pnnx::tokens::Literal;

pub(super) const ROWS: &[LoweringRow] = &[
    (&["torch.gather"], By(gather)),
    (&["torch.take_along_dim"], By(take_along)),
    (&["torch.index_select"], By(index_select)),
    (&["torch.take"], By(take)),
    (&["Tensor.index"], By(index)),
    (&["torch.repeat_interleave"], By(repeat_interleave)),
    (&["Tensor.unfold"], By(unfold)),
    (&["Tensor.slice_copy", "torch.slice_scatter"], By(slice_copy)),
    (&["Tensor.select_copy", "torch.select_scatter"], By(select_copy)),
    (&["Tensor.copy"], By(copy)),
    (&["torch.as_strided"], By(strided)),
];

impl Line<'_> {
    /// Slices at indices along an axis.
    pub(super) fn taken(&mut self, x: TensorId, indices: TensorId, axis: i64) -> Lowered<TensorId> {
        self.add("gather", vec![Value::Tensor(x), Value::Tensor(indices), Value::Int(axis)])
    }

    /// Slices at known indices along an axis.
    pub(super) fn taken_at(&mut self, x: TensorId, indices: Vec<i64>, axis: i64) -> Lowered<TensorId> {
        let count = indices.len() as i64;
        let indices = self.constant(&[count], Value::Integers(indices.into()))?;
        self.taken(x, indices, axis)
    }

    /// A product of indices and a number.
    fn scaled(&mut self, indices: TensorId, factor: i64) -> Lowered<TensorId> {
        match factor {
            1 => Ok(indices),
            factor => self.add("mul", vec![Value::Tensor(indices), Value::Int(factor)]),
        }
    }

    /// All items of a tensor, in one row.
    fn flat(&mut self, x: TensorId) -> Lowered<TensorId> {
        let count = product(&self.extents(x)?)?;
        self.reshaped(x, &[count])
    }

    /// An operand that has to be a tensor of integers.
    pub(super) fn indices(&mut self, key: &str) -> Lowered<TensorId> {
        let indices = self.tensor(key)?;
        let refused = || Refusal::Because(format!("its operand `{key}` is not known to have integers").into());
        if self.is_integer(indices) { Ok(indices) } else { Err(refused()) }
    }
}

/// The distance between neighbours along an axis, in the order of the items.
fn stride(extents: &[i64], axis: i64) -> Lowered<i64> {
    let inner = usize::try_from(axis).ok().and_then(|axis| extents.get(axis.checked_add(1)?..));
    product(inner.ok_or(Refusal::UNFIT)?)
}

/// Of each index, the item at its place along an axis, and at the place of the index along the others.
fn gather(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, indices) = (line.tensor("input")?, line.indices("index")?);
    line.off("sparse_grad")?;
    let (extents, shape) = (line.extents(x)?, line.extents(indices)?);
    let rank = extents.len() as i64;
    let axis = line.axis("dim", rank, None)?;
    if shape.len() != extents.len() {
        return Err(Refusal::UNFIT);
    }
    gathered(line, x, &extents, indices, &shape, axis).map(|y| vec![y])
}

/// The same after both operands are broadcast along the other axes; without an axis, among all items.
fn take_along(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (mut x, mut indices) = (line.tensor("input")?, line.indices(line.key_of(&["indices", "other"]))?);
    if line.optional::<i64>("dim")?.is_none() {
        (x, indices) = (line.flat(x)?, line.flat(indices)?);
    }
    let (mut extents, mut shape) = (line.extents(x)?, line.extents(indices)?);
    let rank = extents.len();
    let axis = line.axis("dim", rank as i64, Some(0))?;
    if shape.len() != rank {
        return Err(Refusal::UNFIT);
    }
    for (place, (own, count)) in extents.iter_mut().zip(&mut shape).enumerate() {
        if place as i64 != axis {
            let common = (*own).max(*count);
            (*own, *count) = (common, common);
        }
    }
    let (x, indices) = (line.expanded(x, &extents)?, line.expanded(indices, &shape)?);
    gathered(line, x, &extents, indices, &shape, axis).map(|y| vec![y])
}

fn gathered(
    line: &mut Line,
    x: TensorId,
    extents: &[i64],
    indices: TensorId,
    shape: &[i64],
    axis: i64,
) -> Lowered<TensorId> {
    let rank = extents.len() as i64;
    let mut places = line.scaled(indices, stride(extents, axis)?)?;
    for other in (0..rank).filter(|other| *other != axis) {
        let (own, count) = (extent_of(extents, other)?, extent_of(shape, other)?);
        if count > own {
            return Err(Refusal::UNFIT);
        }
        if count > 1 {
            let along = line.spaced(rank, other, 0, stride(extents, other)?, count)?;
            places = line.add("add", vec![Value::Tensor(places), Value::Tensor(along)])?;
        }
    }
    let flat = line.flat(x)?;
    line.taken(flat, places, 0)
}

fn index_select(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, indices) = (line.tensor("input")?, line.indices("index")?);
    let axis = line.axis("dim", line.rank(x)?, None)?;
    let indices = match line.rank(indices)? {
        0 => line.with_axes(indices, [0])?,
        1 => indices,
        _ => return Err(Refusal::UNFIT),
    };
    Ok(vec![line.taken(x, indices, axis)?])
}

/// Items at row-major places.
fn take(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (x, indices) = (line.tensor("input")?, line.indices("index")?);
    let count = product(&line.extents(x)?)?;
    let flat = line.reshaped(x, &[count])?;
    let indices = line.counted_from_start(indices, count)?;
    Ok(vec![line.taken(flat, indices, 0)?])
}

/// The indices of `Tensor.index`: an expression in a setting, or the second operand. None for whole axes.
fn wanted(line: &mut Line) -> Lowered<Vec<Option<ExpandedItem>>> {
    let form = |line: &Line| match line.operands.len() {
        1 => line.refuse("expr", "a list of indices"),
        _ => Refusal::Because("its indices are not a list".into()),
    };
    let given = match line.params.iter().find(|(param, _)| param.key == "expr") {
        Some((param, used)) => {
            used.set(true);
            let reading = Reading { compat: true, ..Reading::default() };
            let parsed = parse(&param.text, line.file, param.span.start, reading).map_err(|_| form(line))?.0;
            let items: Vec<ExpandedItem> = line.operands.iter().map(|operand| operand.item.clone()).collect();
            line.operands.iter().skip(1).for_each(|operand| operand.used.set(true));
            line.expression(&parsed.expression, &items)
        }
        None => {
            let operand = line.operands.get(1).ok_or_else(|| form(line))?;
            operand.used.set(true);
            operand.item.clone()
        }
    };
    let ExpandedItem::List(items) = given else { return Err(form(line)) };
    let whole =
        |item: &ExpandedItem| if *item == ExpandedItem::Literal(Literal::None) { None } else { Some(item.clone()) };
    Ok(items.iter().map(whole).collect())
}

/// The indices of an axis as a tensor of integers that are not negative.
fn counted(line: &mut Line, item: &ExpandedItem, extent: i64) -> Lowered<TensorId> {
    let known = |item: &ExpandedItem| match item {
        ExpandedItem::Literal(Literal::Int(index)) if *index < 0 => index.checked_add(extent),
        ExpandedItem::Literal(Literal::Int(index)) => Some(*index),
        _ => None,
    };
    let within = |index: &i64| (0..extent).contains(index);
    let unfit = || Refusal::Because("its indices are not integers within an axis".into());
    match item {
        ExpandedItem::Tensor(tensor) if line.is_integer(*tensor) => line.counted_from_start(*tensor, extent),
        ExpandedItem::Tensor(_) => {
            Err(Refusal::Because("the shape of a result that a mask chooses is not known".into()))
        }
        ExpandedItem::List(items) if matches!(items.first(), Some(ExpandedItem::Literal(Literal::Bool(_)))) => {
            let chosen = masked_places(items).filter(|_| items.len() as i64 == extent);
            let reason = format!("its mask does not choose some of {extent} items");
            let chosen = chosen.filter(|chosen| !chosen.is_empty()).ok_or(Refusal::Because(reason.into()))?;
            line.constant(&[chosen.len() as i64], Value::Integers(chosen.into()))
        }
        ExpandedItem::List(items) => {
            let indices = items.iter().map(|item| known(item).filter(within)).collect::<Option<Vec<i64>>>();
            let indices = indices.filter(|indices| !indices.is_empty()).ok_or_else(unfit)?;
            line.constant(&[indices.len() as i64], Value::Integers(indices.into()))
        }
        item => {
            let index = known(item).filter(within).ok_or_else(unfit)?;
            line.constant(&[], Value::Integers([index].into()))
        }
    }
}

/// The places of true items; none if there are other ones than truth values.
fn masked_places(items: &[ExpandedItem]) -> Option<Vec<i64>> {
    let truth = |item: &ExpandedItem| match item {
        ExpandedItem::Literal(Literal::Bool(truth)) => Some(*truth),
        _ => None,
    };
    let truths = items.iter().map(truth).collect::<Option<Vec<bool>>>()?;
    Some((0..).zip(truths).filter(|(_, truth)| *truth).map(|(place, _)| place).collect())
}

/// Indices of some axes, which are broadcast together. Their axes take the place of the first one of these axes, or are
/// the first ones of the result if others are between them.
fn index(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let wanted = wanted(line)?;
    let mut extents = line.extents(x)?;
    let rank = extents.len() as i64;
    let axes: Vec<i64> = wanted.iter().zip(0..).filter(|(item, _)| item.is_some()).map(|(_, axis)| axis).collect();
    let (Some(first), Some(last)) = (axes.first().copied(), axes.last().copied()) else { return Ok(vec![x]) };
    if last >= rank {
        return Err(Refusal::UNFIT);
    }
    let mut indices = Vec::new();
    for (item, axis) in wanted.iter().flatten().zip(&axes) {
        indices.push(counted(line, item, extent_of(&extents, *axis)?)?);
    }
    let mut x = x;
    let mut place = first;
    let count = axes.len() as i64;
    if last.saturating_sub(first) >= count {
        let order: Vec<i64> = axes.iter().copied().chain((0..rank).filter(|axis| !axes.contains(axis))).collect();
        x = line.transposed(x, &order)?;
        extents = line.extents(x)?;
        place = 0;
    }
    let end = place.saturating_add(count);
    let own = usize::try_from(place).ok().zip(usize::try_from(end).ok()).ok_or(Refusal::UNFIT)?;
    let chosen = extents.get(own.0..own.1).ok_or(Refusal::UNFIT)?.to_vec();
    let places = places(line, &indices, &chosen)?;
    extents.splice(own.0..own.1, [product(&chosen)?]);
    let x = line.reshaped(x, &extents)?;
    Ok(vec![line.taken(x, places, place)?])
}

/// Row-major places in some axes, by indices of each of them.
pub(super) fn places(line: &mut Line, indices: &[TensorId], extents: &[i64]) -> Lowered<TensorId> {
    let rank = line.broadcast(indices)?.len() as i64;
    let mut places: Option<TensorId> = None;
    for (indices, axis) in indices.iter().zip(0..) {
        let indices = if line.rank(*indices)? == 0 { *indices } else { line.with_rank(*indices, rank)? };
        let along = line.scaled(indices, stride(extents, axis)?)?;
        places = Some(match places {
            None => along,
            Some(places) => line.add("add", vec![Value::Tensor(places), Value::Tensor(along)])?,
        });
    }
    places.ok_or(Refusal::UNFIT)
}

/// Each item several times, one after the other.
fn repeat_interleave(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let mut x = line.tensor("input")?;
    let times = line.at_least("repeats", 1, None)?;
    let mut extents = line.extents(x)?;
    let axis = match line.optional::<i64>("dim")? {
        Some(_) => line.axis("dim", extents.len() as i64, None)?,
        None => {
            extents = vec![product(&extents)?];
            x = line.reshaped(x, &extents)?;
            0
        }
    };
    let extent = extent_of(&extents, axis)?;
    line.agrees("output_size", &[Some(product(&[extent, times])?)])?;
    let inner = axis.saturating_add(1);
    let x = line.with_axes(x, [inner])?;
    let repeats = (0..=extents.len() as i64).map(|other| if other == inner { times } else { 1 });
    let x = line.add("tile", vec![Value::Tensor(x), integers(repeats)])?;
    let shape = extents
        .iter()
        .zip(0..)
        .map(|(extent, other)| if other == axis { product(&[*extent, times]) } else { Ok(*extent) });
    let shape = shape.collect::<Lowered<Vec<i64>>>()?;
    Ok(vec![line.reshaped(x, &shape)?])
}

/// Windows along an axis, whose items are along a new last axis.
fn unfold(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let rank = extents.len() as i64;
    let axis = line.axis(line.key_of(&["dimension", "dim"]), rank, None)?;
    let extent = extent_of(&extents, axis)?;
    let (size, step) = (line.at_least("size", 1, None)?, line.at_least("step", 1, None)?);
    line.require("size", size <= extent, &format!("an integer up to {extent}"))?;
    let count = extent.saturating_sub(size).checked_div(step).ok_or(Refusal::UNFIT)?.saturating_add(1);
    let firsts = line.spaced(2, 0, 0, step, count)?;
    let within = line.counting((2, 1), size)?;
    let indices = line.add("add", vec![Value::Tensor(firsts), Value::Tensor(within)])?;
    let x = line.taken(x, indices, axis)?;
    let inner = axis.saturating_add(1);
    let order: Vec<i64> = (0..=rank).filter(|other| *other != inner).chain([inner]).collect();
    Ok(vec![line.transposed(x, &order)?])
}

/// The operand in which the slice from `start` to `end` is replaced, along each of some axes. Where an item is selected,
/// the source lacks the axis.
fn slice_copy(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor(line.key_of(&["input", "self"]))?;
    let extents = line.extents(x)?;
    let source = line.tensor("src")?;
    let source = line.cast(source, line.primitive(x)?)?;
    let ranges = ranges(line, &extents, Some(0))?;
    let mut part = extents.clone();
    for range in &ranges {
        let at = usize::try_from(range.axis).map_err(|_| Refusal::UNFIT)?;
        *part.get_mut(at).ok_or(Refusal::UNFIT)? = range.count();
    }
    if part.contains(&0) {
        return Ok(vec![x]);
    }
    let mut lacking: Vec<i64> = ranges.iter().filter(|range| range.is_item).map(|range| range.axis).collect();
    lacking.sort_unstable();
    let count = (part.len() as i64).saturating_sub(lacking.len() as i64);
    let source = line.with_rank(source, count)?;
    let source = line.with_axes(source, lacking)?;
    let source = line.expanded(source, &part)?;
    inserted(line, x, source, &ranges).map(|y| vec![y])
}

/// A tensor in which the parts along axes are replaced: along the first one, those of what is there, in which the other
/// axes are replaced.
fn inserted(line: &mut Line, x: TensorId, source: TensorId, ranges: &[AxisRange]) -> Lowered<TensorId> {
    let Some((range, rest)) = ranges.split_first() else { return Ok(source) };
    let extent = extent_of(&line.extents(x)?, range.axis)?;
    let mut part = source;
    if !rest.is_empty() {
        let own = line.taken_at(x, range.places(), range.axis)?;
        part = inserted(line, own, source, rest)?;
    }
    // Places are those of the operand, and behind them those of the new part.
    let place = |at: i64| range.place_of(at).map_or(at, |new| new.saturating_add(extent));
    let places: Vec<i64> = line.items(extent, Some)?.into_iter().map(place).collect();
    let both = line.concatenated(&[x, part], range.axis)?;
    line.taken_at(both, places, range.axis)
}

/// The operand in which the items at a place along an axis are replaced.
fn select_copy(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor(line.key_of(&["input", "self"]))?;
    let extents = line.extents(x)?;
    let axis = line.axis("dim", extents.len() as i64, Some(0))?;
    let extent = extent_of(&extents, axis)?;
    let index = line.axis("index", extent, None)?;
    let places = line.items(extent, |place| Some(if place == index { extent } else { place }))?;
    let part: Vec<i64> =
        extents.iter().zip(0..).map(|(extent, other)| if other == axis { 1 } else { *extent }).collect();
    replaced(line, x, axis, places, &part)
}

/// Items of a tensor and of a part that is put behind it, at places along an axis.
fn replaced(line: &mut Line, x: TensorId, axis: i64, places: Vec<i64>, part: &[i64]) -> Lowered<Vec<TensorId>> {
    let source = line.tensor("src")?;
    let source = line.cast(source, line.primitive(x)?)?;
    let extents = line.extents(source)?;
    // A selected slice has one axis less.
    let source = match (extents.len() as i64) < part.len() as i64 {
        true if extents.len().checked_add(1) == Some(part.len()) => line.with_axes(source, [axis])?,
        _ => source,
    };
    let source = line.expanded(source, part)?;
    let both = line.concatenated(&[x, source], axis)?;
    Ok(vec![line.taken_at(both, places, axis)?])
}

/// The second operand with the shape and the type of the first one.
fn copy(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor(line.key_of(&["input", "self"]))?;
    let source = line.tensor(line.key_of(&["src", "other"]))?;
    line.ignore("non_blocking");
    let source = line.cast(source, line.primitive(x)?)?;
    let shape = line.extents(x)?;
    Ok(vec![line.expanded(source, &shape)?])
}

/// `torch.as_strided`: items at places that grow by a number along each axis.
fn strided(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let (size, steps): (Vec<i64>, Vec<i64>) = (line.required("size")?, line.required("stride")?);
    line.require("stride", steps.len() == size.len(), "as many numbers as `size`")?;
    line.items_of(&size)?;
    let mut places = vec![line.optional("storage_offset")?.unwrap_or(0)];
    for (extent, step) in size.iter().zip(&steps) {
        let along = |place: &i64| -> Option<Vec<i64>> {
            (0..*extent).map(|at| at.checked_mul(*step)?.checked_add(*place)).collect()
        };
        places = places.iter().map(along).collect::<Option<Vec<_>>>().ok_or(Refusal::UNFIT)?.concat();
    }
    let count = product(&line.extents(x)?)?;
    line.require(
        "stride",
        places.iter().all(|place| (0..count).contains(place)),
        "numbers that stay within the tensor",
    )?;
    let row = line.flat(x)?;
    let items = line.taken_at(row, places, 0)?;
    Ok(vec![line.reshaped(items, &size)?])
}
