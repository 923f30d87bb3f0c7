//! Arithmetic of rules that hold for integers and for symbolic numbers.

use super::Dim;
use crate::extents::Arithmetic;

impl Dim {
    /// The number, unless it is unknown.
    pub(crate) fn determined(self) -> Option<Dim> {
        Some(self).filter(|dim| *dim != Dim::Unknown)
    }
}

impl From<Option<Dim>> for Dim {
    fn from(dim: Option<Dim>) -> Self {
        dim.unwrap_or(Dim::Unknown)
    }
}

impl Arithmetic for Dim {
    fn of(number: i64) -> Self {
        Dim::Int(number)
    }

    fn try_plus(&self, other: &Self) -> Option<Self> {
        self.clone().plus(other.clone()).determined()
    }

    fn try_minus(&self, other: &Self) -> Option<Self> {
        self.clone().minus(other.clone()).determined()
    }

    fn try_times(&self, other: &Self) -> Option<Self> {
        self.clone().times(other.clone()).determined()
    }

    fn try_over(&self, other: &Self) -> Option<Self> {
        self.clone().over(other.clone()).determined()
    }

    fn try_quotient(&self, divisor: &Self) -> Option<Self> {
        self.clone().exactly_over(divisor.clone()).determined()
    }

    fn try_min(&self, other: &Self) -> Option<Self> {
        self.clone().min(other.clone()).determined()
    }

    fn integer(&self) -> Option<i64> {
        self.known()
    }

    fn is_natural(&self) -> bool {
        self.is_at_least(0)
    }
}
