//! Normalizations: items less their mean, divided by their deviation.

use super::conv::each_channel;
use super::reals::{Reals, broadcast, planes};
use crate::eval::EvalError;
use crate::onnx::run::broadcast::to;
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::DType;
use crate::tensor::kernels::{each_group, grouped, sum};

/// The mean and the variance of items.
fn moments(items: &[f64]) -> (f64, f64) {
    let count = items.len() as f64;
    let mean = sum(items.iter().copied()) / count;
    (mean, sum(items.iter().map(|x| (x - mean).powi(2))) / count)
}

/// Scale and bias for each channel, or other groups.
fn parameters<'c>(call: &'c NodeCall, first: usize, count: usize) -> Result<[Reals<'c>; 2], EvalError> {
    Ok([Reals::shaped(call, first, &[count])?, Reals::shaped(call, first + 1, &[count])?])
}

/// `BatchNormalization` with given means and variances, or with those of the batch when training.
pub(in crate::onnx) fn batch_normalization(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?;
    let (batch, channels, space) = match x.shape {
        [batch] => (*batch, 1, &[][..]),
        shape => planes(call, shape)?,
    };
    let plane: usize = space.iter().product();
    let ([scale, bias], [mean, variance]) = (parameters(call, 1, channels)?, parameters(call, 3, channels)?);
    let (epsilon, momentum) = (call.float_or("epsilon", 1e-5)?, call.float_or("momentum", 0.9)?);
    let training = call.flag("training_mode", false)?;
    let mut used: Vec<(f64, f64)> = mean.items.iter().copied().zip(variance.items.iter().copied()).collect();
    if training {
        call.budget.room(x.shape)?;
        for (channel, used) in used.iter_mut().enumerate() {
            let rows = (0..batch).flat_map(|b| &x.items[(b * channels + channel) * plane..][..plane]);
            *used = moments(&rows.copied().collect::<Vec<_>>());
        }
    }
    let mut result = x.items.to_vec();
    each_channel(&mut result, channels, plane, |channel, items| {
        let (mean, variance) = used[channel];
        let factor = scale.items[channel] / (variance + epsilon).sqrt();
        items.iter_mut().for_each(|x| *x = (*x - mean) * factor + bias.items[channel]);
    });
    let mut results = vec![call.rounded(x.dtype, x.shape, result)?.into()];
    if training {
        let running = |old: &Reals, new: fn(&(f64, f64)) -> f64| {
            let items = old.items.iter().zip(&used).map(|(old, used)| old * momentum + new(used) * (1.0 - momentum));
            call.rounded(old.dtype, old.shape, items.collect::<Vec<_>>())
        };
        results.extend([running(&mean, |used| used.0)?.into(), running(&variance, |used| used.1)?.into()]);
    }
    Ok(results)
}

/// `InstanceNormalization`.
pub(in crate::onnx) fn instance_normalization(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?;
    let (_, channels, space) = planes(call, x.shape)?;
    let [scale, bias] = parameters(call, 1, channels)?;
    let epsilon = call.float_or("epsilon", 1e-5)?;
    let mut result = x.items.to_vec();
    each_channel(&mut result, channels, space.iter().product(), |channel, items| {
        let (mean, variance) = moments(items);
        let factor = scale.items[channel] / (variance + epsilon).sqrt();
        items.iter_mut().for_each(|x| *x = (*x - mean) * factor + bias.items[channel]);
    });
    one(call.rounded(x.dtype, x.shape, result)?)
}

/// `GroupNormalization`: scale and bias are those of groups at first, later those of channels.
pub(in crate::onnx) fn group_normalization(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?;
    let (batch, channels, space) = planes(call, x.shape)?;
    let groups = usize::try_from(call.int_or("num_groups", 0)?).ok().filter(|&n| n > 0 && channels % n == 0);
    let groups = groups.ok_or_else(|| call.refused("`num_groups` does not divide the channels"))?;
    let each = channels / groups;
    let count = if call.version < 21 { groups } else { channels };
    let ([scale, bias], epsilon) = (parameters(call, 1, count)?, call.float_or("epsilon", 1e-5)?);
    let plane: usize = space.iter().product();
    let mut result = x.items.to_vec();
    for (group, items) in result.chunks_exact_mut((each * plane).max(1)).enumerate().take(batch * groups) {
        let (mean, variance) = moments(items);
        let factor = 1.0 / (variance + epsilon).sqrt();
        each_channel(items, each, plane, |channel, items| {
            let channel = group % groups * each + channel;
            let at = if count == channels { channel } else { channel / each };
            items.iter_mut().for_each(|x| *x = (*x - mean) * factor * scale.items[at] + bias.items[at]);
        });
    }
    one(call.rounded(x.dtype, x.shape, result)?)
}

/// The items of an operand repeated to a shape.
fn repeated(call: &NodeCall, of: &Reals, shape: &[usize]) -> Result<Vec<f64>, EvalError> {
    if broadcast(call, of.shape, shape)? != shape {
        return Err(call.misfit(format!("the shape {:?} cannot be repeated to {shape:?}", of.shape)));
    }
    let count = call.budget.room(shape)?;
    let zeros = vec![0.0; count];
    Ok(to(shape).zip((&of.items, of.shape), (&zeros, shape), |x, _: f64| x))
}

