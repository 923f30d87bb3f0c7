//! Memory as a mixed radix number: a place is a sequence of digits, and each digit steps by a fixed number of elements.
//!
//! This form exists for all layouts in which tile sizes divide combined dimensions. Layouts with equal forms are equal
//! in memory, however large the arrays are.

use super::indexer::Steps;
use super::memory::Memory;

/// A digit of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digit {
    /// The number of its values.
    size: u64,
    /// The difference of the element numbers between neighbouring values.
    step: u64,
    /// The distance in memory between neighbouring values.
    distance: u64,
    /// The index of the limit that applies to it, and its weight in that limit.
    limit: Option<(usize, u64)>,
}

/// The digits of places in a memory, the major one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digits {
    digits: Vec<Digit>,
    /// The exclusive upper bounds of weighted sums of digits; places at or above a bound are padding.
    limits: Vec<u64>,
}

/// The digits of a physical dimension, while tiles are applied.
type Dimension = Vec<Digit>;

impl Digits {
    /// The digits of a memory. `steps` is the difference of element numbers along each dimension, by default
    /// that of the row-major numbering. None if a tile cannot be expressed in this form.
    pub(super) fn new(memory: &Memory, steps: Option<&[u64]>) -> Option<Digits> {
        let default = row_major(&memory.sizes);
        let steps = steps.unwrap_or(&default);
        let mut limits = Vec::new();
        let mut dims: Vec<Dimension> = Vec::new();
        for (&dimension, &padded) in memory.order.iter().zip(memory.padded()) {
            let (size, step) = (memory.sizes[dimension], steps[dimension]);
            let limit = (size < padded).then(|| {
                limits.push(size);
                (limits.len() - 1, 1)
            });
            dims.push(vec![Digit { size: padded, step, distance: 0, limit }]);
        }
        for tiling in memory.tilings() {
            let one = || vec![Digit { size: 1, step: 0, distance: 0, limit: None }];
            dims.splice(0..0, std::iter::repeat_with(one).take(tiling.prepended));
            let mut covered = dims.split_off(tiling.kept).into_iter();
            let mut inner = Vec::new();
            for (group, &tile) in tiling.groups.iter().zip(&tiling.tile) {
                let combined: Dimension = covered.by_ref().take(group.len()).flatten().collect();
                let (count, within) = split(combined, tile, &mut limits)?;
                dims.push(count);
                inner.push(within);
            }
            dims.append(&mut inner);
        }
        Some(merged(dims.into_iter().flatten().collect(), limits))
    }

    /// Whether no limit applies to more than one digit, so that digits can be iterated over independently.
    pub(super) fn is_plain(&self) -> bool {
        let alone = |digit: &Digit| digit.limit.is_none_or(|(limit, _)| self.count(limit) == 1);
        self.digits.iter().all(alone)
    }

    /// Whether there is no padding.
    pub(super) fn is_dense(&self) -> bool {
        self.limits.is_empty()
    }

    fn count(&self, limit: usize) -> usize {
        self.digits.iter().filter(|digit| digit.limit.is_some_and(|(other, _)| other == limit)).count()
    }

    /// The nested loops over the elements in their order, the outer one first. The form must be plain.
    pub(super) fn by_element(mut self) -> Vec<Steps> {
        for digit in &mut self.digits {
            if let Some((limit, weight)) = digit.limit {
                digit.size = digit.size.min(self.limits[limit].div_ceil(weight));
            }
        }
        self.digits.sort_by_key(|digit| std::cmp::Reverse(digit.step));
        let mut loops: Vec<Steps> = Vec::new();
        for digit in self.digits.iter().filter(|digit| digit.size != 1) {
            match loops.last_mut() {
                Some(Steps::Even(count, distance)) if Some(*distance) == digit.size.checked_mul(digit.distance) => {
                    (*count, *distance) = (*count * digit.size, digit.distance);
                }
                _ => loops.push(Steps::Even(digit.size, digit.distance)),
            }
        }
        loops
    }
}

