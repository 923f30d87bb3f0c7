//! Inputs of convolutions as matrices: one row for each item of the windows, one column for each position.

use std::ops::Range;

use super::window::SlidingWindow;
use crate::extents::Window;

/// The positions of windows as rows along the last axis.
pub(crate) struct Columns<'w> {
    axes: &'w [SlidingWindow],
    last: SlidingWindow,
    /// The number of items of a window.
    volume: usize,
}

/// Where a row of positions lies: its place in the input for each item of the window along the other axes.
struct ColumnRow {
    start: usize,
    item: usize,
}

impl<'w> Columns<'w> {
    /// The columns of windows; none if there is no axis.
    pub(crate) fn new(axes: &'w [SlidingWindow]) -> Option<Self> {
        let volume = axes.iter().map(SlidingWindow::size).product();
        let (last, axes) = axes.split_last()?;
        Some(Columns { axes, last: *last, volume })
    }

    /// The number of rows of positions.
    pub(crate) fn rows(&self) -> usize {
        self.axes.iter().map(|axis| axis.output).product()
    }

    /// The number of positions in a row.
    pub(crate) fn width(&self) -> usize {
        self.last.output
    }

    /// Calls a function with each item of the window, the row of positions (counted from the first of the range), and
    /// for those positions the place in the plane of the first and the range of the positions that are inside.
    fn each(&self, rows: &Range<usize>, mut f: impl FnMut(usize, usize, usize, Range<usize>)) {
        let SlidingWindow { window: Window { stride, dilation, padding: (before, _), .. }, input, output } = self.last;
        let (size, stride) = (self.last.size(), stride as usize);
        for row in rows.clone() {
            for above in 0..self.volume / size.max(1) {
                let Some(ColumnRow { start, item }) = self.row(row, above) else { continue };
                for k in 0..size {
                    let shift = k as i64 * dilation - before;
                    // The first position inside, and the first one beyond.
                    let first = (-shift).max(0) as usize;
                    let first = first.div_ceil(stride).min(output);
                    let end = usize::try_from(input as i64 - shift).unwrap_or(0).div_ceil(stride).clamp(first, output);
                    let place = (first * stride) as i64 + shift + (start * input) as i64;
                    f(item * size + k, row - rows.start, place.max(0) as usize, first..end);
                }
            }
        }
    }

    /// The place of a row for an item of the window along all axes but the last; none if it is outside.
    fn row(&self, row: usize, above: usize) -> Option<ColumnRow> {
        let (mut row, mut item, mut start, mut scale) = (row, above, 0, 1);
        for axis in self.axes.iter().rev() {
            start += axis.place(row % axis.output, item % axis.size())? * scale;
            (row, item, scale) = (row / axis.output, item / axis.size(), scale * axis.input);
        }
        Some(ColumnRow { start, item: above })
    }

    /// Writes the rows of one plane into a matrix that is 0, whose columns are the positions of the rows.
    pub(crate) fn gather(&self, plane: &[f64], rows: &Range<usize>, to: &mut [f64]) {
        let (width, stride) = (self.width(), self.last.window.stride as usize);
        let columns = rows.len() * width;
        self.each(rows, |item, row, place, inside| {
            let from = item * columns + row * width;
            let to = &mut to[from + inside.start..from + inside.end];
            to.iter_mut().zip(plane[place.min(plane.len())..].iter().step_by(stride)).for_each(|(to, x)| *to = *x);
        });
    }

    /// Adds the rows of a matrix to a plane.
    pub(crate) fn scatter(&self, from: &[f64], plane: &mut [f64]) {
        let (rows, stride) = (0..self.rows(), self.last.window.stride as usize);
        let (width, columns) = (self.width(), self.rows() * self.width());
        self.each(&rows, |item, row, place, inside| {
            let start = item * columns + row * width;
            let from = &from[start + inside.start..start + inside.end];
            let place = place.min(plane.len());
            plane[place..].iter_mut().step_by(stride).zip(from).for_each(|(to, x)| *to += *x);
        });
    }
}
