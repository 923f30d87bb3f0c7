//! Sliding windows (4.3): the input items that a window covers at each position.
//!
//! All operations of this family are sums, maxima or selections over pairs of a window item and the input item that it
//! covers. [`Windows::each`] enumerates these pairs for every position of the output, and each operation computes an
//! output item from them.

use super::call::Call;
use super::error::EvalError;
use super::kernels::WindowAxis;
use crate::dictionary::Deviation;
use crate::graph::border::Border;
use crate::graph::deviations::REPLICATED;
use crate::graph::windows::is_of_space;
use crate::tensor::volume;

/// The border mode of an operation.
pub(crate) fn border(call: &Call) -> Result<Border, EvalError> {
    let mode = call.string("border")?;
    if mode == REPLICATED && call.deviates(Deviation::Replicated) {
        return Ok(Border::Replicate);
    }
    Border::named(mode, ()).ok_or_else(|| EvalError::argument(format!("unknown border mode '{mode}'")))
}

/// Whether the output of an operation is the down-scaled or the up-scaled space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the up-scaled to the down-scaled space: `conv`, `box`, …
    Down,
    /// From the down-scaled to the up-scaled space: `deconv`, `debox`, …
    Up,
}

/// The windows over some axes.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    axes: Vec<WindowAxis>,
    direction: Direction,
    border: Border,
}

/// The row-major indices of a window item and of the input item that it covers; none for the latter if the border
/// determines the value, or there is no value.
pub(crate) type Pair = (usize, Option<usize>);

impl Windows {
    /// Reads the parameters of an operation with windows of a size over an input, and computes the extents of
    /// the output. `reference` is the output shape of an up-scaling operation, if it has one. The parameters of windows
    /// that are `of_space` may leave out batch and channels.
    pub(crate) fn read(
        call: &Call,
        input: &[usize],
        size: &[usize],
        (direction, of_space): (Direction, bool),
        reference: Option<&[usize]>,
    ) -> Result<Self, EvalError> {
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
            let steps = (step(&stride, "stride")?, step(&dilation, "dilation")?);
            let reference = reference.map(|reference| reference[i]);
            let found = axis_window(input[i], size[i], steps, padding.get(i).copied(), direction, reference);
            found.ok_or_else(|| {
                let (name, window, extent) = (call.name(), size[i], input[i]);
                EvalError::shapes(format!("a window of {window} items of `{name}` does not fit an extent of {extent}"))
            })
        };
        let axes = (0..input.len()).map(axis).collect::<Result<_, _>>()?;
        Ok(Windows { axes, direction, border: border(call)? })
    }

    /// Ignores the border.
    pub(crate) fn ignore_border(&mut self) {
        self.border = Border::Ignore;
    }

    /// The extents of the output: those of the positions, or of the space that they cover.
    pub(crate) fn output(&self) -> Vec<usize> {
        let extent = |axis: &WindowAxis| if self.direction == Direction::Down { axis.output } else { axis.input };
        self.axes.iter().map(extent).collect()
    }

    /// The extent of the input along an axis.
    fn source(&self, axis: &WindowAxis) -> usize {
        if self.direction == Direction::Down { axis.input } else { axis.output }
    }

    /// Whether the output is the space of the positions, or the one that they cover.
    pub(crate) fn direction(&self) -> Direction {
        self.direction
    }

    /// The windows along each axis.
    pub(crate) fn axes(&self) -> &[WindowAxis] {
        &self.axes
    }

    /// The number of items of a window.
    pub(crate) fn volume(&self) -> usize {
        volume(&self.axes.iter().map(|axis| axis.size).collect::<Vec<_>>()).unwrap_or(usize::MAX)
    }

    /// Whether items outside of the input count, as zeros. Those of a transposed window are not there.
    pub(crate) fn is_padded(&self) -> bool {
        self.direction == Direction::Down && self.border != Border::Ignore
    }

    /// The border of the input.
    pub(crate) fn border(&self) -> Border {
        self.border
    }

    /// The items along one axis that a window covers at a position of the output.
    fn along(&self, axis: &WindowAxis, at: usize) -> Vec<Pair> {
        let source = self.source(axis);
        let item = |k: usize| {
            let place = match self.direction {
                Direction::Down => axis.covered(at, k),
                Direction::Up => axis.position(at, k)?,
            };
            Some((k, self.border.place(place, source)))
        };
        (0..axis.size).filter_map(item).collect()
    }

    /// Calls a function for each position of the output, in row-major order, with the pairs of the window, in
    /// row-major order of the window.
    ///
    /// # Errors
    ///
    /// A limit would be exceeded, or the function fails.
    pub(crate) fn each(
        &self,
        call: &Call,
        mut f: impl FnMut(usize, &[Pair]) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        let output = self.output();
        let count = call.budget().room(&output)?;
        let sizes: Vec<usize> = self.axes.iter().map(|axis| axis.size).collect();
        call.budget().room(&sizes)?;
        call.budget().product(count, self.volume())?;
        let mut pairs: Vec<Pair> = Vec::new();
        let mut index = vec![0; output.len()];
        for position in 0..count {
            pairs.clear();
            pairs.push((0, Some(0)));
            for (axis, at) in self.axes.iter().zip(&index) {
                let (along, source) = (self.along(axis, *at), self.source(axis));
                let join = |(window, place): Pair| {
                    along
                        .iter()
                        .map(move |(k, i)| (window * axis.size + k, place.zip(*i).map(|(place, i)| place * source + i)))
                };
                pairs = pairs.iter().copied().flat_map(join).collect();
            }
            f(position, &pairs)?;
            advance(&mut index, &output);
        }
        Ok(())
    }
}

