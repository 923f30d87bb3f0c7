//! Convolutions: products of the filters with the matrix of all windows.

use super::columns::Columns;
use super::quantize::{Quantization, rescaled};
use super::reals::{Reals, multiplied, naturals, planes, saturated};
use super::windows::KernelWindows;
use crate::eval::EvalError;
use crate::onnx::run::call::{KernelResult, NodeCall, one};
use crate::tensor::DType;

/// The number of items that a matrix of windows has at most, unless a single row of positions has more.
const TILE: usize = 1 << 20;

/// A convolution: its windows, and the channels of each group.
pub(super) struct Convolution {
    windows: KernelWindows,
    batch: usize,
    groups: usize,
    /// The channels of the input and of the output in each group.
    channels: [usize; 2],
    volume: usize,
}

impl Convolution {
    /// The convolution of an input with filters.
    ///
    /// # Errors
    ///
    /// The shapes do not fit.
    pub(super) fn read(call: &NodeCall, x: &[usize], w: &[usize]) -> Result<Self, EvalError> {
        let misfit = || call.misfit(format!("filters of shape {w:?} do not fit an input of shape {x:?}"));
        let ((batch, inputs, space), (outputs, inner, size)) = (planes(call, x)?, planes(call, w)?);
        let groups = usize::try_from(call.int_or("group", 1)?).map_err(|_| misfit())?;
        let stated = naturals(call, "kernel_shape")?.is_some_and(|stated| stated != size);
        if groups == 0 || stated || outputs % groups != 0 || inner.checked_mul(groups) != Some(inputs) {
            return Err(misfit());
        }
        let windows = KernelWindows::read(call, space, size)?;
        let volume = windows.volume(call)?;
        Ok(Convolution { windows, batch, groups, channels: [inner, outputs / groups], volume })
    }

    /// The shape of the result.
    pub(super) fn shape(&self) -> Vec<usize> {
        let channels = [self.batch, self.groups * self.channels[1]];
        channels.into_iter().chain(self.windows.output()).collect()
    }

    /// The result for an input and filters, without a bias.
    pub(super) fn result(&self, call: &NodeCall, x: &[f64], w: &[f64]) -> Result<Vec<f64>, EvalError> {
        let mut result = vec![0.0; call.budget.room(&self.shape())?];
        if result.is_empty() {
            return Ok(result);
        }
        let columns = Columns::new(&self.windows, self.volume).ok_or_else(|| call.misfit("there are no axes"))?;
        let [inner, outputs] = self.channels;
        let plane: usize = self.windows.axes.iter().map(|axis| axis.input).product();
        let (depth, space) = (inner * self.volume, columns.rows() * columns.width());
        let step = (TILE / (depth * columns.width()).max(1)).clamp(1, columns.rows().max(1));
        for block in 0..self.batch * self.groups {
            let filters = &w[block % self.groups * outputs * depth..][..outputs * depth];
            let input = &x[block * inner * plane..][..inner * plane];
            for start in (0..columns.rows()).step_by(step) {
                let rows = start..(start + step).min(columns.rows());
                let width = rows.len() * columns.width();
                let product = call.budget.operation(|| {
                    let mut matrix = vec![0.0; call.budget.room(&[depth, width])?];
                    for channel in 0..inner {
                        let to = &mut matrix[channel * self.volume * width..][..self.volume * width];
                        columns.gather(&input[channel * plane..][..plane], &rows, to);
                    }
                    multiplied(call, filters, &matrix, [outputs, depth, width])
                })?;
                for channel in 0..outputs {
                    let at = (block * outputs + channel) * space + start * columns.width();
                    result[at..at + width].copy_from_slice(&product[channel * width..][..width]);
                }
            }
        }
        Ok(result)
    }
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
    let convolution = Convolution::read(call, x.shape, w.shape)?;
    let mut result = convolution.result(call, &x.items, &w.items)?;
    biased(call, &mut result, &convolution.shape(), Reals::optional(call, 2)?)?;
    one(call.rounded(x.dtype, &convolution.shape(), result)?)
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
    let convolution = Convolution::read(call, x.shape, w.shape)?;
    let (x, w) = (centred(call, &x.items, &zeros(2)?)?, centred(call, &w.items, &zeros(3)?)?);
    let result = convolution.result(call, &x, &w)?;
    one(call.wrapped(DType::Int32, &convolution.shape(), result.into_iter().map(|item| item as i128))?)
}

/// `QLinearConv`: the scales of the filters may be one for each filter.
pub(in crate::onnx) fn qlinear_conv(call: &NodeCall) -> KernelResult {
    let (x, w) = (Reals::of(call, 0)?, Reals::of(call, 3)?);
    let (of_x, of_y) = (Quantization::single(call, 1, 2)?, Quantization::single(call, 6, 7)?);
    let (scales, zeros) = (Reals::of(call, 4)?, Reals::of(call, 5)?);
    let convolution = Convolution::read(call, x.shape, w.shape)?;
    let shape = convolution.shape();
    let channels = shape[1];
    if scales.items.len() != 1 && scales.items.len() != channels {
        return Err(call.misfit(format!("{} scales for {channels} filters", scales.items.len())));
    }
    let (items, filters) = (centred(call, &x.items, &[of_x.zero])?, centred(call, &w.items, &zeros.items)?);
    let mut result = convolution.result(call, &items, &filters)?;
    biased(call, &mut result, &shape, Reals::optional(call, 8)?)?;
    each_channel(&mut result, channels, shape[2..].iter().product(), |channel, items| {
        let scale = of_x.scale as f32 * scales.items[channel % scales.items.len()] as f32 / of_y.scale as f32;
        items.iter_mut().for_each(|item| *item = saturated(of_y.dtype, rescaled(*item, scale) + of_y.zero));
    });
    one(call.rounded(of_y.dtype, &shape, result)?)
}