/// The row-major steps of dimensions, which are not meaningful for empty arrays.
pub(super) fn row_major(sizes: &[u64]) -> Vec<u64> {
    let mut steps = vec![1u64; sizes.len()];
    for i in (1..sizes.len()).rev() {
        steps[i - 1] = steps[i].saturating_mul(sizes[i]);
    }
    steps
}

/// Divides a dimension into tiles: the digits of the tile number, and those within a tile.
fn split(mut dimension: Dimension, mut tile: u64, limits: &mut Vec<u64>) -> Option<(Dimension, Dimension)> {
    let mut within = Vec::new();
    while tile > 1 {
        let Some(digit) = dimension.pop() else {
            // The tile is larger than the dimension: the rest of the tile is padding.
            return pad(within, tile, limits);
        };
        if tile.is_multiple_of(digit.size) {
            tile /= digit.size;
            within.insert(0, digit);
            continue;
        }
        if !digit.size.is_multiple_of(tile) && !dimension.is_empty() {
            return None;
        }
        let count = digit.size.div_ceil(tile);
        let limit = digit.limit.or_else(|| {
            (count * tile != digit.size).then(|| {
                limits.push(digit.size);
                (limits.len() - 1, 1)
            })
        });
        if digit.limit.is_some() && count * tile != digit.size && !alone(digit, limits) {
            return None;
        }
        let outer = Digit {
            size: count,
            step: digit.step.checked_mul(tile)?,
            limit: match limit {
                Some((limit, weight)) => Some((limit, weight.checked_mul(tile)?)),
                None => None,
            },
            ..digit
        };
        dimension.push(outer);
        within.insert(0, Digit { size: tile, limit, ..digit });
        tile = 1;
    }
    Some((dimension, within))
}

/// Whether the limit of a digit already excludes all values beyond its size, so that the size may grow.
fn alone(digit: Digit, limits: &[u64]) -> bool {
    digit.limit.is_some_and(|(limit, weight)| limits[limit] <= weight * digit.size)
}

/// Pads a tile that is larger than its dimension by a factor: the major digit of the dimension gets more values.
fn pad(mut within: Dimension, factor: u64, limits: &mut Vec<u64>) -> Option<(Dimension, Dimension)> {
    let outer = Digit { size: 1, step: 0, distance: 0, limit: None };
    match within.first_mut() {
        Some(first) if first.limit.is_none() => {
            limits.push(first.size);
            first.limit = Some((limits.len() - 1, 1));
            first.size = first.size.checked_mul(factor)?;
        }
        Some(first) if alone(*first, limits) => first.size = first.size.checked_mul(factor)?,
        Some(_) => return None,
        None => {
            limits.push(1);
            within.push(Digit { size: factor, limit: Some((limits.len() - 1, 1)), ..outer });
        }
    }
    Some((vec![outer], within))
}

/// The canonical form: digits with one value are removed, and adjacent digits with contiguous steps merged.
fn merged(digits: Dimension, limits: Vec<u64>) -> Digits {
    let mut short: Vec<Digit> = Vec::new();
    let mut distance = digits.iter().fold(1u64, |all, digit| all.saturating_mul(digit.size));
    for mut digit in digits {
        distance = distance.checked_div(digit.size).unwrap_or(0);
        digit.distance = distance;
        if digit.size == 1 {
            continue;
        }
        if digit.limit.is_some_and(|(limit, weight)| limits[limit] <= weight) {
            // Elements have only the value 0.
            digit.step = 0;
        }
        match short.last_mut() {
            Some(major)
                if major.limit.is_none()
                    && digit.limit.is_none()
                    && digit.step.checked_mul(digit.size) == Some(major.step) =>
            {
                digit.size *= major.size;
                *major = digit;
            }
            _ => short.push(digit),
        }
    }
    // Limits are numbered by their first use.
    let mut used: Vec<u64> = Vec::new();
    let mut known: Vec<usize> = Vec::new();
    for digit in &mut short {
        if let Some((limit, _)) = &mut digit.limit {
            let at = known.iter().position(|other| other == limit).unwrap_or_else(|| {
                known.push(*limit);
                used.push(limits[*limit]);
                known.len() - 1
            });
            *limit = at;
        }
    }
    Digits { digits: short, limits: used }
}
