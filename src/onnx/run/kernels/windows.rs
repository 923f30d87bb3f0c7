//! Windows that slide over the spatial axes of convolutions and poolings.

use super::reals::naturals;
use crate::eval::EvalError;
use crate::eval::kernels::WindowAxis;
use crate::onnx::run::call::NodeCall;

/// Steps and paddings beyond this do not occur in real models, and would overflow.
const GREATEST: i64 = 1 << 31;

/// How an attribute pads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Padding {
    Given,
    Upper,
    Lower,
    Valid,
}

impl Padding {
    /// The padding of a node.
    pub(super) fn read(call: &NodeCall) -> Result<Self, EvalError> {
        Ok(match &*call.text_or("auto_pad", "NOTSET")? {
            "NOTSET" | "" => Padding::Given,
            "SAME_UPPER" => Padding::Upper,
            "SAME_LOWER" => Padding::Lower,
            "VALID" => Padding::Valid,
            other => return Err(call.refused(format!("`auto_pad` is '{other}'"))),
        })
    }

    /// The part before and the part after.
    pub(super) fn split(self, total: i64) -> (i64, i64) {
        let before = if self == Padding::Upper { total / 2 } else { (total + 1) / 2 };
        (before, total - before)
    }
}

/// Strides, dilations and paddings of a node.
pub(super) struct Steps {
    pub(super) strides: Vec<usize>,
    pub(super) dilations: Vec<usize>,
    pub(super) pads: Vec<(i64, i64)>,
    pub(super) padding: Padding,
}

impl Steps {
    /// The steps of a node along `rank` axes.
    ///
    /// # Errors
    ///
    /// An attribute has another length, or a step is not positive.
    pub(super) fn read(call: &NodeCall, rank: usize) -> Result<Self, EvalError> {
        let steps = |name: &str| match naturals(call, name)? {
            None => Ok(vec![1; rank]),
            Some(steps) if steps.is_empty() => Ok(vec![1; rank]),
            Some(steps) if steps.len() == rank && steps.iter().all(|&s| s > 0 && s as u64 <= GREATEST as u64) => {
                Ok(steps)
            }
            Some(steps) => Err(call.refused(format!("`{name}` is {steps:?} for {rank} axes"))),
        };
        let pads = call.ints("pads")?.filter(|pads| !pads.is_empty()).unwrap_or_else(|| vec![0; 2 * rank]);
        if pads.len() != 2 * rank || pads.iter().any(|pad| pad.abs() > GREATEST) {
            return Err(call.refused(format!("`pads` is {pads:?} for {rank} axes")));
        }
        Ok(Steps {
            strides: steps("strides")?,
            dilations: steps("dilations")?,
            pads: pads[..rank].iter().copied().zip(pads[rank..].iter().copied()).collect(),
            padding: Padding::read(call)?,
        })
    }
}

/// The windows along all spatial axes.
#[derive(Clone, Debug)]
pub(super) struct KernelWindows {
    pub(super) axes: Vec<WindowAxis>,
}

impl KernelWindows {
    /// The windows of a node with a size.
    ///
    /// # Errors
    ///
    /// The window does not fit, or an attribute is wrong.
    pub(super) fn read(call: &NodeCall, input: &[usize], size: &[usize]) -> Result<Self, EvalError> {
        KernelWindows::padded(call, input, size, 0)
    }

    /// The windows of a pool. With automatic padding and gaps between the windows, they are in the middle of the input.
    ///
    /// # Errors
    ///
    /// The window does not fit, or an attribute is wrong.
    pub(super) fn of_pool(call: &NodeCall, input: &[usize], size: &[usize]) -> Result<Self, EvalError> {
        KernelWindows::padded(call, input, size, i64::MIN)
    }

    /// Windows whose automatic padding has a least total.
    fn padded(call: &NodeCall, input: &[usize], size: &[usize], least: i64) -> Result<Self, EvalError> {
        if input.len() != size.len() || input.is_empty() {
            return Err(call.misfit(format!("a window {size:?} does not fit the extents {input:?}")));
        }
        let (steps, ceil) = (Steps::read(call, input.len())?, call.flag("ceil_mode", false)?);
        let axis = |i: usize| {
            fitted(
                input[i],
                size[i],
                (steps.strides[i], steps.dilations[i]),
                steps.pads[i],
                (steps.padding, ceil, least),
            )
            .ok_or_else(|| call.misfit(format!("a window {size:?} does not fit the extents {input:?}")))
        };
        Ok(KernelWindows { axes: (0..input.len()).map(axis).collect::<Result<_, _>>()? })
    }

    /// The extents of the positions.
    pub(super) fn output(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| axis.output).collect()
    }

    /// The number of items of a window, which must be within the limits.
    pub(super) fn volume(&self, call: &NodeCall) -> Result<usize, EvalError> {
        call.budget.room(&self.axes.iter().map(|axis| axis.size).collect::<Vec<_>>())
    }

    /// Calls a function with each position and the items of its window that are in the input: their index in the
    /// window, and their place.
    ///
    /// # Errors
    ///
    /// A limit is exceeded, or the function fails.
    pub(super) fn each(
        &self,
        call: &NodeCall,
        mut f: impl FnMut(usize, &[usize], &[(usize, usize)]) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        let output = self.output();
        let count = call.budget.room(&output)?;
        call.budget.product(count, self.volume(call)?)?;
        let mut index = vec![0; output.len()];
        let (mut taps, mut next) = (Vec::new(), Vec::new());
        for position in 0..count {
            taps.clear();
            taps.push((0, 0));
            for (axis, &at) in self.axes.iter().zip(&index) {
                next.clear();
                for &(window, place) in &taps {
                    let tap = |k: usize| Some((window * axis.size + k, place * axis.input + axis.place(at, k)?));
                    next.extend((0..axis.size).filter_map(tap));
                }
                std::mem::swap(&mut taps, &mut next);
            }
            f(position, &index, &taps)?;
            crate::eval::advance(&mut index, &output);
        }
        Ok(())
    }
}

/// The windows along an axis; none if none fits.
fn fitted(
    input: usize,
    size: usize,
    (stride, dilation): (usize, usize),
    (before, after): (i64, i64),
    (padding, ceil, least): (Padding, bool, i64),
) -> Option<WindowAxis> {
    let covered = i64::try_from(size.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?).ok()?;
    let (extent, step) = (i64::try_from(input).ok()?, stride as i64);
    let (output, (before, after)) = match padding {
        Padding::Upper | Padding::Lower => {
            let output = extent.checked_add(step - 1)? / step;
            let total = (output - 1).checked_mul(step)?.checked_add(covered)?.checked_sub(extent)?.max(least);
            (output, padding.split(total))
        }
        Padding::Given | Padding::Valid => {
            let pads = if padding == Padding::Valid { (0, 0) } else { (before, after) };
            let room = extent.checked_add(pads.0)?.checked_add(pads.1)?.checked_sub(covered)?;
            let whole = room.div_euclid(step) + 1;
            // A further window must begin in the input or in the padding before it. It may be the only one.
            let more = ceil && room.rem_euclid(step) != 0 && whole.checked_mul(step)? < extent.checked_add(pads.0)?;
            (Some(whole + i64::from(more)).filter(|&output| output > 0)?, pads)
        }
    };
    Some(WindowAxis { input, output: usize::try_from(output).ok()?, size, stride, dilation, before, after })
}
