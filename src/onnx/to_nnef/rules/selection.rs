//! Operators that select items, or put items into a tensor.

use crate::extents::{self, AxisSection, Before, Bounds};
use crate::graph::Value;
use crate::library::assembly::Assembly;
use crate::onnx::to_nnef::emit::{EMPTY, integers, text};
use crate::onnx::to_nnef::formula::FormulaTerm;
use crate::onnx::to_nnef::item::{FlatTensor, NnefOutcome, counts, empty};
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::onnx::to_nnef::shape::{axis_of, for_axes};
use crate::tensor::{DType, Tensor};

/// A range along an axis: the first item, the step, and the number of items, which may be 0.
struct Range {
    axis: usize,
    first: i64,
    step: i64,
    count: i64,
}

/// The items within bounds, as far as they are there.
fn range(extent: i64, bounds: Bounds, axis: usize) -> Lowered<Range> {
    match bounds.step {
        _ if extent == 0 => return Ok(Range { axis, first: 0, step: 1, count: 0 }),
        0 => return Err(NodeRefusal::because("a step is 0")),
        i64::MIN => return Err(NodeRefusal::UNFIT),
        _ => {}
    }
    let section = AxisSection::new(bounds, extent, Before::First);
    Ok(Range { axis, first: section.first, step: section.step, count: section.count() })
}

