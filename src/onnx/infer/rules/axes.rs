//! Axes as operators count them, and combinations of extents.

pub(crate) use crate::extents::axis;
use crate::extents::{self, Align};
use crate::graph::dims::Dim;

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
    extents::broadcast(a, b, Align::Last).ok()
}
