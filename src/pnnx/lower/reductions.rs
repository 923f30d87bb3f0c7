//! Reductions, and functions based on them.

use super::{Line, Lowered, Refusal, extent_of, integers};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;

/// The axes of a reduction: all without the setting, or if it is `()`.
pub(super) fn reduced(line: &Line, x: TensorId) -> Lowered<Vec<i64>> {
    let rank = line.rank(x)?;
    let given = line.axes("dim", rank)?.filter(|axes| !axes.is_empty());
    Ok(given.unwrap_or_else(|| (0..rank).collect()))
}

pub(super) fn softmax(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis("dim", line.rank(x)?, None)?;
    Ok(vec![line.add("softmax", vec![Value::Tensor(x), integers([axis])])?])
}

/// The softmax of the negated operand.
pub(super) fn softmin(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis("dim", line.rank(x)?, None)?;
    let less = line.add("neg", vec![Value::Tensor(x)])?;
    Ok(vec![line.add("softmax", vec![Value::Tensor(less), integers([axis])])?])
}

/// The softmax along the channels of images, of which there may be one without a batch.
pub(super) fn softmax_of_channels(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = Some(line.rank(x)?).filter(|rank| [3, 4].contains(rank)).ok_or(Refusal::UNFIT)?.saturating_sub(3);
    Ok(vec![line.add("softmax", vec![Value::Tensor(x), integers([axis])])?])
}

pub(super) fn log_softmax(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis("dim", line.rank(x)?, None)?;
    Ok(vec![line.log_softmax(x, &[axis])?])
}

/// A reduction along axes.
pub(super) fn reduce(line: &mut Line, nnef: &'static str) -> Lowered<Vec<TensorId>> {
    let mut x = line.tensor("input")?;
    let axes = reduced(line, x)?;
    // The sum of truth values is the number of those that hold.
    if line.is_logical(x) {
        x = line.cast(x, Primitive::Integer)?;
    }
    let y = line.add(nnef, vec![Value::Tensor(x), integers(axes.iter().copied())])?;
    drop_axes(line, y, axes).map(|y| vec![y])
}

/// Removes the reduced axes, unless they are to be kept.
pub(super) fn drop_axes(line: &mut Line, tensor: TensorId, axes: Vec<i64>) -> Lowered<TensorId> {
    if line.flag("keepdim")? || axes.is_empty() {
        return Ok(tensor);
    }
    line.add("squeeze", vec![Value::Tensor(tensor), integers(axes)])
}

/// The deviations from the mean along axes, and the mean of their squares.
pub(super) fn centred(line: &mut Line, x: TensorId, axes: &[i64]) -> Lowered<(TensorId, TensorId)> {
    let axes = || integers(axes.iter().copied());
    let mean = line.add("mean_reduce", vec![Value::Tensor(x), axes()])?;
    let less = line.add("sub", vec![Value::Tensor(x), Value::Tensor(mean)])?;
    let squares = line.add("sqr", vec![Value::Tensor(less)])?;
    Ok((less, line.add("mean_reduce", vec![Value::Tensor(squares), axes()])?))
}

pub(super) fn variance(line: &mut Line, root: bool) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = reduced(line, x)?;
    let y = spread(line, x, &axes, root)?;
    drop_axes(line, y, axes).map(|y| vec![y])
}

/// The variance along axes, which are kept, or its square root. By default, the divisor is the number of items minus 1.
pub(super) fn spread(line: &mut Line, x: TensorId, axes: &[i64], root: bool) -> Lowered<TensorId> {
    let extents = line.extents(x)?;
    let less = match line.optional("correction")? {
        Some(correction) => correction,
        None => f64::from(u8::from(line.optional("unbiased")?.unwrap_or(true))),
    };
    let count = axes.iter().map(|axis| Ok(extent_of(&extents, *axis)? as f64)).product::<Lowered<f64>>()?;
    if count <= less || count == 0.0 {
        return Err(Refusal::Because("the variance is not defined for so few items".into()));
    }
    let (_, mut y) = centred(line, x, axes)?;
    if less != 0.0 {
        y = line.add("mul", vec![Value::Tensor(y), Value::Scalar(count / (count - less))])?;
    }
    if root { line.add("sqrt", vec![Value::Tensor(y)]) } else { Ok(y) }
}

pub(super) fn log_sum_exp(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = reduced(line, x)?;
    let y = line.log_sum_exp(x, &axes)?;
    drop_axes(line, y, axes).map(|y| vec![y])
}

/// The smallest and the largest item along axes.
pub(super) fn extremes(line: &mut Line) -> Lowered<Vec<TensorId>> {
    Ok([reduce(line, "min_reduce")?, reduce(line, "max_reduce")?].concat())
}

/// The number of items that are not 0.
pub(super) fn count(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = reduced(line, x)?;
    let counted = line.truth(x)?;
    let counted = line.cast(counted, Primitive::Integer)?;
    let y = line.add("sum_reduce", vec![Value::Tensor(counted), integers(axes.iter().copied())])?;
    drop_axes(line, y, axes).map(|y| vec![y])
}

/// The element-wise maximum or minimum of two operands; otherwise, the largest or smallest item along axes, and its
/// index if there are two results.
pub(super) fn extreme(line: &mut Line, [elements, items, places]: [&'static str; 3]) -> Lowered<Vec<TensorId>> {
    let second = line.operands.get(1).map(|operand| operand.name.as_str());
    if line.operands.len() == 2 && matches!(second, Some("other" | "input1")) {
        return Ok(vec![line.text_of(&format!("{elements}(@0,@1)"))?]);
    }
    let mut results = reduce(line, items)?;
    if line.operator.outputs.len() == 2 {
        results.extend(super::order::place(line, places)?);
    }
    Ok(results)
}
