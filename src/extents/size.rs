//! What rules need of an extent.

/// An extent: a number, or an expression that may be unknown.
pub(crate) trait Size: Clone + PartialEq {
    /// The extent 1.
    const ONE: Self;

    /// The extent that both are broadcast to; none if they are different, and neither is 1.
    fn broadcast(&self, other: &Self) -> Option<Self>;

    /// The more specific description of an extent that both describe; none if they contradict each other.
    fn unify(&self, other: &Self) -> Option<Self>;
}

/// Numbers as extents.
macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Size for $number {
            const ONE: Self = 1;

            fn broadcast(&self, other: &Self) -> Option<Self> {
                match (self, other) {
                    (1, extent) | (extent, 1) => Some(*extent),
                    (extent, other) => extent.unify(other),
                }
            }

            fn unify(&self, other: &Self) -> Option<Self> {
                (self == other).then_some(*self)
            }
        }
    )*};
}

numbers!(usize i64);

/// A number that may not be known.
impl Size for Option<usize> {
    const ONE: Self = Some(1);

    fn broadcast(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Some(a), Some(b)) => Size::broadcast(a, b).map(Some),
            (Some(1), other) | (other, Some(1)) => Some(*other),
            (known, other) => Some(known.or(*other)),
        }
    }

    fn unify(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Some(a), Some(b)) => a.unify(b).map(Some),
            (known, other) => Some(known.or(*other)),
        }
    }
}
