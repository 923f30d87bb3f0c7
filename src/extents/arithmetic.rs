//! Numbers that extents are computed with.

/// The arithmetic of integers, and of expressions on symbols. Results are none if they are unknown, or have more than 63 bits.
pub(crate) trait Arithmetic: Clone {
    /// An integer.
    fn of(number: i64) -> Self;

    /// `self + other`
    fn try_plus(&self, other: &Self) -> Option<Self>;

    /// `self - other`
    fn try_minus(&self, other: &Self) -> Option<Self>;

    /// `self * other`
    fn try_times(&self, other: &Self) -> Option<Self>;

    /// The quotient, rounded down; none if the divisor is not positive.
    fn try_over(&self, other: &Self) -> Option<Self>;

    /// The quotient, if it is known that nothing remains.
    fn try_quotient(&self, divisor: &Self) -> Option<Self>;

    /// The smaller number.
    fn try_min(&self, other: &Self) -> Option<Self>;

    /// The integer, if it is one.
    fn integer(&self) -> Option<i64>;

    /// Whether it is not negative, for all values of the symbols.
    fn is_natural(&self) -> bool;

    /// The quotient, rounded up; none if the divisor is not positive.
    fn try_over_up(&self, other: &Self) -> Option<Self> {
        self.try_plus(&other.try_minus(&Self::of(1))?)?.try_over(other)
    }
}

impl Arithmetic for i64 {
    fn of(number: i64) -> Self {
        number
    }

    fn try_plus(&self, other: &Self) -> Option<Self> {
        self.checked_add(*other)
    }

    fn try_minus(&self, other: &Self) -> Option<Self> {
        self.checked_sub(*other)
    }

    fn try_times(&self, other: &Self) -> Option<Self> {
        self.checked_mul(*other)
    }

    fn try_over(&self, other: &Self) -> Option<Self> {
        if *other > 0 { Some(self.div_euclid(*other)) } else { None }
    }

    fn try_quotient(&self, divisor: &Self) -> Option<Self> {
        if self.checked_rem(*divisor) == Some(0) { self.checked_div(*divisor) } else { None }
    }

    fn try_min(&self, other: &Self) -> Option<Self> {
        Some(*self.min(other))
    }

    fn integer(&self) -> Option<i64> {
        Some(*self)
    }

    fn is_natural(&self) -> bool {
        *self >= 0
    }
}
