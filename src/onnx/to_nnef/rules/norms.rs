//! Normalizations.

use crate::graph::Value;
use crate::library::assembly::Assembly;
use crate::onnx::to_nnef::emit::{integers, listed, pairs, text};
use crate::onnx::to_nnef::formula::FormulaTerm;
use crate::onnx::to_nnef::item::FlatTensor;
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::onnx::to_nnef::shape::product;

/// The default epsilon of ONNX.
const EPSILON: f32 = 1e-5;

pub(in crate::onnx::to_nnef) fn batch_normalization(line: &mut NodeLine) -> NodeResults {
    if line.flag("training_mode", false)? {
        return Err(NodeRefusal::because("it is in training"));
    }
    line.only(1)?;
    if line.rank(0)? < 2 {
        return Err(NodeRefusal::RANK);
    }
    let epsilon = line.float("epsilon", EPSILON)?;
    let x = line.flat(0)?;
    let [scale, offset, mean, variance] = [1, 2, 3, 4].map(|i| line.per_channel(i));
    let operands = [mean?, variance?, offset?, scale?].map(|flat| Value::Tensor(flat.id));
    one(line.emit.on("batch_normalization", x, operands.into_iter().chain([Value::Scalar(epsilon)]))?)
}

/// The mean and the variance along axes.
fn moments(line: &mut NodeLine, x: FlatTensor, axes: &[usize]) -> Lowered<[FlatTensor; 2]> {
    let found = line.emit.add_several("moments", [Value::Tensor(x.id), listed(axes)], &[x.dtype; 2])?;
    found.try_into().map_err(|_| NodeRefusal::UNFIT)
}

/// The operand with the mean 0 and the variance 1 along axes, scaled and with an offset.
fn normalized(
    line: &mut NodeLine,
    x: FlatTensor,
    axes: &[usize],
    [scale, offset]: [Value; 2],
    epsilon: f64,
) -> Lowered<FlatTensor> {
    let [mean, variance] = moments(line, x, axes)?.map(|flat| Value::Tensor(flat.id));
    line.emit.on("batch_normalization", x, [mean, variance, offset, scale, Value::Scalar(epsilon)])
}

/// The operand less its mean along axes, the mean, and the factor by which it gets the variance 1.
fn standardized(line: &mut NodeLine, x: FlatTensor, axes: &[usize], epsilon: f64) -> Lowered<[FlatTensor; 3]> {
    let [mean, variance] = moments(line, x, axes)?;
    let less = line.emit.formula("sub(@0,@1)", &[x, mean])?;
    let factor = line.emit.formula("rsqrt(add(@0,@1))", &[variance.into(), FormulaTerm::of(epsilon)])?;
    Ok([less, mean, factor])
}

fn scaled(line: &mut NodeLine, less: FlatTensor, factor: FlatTensor) -> Lowered<FlatTensor> {
    line.emit.formula("mul(@0,@1)", &[less, factor])
}

/// Multiplies by a scale and adds an offset, if it is there, after both have become tensors that are broadcast.
fn affine(line: &mut NodeLine, y: FlatTensor, scale: FlatTensor, offset: Option<FlatTensor>) -> Lowered<FlatTensor> {
    let y = scaled(line, y, scale)?;
    offset.map_or(Ok(y), |offset| line.emit.formula("add(@0,@1)", &[y, offset]))
}

/// What is normalized, its rank, the axes from that of the node on, and what is added to the variance.
fn of_last_axes(line: &mut NodeLine) -> Lowered<(FlatTensor, usize, Vec<usize>, f64)> {
    let rank = line.rank(0)?;
    let axes: Vec<usize> = (line.axis(-1, rank)?..rank).collect();
    let epsilon = line.float("epsilon", EPSILON)?;
    Ok((line.flat(0)?, rank, axes, epsilon))
}

pub(in crate::onnx::to_nnef) fn layer_normalization(line: &mut NodeLine) -> NodeResults {
    let (x, rank, axes, epsilon) = of_last_axes(line)?;
    let scale = line.raised(1, rank)?;
    let offset = if line.has(2) { Some(line.raised(2, rank)?) } else { None };
    if !line.wants(1) && !line.wants(2) {
        let offset = offset.map_or(Value::Scalar(0.0), |offset| Value::Tensor(offset.id));
        return one(normalized(line, x, &axes, [Value::Tensor(scale.id), offset], epsilon)?);
    }
    let [less, mean, factor] = standardized(line, x, &axes, epsilon)?;
    let y = scaled(line, less, factor)?;
    let y = affine(line, y, scale, offset)?;
    Ok(vec![y.into(), mean.into(), factor.into()])
}

