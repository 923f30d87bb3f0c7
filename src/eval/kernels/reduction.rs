//! Reductions: what becomes of a group of numbers.

use crate::tensor::kernels::sum;

/// The integers of a group.
pub(crate) type WholeNumbers<'i> = &'i mut dyn Iterator<Item = i128>;

/// What a reduction computes of floats, and of integers; none of integers for which it is not defined.
pub(crate) struct Reduction {
    pub(crate) of_floats: fn(&[f64]) -> f64,
    pub(crate) of_integers: fn(WholeNumbers) -> Option<i128>,
}

/// The sum of integers, which wraps.
pub(crate) fn total(items: WholeNumbers) -> i128 {
    items.fold(0, i128::wrapping_add)
}

pub(crate) const SUM: Reduction =
    Reduction { of_floats: |items| sum(items.iter().copied()), of_integers: |items| Some(total(items)) };

/// The mean of integers is truncated.
pub(crate) const MEAN: Reduction = Reduction {
    of_floats: |items| sum(items.iter().copied()) / items.len() as f64,
    of_integers: |items| {
        let mut count = 0;
        total(&mut items.inspect(|_| count += 1)).checked_div(count)
    },
};

/// The greatest item, NaN if one is NaN.
pub(crate) const MAX: Reduction = Reduction {
    of_floats: |items| items.iter().fold(f64::NEG_INFINITY, |all, &x| if x > all || x.is_nan() { x } else { all }),
    of_integers: |items| items.max(),
};

/// The least item, NaN if one is NaN.
pub(crate) const MIN: Reduction = Reduction {
    of_floats: |items| items.iter().fold(f64::INFINITY, |all, &x| if x < all || x.is_nan() { x } else { all }),
    of_integers: |items| items.min(),
};
