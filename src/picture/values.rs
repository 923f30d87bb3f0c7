//! What the data of variables are like: the smallest and largest number, the mean, and how they are distributed.
//!
//! Data are looked at twice, in pieces: first for the range, then for the parts of it.

use rustc_hash::FxHashMap;

use crate::graph::OperationId;

/// What the data of variables are like.
pub(crate) type Summaries = FxHashMap<OperationId, Summary>;

/// The number of parts of the range in which numbers are counted.
const BINS: usize = 32;
/// How many of the first numbers are kept.
const FIRST: usize = 8;
/// What items are multiplied by for a second sum, which is finite where that of the items is not: 2^-64.
const SCALE: f64 = 1.0 / (1u128 << 64) as f64;

/// What the data of a variable are like. There are no ranges and means of nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Summary {
    /// The smallest number.
    pub(crate) min: Option<f64>,
    /// The largest number.
    pub(crate) max: Option<f64>,
    /// The mean.
    pub(crate) mean: Option<f64>,
    /// How many items are infinite or not a number, which do not count elsewhere.
    pub(crate) not_numbers: u64,
    /// The first items.
    pub(crate) first: Vec<f64>,
    /// How many numbers are in each part of the range.
    pub(crate) bins: Vec<u64>,
}

/// Adds up the items of a variable.
#[derive(Debug, Default)]
pub(crate) struct Summing {
    summary: Summary,
    sum: f64,
    /// The sum of the items times [`SCALE`].
    scaled: f64,
    count: u64,
}

impl Summing {
    /// Adds items in the first pass.
    pub(crate) fn add(&mut self, items: &[f64]) {
        let summary = &mut self.summary;
        let room = FIRST.saturating_sub(summary.first.len());
        summary.first.extend(items.iter().take(room));
        let (mut count, mut sum, mut scaled) = (0, self.sum, self.scaled);
        let (mut min, mut max) = (summary.min.unwrap_or(f64::INFINITY), summary.max.unwrap_or(f64::NEG_INFINITY));
        for item in items.iter().copied().filter(|item| item.is_finite()) {
            min = if item < min { item } else { min };
            max = if item > max { item } else { max };
            sum += item;
            scaled += item * SCALE;
            count += 1;
        }
        summary.not_numbers += items.len() as u64 - count;
        (self.count, self.sum, self.scaled) = (self.count + count, sum, scaled);
        if self.count > 0 {
            (summary.min, summary.max) = (Some(min), Some(max));
        }
    }

    /// Ends the first pass.
    pub(crate) fn counting(mut self) -> Counting {
        let count = self.count as f64;
        let mean = if self.sum.is_finite() { self.sum / count } else { self.scaled / count / SCALE };
        let range = self.summary.min.zip(self.summary.max);
        self.summary.mean = range.map(|(min, max)| mean.clamp(min, max));
        self.summary.bins = vec![0; BINS];
        Counting(self.summary)
    }
}

/// Counts the items of a variable in the parts of its range.
#[derive(Debug)]
pub(crate) struct Counting(Summary);

impl Counting {
    /// Counts items in the second pass.
    pub(crate) fn add(&mut self, items: &[f64]) {
        let (Some(min), Some(max)) = (self.0.min, self.0.max) else { return };
        // Halves, since the range itself may be too large for a number.
        let (least, range) = (min / 2.0, max / 2.0 - min / 2.0);
        for item in items.iter().filter(|item| item.is_finite()) {
            let part = (item / 2.0 - least) / range;
            let bin = ((part * BINS as f64) as usize).min(BINS - 1);
            self.0.bins[bin] += 1;
        }
    }

    /// Ends the second pass.
    pub(crate) fn summary(self) -> Summary {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(items: &[f64]) -> Summary {
        let mut summing = Summing::default();
        items.chunks(5).for_each(|items| summing.add(items));
        let mut counting = summing.counting();
        items.chunks(7).for_each(|items| counting.add(items));
        counting.summary()
    }

    #[test]
    fn items_are_counted_in_parts_of_the_range() {
        let items: Vec<f64> = (0..64).map(f64::from).chain([f64::NAN, f64::INFINITY]).collect();
        let found = summary(&items);
        assert_eq!((found.min, found.max, found.mean, found.not_numbers), (Some(0.0), Some(63.0), Some(31.5), 2));
        assert_eq!((found.bins.iter().sum::<u64>(), found.bins[0], found.bins[BINS - 1]), (64, 2, 2));
        assert_eq!(found.first, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    }

    #[test]
    fn any_range_is_possible() {
        assert_eq!(summary(&[]).mean, None);
        assert_eq!(summary(&[3.0, 3.0]).bins[0], 2);
        let wide = summary(&[-f64::MAX, f64::MAX, 0.0]);
        assert_eq!((wide.bins[0], wide.bins[BINS / 2], wide.bins[BINS - 1], wide.mean), (1, 1, 1, Some(0.0)));
        for (items, mean) in
            [([f64::MAX; 2], f64::MAX), ([f64::MAX / 2.0, f64::MAX], f64::MAX * 0.75), ([5e-324; 2], 5e-324)]
        {
            assert_eq!(summary(&items).mean, Some(mean), "{items:?}");
        }
    }
}
