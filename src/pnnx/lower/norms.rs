//! Normalizations.

use super::reductions::centred;
use super::{Line, integers};
use crate::graph::{TensorId, Value};
use crate::pnnx::model::Setting;
use crate::pnnx::tokens::Literal;

/// The machine epsilon of 32-bit floats: the default epsilon of `rms_norm` in torch.
const STEP: f64 = f32::EPSILON as f64;

pub(super) fn batch_norm(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let epsilon = line.setting("eps").map_or(Some(1e-5), |eps| eps.float())?;
    let mut arguments = vec![Value::Tensor(x)];
    for (key, default) in [("running_mean", None), ("running_var", None), ("bias", Some(0.0)), ("weight", Some(1.0))] {
        arguments.push(match (line.weights(key), default) {
            (Some(tensor), _) => Value::Tensor(line.with_axes(tensor, vec![0])?),
            (None, Some(default)) => Value::Scalar(default),
            (None, None) => return None,
        });
    }
    arguments.push(Value::Scalar(epsilon));
    Some(vec![line.add("batch_normalization", arguments)?])
}

/// Normalizes to mean 0 and variance 1 along axes.
fn standardized(line: &mut Line, x: TensorId, axes: &[i64]) -> Option<TensorId> {
    let epsilon = line.setting("eps").map_or(Some(1e-5), |eps| eps.float())?;
    let (less, variance) = centred(line, x, axes)?;
    let variance = line.add("add", vec![Value::Tensor(variance), Value::Scalar(epsilon)])?;
    let factor = line.add("rsqrt", vec![Value::Tensor(variance)])?;
    line.add("mul", vec![Value::Tensor(less), Value::Tensor(factor)])
}

/// Multiplies by the weight and adds the bias, if there are any; they get `axes` leading axes.
fn affine(line: &mut Line, mut y: TensorId, axes: i64) -> Option<TensorId> {
    for (key, nnef) in [("weight", "mul"), ("bias", "add")] {
        if let Some(tensor) = line.weights(key) {
            let tensor = line.with_axes(tensor, (0..axes).collect())?;
            y = line.add(nnef, vec![Value::Tensor(y), Value::Tensor(tensor)])?;
        }
    }
    Some(y)
}

/// The normalized axes: the last ones, as many as `normalized_shape` has.
fn last_axes(line: &Line, x: TensorId) -> Option<Vec<i64>> {
    let (rank, count) = (line.rank(x)?, line.setting("normalized_shape")?.integers()?.len() as i64);
    (count <= rank).then(|| (rank - count..rank).collect())
}

pub(super) fn layer_norm(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = last_axes(line, x)?;
    let y = standardized(line, x, &axes)?;
    affine(line, y, *axes.first()?).map(|y| vec![y])
}

/// Divides the operand by its root mean square.
pub(super) fn rms_norm(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let axes = last_axes(line, x)?;
    let epsilon = line.number("eps").unwrap_or(STEP);
    let squares = line.add("sqr", vec![Value::Tensor(x)])?;
    let mean = line.add("mean_reduce", vec![Value::Tensor(squares), integers(axes.iter().copied())])?;
    let mean = line.add("add", vec![Value::Tensor(mean), Value::Scalar(epsilon)])?;
    let factor = line.add("rsqrt", vec![Value::Tensor(mean)])?;
    let y = line.add("mul", vec![Value::Tensor(x), Value::Tensor(factor)])?;
    affine(line, y, *axes.first()?).map(|y| vec![y])
}

/// Normalizes to mean 0 and variance 1 within groups of channels.
pub(super) fn group_norm(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let groups = line.integer("num_groups")?;
    grouped(line, x, groups)
}

/// A group normalization with a group for each channel; a batch normalization if it does not use the statistics of
/// the input: a module with stored statistics, or a function with `use_input_stats=False`.
pub(super) fn instance_norm(line: &mut Line) -> Option<Vec<TensorId>> {
    let off = |key: &str| line.setting(key) == Some(Setting::Literal(Literal::Bool(false)));
    let running = if line.operator.kind.starts_with("nn.") {
        line.stored("running_mean").is_some() && !off("track_running_stats")
    } else {
        off("use_input_stats")
    };
    if running {
        return batch_norm(line);
    }
    for key in ["running_mean", "running_var"] {
        line.ignore(key);
    }
    let x = line.tensor("input")?;
    let channels = *line.extents(x)?.get(1)?;
    grouped(line, x, channels)
}

fn grouped(line: &mut Line, x: TensorId, groups: i64) -> Option<Vec<TensorId>> {
    let extents = line.extents(x)?;
    let channels = *extents.get(1)?;
    (groups > 0 && channels % groups == 0 && !extents.contains(&0)).then_some(())?;
    let apart: Vec<i64> =
        [extents[0], groups, channels / groups].into_iter().chain(extents[2..].iter().copied()).collect();
    let axes: Vec<i64> = (2..apart.len() as i64).collect();
    let x = line.add("reshape", vec![Value::Tensor(x), integers(apart)])?;
    let y = standardized(line, x, &axes)?;
    let y = line.add("reshape", vec![Value::Tensor(y), integers(extents)])?;
    affine(line, y, 1).map(|y| vec![y])
}

/// Local response normalization over neighbouring channels.
pub(super) fn local_response(line: &mut Line) -> Option<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let size = line.integer("size")?;
    // Windows of even size have no middle item, and NNEF and torch round in different directions.
    (size % 2 == 1).then_some(())?;
    let rank = line.rank(x).filter(|rank| *rank > 2)?;
    let window = [1, size].into_iter().chain(std::iter::repeat_n(1, rank as usize - 2));
    let mut arguments = vec![Value::Tensor(x), integers(window)];
    for (key, default) in [("alpha", 1e-4), ("beta", 0.75), ("k", 1.0)] {
        arguments.push(Value::Scalar(line.setting(key).map_or(Some(default), |setting| setting.float())?));
    }
    Some(vec![line.add("local_response_normalization", arguments)?])
}