/// The ranges of a slice.
fn ranges(line: &NodeLine, extents: &[i64]) -> Lowered<Vec<Range>> {
    let given = |name: &str, operand: usize| match line.version < 10 {
        true => line.ints(name),
        false => line.list(operand),
    };
    let missing = || NodeRefusal::because("its bounds are missing");
    let (starts, ends) = (given("starts", 1)?.ok_or_else(missing)?, given("ends", 2)?.ok_or_else(missing)?);
    let axes = given("axes", 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = line.list(4)?.unwrap_or_else(|| for_axes(starts.len(), 1));
    if ends.len() != starts.len() || axes.len() != starts.len() || steps.len() != starts.len() {
        return Err(NodeRefusal::UNFIT);
    }
    let bounds = starts.into_iter().zip(ends).zip(steps).zip(axes);
    bounds
        .map(|(((start, end), step), axis)| {
            let axis = axis_of(axis, extents.len())?;
            range(extents[axis], Bounds { start, end, step }, axis)
        })
        .collect()
}

pub(in crate::onnx::to_nnef) fn slice(line: &mut NodeLine) -> NodeResults {
    let extents = line.shape(0)?;
    let mut ranges = ranges(line, &extents)?;
    // A step between fewer than two items does not matter.
    ranges.iter_mut().filter(|range| range.count == 1).for_each(|range| range.step = 1);
    ranges.retain(|range| (range.first, range.step, range.count) != (0, 1, extents[range.axis]));
    if ranges.is_empty() {
        return Ok(vec![NnefOutcome::Operand(0)]);
    }
    if ranges.iter().any(|range| range.count == 0) {
        let mut shape = extents;
        ranges.iter().for_each(|range| shape[range.axis] = range.count);
        let dtype = line.dtype(0)?;
        return one(empty(&shape, dtype)?);
    }
    let registries = line.emit.has_registries();
    let bounds: Vec<(i64, i64)> = ranges
        .iter()
        .map(|range| {
            let last = range.first + (range.count - 1) * range.step;
            match (range.step > 0, registries) {
                (true, _) => (range.first, last + 1),
                // A range before the first item is counted from the end.
                (false, false) => (range.first, if last == 0 { -extents[range.axis] - 1 } else { last - 1 }),
                // tract cuts the range out before it goes through it.
                (false, true) => (last, range.first + 1),
            }
        })
        .collect();
    let x = line.flat(0)?;
    let mut arguments = vec![
        integers(ranges.iter().map(|range| range.axis as i64)),
        integers(bounds.iter().map(|bound| bound.0)),
        integers(bounds.iter().map(|bound| bound.1)),
    ];
    if ranges.iter().any(|range| range.step != 1) {
        arguments.push(integers(ranges.iter().map(|range| range.step)));
    }
    one(line.emit.on("slice", x, arguments)?)
}

/// Known indices that are not negative; none if an index is out of range.
fn counted(indices: &Tensor, extent: i64) -> Option<Vec<i64>> {
    let index = |i: usize| {
        let index = extents::from_start(indices.data().integer(i), extent);
        (0..extent).contains(&index).then_some(index)
    };
    (0..indices.len()).map(index).collect()
}

pub(in crate::onnx::to_nnef) fn gather(line: &mut NodeLine) -> NodeResults {
    let extents = line.shape(0)?;
    let axis = line.axis(0, extents.len())?;
    let x = line.flat(0)?;
    let Some(known) = line.value(1)? else {
        let indices = line.flat(1)?;
        let at = Value::Int(axis as i64);
        if line.emit.has_registries() {
            return one(line.emit.on("tract_core_gather", x, [Value::Tensor(indices.id), at])?);
        }
        let indices = line.emit.counted_from_start(indices, extents[axis])?;
        return one(line.emit.on("gather", x, [Value::Tensor(indices.id), at])?);
    };
    let indices = counted(&known, extents[axis]).ok_or(NodeRefusal::because("an index is out of range"))?;
    let shape: Vec<i64> = known.shape().iter().map(|extent| *extent as i64).collect();
    if indices.is_empty() {
        return one(empty(&[&extents[..axis], &shape, &extents[axis + 1..]].concat(), x.dtype)?);
    }
    one(taken(line, x, axis, known.shape(), indices)?)
}

/// Items at known indices along an axis: a section where they follow each other.
pub(super) fn taken(
    line: &mut NodeLine,
    x: FlatTensor,
    axis: usize,
    shape: &[usize],
    indices: Vec<i64>,
) -> Lowered<FlatTensor> {
    let follow = indices.windows(2).all(|pair| pair[1] - pair[0] == 1);
    match (shape, indices.first().copied()) {
        ([], Some(index)) => {
            let section = line.emit.item_of(x, axis as i64, index)?;
            line.emit.squeeze(section, &[axis])
        }
        ([_], Some(first)) if follow => line.emit.part_of(x, axis as i64, first..first + indices.len() as i64),
        (_, None) => Err(EMPTY),
        _ => {
            let indices = Tensor::integers(shape, indices).map_err(|_| NodeRefusal::UNFIT)?;
            let indices = line.emit.own_constant(indices)?;
            line.emit.on("gather", x, [Value::Tensor(indices.id), Value::Int(axis as i64)])
        }
    }
}

pub(in crate::onnx::to_nnef) fn gather_elements(line: &mut NodeLine) -> NodeResults {
    let operation = line.emit.registry("tract_core_gather_elements")?;
    let axis = line.axis(0, line.rank(0)?)?;
    let (x, indices) = (line.flat(0)?, line.flat(1)?);
    one(line.emit.on(operation, x, [Value::Tensor(indices.id), Value::Int(axis as i64)])?)
}

pub(in crate::onnx::to_nnef) fn gather_nd(line: &mut NodeLine) -> NodeResults {
    let operation = line.emit.registry("tract_core_gather_nd")?;
    let batch = line.int("batch_dims", 0)?;
    let (x, indices) = (line.flat(0)?, line.flat(1)?);
    one(line.emit.on(operation, x, [Value::Tensor(indices.id), Value::Int(batch)])?)
}

pub(in crate::onnx::to_nnef) fn scatter_elements(line: &mut NodeLine) -> NodeResults {
    let operation = line.emit.registry("tract_core_scatter_elements")?;
    let axis = line.axis(0, line.rank(0)?)?;
    let reduction = line.text("reduction", "none")?;
    let (x, indices, updates) = (line.flat(0)?, line.flat(1)?, line.flat(2)?);
    let others = [Value::Tensor(indices.id), Value::Tensor(updates.id), Value::Int(axis as i64), text(&reduction)];
    one(line.emit.on(operation, x, others)?)
}

pub(in crate::onnx::to_nnef) fn scatter_nd(line: &mut NodeLine) -> NodeResults {
    let operation = line.emit.registry("tract_core_scatter_nd")?;
    let reduction = line.text("reduction", "none")?;
    let (x, indices, updates) = (line.flat(0)?, line.flat(1)?, line.flat(2)?);
    one(line.emit.on(operation, x, [Value::Tensor(indices.id), Value::Tensor(updates.id), text(&reduction)])?)
}

/// Compares the indices with all numbers along the new axis.
pub(in crate::onnx::to_nnef) fn one_hot(line: &mut NodeLine) -> NodeResults {
    let rank = line.rank(0)?.saturating_add(1);
    let axis = line.axis(-1, rank)?;
    let depth = line.number(1)?.map(|depth| depth as i64).filter(|depth| *depth > 0).ok_or(NodeRefusal::UNFIT)?;
    let of = line.dtype(2)?;
    let indices = line.flat(0)?;
    let indices = line.emit.counted_from_start(indices, depth)?;
    let indices = line.emit.with_axes(indices, [axis as i64])?;
    let places = line.emit.counting(rank, axis, depth)?;
    let hot = line.emit.formula("eq(@0,@1)", &[indices, places])?;
    match line.value(2)?.map(|values| values.to_scalars()).as_deref() {
        Some(&[off, on]) => chosen(line, hot, on, off, of),
        Some(_) => Err(NodeRefusal::UNFIT),
        None => {
            let values = line.flat(2)?;
            let mut value = |at: i64| {
                let section = line.emit.item_of(values, 0, at)?;
                line.emit.reshaped(section, &[])
            };
            let (off, on) = (value(0)?, value(1)?);
            one(line.emit.formula("select(@0,@1,@2)", &[hot, on, off])?)
        }
    }
}

/// One number where a condition holds, and another one elsewhere.
fn chosen(line: &mut NodeLine, condition: FlatTensor, yes: f64, no: f64, of: DType) -> NodeResults {
    if of == DType::Bool {
        return one(if yes != 0.0 { condition } else { line.emit.formula("not(@0)", &[condition])? });
    }
    let literal = |number: f64| if of.is_integer() { Value::Int(number as i64) } else { Value::Scalar(number) };
    one(line.emit.add("select", [Value::Tensor(condition.id), literal(yes), literal(no)], of)?)
}

/// The largest or smallest item alone is a reduction; several are an operation of a registry.
pub(in crate::onnx::to_nnef) fn top_k(line: &mut NodeLine) -> NodeResults {
    let k = match line.version < 10 {
        true => line.int("k", 0)?,
        false => line.list(1)?.and_then(|items| items.first().copied()).ok_or(NodeRefusal::UNFIT)?,
    };
    let axis = line.axis(-1, line.rank(0)?)?;
    let largest = line.flag("largest", true)?;
    let x = line.flat(0)?;
    if k == 1 {
        let [value, place] = if largest { ["max_reduce", "argmax_reduce"] } else { ["min_reduce", "argmin_reduce"] };
        let axes = || integers([axis as i64]);
        let values = line.emit.on(value, x, [axes()])?;
        let places = line.emit.add(place, [Value::Tensor(x.id), axes()], DType::Int64)?;
        return Ok(vec![values.into(), places.into()]);
    }
    let operation = line.emit.registry("tract_core_topk")?;
    let arguments = [Value::Tensor(x.id), Value::Int(k), Value::Int(axis as i64), Value::Logical(largest)];
    let found = line.emit.add_several(operation, arguments, &[x.dtype, DType::Int64])?;
    Ok(found.into_iter().map(NnefOutcome::FlatTensor).collect())
}

pub(in crate::onnx::to_nnef) fn non_zero(line: &mut NodeLine) -> NodeResults {
    let operation = line.emit.registry("tract_onnx_non_zero")?;
    let x = line.flat(0)?;
    one(line.emit.add(operation, [Value::Tensor(x.id)], DType::Int64)?)
}

/// Keeps a triangle of the last two axes, by a mask.
pub(in crate::onnx::to_nnef) fn trilu(line: &mut NodeLine) -> NodeResults {
    let extents = line.shape(0)?;
    let [.., rows, columns] = extents[..] else { return Err(NodeRefusal::RANK) };
    let (k, upper) = (line.number(1)?.unwrap_or(0.0) as i64, line.flag("upper", true)?);
    let x = line.flat(0)?;
    let mut shape = for_axes(extents.len() - 2, 1);
    shape.extend(counts(&[rows, columns])?);
    line.emit.room(&shape)?;
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| column - row));
    let mask = places.map(|above| if upper { above >= k } else { above <= k }).collect();
    let mask = line.emit.own_constant(Tensor::logicals(&shape, mask).map_err(|_| NodeRefusal::UNFIT)?)?;
    let zero = FormulaTerm::Number(0.0, x.dtype);
    one(line.emit.formula("select(@0,@1,@2)", &[mask.into(), x.into(), zero])?)
}