pub(in crate::onnx::to_nnef) fn rms_normalization(line: &mut NodeLine) -> NodeResults {
    let (x, rank, axes, epsilon) = of_last_axes(line)?;
    let squares = line.emit.formula("mul(@0,@0)", &[x])?;
    let mean = line.emit.on("mean_reduce", squares, [listed(&axes)])?;
    let factor = line.emit.formula("rsqrt(add(@0,@1))", &[mean.into(), FormulaTerm::of(epsilon)])?;
    let y = scaled(line, x, factor)?;
    let scale = line.raised(1, rank)?;
    one(affine(line, y, scale, None)?)
}

/// A parameter of each channel for an operand of a rank.
fn channels(line: &mut NodeLine, i: usize, rank: usize) -> Lowered<FlatTensor> {
    let more = rank.checked_sub(2).ok_or(NodeRefusal::RANK)?;
    line.spread(i, more)
}

pub(in crate::onnx::to_nnef) fn instance_normalization(line: &mut NodeLine) -> NodeResults {
    let rank = line.rank(0)?;
    let axes: Vec<usize> = (2..rank).collect();
    let epsilon = line.float("epsilon", EPSILON)?;
    let x = line.flat(0)?;
    let affine = [line.per_channel(1)?, line.per_channel(2)?].map(|flat| Value::Tensor(flat.id));
    one(normalized(line, x, &axes, affine, epsilon)?)
}

/// Before version 21, scale and offset are those of groups, since then those of channels.
pub(in crate::onnx::to_nnef) fn group_normalization(line: &mut NodeLine) -> NodeResults {
    let extents = line.shape(0)?;
    let [batch, all, inner @ ..] = &extents[..] else { return Err(NodeRefusal::RANK) };
    let groups = line.int("num_groups", 0)?;
    let each =
        all.checked_div(groups).filter(|each| each.checked_mul(groups) == Some(*all)).ok_or(NodeRefusal::UNFIT)?;
    let epsilon = line.float("epsilon", EPSILON)?;
    let x = line.flat(0)?;
    let grouped = line.emit.reshaped(x, &[*batch, groups, product(&[&[each], inner].concat())?])?;
    let [less, _, factor] = standardized(line, grouped, &[2], epsilon)?;
    let mut y = scaled(line, less, factor)?;
    let of_groups = line.version < 21;
    if !of_groups {
        y = line.emit.reshaped(y, &extents)?;
    }
    let rank = if of_groups { 3 } else { extents.len() };
    let (scale, offset) = (channels(line, 1, rank)?, channels(line, 2, rank)?);
    let y = affine(line, y, scale, Some(offset))?;
    one(line.emit.reshaped(y, &extents)?)
}

pub(in crate::onnx::to_nnef) fn mean_variance_normalization(line: &mut NodeLine) -> NodeResults {
    let rank = line.rank(0)?;
    let given = line.ints("axes")?.unwrap_or_else(|| vec![0, 2, 3]);
    let axes = crate::onnx::to_nnef::shape::axes_of(&given, rank)?;
    let x = line.flat(0)?;
    let [mean, variance] = moments(line, x, &axes)?;
    one(line.emit.formula("div(sub(@0,@1),add(root(@2),1e-9))", &[x, mean, variance])?)
}

/// Each channel divided by a power of the sum of squares of its neighbours.
pub(in crate::onnx::to_nnef) fn lrn(line: &mut NodeLine) -> NodeResults {
    let size = line.int("size", 1)?;
    let (alpha, beta) = (line.float("alpha", 1e-4)?, line.float("beta", 0.75)?);
    let bias = line.float("bias", 1.0)?;
    let extents = line.shape(0)?;
    let [batch, channels, inner @ ..] = &extents[..] else { return Err(NodeRefusal::RANK) };
    let x = line.flat(0)?;
    if !line.emit.has_registries() {
        let size = [1, size].into_iter().chain(inner.iter().map(|_| 1));
        let numbers = [alpha, beta, bias].map(Value::Scalar);
        return one(line.emit.on("local_response_normalization", x, [integers(size)].into_iter().chain(numbers))?);
    }
    let squares = line.emit.formula("mul(@0,@0)", &[x])?;
    // With a registry, windows have the extent 1 along the first two axes.
    let squares = line.emit.reshaped(squares, &[1, 1, *batch, *channels, product(inner)?])?;
    let before = (size - 1) / 2;
    let padding = pairs([(0, 0), (0, 0), (0, 0), (before, size - 1 - before), (0, 0)]);
    let sums = line.emit.on("box", squares, [integers([1, 1, 1, size, 1]), text("constant"), padding])?;
    let sums = line.emit.reshaped(sums, &extents)?;
    let [alpha, beta, bias] = [alpha / size as f64, beta, bias].map(FormulaTerm::of);
    let terms = [x.into(), sums.into(), alpha, beta, bias];
    one(line.emit.formula("div(@0,pow(add(mul(@1,@2),@4),@3))", &terms)?)
}
