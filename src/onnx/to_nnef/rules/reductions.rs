//! Reductions, and normalizations by sums along axes.

use crate::graph::Value;
use crate::library::assembly::Assembly;
use crate::onnx::to_nnef::emit::{integers, listed, pairs, text};
use crate::onnx::to_nnef::item::{FlatTensor, NnefOutcome};
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::onnx::to_nnef::shape::{axis_of, numbers, product};
use crate::tensor::DType;

/// What is done before and after the reduction.
#[derive(Clone, Copy)]
struct Form {
    before: Option<&'static str>,
    operation: &'static str,
    after: Option<&'static str>,
}

/// The axes of a reduction, of which all are meant if none are given; none if it reduces nothing.
fn reduced_axes(line: &NodeLine) -> Lowered<Option<Vec<usize>>> {
    let rank = line.rank(0)?;
    let axes = line.axes(1, rank)?.filter(|axes| !axes.is_empty());
    if axes.is_none() && line.flag("noop_with_empty_axes", false)? || rank == 0 {
        return Ok(None);
    }
    Ok(Some(axes.unwrap_or_else(|| (0..rank).collect())))
}

/// Refuses integers, whose roots and logarithms are rounded towards zero in ONNX.
fn only_floats(line: &NodeLine) -> Lowered<()> {
    match line.dtype(0)?.is_integer() {
        true => Err(NodeRefusal::because("NNEF has no roots and logarithms of integers")),
        false => Ok(()),
    }
}

/// Reduces the operand along its axes.
fn reduce(line: &mut NodeLine, form: Form) -> NodeResults {
    if form.after.is_some() {
        only_floats(line)?;
    }
    let keeps = line.flag("keepdims", true)?;
    let Some(axes) = reduced_axes(line)? else { return unreduced(line, form) };
    let extents = line.shape(0)?;
    let mut x = line.flat(0)?;
    let of = x.dtype;
    if axes.iter().any(|axis| extents[*axis] == 0) {
        return Err(NodeRefusal::because("it reduces no items"));
    }
    if let Some(before) = form.before {
        x = line.emit.formula(before, &[x])?;
    }
    x = line.emit.on(form.operation, x, [listed(&axes)])?;
    if let Some(after) = form.after {
        x = line.emit.formula(after, &[x])?;
    }
    if x.dtype != of {
        x = line.emit.cast(x, of)?;
    }
    one(if keeps { x } else { line.emit.squeeze(x, &axes)? })
}

/// The functions of each item that belong to a reduction of nothing.
fn unreduced(line: &mut NodeLine, form: Form) -> NodeResults {
    if form.before.is_none() && form.after.is_none() {
        return Ok(vec![NnefOutcome::Operand(0)]);
    }
    let mut x = line.flat(0)?;
    for text in [form.before, form.after].into_iter().flatten() {
        x = line.emit.formula(text, &[x])?;
    }
    one(x)
}

const fn plain(operation: &'static str) -> Form {
    Form { before: None, operation, after: None }
}

pub(in crate::onnx::to_nnef) fn sum(line: &mut NodeLine) -> NodeResults {
    reduce(line, plain("sum_reduce"))
}

/// A mean of integers is rounded towards zero.
pub(in crate::onnx::to_nnef) fn mean(line: &mut NodeLine) -> NodeResults {
    match line.dtype(0)?.is_integer() {
        true => Err(NodeRefusal::because("NNEF has no means of integers")),
        false => reduce(line, plain("mean_reduce")),
    }
}

pub(in crate::onnx::to_nnef) fn max(line: &mut NodeLine) -> NodeResults {
    let logical = line.dtype(0)? == DType::Bool;
    reduce(line, plain(if logical { "any_reduce" } else { "max_reduce" }))
}

pub(in crate::onnx::to_nnef) fn min(line: &mut NodeLine) -> NodeResults {
    let logical = line.dtype(0)? == DType::Bool;
    reduce(line, plain(if logical { "all_reduce" } else { "min_reduce" }))
}

pub(in crate::onnx::to_nnef) fn prod(line: &mut NodeLine) -> NodeResults {
    let operation = line.emit.registry("tract_core_product_reduce")?;
    reduce(line, plain(operation))
}

pub(in crate::onnx::to_nnef) fn l1(line: &mut NodeLine) -> NodeResults {
    reduce(line, Form { before: Some("abs(@0)"), ..plain("sum_reduce") })
}

