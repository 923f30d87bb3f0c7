//! The places of the items that indices select, and of those that come first in an order.

use std::cmp::Ordering;

use crate::extents;
use crate::tensor::strides;

/// Indices in a tensor; negative ones count from the end of their axis.
#[derive(Clone, Copy)]
pub(crate) struct Indices<'i> {
    pub(crate) items: &'i [i64],
    pub(crate) shape: &'i [usize],
}

/// Why indices select nothing.
pub(crate) enum Misplaced {
    /// Their shape does not fit that of the items.
    Shape,
    /// An index is not within an extent.
    Outside { index: i64, extent: usize },
}

fn place(index: i64, extent: usize) -> Result<usize, Misplaced> {
    extents::axis(index, extent).ok_or(Misplaced::Outside { index, extent })
}

impl Indices<'_> {
    /// The places among items of a shape, each of which has an index in place of its own one along an axis. Only the first
    /// indices along each axis count.
    pub(crate) fn elements(self, among: &[usize], axis: usize, first: &[usize]) -> Result<Vec<usize>, Misplaced> {
        let rank = among.len();
        let fits = |other| first[other] <= self.shape[other] && (other == axis || first[other] <= among[other]);
        if self.shape.len() != rank || first.len() != rank || !(0..rank).all(fits) {
            return Err(Misplaced::Shape);
        }
        let (own, from, to) = (strides(first), strides(self.shape), strides(among));
        let selected = |flat: usize| {
            let at = |axis: usize| flat / own[axis] % first[axis];
            let index = self.items[(0..rank).map(|axis| at(axis) * from[axis]).sum::<usize>()];
            let others = (0..rank).filter(|other| *other != axis).map(|other| at(other) * to[other]);
            Ok(others.sum::<usize>() + place(index, among[axis])? * to[axis])
        };
        (0..first.iter().product()).map(selected).collect()
    }

    /// The shape of the slices that lists of indices select among items of a shape. Each list is along the axes from one
    /// on; those before it are shared.
    pub(crate) fn slices_shape(self, among: &[usize], batch: usize) -> Result<Vec<usize>, Misplaced> {
        let (depth, lists) = self.shape.split_last().ok_or(Misplaced::Shape)?;
        let rest = batch.checked_add(*depth).and_then(|last| among.get(last..)).ok_or(Misplaced::Shape)?;
        let shared = lists.get(..batch).ok_or(Misplaced::Shape)?;
        match shared.iter().zip(among).all(|(own, among)| own <= among) {
            true => Ok([lists, rest].concat()),
            false => Err(Misplaced::Shape),
        }
    }

    /// The places of the items of [`Indices::slices_shape`].
    pub(crate) fn slices(self, among: &[usize], batch: usize) -> Result<Vec<usize>, Misplaced> {
        let size: usize = self.slices_shape(among, batch)?.iter().product();
        let (depth, lists) = self.shape.split_last().ok_or(Misplaced::Shape)?;
        let (own, steps) = (strides(lists), strides(among));
        let inner: usize = among[batch + depth..].iter().product();
        let mut places = Vec::with_capacity(size);
        for list in 0..lists.iter().product() {
            let mut start: usize = (0..batch).map(|axis| list / own[axis] % lists[axis] * steps[axis]).sum();
            for (i, &index) in self.items[list * depth..(list + 1) * depth].iter().enumerate() {
                start += place(index, among[batch + i])? * steps[batch + i];
            }
            places.extend(start..start + inner);
        }
        Ok(places)
    }
}

/// The places of the items that come first in each line along an axis, so many of each, with their indices in the line.
pub(crate) fn first_along(
    shape: &[usize],
    axis: usize,
    wanted: usize,
    order: impl Fn(usize, usize) -> Ordering,
) -> (Vec<usize>, Vec<i64>) {
    let (count, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let outer: usize = shape[..axis].iter().product();
    let mut places = vec![0; wanted * inner * outer];
    let mut indices = vec![0; places.len()];
    let mut first: Vec<usize> = Vec::with_capacity(count);
    for line in 0..outer * inner {
        let (block, column) = (line / inner, line % inner);
        let place = |i: usize| (block * count + i) * inner + column;
        // Of equal items the first one comes first.
        let by = |a: &usize, b: &usize| order(place(*a), place(*b)).then(a.cmp(b));
        first.clear();
        first.extend(0..count);
        if (1..count).contains(&wanted) {
            first.select_nth_unstable_by(wanted - 1, by);
        }
        first.truncate(wanted);
        first.sort_unstable_by(by);
        for (i, &index) in first.iter().enumerate() {
            let to = (block * wanted + i) * inner + column;
            (places[to], indices[to]) = (place(index), index as i64);
        }
    }
    (places, indices)
}

/// The indices of places, one list for each axis.
pub(crate) fn indices_of(places: &[usize], shape: &[usize]) -> Vec<i64> {
    let steps = strides(shape);
    let along = |axis: usize| places.iter().map(move |at| (axis, *at));
    (0..shape.len()).flat_map(along).map(|(axis, at)| (at / steps[axis] % shape[axis]) as i64).collect()
}

/// The triangles of matrices on one side of a diagonal, which belongs to them.
pub(crate) struct Triangle {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// The number of the diagonal: 0 for the one that begins in the corner, more for those above it.
    pub(crate) diagonal: i64,
    pub(crate) upper: bool,
}

impl Triangle {
    /// Whether the item at a place is in it.
    pub(crate) fn has(&self, at: usize) -> bool {
        let above = (at % self.columns) as i64 - (at / self.columns % self.rows) as i64;
        if self.upper { above >= self.diagonal } else { above <= self.diagonal }
    }
}