/// The items at the places of a known condition.
pub(in crate::onnx::to_nnef) fn compress(line: &mut NodeLine) -> NodeResults {
    let condition = line.known(1)?;
    let chosen = (0..condition.len()).filter(|i| condition.data().float(*i) != 0.0);
    let mut x = line.flat(0)?;
    let axis = match line.attributes.read("axis")? {
        Some(axis) => axis_of(axis, line.rank(0)?)?,
        None => {
            let count = crate::onnx::to_nnef::shape::product(&line.shape(0)?)?;
            x = line.emit.reshaped(x, &[count])?;
            0
        }
    };
    let chosen: Vec<i64> = chosen.map(|i| i as i64).collect();
    one(taken(line, x, axis, &[chosen.len()], chosen)?)
}

/// Numbers whose bounds are known while the model runs only.
pub(in crate::onnx::to_nnef) fn range_of(line: &mut NodeLine) -> NodeResults {
    let operation = line.emit.registry("tract_core_range")?;
    let bounds = line.flats()?;
    let of = line.dtype(0)?;
    one(line.emit.add(operation, bounds.into_iter().map(|flat| Value::Tensor(flat.id)), of)?)
}

/// The items that a grid points at.
pub(in crate::onnx::to_nnef) fn grid_sample(line: &mut NodeLine) -> NodeResults {
    let operation = line.emit.registry("tract_onnx_grid_sample")?;
    let mode = match line.text("mode", "linear")?.as_str() {
        "linear" | "bilinear" => "bilinear",
        "nearest" => "nearest",
        _ => return Err(NodeRefusal::because("its mode has no counterpart")),
    };
    let (padding, aligned) = (line.text("padding_mode", "zeros")?, line.flag("align_corners", false)?);
    let (x, grid) = (line.flat(0)?, line.flat(1)?);
    let arguments = [Value::Tensor(grid.id), text(mode), text(&padding), Value::Logical(aligned)];
    one(line.emit.on(operation, x, arguments)?)
}

/// Ones on a diagonal: a constant, since the extents are known.
pub(in crate::onnx::to_nnef) fn eye_like(line: &mut NodeLine) -> NodeResults {
    let like = line.emit.zeros(&line.shape(0)?, line.dtype(0)?)?;
    let found = line.computed(line.attributes.node, &[Some(like.into())])?;
    Ok(found.into_iter().map(NnefOutcome::Known).collect())
}