pub(in crate::onnx::to_nnef) fn l2(line: &mut NodeLine) -> NodeResults {
    reduce(line, Form { before: Some("mul(@0,@0)"), operation: "sum_reduce", after: Some("root(@0)") })
}

pub(in crate::onnx::to_nnef) fn sum_square(line: &mut NodeLine) -> NodeResults {
    reduce(line, Form { before: Some("mul(@0,@0)"), ..plain("sum_reduce") })
}

pub(in crate::onnx::to_nnef) fn log_sum(line: &mut NodeLine) -> NodeResults {
    reduce(line, Form { after: Some("log(@0)"), ..plain("sum_reduce") })
}

pub(in crate::onnx::to_nnef) fn log_sum_exp(line: &mut NodeLine) -> NodeResults {
    only_floats(line)?;
    let Some(axes) = reduced_axes(line)? else { return Ok(vec![NnefOutcome::Operand(0)]) };
    let x = line.flat(0)?;
    let result = line.emit.log_sum_exp(x, &numbers(&axes))?;
    one(if line.flag("keepdims", true)? { result } else { line.emit.squeeze(result, &axes)? })
}

/// The place of the largest or smallest item: of the first one, or of the last one if that is asked for.
fn place(line: &mut NodeLine, [first, last]: [&'static str; 2]) -> NodeResults {
    let axis = line.axis(0, line.rank(0)?)?;
    let operation = match line.flag("select_last_index", false)? {
        true => line.emit.registry(last)?,
        false => first,
    };
    let x = line.flat(0)?;
    let place = line.emit.add(operation, [Value::Tensor(x.id), listed(&[axis])], DType::Int64)?;
    one(if line.flag("keepdims", true)? { place } else { line.emit.squeeze(place, &[axis])? })
}

pub(in crate::onnx::to_nnef) fn arg_max(line: &mut NodeLine) -> NodeResults {
    place(line, ["argmax_reduce", "tract_core_argmax_reduce_last"])
}

pub(in crate::onnx::to_nnef) fn arg_min(line: &mut NodeLine) -> NodeResults {
    place(line, ["argmin_reduce", "tract_core_argmin_reduce_last"])
}

/// The axes of a softmax: one, or all from it on in early versions.
fn softmax_axes(line: &NodeLine) -> Lowered<Vec<usize>> {
    let rank = line.rank(0)?;
    match line.version < 13 {
        true => Ok((line.axis(1, rank)?..rank).collect()),
        false => Ok(vec![line.axis(-1, rank)?]),
    }
}

pub(in crate::onnx::to_nnef) fn softmax(line: &mut NodeLine) -> NodeResults {
    let axes = softmax_axes(line)?;
    let x = line.flat(0)?;
    one(line.emit.on("softmax", x, [listed(&axes)])?)
}

pub(in crate::onnx::to_nnef) fn log_softmax(line: &mut NodeLine) -> NodeResults {
    let axes = softmax_axes(line)?;
    let x = line.flat(0)?;
    one(line.emit.log_softmax(x, &numbers(&axes))?)
}

/// One at the place of the first largest item, and zero elsewhere.
pub(in crate::onnx::to_nnef) fn hardmax(line: &mut NodeLine) -> NodeResults {
    let axes = softmax_axes(line)?;
    let extents = line.shape(0)?;
    let (x, of) = (line.flat(0)?, line.dtype(0)?);
    let (Some(first), Some(last)) = (axes.first().copied(), axes.last().copied()) else {
        return Err(NodeRefusal::RANK);
    };
    let inner = product(&extents[first..=last])?;
    let flat = [&extents[..first], &[inner], &extents[last + 1..]].concat();
    let x = line.emit.reshaped(x, &flat)?;
    let place = line.emit.add("argmax_reduce", [Value::Tensor(x.id), listed(&[first])], DType::Int64)?;
    let places = line.emit.counting(flat.len(), first, inner)?;
    let hot = line.emit.formula("eq(@0,@1)", &[places, place])?;
    let ones = line.emit.add("select", [Value::Tensor(hot.id), Value::Scalar(1.0), Value::Scalar(0.0)], of)?;
    one(line.emit.reshaped(ones, &extents)?)
}

/// What is added or multiplied up to each item along an axis.
struct Running {
    x: FlatTensor,
    extents: Vec<i64>,
    axis: usize,
    /// Whether the item itself is left out.
    exclusive: bool,
    /// Whether it begins at the last item.
    reverse: bool,
}

fn running(line: &mut NodeLine) -> Lowered<Running> {
    let extents = line.shape(0)?;
    let axis = line.number(1)?.map(|axis| axis as i64).ok_or(NodeRefusal::UNFIT)?;
    let axis = axis_of(axis, extents.len())?;
    let (exclusive, reverse) = (line.flag("exclusive", false)?, line.flag("reverse", false)?);
    Ok(Running { x: line.flat(0)?, extents, axis, exclusive, reverse })
}

/// Sums of windows that end at each item.
pub(in crate::onnx::to_nnef) fn cum_sum(line: &mut NodeLine) -> NodeResults {
    let Running { x, extents, axis, exclusive, reverse } = running(line)?;
    let of = x.dtype;
    let (outer, count, inner) = (product(&extents[..axis])?, extents[axis], product(&extents[axis + 1..])?);
    if count == 0 {
        return Ok(vec![NnefOutcome::Operand(0)]);
    }
    let x = line.emit.cast(x, DType::Float32)?;
    let mut x = line.emit.reshaped(x, &[1, 1, outer, count, inner])?;
    let along = |pair: (i64, i64)| pairs([(0, 0), (0, 0), (0, 0), pair, (0, 0)]);
    if exclusive {
        let (pair, range) = if reverse { ((0, 1), 1..count + 1) } else { ((1, 0), 0..count) };
        x = line.emit.on("pad", x, [along(pair), text("constant")])?;
        x = line.emit.part_of(x, 3, range)?;
    }
    let before = if reverse { (0, count - 1) } else { (count - 1, 0) };
    let sums = line.emit.on("box", x, [integers([1, 1, 1, count, 1]), text("constant"), along(before)])?;
    let sums = line.emit.reshaped(sums, &extents)?;
    one(line.emit.cast(sums, of)?)
}

/// Divides by a norm along an axis; a norm of zero gives zero.
pub(in crate::onnx::to_nnef) fn lp_normalization(line: &mut NodeLine) -> NodeResults {
    let axis = line.axis(-1, line.rank(0)?)?;
    let x = line.flat(0)?;
    let norm = norm(line, x, &[axis])?;
    one(line.emit.formula("select(eq(@1,0.0),0.0,div(@0,@1))", &[x, norm])?)
}

/// The norm of order 1 or 2 along axes.
fn norm(line: &mut NodeLine, x: FlatTensor, axes: &[usize]) -> Lowered<FlatTensor> {
    let (before, after) = match line.int("p", 2)? {
        1 => ("abs(@0)", None),
        2 => ("mul(@0,@0)", Some("root(@0)")),
        _ => return Err(NodeRefusal::because("its order is neither 1 nor 2")),
    };
    let powers = line.emit.formula(before, &[x])?;
    let sum = line.emit.on("sum_reduce", powers, [listed(axes)])?;
    after.map_or(Ok(sum), |after| line.emit.formula(after, &[sum]))
}

/// A norm of all items of each channel.
pub(in crate::onnx::to_nnef) fn global_lp_pool(line: &mut NodeLine) -> NodeResults {
    let axes: Vec<usize> = (2..line.rank(0)?).collect();
    let x = line.flat(0)?;
    one(norm(line, x, &axes)?)
}

/// A reduction of all items of each channel.
pub(in crate::onnx::to_nnef) fn global(line: &mut NodeLine, operation: &'static str) -> NodeResults {
    let axes: Vec<usize> = (2..line.rank(0)?).collect();
    let x = line.flat(0)?;
    one(line.emit.on(operation, x, [listed(&axes)])?)
}

/// Products of the items up to each one, one after the other.
pub(in crate::onnx::to_nnef) fn cum_prod(line: &mut NodeLine) -> NodeResults {
    let Running { x, extents, axis, exclusive, reverse } = running(line)?;
    let mut product: Option<FlatTensor> = None;
    let mut parts = Vec::new();
    for step in 0..extents[axis] {
        let at = if reverse { extents[axis] - 1 - step } else { step };
        let item = line.emit.item_of(x, axis as i64, at)?;
        let next = match product {
            None => item,
            Some(product) => line.emit.formula("mul(@0,@1)", &[product, item])?,
        };
        parts.push(match (exclusive, product) {
            (false, _) => next,
            (true, Some(product)) => product,
            (true, None) => line.emit.formula("select(lt(@0,@0),@0,1)", &[item])?,
        });
        product = Some(next);
    }
    if reverse {
        parts.reverse();
    }
    one(line.emit.concatenated(&parts, axis as i64)?)
}
