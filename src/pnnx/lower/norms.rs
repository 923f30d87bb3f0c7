//! Normalizations.

use super::reductions::centred;
use super::settings::SettingKind;
use super::windows::pooled;
use super::{Line, Lowered, Refusal, extent_of, in_groups, integers};
use crate::extents::Window;
use crate::graph::operators::exact_quotient;
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;

/// The machine epsilon of 32-bit floats: the default epsilon of `rms_norm` in torch.
const STEP: f64 = f32::EPSILON as f64;

/// The number that is added to variances.
fn epsilon(line: &Line) -> Lowered<f64> {
    line.setting_or("eps", 1e-5)
}

/// Reads settings that agree with the data, and those that have a meaning only in training.
fn redundant(line: &Line, channels: Option<(&str, TensorId)>) -> Lowered<()> {
    ["momentum", "cudnn_enabled"].iter().for_each(|key| line.ignore(key));
    for key in ["affine", "elementwise_affine"] {
        line.agrees_with(key, line.weights("weight")?.is_some())?;
    }
    match channels {
        Some((key, x)) => line.agrees(key, line.shape(x)?.get(1..2).ok_or(Refusal::UNFIT)?),
        None => Ok(()),
    }
}

pub(super) fn batch_norm(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    line.off("training")?;
    line.agrees_with("track_running_stats", true)?;
    redundant(line, Some(("num_features", x)))?;
    let epsilon = epsilon(line)?;
    let mut arguments = vec![Value::Tensor(x)];
    for (key, default) in [("running_mean", None), ("running_var", None), ("bias", Some(0.0)), ("weight", Some(1.0))] {
        let tensor = if default.is_some() { line.weights(key)? } else { Some(line.data(key)?) };
        arguments.push(match tensor {
            Some(tensor) => Value::Tensor(line.with_axes(tensor, [0])?),
            None => Value::Scalar(default.unwrap_or_default()),
        });
    }
    arguments.push(Value::Scalar(epsilon));
    Ok(vec![line.add("batch_normalization", arguments)?])
}

/// Normalizes to mean 0 and variance 1 along axes.
pub(super) fn standardized(line: &mut Line, x: TensorId, axes: &[i64]) -> Lowered<TensorId> {
    let epsilon = epsilon(line)?;
    let (less, variance) = centred(line, x, axes)?;
    let variance = line.add("add", vec![Value::Tensor(variance), Value::Scalar(epsilon)])?;
    let factor = line.add("rsqrt", vec![Value::Tensor(variance)])?;
    line.add("mul", vec![Value::Tensor(less), Value::Tensor(factor)])
}

/// Multiplies by the weight and adds the bias, if there are any; they get `axes` leading axes.
fn affine(line: &mut Line, mut y: TensorId, axes: i64) -> Lowered<TensorId> {
    for (key, nnef) in [("weight", "mul"), ("bias", "add")] {
        if let Some(tensor) = line.weights(key)? {
            let tensor = line.with_axes(tensor, 0..axes)?;
            y = line.add(nnef, vec![Value::Tensor(y), Value::Tensor(tensor)])?;
        }
    }
    Ok(y)
}

/// The normalized axes: the last ones, which have the extents of `normalized_shape`. Also the number of axes before.
fn last_axes(line: &Line, x: TensorId) -> Lowered<(Vec<i64>, i64)> {
    let (extents, shape) = (line.shape(x)?, line.required::<Vec<i64>>("normalized_shape")?);
    line.require("normalized_shape", !shape.is_empty(), <Vec<i64>>::EXPECTED)?;
    let first = extents.len().saturating_sub(shape.len());
    let last = extents.get(first..).filter(|last| !last.is_empty()).ok_or(Refusal::UNFIT)?;
    line.agrees("normalized_shape", last)?;
    Ok(((first as i64..extents.len() as i64).collect(), first as i64))
}

pub(super) fn layer_norm(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    redundant(line, None)?;
    let (axes, before) = last_axes(line, x)?;
    let y = standardized(line, x, &axes)?;
    affine(line, y, before).map(|y| vec![y])
}

