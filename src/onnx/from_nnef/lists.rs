//! Parts of lists that end where a plain one would panic, and products of extents that do not overflow.

/// The items from a position on; none beyond the end.
pub(super) fn from<T>(items: &[T], at: usize) -> &[T] {
    items.get(at..).unwrap_or_default()
}

/// The items before a position; all if there are fewer.
pub(super) fn before<T>(items: &[T], at: usize) -> &[T] {
    items.get(..at).unwrap_or(items)
}

/// The item at a position, if it is known.
pub(super) fn known_at(items: &[Option<i64>], at: usize) -> Option<i64> {
    items.get(at).copied().flatten()
}

/// The product of numbers; none if it has more than 63 bits.
pub(super) fn product(items: &[i64]) -> Option<i64> {
    items.iter().try_fold(1_i64, |all, item| all.checked_mul(*item))
}

/// The product of extents, if all are known.
pub(super) fn known_product(items: &[Option<i64>]) -> Option<i64> {
    items.iter().try_fold(1_i64, |all, item| all.checked_mul((*item)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_products_have_limits() {
        assert_eq!((from(&[1, 2, 3], 2), from(&[1, 2, 3], 7)), (&[3][..], &[][..]));
        assert_eq!((before(&[1, 2, 3], 2), before(&[1, 2, 3], 7)), (&[1, 2][..], &[1, 2, 3][..]));
        assert_eq!((product(&[3, -1]), product(&[i64::MAX, 2]), product(&[])), (Some(-3), None, Some(1)));
        assert_eq!((known_product(&[Some(2), None]), known_product(&[Some(2), Some(5)])), (None, Some(10)));
        assert_eq!(known_product(&[Some(i64::MAX), Some(2)]), None);
        assert_eq!((known_at(&[Some(4), None], 0), known_at(&[None], 0), known_at(&[], 3)), (Some(4), None, None));
    }
}
