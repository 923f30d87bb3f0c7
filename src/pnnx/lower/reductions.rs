//! Reductions, and functions based on them.

use super::{Line, integers};
use crate::graph::{TensorId, Value};

pub(super) fn softmax(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis(line.integer("dim")?, line.rank(x)?)?;
    Some(vec![line.add("softmax", vec![Value::Tensor(x), integers([axis])])?])
}

/// `y - log(sum(exp(y)))` with `y = x - max(x)`, which prevents overflow.
pub(super) fn log_softmax(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis(line.integer("dim")?, line.rank(x)?)?;
    let largest = line.add("max_reduce", vec![Value::Tensor(x), integers([axis])])?;
    let less = line.add("sub", vec![Value::Tensor(x), Value::Tensor(largest)])?;
    let exponential = line.add("exp", vec![Value::Tensor(less)])?;
    let sum = line.add("sum_reduce", vec![Value::Tensor(exponential), integers([axis])])?;
    let log = line.add("log", vec![Value::Tensor(sum)])?;
    Some(vec![line.add("sub", vec![Value::Tensor(less), Value::Tensor(log)])?])
}

/// A reduction along axes.
pub(super) fn reduce(line: &mut Line, nnef: &'static str) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = line.axes("dim", line.rank(x)?)?;
    let y = line.add(nnef, vec![Value::Tensor(x), integers(axes.iter().copied())])?;
    drop_axes(line, y, axes).map(|y| vec![y])
}

/// Removes the reduced axes, unless they are to be kept.
fn drop_axes(line: &mut Line, tensor: TensorId, axes: Vec<i64>) -> Option<TensorId> {
    if line.flag("keepdim") || axes.is_empty() {
        return Some(tensor);
    }
    line.add("squeeze", vec![Value::Tensor(tensor), integers(axes)])
}

/// The norms of order 1 and 2.
pub(super) fn norm(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = line.axes("dim", line.rank(x)?)?;
    let order = line.setting("p").map_or(Some(2.0), |p| p.float())?;
    let (before, after) = match order {
        1.0 => ("abs", None),
        2.0 => ("sqr", Some("sqrt")),
        _ => return None,
    };
    let items = line.add(before, vec![Value::Tensor(x)])?;
    let mut y = line.add("sum_reduce", vec![Value::Tensor(items), integers(axes.iter().copied())])?;
    if let Some(after) = after {
        y = line.add(after, vec![Value::Tensor(y)])?;
    }
    drop_axes(line, y, axes).map(|y| vec![y])
}

/// The deviations from the mean along axes, and the mean of their squares.
pub(super) fn centred(line: &mut Line, x: TensorId, axes: &[i64]) -> Option<(TensorId, TensorId)> {
    let axes = || integers(axes.iter().copied());
    let mean = line.add("mean_reduce", vec![Value::Tensor(x), axes()])?;
    let less = line.add("sub", vec![Value::Tensor(x), Value::Tensor(mean)])?;
    let squares = line.add("sqr", vec![Value::Tensor(less)])?;
    Some((less, line.add("mean_reduce", vec![Value::Tensor(squares), axes()])?))
}

/// The variance along axes, or its square root. By default, the divisor is the number of items minus 1.
pub(super) fn variance(line: &mut Line, root: bool) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let extents = line.extents(x)?;
    let axes = line.axes("dim", extents.len() as i64)?;
    let less = match (line.setting("correction"), line.setting("unbiased")) {
        (Some(correction), _) => correction.float()?,
        (None, Some(_)) => f64::from(u8::from(line.flag("unbiased"))),
        (None, None) => 1.0,
    };
    let count = axes.iter().try_fold(1i64, |all, axis| all.checked_mul(extents[*axis as usize]))? as f64;
    (count > less).then_some(())?;
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
pub(super) fn log_sum_exp(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = line.axes("dim", line.rank(x)?)?;
    let along = || integers(axes.iter().copied());
    let largest = line.add("max_reduce", vec![Value::Tensor(x), along()])?;
    let less = line.add("sub", vec![Value::Tensor(x), Value::Tensor(largest)])?;
    let exponential = line.add("exp", vec![Value::Tensor(less)])?;
    let sum = line.add("sum_reduce", vec![Value::Tensor(exponential), along()])?;
    let log = line.add("log", vec![Value::Tensor(sum)])?;
    let y = line.add("add", vec![Value::Tensor(log), Value::Tensor(largest)])?;
    drop_axes(line, y, axes).map(|y| vec![y])
}

/// The index of the largest or smallest item along one axis.
pub(super) fn place(line: &mut Line, nnef: &'static str) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis(line.integer("dim")?, line.rank(x)?)?;
    let y = line.add(nnef, vec![Value::Tensor(x), integers([axis])])?;
    drop_axes(line, y, vec![axis]).map(|y| vec![y])
}

/// The element-wise maximum or minimum of two operands; otherwise, the largest or smallest item along axes, and its
/// index if there are two results.
pub(super) fn extreme(line: &mut Line, [elements, items, places]: [&'static str; 3]) -> Option<Vec<TensorId>> {
    let second = line.operands.get(1).map(|operand| operand.name.as_str());
    if line.operands.len() == 2 && matches!(second, Some("other" | "input1")) {
        return Some(vec![line.text_of(&format!("{elements}(@0,@1)"))?]);
    }
    let mut results = reduce(line, items)?;
    if line.operator.outputs.len() == 2 {
        results.extend(place(line, places)?);
    }
    Some(results)
}

/// Divides the operand by its norm along an axis.
pub(super) fn normalize(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axis = line.axis(line.integer("dim").unwrap_or(1), line.rank(x)?)?;
    let epsilon = line.setting("eps").map_or(Some(1e-12), |eps| eps.float())?;
    let nnef = match line.setting("p").map_or(Some(2.0), |p| p.float())? {
        1.0 => "l1_normalization",
        2.0 => "l2_normalization",
        _ => return None,
    };
    let arguments = vec![Value::Tensor(x), integers([axis]), Value::Scalar(0.0), Value::Scalar(epsilon)];
    Some(vec![line.add(nnef, arguments)?])
}
