//! Convolutions.

use super::quantize::{Quantization, rescaled};
use super::reals::{Reals, naturals, planes, saturated};
use super::windows::{volume, windows};
use crate::eval::EvalError;
use crate::eval::kernels::Correlation;
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::DType;

/// The convolution of an input with filters.
///
/// # Errors
///
/// The shapes do not fit.
fn convolution(call: &NodeCall, x: &[usize], w: &[usize]) -> Result<Correlation, EvalError> {
    let misfit = || call.misfit(format!("filters of shape {w:?} do not fit an input of shape {x:?}"));
    let ((batch, inputs, space), (outputs, inner, size)) = (planes(call, x)?, planes(call, w)?);
    let groups = usize::try_from(call.int_or("group", 1)?).map_err(|_| misfit())?;
    let stated = naturals(call, "kernel_shape")?.is_some_and(|stated| stated != size);
    if groups == 0 || stated || outputs % groups != 0 || inner.checked_mul(groups) != Some(inputs) {
        return Err(misfit());
    }
    let axes = windows(call, space, size)?.axes;
    volume(call, &axes)?;
    Ok(Correlation { axes, batch, groups, channels: [inner, outputs / groups] })
}

/// The shape of the result of a convolution.
fn shape(of: &Correlation) -> Vec<usize> {
    let channels = [of.batch, of.groups * of.channels[1]];
    channels.into_iter().chain(of.axes.iter().map(|axis| axis.output)).collect()
}

/// Adds the bias of each channel.
pub(super) fn biased(
    call: &NodeCall,
    result: &mut [f64],
    shape: &[usize],
    bias: Option<Reals>,
) -> Result<(), EvalError> {
    let Some(bias) = bias else { return Ok(()) };
    let (_, channels, space) = planes(call, shape)?;
    if bias.items.len() != channels {
        return Err(call.misfit(format!("a bias of shape {:?} does not fit {channels} channels", bias.shape)));
    }
    each_channel(result, channels, space.iter().product(), |channel, items| {
        items.iter_mut().for_each(|item| *item += bias.items[channel]);
    });
    Ok(())
}

/// Calls a function with each channel of each batch.
pub(super) fn each_channel(items: &mut [f64], channels: usize, space: usize, mut f: impl FnMut(usize, &mut [f64])) {
    let chunks = items.chunks_exact_mut(space.max(1));
    chunks.enumerate().for_each(|(i, chunk)| f(i % channels.max(1), chunk));
}

/// `Conv`.
pub(in crate::onnx) fn conv(call: &NodeCall) -> KernelResult {
    let (x, w) = (Reals::of(call, 0)?, Reals::of(call, 1)?);
    let correlation = convolution(call, x.shape, w.shape)?;
    let mut result = correlation.result(call.budget, &x.items, &w.items)?;
    biased(call, &mut result, &shape(&correlation), Reals::optional(call, 2)?)?;
    one(call.rounded(x.dtype, &shape(&correlation), result)?)
}

/// The items of quantized filters without their zero points, which are one or one for each filter.
fn centred(call: &NodeCall, items: &[f64], zeros: &[f64]) -> Result<Vec<f64>, EvalError> {
    match zeros {
        [zero] => Ok(items.iter().map(|item| item - zero).collect()),
        [] => Ok(items.to_vec()),
        zeros if items.len().is_multiple_of(zeros.len()) => {
            let size = items.len() / zeros.len();
            Ok(items.iter().enumerate().map(|(i, item)| item - zeros[i / size.max(1)]).collect())
        }
        zeros => Err(call.misfit(format!("{} zero points for {} items", zeros.len(), items.len()))),
    }
}

/// `ConvInteger`.
pub(in crate::onnx) fn conv_integer(call: &NodeCall) -> KernelResult {
    let (x, w) = (Reals::of(call, 0)?, Reals::of(call, 1)?);
    let zeros = |i| Ok::<_, EvalError>(Reals::optional(call, i)?.map_or_else(Vec::new, |zeros| zeros.items.to_vec()));
    let correlation = convolution(call, x.shape, w.shape)?;
    let (x, w) = (centred(call, &x.items, &zeros(2)?)?, centred(call, &w.items, &zeros(3)?)?);
    let result = correlation.result(call.budget, &x, &w)?;
    one(call.wrapped(DType::Int32, &shape(&correlation), result.into_iter().map(|item| item as i128))?)
}

/// `QLinearConv`: the scales of the filters may be one for each filter.
pub(in crate::onnx) fn qlinear_conv(call: &NodeCall) -> KernelResult {
    let (x, w) = (Reals::of(call, 0)?, Reals::of(call, 3)?);
    let (of_x, of_y) = (Quantization::single(call, 1, 2)?, Quantization::single(call, 6, 7)?);
    let (scales, zeros) = (Reals::of(call, 4)?, Reals::of(call, 5)?);
    let correlation = convolution(call, x.shape, w.shape)?;
    let shape = shape(&correlation);
    let channels = shape[1];
    if scales.items.len() != 1 && scales.items.len() != channels {
        return Err(call.misfit(format!("{} scales for {channels} filters", scales.items.len())));
    }
    let (items, filters) = (centred(call, &x.items, &[of_x.zero])?, centred(call, &w.items, &zeros.items)?);
    let mut result = correlation.result(call.budget, &items, &filters)?;
    biased(call, &mut result, &shape, Reals::optional(call, 8)?)?;
    each_channel(&mut result, channels, shape[2..].iter().product(), |channel, items| {
        let scale = of_x.scale as f32 * scales.items[channel % scales.items.len()] as f32 / of_y.scale as f32;
        items.iter_mut().for_each(|item| *item = saturated(of_y.dtype, rescaled(*item, scale) + of_y.zero));
    });
    one(call.rounded(of_y.dtype, &shape, result)?)
}
