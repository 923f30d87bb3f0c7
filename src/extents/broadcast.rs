//! The shape that operands are broadcast to.

use super::Size;

/// Which axes of operands of different ranks are aligned. Those that a shape lacks have an extent of 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// The first axes, as in NNEF.
    First,
    /// The last axes, as in ONNX, torch, and layers of networks with loops.
    Last,
}

/// An axis of the result whose extents are different, and neither of them is 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misaligned<S> {
    pub(crate) axis: usize,
    pub(crate) extents: [S; 2],
}

/// The shape that two shapes are broadcast to.
///
/// # Errors
///
/// Two extents are different, and neither is 1.
pub(crate) fn broadcast<S: Size, C: FromIterator<S>>(a: &[S], b: &[S], align: Align) -> Result<C, Misaligned<S>> {
    let rank = a.len().max(b.len());
    let extent = |shape: &[S], axis: usize| match align {
        Align::First => shape.get(axis).cloned(),
        Align::Last => shape.get((axis + shape.len()).checked_sub(rank)?).cloned(),
    };
    let both = |axis| {
        let extents = [extent(a, axis), extent(b, axis)].map(|extent| extent.unwrap_or(S::ONE));
        let [a, b] = &extents;
        a.broadcast(b).ok_or(Misaligned { axis, extents })
    };
    (0..rank).map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_aligned_at_an_end() {
        let shape = |a: &[i64], b: &[i64], align| broadcast::<i64, Vec<i64>>(a, b, align);
        assert_eq!(shape(&[2, 3], &[3], Align::Last), Ok(vec![2, 3]));
        assert_eq!(shape(&[1], &[4, 0], Align::Last), Ok(vec![4, 0]));
        assert_eq!(shape(&[2, 3], &[2], Align::First), Ok(vec![2, 3]));
        assert_eq!(shape(&[2, 3], &[3], Align::First), Err(Misaligned { axis: 0, extents: [2, 3] }));
        assert_eq!(shape(&[3, 5], &[2, 3, 4], Align::Last), Err(Misaligned { axis: 2, extents: [5, 4] }));
        let unknown: [Option<usize>; 2] = [None, Some(3)];
        let found: Result<Vec<_>, _> = broadcast(&unknown, &[Some(5), Some(1)], Align::Last);
        assert_eq!(found, Ok(vec![Some(5), Some(3)]));
    }
}
