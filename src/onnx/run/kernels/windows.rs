//! Windows that slide over the spatial axes of convolutions and poolings.

use super::reals::naturals;
use crate::eval::EvalError;
use crate::eval::kernels::{Direction, SlidingWindow, Windows};
use crate::extents::Window;
use crate::graph::border::Border;
use crate::onnx::operators::AutoPad;
use crate::onnx::run::node_call::NodeCall;

/// Steps and paddings beyond this do not occur in real models, and would overflow.
const GREATEST: i64 = 1 << 31;

/// Strides, dilations and paddings of a node.
pub(super) struct WindowSettings {
    strides: Vec<i64>,
    dilations: Vec<i64>,
    pads: Vec<i64>,
    pub(super) auto_pad: AutoPad,
}

impl WindowSettings {
    /// The settings of a node along `rank` axes.
    ///
    /// # Errors
    ///
    /// An attribute has another length, or a step is not positive.
    pub(super) fn read(call: &NodeCall, rank: usize) -> Result<Self, EvalError> {
        let steps = |name: &str| match naturals(call, name)? {
            None => Ok(vec![1; rank]),
            Some(steps) if steps.is_empty() => Ok(vec![1; rank]),
            Some(steps) if steps.len() == rank && steps.iter().all(|&s| s > 0 && s as u64 <= GREATEST as u64) => {
                Ok(steps.into_iter().map(|step| step as i64).collect())
            }
            Some(steps) => Err(call.refused(format!("`{name}` is {steps:?} for {rank} axes"))),
        };
        let (strides, dilations) = (steps("strides")?, steps("dilations")?);
        let pads = call.ints("pads")?.filter(|pads| !pads.is_empty()).unwrap_or_else(|| vec![0; 2 * rank]);
        if pads.len() != 2 * rank || pads.iter().any(|pad| pad.abs() > GREATEST) {
            return Err(call.refused(format!("`pads` is {pads:?} for {rank} axes")));
        }
        let auto_pad = call.text_or("auto_pad", "NOTSET")?;
        let unknown = || call.refused(format!("`auto_pad` is '{auto_pad}'"));
        let auto_pad = AutoPad::named(&auto_pad).ok_or_else(unknown)?;
        Ok(WindowSettings { strides, dilations, pads, auto_pad })
    }

    /// The window of a size along an axis, with the padding that is given; none if it has no items.
    pub(super) fn window(&self, axis: usize, size: usize) -> Option<Window> {
        let padding = match self.auto_pad {
            AutoPad::Given => (self.pads[axis], self.pads[self.strides.len() + axis]),
            _ => (0, 0),
        };
        let size = i64::try_from(size).ok().filter(|size| *size > 0)?;
        Some(Window { size, stride: self.strides[axis], dilation: self.dilations[axis], padding })
    }
}

/// The windows of a node with a size.
///
/// # Errors
///
/// The window does not fit, or an attribute is wrong.
pub(super) fn windows(call: &NodeCall, input: &[usize], size: &[usize]) -> Result<Windows, EvalError> {
    padded(call, input, size, 0)
}

/// The windows of a pool. With automatic padding and gaps between the windows, they are in the middle of the input.
///
/// # Errors
///
/// The window does not fit, or an attribute is wrong.
pub(super) fn of_pool(call: &NodeCall, input: &[usize], size: &[usize]) -> Result<Windows, EvalError> {
    padded(call, input, size, i64::MIN)
}

/// Windows whose automatic padding has a least total.
fn padded(call: &NodeCall, input: &[usize], size: &[usize], least: i64) -> Result<Windows, EvalError> {
    let misfit = || call.misfit(format!("a window {size:?} does not fit the extents {input:?}"));
    if input.len() != size.len() || input.is_empty() {
        return Err(misfit());
    }
    let (settings, ceil) = (WindowSettings::read(call, input.len())?, call.flag("ceil_mode", false)?);
    let axis = |i: usize| {
        let (window, extent) = (settings.window(i, size[i])?, i64::try_from(input[i]).ok()?);
        let (window, places) = match settings.auto_pad {
            AutoPad::Same(larger) => (window.automatic(larger, extent, least)?, window.strides(&extent)?),
            _ => {
                let places = if ceil { window.places_up(&extent) } else { window.places(&extent) };
                (window, places.filter(|places| *places > 0)?)
            }
        };
        SlidingWindow::new(window, input[i], usize::try_from(places).ok()?)
    };
    let axes = (0..input.len()).map(|i| axis(i).ok_or_else(misfit)).collect::<Result<_, _>>()?;
    Ok(Windows { axes, direction: Direction::Down, border: Border::Ignore })
}

/// The number of items of a window, which must be within the limits.
pub(super) fn volume(call: &NodeCall, axes: &[SlidingWindow]) -> Result<usize, EvalError> {
    call.budget.room(&axes.iter().map(SlidingWindow::size).collect::<Vec<_>>())
}
