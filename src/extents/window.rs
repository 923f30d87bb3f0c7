//! Windows along an axis: how many places they have, and which extent they need.

use super::arithmetic::Arithmetic;

/// A window along an axis. `P` is what is known of its padding: the items before and after the axis, if these are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window<N = i64, P = (N, N)> {
    pub(crate) size: N,
    /// The distance between two places.
    pub(crate) stride: N,
    /// The distance between two items.
    pub(crate) dilation: N,
    pub(crate) padding: P,
}

/// An end of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Before,
    After,
}

impl End {
    /// Padding before and after the axis, of which this end has the larger half.
    pub(crate) fn halves(self, total: i64) -> (i64, i64) {
        let before = match self {
            End::Before => total.saturating_add(1) / 2,
            End::After => total / 2,
        };
        (before, total - before)
    }
}

impl<N: Arithmetic> Window<N> {
    /// Windows side by side.
    pub(crate) fn side_by_side(size: N) -> Self {
        Window { stride: size.clone(), size, dilation: N::of(1), padding: (N::of(0), N::of(0)) }
    }
}

impl<N: Arithmetic, P> Window<N, P> {
    /// The same window with another padding.
    pub(crate) fn padded<Q>(self, padding: Q) -> Window<N, Q> {
        Window { size: self.size, stride: self.stride, dilation: self.dilation, padding }
    }

    /// The number of items from the first to the last one.
    pub(crate) fn span(&self) -> Option<N> {
        if self.size.integer() == Some(1) {
            return Some(N::of(1));
        }
        self.size.try_minus(&N::of(1))?.try_times(&self.dilation)?.try_plus(&N::of(1))
    }

    /// The number of strides that begin within an extent: with automatic padding each has a place.
    pub(crate) fn strides(&self, extent: &N) -> Option<N> {
        extent.try_over_up(&self.stride)
    }
}

impl<N: Arithmetic> Window<N> {
    /// How far the window can move over an extent and its padding; negative if it does not fit.
    pub(crate) fn room(&self, extent: &N) -> Option<N> {
        let (before, after) = &self.padding;
        extent.try_plus(before)?.try_plus(after)?.try_minus(&self.span()?)
    }

    /// The number of places over an extent; 0 or less if the window does not fit.
    pub(crate) fn places(&self, extent: &N) -> Option<N> {
        self.room(extent)?.try_over(&self.stride)?.try_plus(&N::of(1))
    }

    /// The number of places, of which the last may go beyond the padding. It begins in the extent or before it: windows
    /// that begin in the padding behind are not there.
    pub(crate) fn places_up(&self, extent: &N) -> Option<N> {
        let (before, after) = &self.padding;
        let all = self.room(extent)?.try_over_up(&self.stride)?.try_plus(&N::of(1))?;
        // A window that is at least as long as a stride and that padding begins before it.
        let reach = after.try_plus(&self.stride)?;
        if self.span()?.try_minus(&reach).is_some_and(|rest| rest.is_natural()) {
            return Some(all);
        }
        all.try_min(&extent.try_plus(before)?.try_over_up(&self.stride)?)
    }

    /// The extent that has so many places, without what none of them covers: that of a transposed window.
    pub(crate) fn extent(&self, places: &N) -> Option<N> {
        let (before, after) = &self.padding;
        let moved = places.try_minus(&N::of(1))?.try_times(&self.stride)?;
        moved.try_plus(&self.span()?)?.try_minus(before)?.try_minus(after)
    }
}

impl<P> Window<i64, P> {
    /// The window with automatic padding over an extent, which gives each stride a place: a total of at least `least`,
    /// which is negative where strides leave gaps between windows. None if the window has no items.
    pub(crate) fn automatic(self, larger: End, extent: i64, least: i64) -> Option<Window> {
        let plain = self.padded((0, 0));
        plain.span().filter(|span| *span > 0)?;
        let total = plain.extent(&plain.strides(&extent)?)?.checked_sub(extent)?.max(least);
        Some(plain.padded(larger.halves(total)))
    }
}