/// Advances to the next index in row-major order.
pub(crate) fn advance(index: &mut [usize], shape: &[usize]) {
    for (at, extent) in index.iter_mut().zip(shape).rev() {
        *at += 1;
        if *at < *extent {
            return;
        }
        *at = 0;
    }
}

/// The padding, without that of batch and channels.
fn without_first(mut padding: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    padding.iter_mut().take(2).for_each(|padding| *padding = (0, 0));
    padding
}

/// The window along an axis, with extents and automatic padding as in 4.3; none if the window does not fit.
fn axis_window(
    input: usize,
    size: usize,
    (stride, dilation): (i64, i64),
    padding: Option<(i64, i64)>,
    direction: Direction,
    reference: Option<usize>,
) -> Option<WindowAxis> {
    let extent = i64::try_from(input).ok()?;
    let covered = i64::try_from(size).ok()?.checked_sub(1)?.checked_mul(dilation)?.checked_add(1)?;
    // With automatic padding the extent X becomes ceil(X / stride).
    let automatic = |up: i64| {
        let down = up.checked_add(stride - 1)? / stride;
        let total = (down - 1).checked_mul(stride)?.checked_add(covered)?.checked_sub(up)?.max(0);
        Some((total / 2, total - total / 2))
    };
    let (output, (before, after)) = match (direction, padding) {
        (Direction::Down, None) => (extent.checked_add(stride - 1)? / stride, automatic(extent)?),
        (Direction::Down, Some((before, after))) => {
            let room = extent.checked_add(before)?.checked_add(after)?.checked_sub(covered)?;
            (if room < 0 { None } else { (room / stride).checked_add(1) }?, (before, after))
        }
        (Direction::Up, None) => {
            let up = match reference {
                Some(reference) => i64::try_from(reference).ok()?,
                None => extent.checked_mul(stride)?,
            };
            (up, automatic(up)?)
        }
        (Direction::Up, Some((before, after))) => {
            let whole = (extent - 1).checked_mul(stride)?.checked_add(covered)?;
            (whole.checked_sub(before)?.checked_sub(after)?, (before, after))
        }
    };
    let output = match reference {
        Some(reference) => reference,
        None => usize::try_from(output).ok()?,
    };
    // Positions are computed without further checks, so the extents are limited to prevent overflow.
    let farthest = (output as i64).checked_mul(stride)?.checked_add(covered)?.checked_add(before.checked_abs()?)?;
    let (covers, positions) = if direction == Direction::Down { (input, output) } else { (output, input) };
    let (stride, dilation) = (usize::try_from(stride).ok()?, usize::try_from(dilation).ok()?);
    let window = WindowAxis { input: covers, output: positions, size, stride, dilation, before, after };
    (farthest < i64::MAX / 4).then_some(window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automatic_padding_is_that_of_the_text() {
        let window = axis_window(5, 4, (2, 1), None, Direction::Down, None).unwrap();
        assert_eq!((window.output, window.before), (3, 1));
        let window = axis_window(3, 4, (2, 1), None, Direction::Up, Some(5)).unwrap();
        assert_eq!((window.input, window.before), (5, 1));
        let window = axis_window(3, 4, (2, 1), None, Direction::Up, None).unwrap();
        assert_eq!((window.input, window.before), (6, 1));
        assert!(axis_window(2, 4, (1, 1), Some((0, 0)), Direction::Down, None).is_none());
        assert!(axis_window(2, 4, (i64::MAX, i64::MAX), None, Direction::Down, None).is_none());
    }
}
