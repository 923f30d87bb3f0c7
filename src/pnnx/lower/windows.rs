//! Operators with windows, and normalizations.

use super::{Line, integers};
use crate::graph::{TensorId, Value};

/// A parameter with a number for each axis, or one for all of them.
fn per_axis(line: &Line, key: &str, count: usize, default: i64) -> Option<Vec<i64>> {
    match line.setting(key) {
        None => Some(vec![default; count]),
        Some(setting) => match setting.integers()?.as_slice() {
            [] => Some(vec![default; count]),
            [one] => Some(vec![*one; count]),
            several if several.len() == count => Some(several.to_vec()),
            _ => None,
        },
    }
}

fn pairs(items: impl IntoIterator<Item = (i64, i64)>) -> Value {
    Value::Array(items.into_iter().map(|(a, b)| Value::Tuple([Value::Int(a), Value::Int(b)].into())).collect())
}

/// Sizes, strides and dilations along the axes of a window.
struct Window {
    size: Vec<i64>,
    stride: Vec<i64>,
    dilation: Vec<i64>,
    padding: Vec<(i64, i64)>,
}

fn window(line: &Line, size: Vec<i64>, stride: Option<Vec<i64>>) -> Option<Window> {
    let count = size.len();
    let dilation = per_axis(line, "dilation", count, 1)?;
    let padding = match line.word("padding").as_deref() {
        Some("same") => size
            .iter()
            .zip(&dilation)
            .map(|(size, dilation)| dilation * (size - 1))
            .map(|all| (all / 2, all - all / 2))
            .collect(),
        Some("valid") => vec![(0, 0); count],
        Some(_) => return None,
        None => per_axis(line, "padding", count, 0)?.into_iter().map(|padding| (padding, padding)).collect(),
    };
    let stride = match stride {
        Some(stride) => stride,
        None => per_axis(line, "stride", count, 1)?,
    };
    Some(Window { size, stride, dilation, padding })
}

/// The bias of a convolution, with an axis for the batch; 0 without one.
fn bias(line: &mut Line) -> Option<Value> {
    match line.stored("bias") {
        Some(bias) => line.with_axes(bias, vec![0]).map(Value::Tensor),
        None => Some(Value::Scalar(0.0)),
    }
}

/// How the padding of a convolution is filled.
fn border(line: &Line) -> Option<Value> {
    Some(Value::String(
        match line.word("padding_mode").as_deref() {
            None | Some("zeros") => "constant",
            Some("reflect") => "reflect",
            Some("replicate") => "replicate",
            Some(_) => return None,
        }
        .into(),
    ))
}

pub(super) fn conv(line: &mut Line) -> Option<Vec<TensorId>> {
    let (x, weight) = (line.tensor("input")?, line.stored("weight")?);
    let extents = line.extents(weight)?;
    (line.rank(x)? as usize == extents.len()).then_some(())?;
    let window = window(line, extents.get(2..)?.to_vec(), None)?;
    let (border, groups) = (border(line)?, line.integer("groups").unwrap_or(1));
    let bias = bias(line)?;
    let arguments = vec![
        Value::Tensor(x),
        Value::Tensor(weight),
        bias,
        border,
        pairs(window.padding),
        integers(window.stride),
        integers(window.dilation),
        Value::Int(groups),
    ];
    Some(vec![line.add("conv", arguments)?])
}

pub(super) fn deconv(line: &mut Line) -> Option<Vec<TensorId>> {
    let (x, weight) = (line.tensor("input")?, line.stored("weight")?);
    let (extents, input) = (line.extents(weight)?, line.extents(x)?);
    (input.len() == extents.len()).then_some(())?;
    let window = window(line, extents.get(2..)?.to_vec(), None)?;
    let more = per_axis(line, "output_padding", window.size.len(), 0)?;
    let groups = line.integer("groups").unwrap_or(1);
    let spatial = input.get(2..)?.iter().enumerate().map(|(i, extent)| {
        let (before, after) = window.padding[i];
        let reach = window.dilation[i] * (window.size[i] - 1) + 1;
        (extent - 1) * window.stride[i] - before - after + reach + more[i]
    });
    let output = [input[0], extents[1] * groups].into_iter().chain(spatial).collect::<Vec<i64>>();
    // Where the output is longer, the padding behind it is shorter.
    let padding = window.padding.iter().zip(&more).map(|(&(before, after), more)| (before, after - more));
    let bias = bias(line)?;
    let arguments = vec![
        Value::Tensor(x),
        Value::Tensor(weight),
        bias,
        Value::String("constant".into()),
        pairs(padding),
        integers(window.stride.clone()),
        integers(window.dilation.clone()),
        integers(output),
        Value::Int(groups),
    ];
    Some(vec![line.add("deconv", arguments)?])
}

