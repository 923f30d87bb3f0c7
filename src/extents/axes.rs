//! Axes by their numbers, and the shapes that follow from adding, removing and ordering them.

/// The place with a number among so many, which counts from the end if it is negative.
pub(crate) fn axis(number: i64, count: usize) -> Option<usize> {
    let count = i64::try_from(count).ok()?;
    let at = from_start(number, count);
    if (0..count).contains(&at) { usize::try_from(at).ok() } else { None }
}

/// A number that counts from the end if it is negative, counted from the start: it may be outside.
pub(crate) fn from_start(number: i64, count: i64) -> i64 {
    if number < 0 { number.saturating_add(count) } else { number }
}

/// Axes in ascending order, none of them twice.
pub(crate) fn distinct(mut axes: Vec<usize>) -> Option<Vec<usize>> {
    axes.sort_unstable();
    axes.windows(2).all(|pair| pair.first() != pair.last()).then_some(axes)
}

/// Whether these are all axes of a rank, each of them once.
pub(crate) fn is_order(axes: &[usize], rank: usize) -> bool {
    axes.len() == rank && distinct(axes.to_vec()).is_some_and(|axes| axes.last().is_none_or(|last| *last < rank))
}

/// The shape with other extents in place of an axis, which has to be there: those of indices, or none.
pub(crate) fn replaced<S: Clone>(shape: &[S], axis: usize, by: &[S]) -> Vec<S> {
    let mut shape = shape.to_vec();
    shape.splice(axis..=axis, by.iter().cloned());
    shape
}

/// The shape with a new extent at axes of the result.
///
/// # Errors
///
/// An axis that is outside, or given twice.
pub(crate) fn inserted<S: Clone>(shape: &[S], mut axes: Vec<usize>, extent: &S) -> Result<Vec<S>, usize> {
    axes.sort_unstable();
    let mut shape = shape.to_vec();
    for (i, &axis) in axes.iter().enumerate() {
        if axis > shape.len() || axes.get(i + 1) == Some(&axis) {
            return Err(axis);
        }
        shape.insert(axis, extent.clone());
    }
    Ok(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_count_from_the_end() {
        let found = [0, 2, 3, -1, -3, -4, i64::MIN, i64::MAX].map(|number| axis(number, 3));
        assert_eq!(found, [Some(0), Some(2), None, Some(2), Some(0), None, None, None]);
        assert_eq!(axis(0, 0), None);
    }

    #[test]
    fn orders_have_each_axis_once() {
        assert!(is_order(&[2, 0, 1], 3) && is_order(&[], 0));
        assert!(!is_order(&[0, 1], 3) && !is_order(&[0, 0, 1], 3) && !is_order(&[0, 1, 3], 3));
    }

    #[test]
    fn axes_are_inserted_where_the_result_has_them() {
        assert_eq!(inserted(&[5, 6], vec![3, 0], &1), Ok(vec![1, 5, 6, 1]));
        assert_eq!(inserted(&[5], vec![0, 0], &1), Err(0));
        assert_eq!(inserted(&[5], vec![3, 0], &1), Err(3));
        assert_eq!(replaced(&[5, 6, 7], 1, &[2, 3]), [5, 2, 3, 7]);
    }
}
