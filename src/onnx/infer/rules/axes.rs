//! Axes as operators count them, and combinations of extents.

use crate::graph::dims::Dim;

/// The axis with a number, which counts from the end if it is negative.
pub(crate) fn axis(number: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let at = if number < 0 { number.checked_add(rank)? } else { number };
    if (0..rank).contains(&at) { usize::try_from(at).ok() } else { None }
}

/// The place for a new axis among so many axes: it may be behind the last one.
pub(crate) fn place(number: i64, rank: usize) -> Option<usize> {
    axis(number, rank.checked_add(1)?)
}

/// The axes with these numbers, as marks.
pub(crate) fn marked(numbers: &[i64], rank: usize) -> Option<Vec<bool>> {
    let mut marks = vec![false; rank];
    for number in numbers {
        *marks.get_mut(axis(*number, rank)?)? = true;
    }
    Some(marks)
}

/// The product of extents.
pub(crate) fn product(extents: &[Dim]) -> Dim {
    extents.iter().fold(Dim::Int(1), |product, extent| product.times(extent.clone()))
}

/// The shape that two shapes are broadcast to, aligned at their last axes; none if they do not fit.
pub(crate) fn broadcast(a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let lead = long.len() - short.len();
    let mut extents = long.to_vec();
    for (extent, other) in extents.iter_mut().skip(lead).zip(short) {
        *extent = std::mem::replace(extent, Dim::Unknown).broadcast(other.clone())?;
    }
    Some(extents)
}