/// A pooling of the last axes.
fn pool(line: &mut Line, nnef: &'static str, border: &str) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let spatial = if line.operator.kind.ends_with("1d") { 1 } else { 2 };
    let outer = (line.rank(x)? as usize).checked_sub(spatial)?;
    let size = per_axis(line, "kernel_size", spatial, 1)?;
    let stride = match line.setting("stride").and_then(|stride| stride.integers()) {
        Some(stride) if !stride.is_empty() => per_axis(line, "stride", spatial, 1)?,
        _ => size.clone(),
    };
    if line.flag("ceil_mode") || line.flag("return_indices") {
        return None;
    }
    let window = window(line, size, Some(stride))?;
    let with_outer = |of: Vec<i64>| integers(std::iter::repeat_n(1, outer).chain(of));
    let padding = std::iter::repeat_n((0, 0), outer).chain(window.padding);
    let arguments = vec![
        Value::Tensor(x),
        with_outer(window.size),
        Value::String(border.into()),
        pairs(padding),
        with_outer(window.stride),
        with_outer(window.dilation),
    ];
    Some(vec![line.add(nnef, arguments)?])
}

pub(super) fn max_pool(line: &mut Line) -> Option<Vec<TensorId>> {
    pool(line, "max_pool", "ignore")
}

pub(super) fn avg_pool(line: &mut Line) -> Option<Vec<TensorId>> {
    // Whether items of the padding count; a divisor of its own is nothing that NNEF has.
    let own = line.setting("divisor_override").is_some_and(|divisor| divisor.integer().is_some());
    let counts = line.setting("count_include_pad").is_none() || line.flag("count_include_pad");
    if own { None } else { pool(line, "avg_pool", if counts { "constant" } else { "ignore" }) }
}

/// The mean of the last two axes: the only adaptive pooling whose windows do not depend on the extents.
pub(super) fn global_pool(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let rank = line.rank(x)?;
    let size = line.setting("output_size")?.integers()?;
    (size.iter().all(|size| *size == 1) && rank >= 2).then_some(())?;
    Some(vec![line.add("mean_reduce", vec![Value::Tensor(x), integers([rank - 2, rank - 1])])?])
}

pub(super) fn batch_norm(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let epsilon = line.number("eps")?;
    let mut arguments = vec![Value::Tensor(x)];
    for (key, default) in [("running_mean", None), ("running_var", None), ("bias", Some(0.0)), ("weight", Some(1.0))] {
        arguments.push(match (line.stored(key), default) {
            (Some(tensor), _) => Value::Tensor(line.with_axes(tensor, vec![0])?),
            (None, Some(default)) => Value::Scalar(default),
            (None, None) => return None,
        });
    }
    arguments.push(Value::Scalar(epsilon));
    Some(vec![line.add("batch_normalization", arguments)?])
}

/// Mean 0 and variance 1 along the last axes, then scaled and moved.
pub(super) fn layer_norm(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let (rank, count) = (line.rank(x)?, line.setting("normalized_shape")?.integers()?.len() as i64);
    let epsilon = line.number("eps")?;
    let axes = || integers(rank - count..rank);
    let (scale, offset) = (line.stored("weight"), line.stored("bias"));
    let mean = line.add("mean_reduce", vec![Value::Tensor(x), axes()])?;
    let less = line.add("sub", vec![Value::Tensor(x), Value::Tensor(mean)])?;
    let squares = line.add("sqr", vec![Value::Tensor(less)])?;
    let variance = line.add("mean_reduce", vec![Value::Tensor(squares), axes()])?;
    let variance = line.add("add", vec![Value::Tensor(variance), Value::Scalar(epsilon)])?;
    let factor = line.add("rsqrt", vec![Value::Tensor(variance)])?;
    let mut y = line.add("mul", vec![Value::Tensor(less), Value::Tensor(factor)])?;
    for (tensor, nnef) in [(scale, "mul"), (offset, "add")] {
        if let Some(tensor) = tensor {
            let tensor = line.with_axes(tensor, (0..rank - count).collect())?;
            y = line.add(nnef, vec![Value::Tensor(y), Value::Tensor(tensor)])?;
        }
    }
    Some(vec![y])
}
