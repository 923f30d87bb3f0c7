//! Sliding windows over several axes: the input items that a window covers at each position.
//!
//! All operations of this family are sums, maxima or selections over pairs of a window item and the input item that it
//! covers. [`Windows::each`] enumerates these pairs for every position, and [`pooled`] for every position of several
//! planes.

use super::window::SlidingWindow;
use crate::eval::{Budget, EvalError};
use crate::graph::border::Border;
use crate::tensor::kernels::sum;

/// Whether the output of an operation is the space of the positions, or the one that the windows cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the covered space to the positions: `conv`, `box`, …
    Down,
    /// From the positions to the covered space: `deconv`, `debox`, …
    Up,
}

/// The windows over some axes.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    pub(crate) axes: Vec<SlidingWindow>,
    pub(crate) direction: Direction,
    /// The border of the input.
    pub(crate) border: Border,
}

/// The row-major indices of a window item and of the input item that it covers; none for the latter if the border
/// determines the value, or there is no value.
pub(crate) type Pair = (usize, Option<usize>);

impl Windows {
    /// The extents of the output.
    pub(crate) fn output(&self) -> Vec<usize> {
        self.axes.iter().map(|axis| if self.direction == Direction::Down { axis.output } else { axis.input }).collect()
    }

    /// The extent of the input along an axis.
    fn source(&self, axis: &SlidingWindow) -> usize {
        if self.direction == Direction::Down { axis.input } else { axis.output }
    }

    /// The number of items of the input.
    pub(crate) fn plane(&self) -> usize {
        self.axes.iter().map(|axis| self.source(axis)).product()
    }

    /// The number of items of a window.
    pub(crate) fn volume(&self) -> usize {
        self.axes.iter().fold(1, |volume, axis| volume.saturating_mul(axis.size()))
    }

    /// Whether items outside of the input count, as zeros. Those of a transposed window are not there.
    pub(crate) fn is_padded(&self) -> bool {
        self.direction == Direction::Down && self.border != Border::Ignore
    }

    /// Combines pairs with those along one axis at a position.
    fn join(&self, pairs: &[Pair], axis: &SlidingWindow, at: usize, to: &mut Vec<Pair>) {
        let source = self.source(axis);
        to.clear();
        for &(window, place) in pairs {
            to.extend((0..axis.size()).filter_map(|k| {
                let covered = match self.direction {
                    Direction::Down => axis.covered(at, k),
                    Direction::Up => axis.position(at, k)?,
                };
                let inner = self.border.place(covered, source);
                Some((window * axis.size() + k, place.zip(inner).map(|(place, inner)| place * source + inner)))
            }));
        }
    }

    /// Calls a function for each position of the output, in row-major order, with its number, its index, and the pairs of
    /// the window, in row-major order of the window.
    ///
    /// # Errors
    ///
    /// A limit would be exceeded, or the function fails.
    pub(crate) fn each(
        &self,
        budget: &Budget,
        mut f: impl FnMut(usize, &[usize], &[Pair]) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        let output = self.output();
        let count = budget.room(&output)?;
        budget.room(&self.axes.iter().map(SlidingWindow::size).collect::<Vec<_>>())?;
        budget.product(count, self.volume())?;
        // The pairs of the first axes, for each number of axes: those of axes whose position stays are kept.
        let mut levels: Vec<Vec<Pair>> = vec![Vec::new(); self.axes.len() + 1];
        levels[0].push((0, Some(0)));
        let (mut index, mut changed) = (vec![0; output.len()], 0);
        for position in 0..count {
            for (i, axis) in self.axes.iter().enumerate().skip(changed) {
                let (done, rest) = levels.split_at_mut(i + 1);
                self.join(&done[i], axis, index[i], &mut rest[0]);
            }
            f(position, &index, &levels[self.axes.len()])?;
            changed = advance(&mut index, &output);
        }
        Ok(())
    }
}

/// Advances to the next index in row-major order; returns the first axis whose position changes.
pub(crate) fn advance(index: &mut [usize], shape: &[usize]) -> usize {
    for (axis, (at, extent)) in index.iter_mut().zip(shape).enumerate().rev() {
        *at += 1;
        if *at < *extent {
            return axis;
        }
        *at = 0;
    }
    0
}

/// Whether a number is greater; NaN is greater than any number.
fn greater(a: f64, b: f64) -> bool {
    a > b || (a.is_nan() && !b.is_nan())
}

/// A window at a position over a plane.
pub(crate) struct PlaneWindow<'a> {
    /// The number of the item of the result, and of the first item of the plane.
    pub(crate) item: usize,
    pub(crate) start: usize,
    /// The position along each axis.
    pub(crate) index: &'a [usize],
    pub(crate) pairs: &'a [Pair],
    plane: &'a [f64],
}

impl PlaneWindow<'_> {
    /// The items of the plane that the window covers.
    pub(crate) fn items(&self) -> impl Iterator<Item = f64> {
        self.pairs.iter().filter_map(|(_, place)| place.map(|place| self.plane[place]))
    }

    /// The number of items of the plane that the window covers.
    pub(crate) fn count(&self) -> usize {
        self.pairs.iter().filter(|(_, place)| place.is_some()).count()
    }

    /// The sum of the items; of so many, all others are 0.
    pub(crate) fn sum(&self, all: usize) -> f64 {
        let sum = sum(self.items());
        // After a zero, no sum is -0.
        if self.count() < all { sum + 0.0 } else { sum }
    }

    /// The pair with the greatest item; the first, if there are several. NaN is greater than all numbers. What is outside
    /// of the plane is this number, or is not there.
    pub(crate) fn greatest(&self, outside: Option<f64>) -> Option<Pair> {
        let item = |pair: &Pair| pair.1.map_or(outside, |place| Some(self.plane[place]));
        let met = self.pairs.iter().filter_map(|pair| Some((*pair, item(pair)?)));
        met.reduce(|best, next| if greater(next.1, best.1) { next } else { best }).map(|(pair, _)| pair)
    }
}

/// Computes an item for each position of the windows over each plane, in row-major order.
///
/// # Errors
///
/// A limit would be exceeded.
pub(crate) fn pooled<T: Clone>(
    budget: &Budget,
    windows: &Windows,
    items: &[f64],
    planes: usize,
    empty: T,
    f: impl Fn(&PlaneWindow) -> T,
) -> Result<Vec<T>, EvalError> {
    let output = windows.output();
    let count = budget.room(&[&[planes], &output[..]].concat())?;
    let (space, plane) = (output.iter().product::<usize>(), windows.plane());
    budget.product(count.saturating_sub(space), windows.volume())?;
    let mut result = vec![empty; count];
    windows.each(budget, |position, index, pairs| {
        for i in 0..planes {
            let (item, start) = (i * space + position, i * plane);
            result[item] = f(&PlaneWindow { item, start, index, pairs, plane: &items[start..][..plane] });
        }
        Ok(())
    })?;
    Ok(result)
}
