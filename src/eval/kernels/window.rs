//! The windows along an axis.

/// The windows along an axis: their places in the input, and how many there are. The padding after the input is that of
/// the settings; a window may leave some of it out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowAxis {
    pub(crate) input: usize,
    pub(crate) output: usize,
    pub(crate) size: usize,
    pub(crate) stride: usize,
    pub(crate) dilation: usize,
    pub(crate) before: i64,
    pub(crate) after: i64,
}

impl WindowAxis {
    /// The place that an item of the window at a position covers, outside of the input maybe.
    pub(crate) fn covered(&self, position: usize, item: usize) -> i64 {
        position as i64 * self.stride as i64 + item as i64 * self.dilation as i64 - self.before
    }

    /// The place in the input that an item of the window at a position covers.
    pub(crate) fn place(&self, position: usize, item: usize) -> Option<usize> {
        usize::try_from(self.covered(position, item)).ok().filter(|&place| place < self.input)
    }

    /// The position whose window covers a place with an item; none between two positions. It may be out of their range.
    pub(crate) fn position(&self, place: usize, item: usize) -> Option<i64> {
        let from = place as i64 + self.before - item as i64 * self.dilation as i64;
        let stride = self.stride as i64;
        (from.rem_euclid(stride) == 0).then(|| from.div_euclid(stride))
    }

    /// The number of items of the window at a position that are in the input or its padding.
    pub(crate) fn padded(&self, position: usize) -> usize {
        let end = self.input as i64 + self.after;
        (0..self.size).filter(|&item| self.covered(position, item) < end).count()
    }
}