/// Divides the operand by its root mean square.
pub(super) fn rms_norm(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    redundant(line, None)?;
    let (axes, before) = last_axes(line, x)?;
    let epsilon = line.optional("eps")?.unwrap_or(STEP);
    let squares = line.add("sqr", vec![Value::Tensor(x)])?;
    let mean = line.add("mean_reduce", vec![Value::Tensor(squares), integers(axes.iter().copied())])?;
    let mean = line.add("add", vec![Value::Tensor(mean), Value::Scalar(epsilon)])?;
    let factor = line.add("rsqrt", vec![Value::Tensor(mean)])?;
    let y = line.add("mul", vec![Value::Tensor(x), Value::Tensor(factor)])?;
    affine(line, y, before).map(|y| vec![y])
}

/// Normalizes to mean 0 and variance 1 within groups of channels.
pub(super) fn group_norm(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    redundant(line, Some(("num_channels", x)))?;
    let groups = line.at_least("num_groups", 1, None)?;
    let channels = extent_of(&line.extents(x)?, 1)?;
    let fits = exact_quotient(channels, groups).is_some();
    line.require("num_groups", fits, &format!("a divisor of the number of channels, {channels},"))?;
    grouped(line, x, groups)
}

/// A group normalization with a group for each channel; a batch normalization if it does not use the statistics of
/// the input: a module with stored statistics, or a function with `use_input_stats=False`.
pub(super) fn instance_norm(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let running = if line.kind.starts_with("nn.") {
        let stored = line.stored("running_mean").is_some();
        line.agrees_with("track_running_stats", stored)?;
        stored
    } else {
        !line.setting_or("use_input_stats", true)?
    };
    if running {
        return batch_norm(line);
    }
    for key in ["running_mean", "running_var"] {
        line.ignore(key);
    }
    let x = line.tensor("input")?;
    redundant(line, Some(("num_features", x)))?;
    let channels = extent_of(&line.extents(x)?, 1)?;
    grouped(line, x, channels)
}

fn grouped(line: &mut Line, x: TensorId, groups: i64) -> Lowered<Vec<TensorId>> {
    let extents = line.extents(x)?;
    let apart = in_groups(&extents, groups).ok_or(Refusal::UNFIT)?;
    let axes: Vec<i64> = (2..apart.len() as i64).collect();
    let x = line.add("reshape", vec![Value::Tensor(x), integers(apart)])?;
    let y = standardized(line, x, &axes)?;
    let y = line.add("reshape", vec![Value::Tensor(y), integers(extents)])?;
    affine(line, y, 1).map(|y| vec![y])
}

/// Local response normalization over neighbouring channels.
pub(super) fn local_response(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let size = line.at_least("size", 1, None)?;
    let rank = Some(line.rank(x)?).filter(|rank| *rank > 2).ok_or(Refusal::UNFIT)?;
    if size % 2 == 0 {
        return between(line, x, size, rank).map(|y| vec![y]);
    }
    let window = [1, size].into_iter().chain(std::iter::repeat(1)).take(rank as usize);
    let mut arguments = vec![Value::Tensor(x), integers(window)];
    for (key, default) in [("alpha", 1e-4), ("beta", 0.75), ("k", 1.0)] {
        arguments.push(Value::Scalar(line.setting_or(key, default)?));
    }
    Ok(vec![line.add("local_response_normalization", arguments)?])
}

/// The same over an even number of channels, which have no middle one: torch counts one more before than behind, NNEF
/// one more behind.
fn between(line: &mut Line, x: TensorId, size: i64, rank: i64) -> Lowered<TensorId> {
    let (alpha, beta): (f64, f64) = (line.setting_or("alpha", 1e-4)?, line.setting_or("beta", 0.75)?);
    let k: f64 = line.setting_or("k", 1.0)?;
    let unit = Window::side_by_side(1);
    let channels = Window { size, padding: (size / 2, size.saturating_sub(1) / 2), ..unit };
    let windows: Vec<Window> = std::iter::once(channels).chain((2..rank).map(|_| unit)).collect();
    let squares = line.add("sqr", vec![Value::Tensor(x)])?;
    let mean = pooled(line, "avg_pool", squares, "constant", &windows)?;
    let scaled = line.add("mul", vec![Value::Tensor(mean), Value::Scalar(alpha)])?;
    let scaled = line.add("add", vec![Value::Tensor(scaled), Value::Scalar(k)])?;
    let divisor = line.add("pow", vec![Value::Tensor(scaled), Value::Scalar(beta)])?;
    line.add("div", vec![Value::Tensor(x), Value::Tensor(divisor)])
}