/// The groups of the axes from one on, with scale and bias of their items.
struct NormalizedLayer<'c> {
    x: Reals<'c>,
    axis: usize,
    scale: Vec<f64>,
    bias: Option<Vec<f64>>,
    epsilon: f64,
    /// The type of the result, which is that of the scale.
    dtype: DType,
    /// The type in which numbers are normalized.
    precision: DType,
}

impl<'c> NormalizedLayer<'c> {
    fn read(call: &'c NodeCall) -> Result<Self, EvalError> {
        let x = Reals::of(call, 0)?;
        let axis = call.axis(call.int_or("axis", -1)?, x.shape.len())?;
        // Parameters may have the shape of the whole operand too.
        let full = |of: &Reals| match of.shape.len() > x.shape.len() - axis {
            true => repeated(call, of, x.shape),
            false => repeated(call, of, &x.shape[axis..]),
        };
        let scale = Reals::of(call, 1)?;
        let (dtype, scale) = (scale.dtype, full(&scale)?);
        let bias = Reals::optional(call, 2)?.map(|bias| full(&bias)).transpose()?;
        let precision = call.dtype_attribute("stash_type")?.unwrap_or(DType::Float32);
        Ok(NormalizedLayer { x, axis, scale, bias, epsilon: call.float_or("epsilon", 1e-5)?, dtype, precision })
    }

    /// Normalizes each group by a shift and a factor. Returns the result, the shifts and the factors.
    fn run(
        &self,
        call: &NodeCall,
        f: impl Fn(&[f64]) -> (f64, f64),
    ) -> Result<Vec<crate::tensor::value::RunValue>, EvalError> {
        let (size, mut result) = (self.x.shape[self.axis..].iter().product::<usize>(), self.x.items.to_vec());
        let (mut shifts, mut factors) = (Vec::new(), Vec::new());
        let place =
            |items: &[f64], row: usize, i: usize| if items.len() > size { items[row * size + i] } else { items[i] };
        for (row, items) in result.chunks_exact_mut(size.max(1)).enumerate() {
            let (shift, factor) = f(items);
            for (i, x) in items.iter_mut().enumerate() {
                // -0 changes no number, nor the sign of zero.
                let bias = self.bias.as_ref().map_or(-0.0, |bias| place(bias, row, i));
                *x = (*x - shift) * factor * place(&self.scale, row, i) + bias;
            }
            shifts.push(shift);
            factors.push(factor);
        }
        let shape = self.x.shape.iter().enumerate().map(|(i, &extent)| if i < self.axis { extent } else { 1 });
        let shape: Vec<usize> = shape.collect();
        let mut results = vec![call.rounded(self.dtype, self.x.shape, result)?.into()];
        if call.results() > 1 {
            results.push(call.rounded(self.precision, &shape, shifts)?.into());
            results.push(call.rounded(self.precision, &shape, factors)?.into());
        }
        Ok(results)
    }
}

/// `LayerNormalization`.
pub(in crate::onnx) fn layer_normalization(call: &NodeCall) -> KernelResult {
    let layer = NormalizedLayer::read(call)?;
    layer.run(call, |items| {
        let (mean, variance) = moments(items);
        (mean, 1.0 / (variance + layer.epsilon).sqrt())
    })
}

/// `RMSNormalization`.
pub(in crate::onnx) fn rms_normalization(call: &NodeCall) -> KernelResult {
    let layer = NormalizedLayer::read(call)?;
    layer.run(call, |items| {
        let square = sum(items.iter().map(|x| x * x)) / items.len() as f64;
        (0.0, 1.0 / (square + layer.epsilon).sqrt())
    })
}

/// `LpNormalization`: divides by the norm along an axis; zeros stay zeros.
pub(in crate::onnx) fn lp_normalization(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?;
    let axis = call.axis(call.int_or("axis", -1)?, x.shape.len())?;
    let p = call.int_or("p", 2)?;
    let norm: fn(&[f64]) -> f64 = match p {
        1 => |line| sum(line.iter().map(|x| x.abs())),
        2 => |line| sum(line.iter().map(|x| x.powi(2))).sqrt(),
        p => return Err(call.refused(format!("`p` is {p}"))),
    };
    let mut result = x.items.to_vec();
    each_group(&mut result, x.shape, &[axis], |line| {
        let norm = norm(line);
        line.iter_mut().for_each(|x| *x = if norm == 0.0 { 0.0 } else { *x / norm });
    });
    one(call.rounded(x.dtype, x.shape, result)?)
}

/// `MeanVarianceNormalization`.
pub(in crate::onnx) fn mean_variance(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?;
    let axes = match (call.version, call.ints("axes")?) {
        (..9, _) if call.flag("across_channels", false)? => vec![0, 1, 2, 3],
        (_, axes) => axes.unwrap_or_else(|| vec![0, 2, 3]),
    };
    let axes = call.axes(&axes, x.shape.len())?;
    let groups: Vec<(f64, f64)> = grouped(&x.items, x.shape, &axes, moments);
    let shape: Vec<usize> = x.shape.iter().enumerate().map(|(i, &n)| if axes.contains(&i) { 1 } else { n }).collect();
    let result: Vec<f64> = to(x.shape).zip((&x.items, x.shape), (&groups, &shape), |x, (mean, variance)| {
        // The standard adds 1e-9 to the deviation.
        (x - mean) / (variance.sqrt() + 1e-9)
    });
    one(call.rounded(x.dtype, x.shape, result)?)
}
