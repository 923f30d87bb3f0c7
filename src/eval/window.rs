//! The settings of sliding windows (4.3).

use super::error::EvalError;
use super::eval_call::Call;
use super::kernels::{Direction, SlidingWindow, Windows};
use crate::dictionary::Deviation;
use crate::extents::{End, Window};
use crate::graph::border::Border;
use crate::graph::deviations::REPLICATED;
use crate::graph::windows::is_of_space;

/// The border mode of an operation.
pub(crate) fn border(call: &Call) -> Result<Border, EvalError> {
    let mode = call.string("border")?;
    if mode == REPLICATED && call.deviates(Deviation::Replicated) {
        return Ok(Border::Replicate);
    }
    Border::named(mode, ()).ok_or_else(|| EvalError::argument(format!("unknown border mode '{mode}'")))
}

/// Reads the parameters of an operation with windows of a size over an input, and computes the extents of
/// the output. `reference` is the output shape of an up-scaling operation, if it has one. The parameters of windows
/// that are `of_space` may leave out batch and channels.
pub(crate) fn windows(
    call: &Call,
    input: &[usize],
    size: &[usize],
    direction: Direction,
    of_space: bool,
    reference: Option<&[usize]>,
) -> Result<Windows, EvalError> {
    let is_short = |items: usize| of_space && is_of_space(items, input.len());
    let steps = |name| {
        let mut items = call.ints(name)?;
        let first = if is_short(items.len()) { &[1; 2][..] } else { &[] };
        items.splice(0..0, first.iter().copied());
        Ok::<_, EvalError>(items)
    };
    let (stride, dilation, mut padding) = (steps("stride")?, steps("dilation")?, call.pairs("padding")?);
    if is_short(padding.len()) {
        padding.splice(0..0, [(0, 0); 2]);
    }
    for (name, length) in [("stride", stride.len()), ("dilation", dilation.len()), ("padding", padding.len())] {
        if length != 0 && length != input.len() && !(call.draft() && length < input.len()) {
            let (of, axes) = (call.name(), input.len());
            return Err(EvalError::shapes(format!(
                "`{name}` of `{of}` has {length} items, the window has {axes} axes"
            )));
        }
    }
    let padding = if call.deviates(Deviation::SpatialWindows) { without_first(padding) } else { padding };
    let axis = |i: usize| {
        let step = |items: &[i64], name: &str| match items.get(i).copied().unwrap_or(1) {
            step if step >= 1 => Ok(step),
            step => Err(EvalError::shapes(format!("`{name}` of `{}` is {step}: it must be positive", call.name()))),
        };
        let (stride, dilation) = (step(&stride, "stride")?, step(&dilation, "dilation")?);
        let window = Window { size: size[i] as i64, stride, dilation, padding: padding.get(i).copied() };
        sliding(input[i], window, direction, reference.map(|reference| reference[i])).ok_or_else(|| {
            let (name, window, extent) = (call.name(), size[i], input[i]);
            EvalError::shapes(format!("a window of {window} items of `{name}` does not fit an extent of {extent}"))
        })
    };
    let axes = (0..input.len()).map(axis).collect::<Result<_, _>>()?;
    Ok(Windows { axes, direction, border: border(call)? })
}

/// The padding, without that of batch and channels.
fn without_first(mut padding: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    padding.iter_mut().take(2).for_each(|padding| *padding = (0, 0));
    padding
}

/// A window along an axis, which has automatic padding if none is given; none if it does not fit (4.3).
fn sliding(
    input: usize,
    window: Window<i64, Option<(i64, i64)>>,
    direction: Direction,
    reference: Option<usize>,
) -> Option<SlidingWindow> {
    let (extent, reference) = (i64::try_from(input).ok()?, reference.map(i64::try_from).transpose().ok()?);
    let (window, extent) = match (direction, window.padding) {
        (Direction::Down, None) => (window.automatic(End::After, extent, 0)?, window.strides(&extent)?),
        (Direction::Down, Some(padding)) => {
            let window = window.padded(padding);
            (window, window.places(&extent).filter(|places| *places > 0)?)
        }
        (Direction::Up, None) => {
            let up = reference.map_or_else(|| extent.checked_mul(window.stride), Some)?;
            (window.automatic(End::After, up, 0)?, up)
        }
        (Direction::Up, Some(padding)) => {
            let window = window.padded(padding);
            (window, window.extent(&extent)?)
        }
    };
    let output = usize::try_from(reference.unwrap_or(extent)).ok()?;
    match direction {
        Direction::Down => SlidingWindow::new(window, input, output),
        Direction::Up => SlidingWindow::new(window, output, input),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_padding_is_that_of_the_text() {
        let window = |size, stride, dilation, padding| Window { size, stride, dilation, padding };
        let down = sliding(5, window(4, 2, 1, None), Direction::Down, None).unwrap();
        assert_eq!((down.output, down.window.padding.0), (3, 1));
        let up = sliding(3, window(4, 2, 1, None), Direction::Up, Some(5)).unwrap();
        assert_eq!((up.input, up.window.padding.0), (5, 1));
        let up = sliding(3, window(4, 2, 1, None), Direction::Up, None).unwrap();
        assert_eq!((up.input, up.window.padding.0), (6, 1));
        assert!(sliding(2, window(4, 1, 1, Some((0, 0))), Direction::Down, None).is_none());
        assert!(sliding(2, window(4, i64::MAX, i64::MAX, None), Direction::Down, None).is_none());
    }
}
