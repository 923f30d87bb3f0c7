//! Correlations: products of the filters with the matrix of all windows.

use std::ops::Range;

use super::columns::Columns;
use super::matrix::{exchanged, multiplied};
use super::window::SlidingWindow;
use crate::eval::{Budget, EvalError};

/// The number of items that a matrix of windows has at most, unless a single row of positions has more.
const TILE: usize = 1 << 20;

/// A correlation of planes with filters: the windows along the spatial axes, and the channels of each group.
#[derive(Debug)]
pub(crate) struct Correlation {
    /// The windows along each axis, whose items lie in the larger space, and whose positions are the smaller one.
    pub(crate) axes: Vec<SlidingWindow>,
    pub(crate) batch: usize,
    pub(crate) groups: usize,
    /// The channels of the input and of the output in each group.
    pub(crate) channels: [usize; 2],
}

impl Correlation {
    /// The number of items of a window.
    pub(crate) fn volume(&self) -> usize {
        self.axes.iter().map(SlidingWindow::size).product()
    }

    /// The number of items of a plane of the larger space.
    fn plane(&self) -> usize {
        self.axes.iter().map(|axis| axis.input).product()
    }

    fn columns(&self) -> Result<Columns<'_>, EvalError> {
        Columns::new(&self.axes).ok_or_else(|| EvalError::shapes("there are no spatial axes"))
    }

    /// The sums over channels and windows. Filters have the axes output channels, input channels of a group, window;
    /// what a window covers outside of the input is 0.
    ///
    /// # Errors
    ///
    /// A limit is exceeded.
    pub(crate) fn result(&self, budget: &Budget, x: &[f64], filters: &[f64]) -> Result<Vec<f64>, EvalError> {
        let columns = self.columns()?;
        let ([inner, outputs], volume, plane) = (self.channels, self.volume(), self.plane());
        let (depth, space) = (inner * volume, columns.rows() * columns.width());
        let mut result = vec![0.0; budget.room(&[self.batch, self.groups, outputs, space])?];
        if result.is_empty() {
            return Ok(result);
        }
        let step = (TILE / (depth * columns.width()).max(1)).clamp(1, columns.rows().max(1));
        for block in 0..self.batch * self.groups {
            let filters = &filters[block % self.groups * outputs * depth..][..outputs * depth];
            let input = &x[block * inner * plane..][..inner * plane];
            for start in (0..columns.rows()).step_by(step) {
                let rows = start..(start + step).min(columns.rows());
                let width = rows.len() * columns.width();
                let product = budget.operation(|| {
                    let matrix = self.gathered(budget, &columns, input, &rows)?;
                    multiplied(budget, filters, &matrix, [outputs, depth, width])
                })?;
                for channel in 0..outputs {
                    let at = (block * outputs + channel) * space + start * columns.width();
                    result[at..at + width].copy_from_slice(&product[channel * width..][..width]);
                }
            }
        }
        Ok(result)
    }

    /// The windows at rows of positions, as columns of a matrix.
    fn gathered(
        &self,
        budget: &Budget,
        columns: &Columns,
        input: &[f64],
        rows: &Range<usize>,
    ) -> Result<Vec<f64>, EvalError> {
        let (volume, plane, width) = (self.volume(), self.plane(), rows.len() * columns.width());
        let mut matrix = vec![0.0; budget.room(&[self.channels[0] * volume, width])?];
        for channel in 0..self.channels[0] {
            let to = &mut matrix[channel * volume * width..][..volume * width];
            columns.gather(&input[channel * plane..][..plane], rows, to);
        }
        Ok(matrix)
    }

    /// The transpose: each item of the smaller space adds its window, times the filters, to the larger one. Filters have
    /// the axes input channels, output channels of a group, window.
    ///
    /// # Errors
    ///
    /// A limit is exceeded.
    pub(crate) fn transposed(&self, budget: &Budget, x: &[f64], filters: &[f64]) -> Result<Vec<f64>, EvalError> {
        let columns = self.columns()?;
        let ([inner, outputs], volume, plane) = (self.channels, self.volume(), self.plane());
        let (depth, positions) = (outputs * volume, columns.rows() * columns.width());
        let mut result = vec![0.0; budget.room(&[self.batch, self.groups, outputs, plane])?];
        for block in 0..if result.is_empty() { 0 } else { self.batch * self.groups } {
            let filters = &filters[block % self.groups * inner * depth..][..inner * depth];
            let input = &x[block * inner * positions..][..inner * positions];
            let product = budget.operation(|| {
                budget.room(&[inner, depth])?;
                multiplied(budget, &exchanged(filters, [1, inner, depth, 1]), input, [depth, inner, positions])
            })?;
            for channel in 0..outputs {
                let to = &mut result[(block * outputs + channel) * plane..][..plane];
                columns.scatter(&product[channel * volume * positions..][..volume * positions], to);
            }
        }
        Ok(result)
    }
}
