//! Reductions, and functions based on them.

use super::{Line, Lowered, Refusal, extent_of, integers};
use crate::graph::{TensorId, Value};

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

/// `y - log(sum(exp(y)))` with `y = x - max(x)`, which prevents overflow.
pub(super) fn log_softmax(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis("dim", line.rank(x)?, None)?;
    let largest = line.add("max_reduce", vec![Value::Tensor(x), integers([axis])])?;
    let less = line.add("sub", vec![Value::Tensor(x), Value::Tensor(largest)])?;
    let exponential = line.add("exp", vec![Value::Tensor(less)])?;
    let sum = line.add("sum_reduce", vec![Value::Tensor(exponential), integers([axis])])?;
    let log = line.add("log", vec![Value::Tensor(sum)])?;
    Ok(vec![line.add("sub", vec![Value::Tensor(less), Value::Tensor(log)])?])
}

/// A reduction along axes.
pub(super) fn reduce(line: &mut Line, nnef: &'static str) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = reduced(line, x)?;
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

/// The order of a norm: 1 or 2.
fn order(line: &Line) -> Lowered<i64> {
    let order: f64 = line.setting_or("p", 2.0)?;
    line.require("p", order == 1.0 || order == 2.0, "1 or 2")?;
    Ok(order as i64)
}

/// The norms of order 1 and 2.
pub(super) fn norm(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = reduced(line, x)?;
    let y = powers(line, x, axes.clone())?;
    drop_axes(line, y, axes).map(|y| vec![y])
}

/// The norm of order 1 or 2 along axes, which are kept.
fn powers(line: &mut Line, x: TensorId, axes: Vec<i64>) -> Lowered<TensorId> {
    let (before, after) = if order(line)? == 1 { ("abs", None) } else { ("sqr", Some("sqrt")) };
    let items = line.add(before, vec![Value::Tensor(x)])?;
    let y = line.add("sum_reduce", vec![Value::Tensor(items), integers(axes)])?;
    match after {
        Some(after) => line.add(after, vec![Value::Tensor(y)]),
        None => Ok(y),
    }
}

/// The deviations from the mean along axes, and the mean of their squares.
pub(super) fn centred(line: &mut Line, x: TensorId, axes: &[i64]) -> Lowered<(TensorId, TensorId)> {
    let axes = || integers(axes.iter().copied());
    let mean = line.add("mean_reduce", vec![Value::Tensor(x), axes()])?;
    let less = line.add("sub", vec![Value::Tensor(x), Value::Tensor(mean)])?;
    let squares = line.add("sqr", vec![Value::Tensor(less)])?;
    Ok((less, line.add("mean_reduce", vec![Value::Tensor(squares), axes()])?))
}

/// The variance along axes, or its square root. By default, the divisor is the number of items minus 1.
pub(super) fn variance(line: &mut Line, root: bool) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let axes = reduced(line, x)?;
    let less = match line.optional("correction")? {
        Some(correction) => correction,
        None => f64::from(u8::from(line.optional("unbiased")?.unwrap_or(true))),
    };
    let count = axes.iter().map(|axis| Ok(extent_of(&extents, *axis)? as f64)).product::<Lowered<f64>>()?;
    if count <= less || count == 0.0 {
        return Err(Refusal::Because("the variance is not defined for so few items".into()));
    }
    let (_, mut y) = centred(line, x, &axes)?;
    if less != 0.0 {
        y = line.add("mul", vec![Value::Tensor(y), Value::Scalar(count / (count - less))])?;
    }
    if root {
        y = line.add("sqrt", vec![Value::Tensor(y)])?;
    }
    drop_axes(line, y, axes).map(|y| vec![y])
}

/// The logarithm of the sum of exponentials; the maximum is subtracted before, which prevents overflow.
pub(super) fn log_sum_exp(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = reduced(line, x)?;
    let along = || integers(axes.iter().copied());
    let largest = line.add("max_reduce", vec![Value::Tensor(x), along()])?;
    let less = line.add("sub", vec![Value::Tensor(x), Value::Tensor(largest)])?;
    let exponential = line.add("exp", vec![Value::Tensor(less)])?;
    let sum = line.add("sum_reduce", vec![Value::Tensor(exponential), along()])?;
    let log = line.add("log", vec![Value::Tensor(sum)])?;
    let y = line.add("add", vec![Value::Tensor(log), Value::Tensor(largest)])?;
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

/// Divides the operand by its norm along an axis.
pub(super) fn normalize(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis("dim", line.rank(x)?, Some(1))?;
    let epsilon: f64 = line.setting_or("eps", 1e-12)?;
    let y = powers(line, x, vec![axis])?;
    // As the second operand, a norm that is NaN stays.
    let norm = line.add("max", vec![Value::Scalar(epsilon), Value::Tensor(y)])?;
    Ok(vec![line.add("div", vec![Value::Tensor(x), Value::Tensor(norm)])?])
}
