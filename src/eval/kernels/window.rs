//! Windows that slide along an axis.

use crate::extents::Window;

/// A window that slides along an axis of the input, to so many places of the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlidingWindow {
    pub(crate) window: Window,
    pub(crate) input: usize,
    pub(crate) output: usize,
}

impl SlidingWindow {
    /// A window at so many positions; none if its places have too many bits, since they are computed without checks.
    pub(crate) fn new(window: Window, input: usize, output: usize) -> Option<Self> {
        let (positions, before) = (i64::try_from(output).ok()?, window.padding.0.checked_abs()?);
        let farthest = positions.checked_mul(window.stride)?.checked_add(window.span()?)?.checked_add(before)?;
        (farthest.max(i64::try_from(input).ok()?) < i64::MAX / 4).then_some(SlidingWindow { window, input, output })
    }

    /// The number of items of the window.
    pub(crate) fn size(&self) -> usize {
        self.window.size as usize
    }

    /// Whether each position is an item.
    pub(crate) fn is_trivial(&self) -> bool {
        let Window { size, stride, padding, .. } = self.window;
        (size, stride, padding) == (1, 1, (0, 0)) && self.input == self.output
    }

    /// The place that an item of the window at a position covers, outside of the input maybe.
    pub(crate) fn covered(&self, position: usize, item: usize) -> i64 {
        let Window { stride, dilation, padding: (before, _), .. } = self.window;
        position as i64 * stride + item as i64 * dilation - before
    }

    /// The place in the input that an item of the window at a position covers.
    pub(crate) fn place(&self, position: usize, item: usize) -> Option<usize> {
        usize::try_from(self.covered(position, item)).ok().filter(|&place| place < self.input)
    }

    /// The position whose window covers a place with an item; none between two positions. It may be out of their range.
    pub(crate) fn position(&self, place: usize, item: usize) -> Option<i64> {
        let Window { stride, dilation, padding: (before, _), .. } = self.window;
        let from = place as i64 + before - item as i64 * dilation;
        (from.rem_euclid(stride) == 0).then(|| from.div_euclid(stride))
    }

    /// The number of items of the window at a position that are in the input or its padding, which may be larger than
    /// what the windows cover.
    pub(crate) fn padded(&self, position: usize) -> usize {
        let end = self.input as i64 + self.window.padding.1;
        (0..self.size()).filter(|&item| self.covered(position, item) < end).count()
    }
}
