//! Ranges along an axis, which slices take.

use super::axes::from_start;

/// What a slice says about an axis: where it starts, where it ends, and its step, which is not 0. Negative numbers count
/// from the end of the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds<N = i64> {
    pub(crate) start: N,
    pub(crate) end: N,
    pub(crate) step: i64,
}

/// Where a backward slice starts that would start before the first item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nowhere, as in Python: it has no items.
    Outside,
    /// At the first item, as in ONNX.
    First,
}

/// The items that a slice takes along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AxisSection {
    /// The first item, outside of the axis if there are none.
    pub(crate) first: i64,
    pub(crate) step: i64,
    /// The distance from the first item to the end in the direction of the step, negative if the step leads away from it.
    pub(crate) way: i64,
}

impl AxisSection {
    /// The items within bounds of an axis of an extent.
    pub(crate) fn new(bounds: Bounds, extent: i64, before: Before) -> AxisSection {
        let Bounds { start, end, step } = bounds;
        let (start, end) = (from_start(start, extent), from_start(end, extent));
        let (low, high) = if step > 0 { (0, extent) } else { (-1, extent - 1) };
        let least = if before == Before::First { high.min(0) } else { low };
        let (first, end) = (start.clamp(least, high), end.clamp(-1, extent));
        AxisSection { first, step, way: if step > 0 { end - first } else { first - end } }
    }

    /// The number of items.
    pub(crate) fn count(&self) -> i64 {
        let way = self.way.max(0).unsigned_abs();
        i64::try_from(way.div_ceil(self.step.unsigned_abs().max(1))).unwrap_or(i64::MAX)
    }

    /// Where the items end: no item is at it, or behind it.
    pub(crate) fn end(&self) -> i64 {
        if self.step > 0 { self.first.saturating_add(self.way) } else { self.first.saturating_sub(self.way) }
    }

    /// The items in the order of the slice.
    pub(crate) fn places(self) -> impl Iterator<Item = usize> {
        (0..self.count())
            .filter_map(move |i| usize::try_from(self.first.saturating_add(i.saturating_mul(self.step))).ok())
    }
}

/// The items within bounds of NNEF, which refuses a range whose way is negative.
pub(crate) fn nnef_section(bounds: Bounds, extent: i64) -> AxisSection {
    // For a positive step an end of 0 means the extent, since a range up to 0 would be empty.
    let open = bounds.end == 0 && bounds.step > 0;
    AxisSection::new(Bounds { end: if open { extent } else { bounds.end }, ..bounds }, extent, Before::Outside)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Python takes from a list of five items.
    #[test]
    fn sections_are_those_of_lists() {
        let places = |start, end, step, before| -> Vec<usize> {
            let section = AxisSection::new(Bounds { start, end, step }, 5, before);
            let places: Vec<usize> = section.places().collect();
            assert_eq!(section.count(), places.len() as i64, "{start} {end} {step}");
            places
        };
        for before in [Before::Outside, Before::First] {
            assert_eq!(places(1, 3, 1, before), [1, 2]);
            assert_eq!(places(-3, i64::MAX, 1, before), [2, 3, 4]);
            assert_eq!(places(0, 100, 2, before), [0, 2, 4]);
            assert_eq!(places(-1, -100, -2, before), [4, 2, 0]);
            assert_eq!(places(3, 0, -1, before), [3, 2, 1]);
            assert_eq!(places(3, 2, 1, before), [0; 0]);
            assert_eq!(places(0, 5, i64::MAX, before), [0]);
            assert_eq!(places(i64::MAX, i64::MIN, i64::MIN, before), [4]);
            assert_eq!(AxisSection::new(Bounds { start: 3, end: i64::MIN, step: -1 }, 0, before).count(), 0);
        }
        assert_eq!(places(-9, -100, -1, Before::First), [0]);
        assert_eq!(places(-9, -100, -1, Before::Outside), [0; 0]);
    }
}