impl Window {
    /// The window with the padding behind with which all of [`Window::places_up`] fit.
    pub(crate) fn rounded_up(self, extent: i64) -> Option<Self> {
        let (all, (before, after)) = (self.places_up(&extent)?, self.padding);
        if all == self.places(&extent)? {
            return Some(self);
        }
        let more = all.checked_sub(1)?.checked_mul(self.stride)?.checked_sub(self.room(&extent)?)?;
        Some(self.padded((before, after.checked_add(more)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(size: i64, stride: i64, dilation: i64, padding: (i64, i64)) -> Window {
        Window { size, stride, dilation, padding }
    }

    /// All windows with small settings.
    fn all() -> impl Iterator<Item = (Window, i64)> {
        let paddings = (-1..4).flat_map(|before| (-1..4).map(move |after| (before, after)));
        let steps = (1..4).flat_map(|stride| (1..4).map(move |dilation| (stride, dilation)));
        steps.flat_map(move |(stride, dilation)| {
            let paddings = paddings.clone();
            (1..5).flat_map(move |size| {
                let windows = paddings.clone().map(move |padding| window(size, stride, dilation, padding));
                windows.flat_map(|window| (0..8).map(move |extent| (window, extent)))
            })
        })
    }

    /// The places at which a window begins and ends within the extent and its padding, one by one.
    fn counted(window: Window, extent: i64, may_end: impl Fn(i64, i64) -> bool) -> i64 {
        let (before, after) = window.padding;
        let span = window.span().unwrap();
        let begins = (0..).map(|at| at * window.stride - before);
        begins.take_while(|begin| may_end(*begin, begin + span - extent - after)).count() as i64
    }

    #[test]
    fn places_are_those_that_are_found_one_by_one() {
        for (window, extent) in all() {
            let whole = counted(window, extent, |_, beyond| beyond <= 0);
            assert_eq!(window.places(&extent).unwrap().max(0), whole, "{window:?} {extent}");
            let begun = |begin, beyond| begin < extent && beyond < window.stride;
            assert_eq!(
                window.places_up(&extent).unwrap().max(0),
                counted(window, extent, begun),
                "{window:?} {extent}"
            );
        }
    }

    #[test]
    fn a_window_that_is_rounded_up_has_all_places() {
        for (window, extent) in all() {
            let up = window.rounded_up(extent).unwrap();
            assert_eq!(up.places(&extent), window.places_up(&extent), "{window:?} {extent}");
        }
    }

    #[test]
    fn automatic_padding_gives_each_stride_a_place() {
        for (window, extent) in all().filter(|(_, extent)| *extent > 0) {
            let strides = window.strides(&extent);
            let gaps = window.automatic(End::Before, extent, i64::MIN).unwrap();
            assert_eq!(gaps.places(&extent), strides, "{window:?} {extent}");
            let padded = window.automatic(End::After, extent, 0).unwrap();
            assert_eq!(padded.places(&extent), strides, "{window:?} {extent}");
            let (before, after) = padded.padding;
            assert!(before >= 0 && (after == before || after == before + 1), "{padded:?}");
        }
        assert_eq!(window(4, 2, 1, (0, 0)).automatic(End::After, 5, 0).unwrap().padding, (1, 2));
        assert_eq!(window(4, 2, 1, (0, 0)).automatic(End::Before, 5, 0).unwrap().padding, (2, 1));
    }

    #[test]
    fn transposed_windows_have_the_places_of_their_extent() {
        for (window, places) in all().filter(|(_, places)| *places > 0) {
            let extent = window.extent(&places).unwrap();
            assert_eq!(window.places(&extent), Some(places), "{window:?}");
        }
    }

    #[test]
    fn numbers_of_more_than_63_bits_are_refused() {
        let huge = window(i64::MAX, i64::MAX, i64::MAX, (i64::MAX, i64::MAX));
        assert_eq!((huge.span(), huge.room(&1), huge.places_up(&1), huge.extent(&3)), (None, None, None, None));
        assert_eq!(huge.automatic(End::After, 1, 0), None);
        // One operation each that leaves the range: a product, a sum in both directions, a difference.
        assert_eq!(window(3, 1, i64::MAX, (0, 0)).span(), None);
        assert_eq!(window(1, 1, 1, (i64::MAX, 0)).room(&1), None);
        assert_eq!(window(1, 1, 1, (i64::MIN, 0)).room(&-1), None);
        assert_eq!(window(1, 1, 1, (i64::MIN, 0)).extent(&1), None);
        assert_eq!(window(1, 2, 1, (0, 0)).strides(&i64::MAX), None);
    }
}
