//! The product of matrices: sums in 64 bits, rounded once.

use ndarray::{ArrayView2, ShapeBuilder};

use crate::eval::{Budget, EvalError};

/// The number of items of a tile that is converted to 64 bits, unless a single row or column has more.
const TILE: usize = 1 << 18;

/// Below this number of rows a tile of the right matrix costs more to convert than to read.
const FEW_ROWS: usize = 8;

/// A matrix in a slice: the distances between two rows and between two columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatrixItems<'a> {
    items: &'a [f64],
    steps: (usize, usize),
}

impl<'a> MatrixItems<'a> {
    /// A matrix in row-major order.
    fn dense(items: &'a [f64], columns: usize) -> Self {
        MatrixItems { items, steps: (columns, 1) }
    }

    fn view(self, shape: (usize, usize)) -> Result<ArrayView2<'a, f64>, EvalError> {
        let view = match shape.0 * shape.1 {
            0 => ArrayView2::from_shape(shape, &[]),
            _ => ArrayView2::from_shape(shape.strides(self.steps), self.items),
        };
        view.map_err(|_| EvalError::shapes("the items do not fill the matrices"))
    }
}

/// Adds the items of the product of a `rows` × `inner` and an `inner` × `columns` matrix to a list. Each matrix is given
/// with the distances between two rows and between two columns.
///
/// # Errors
///
/// The items do not fill the matrices.
pub(crate) fn product(
    a: &[f64],
    steps_of_a: (usize, usize),
    b: &[f64],
    steps_of_b: (usize, usize),
    [rows, inner, columns]: [usize; 3],
    to: &mut Vec<f64>,
) -> Result<(), EvalError> {
    let a = MatrixItems { items: a, steps: steps_of_a }.view((rows, inner))?;
    let b = MatrixItems { items: b, steps: steps_of_b }.view((inner, columns))?;
    to.extend(a.dot(&b).iter());
    Ok(())
}

/// The product of a `rows` × `inner` and an `inner` × `columns` matrix, both in row-major order.
///
/// # Errors
///
/// A limit is exceeded, or the items do not fill the matrices.
pub(crate) fn multiplied(
    budget: &Budget,
    a: &[f64],
    b: &[f64],
    [rows, inner, columns]: [usize; 3],
) -> Result<Vec<f64>, EvalError> {
    budget.product(budget.room(&[rows, columns])?, inner)?;
    let (a, b) = (MatrixItems::dense(a, inner), MatrixItems::dense(b, columns));
    let product = a.view((rows, inner))?.dot(&b.view((inner, columns))?);
    match product.is_standard_layout() {
        true => Ok(product.into_raw_vec_and_offset().0),
        false => Ok(product.iter().copied().collect()),
    }
}

/// Items with the two axes in the middle exchanged.
pub(crate) fn exchanged(items: &[f64], [batch, a, b, size]: [usize; 4]) -> Vec<f64> {
    let mut result = Vec::with_capacity(items.len());
    for block in 0..batch {
        for j in 0..b {
            for i in 0..a {
                result.extend_from_slice(&items[((block * a + i) * b + j) * size..][..size]);
            }
        }
    }
    result
}

/// Items of matrices.
pub(crate) trait MatrixItem: Copy {
    /// The item in 64 bits.
    fn wide(self) -> f64;
    /// A number, rounded to an item.
    fn rounded(number: f64) -> Self;
}

impl MatrixItem for f32 {
    fn wide(self) -> f64 {
        self.into()
    }

    fn rounded(number: f64) -> Self {
        number as f32
    }
}

impl MatrixItem for f64 {
    fn wide(self) -> f64 {
        self
    }

    fn rounded(number: f64) -> Self {
        number
    }
}

/// Writes the product of two matrices in row-major order. Only tiles of them are converted to 64 bits at a time.
///
/// # Errors
///
/// The items do not fill the matrices.
pub(crate) fn of_items<T: MatrixItem>(
    a: &[T],
    b: &[T],
    [rows, inner, columns]: [usize; 3],
    to: &mut [T],
) -> Result<(), EvalError> {
    if rows < FEW_ROWS {
        row_by_row(a, b, [rows, inner, columns], to);
        return Ok(());
    }
    let width = (TILE / inner.max(1)).clamp(1, columns.max(1));
    let height = (TILE / inner.max(1)).clamp(1, rows);
    let mut right = Vec::new();
    for column in (0..columns).step_by(width) {
        let width = width.min(columns - column);
        right.clear();
        (0..inner).for_each(|k| right.extend(b[k * columns + column..][..width].iter().map(|item| item.wide())));
        for row in (0..rows).step_by(height) {
            let height = height.min(rows - row);
            let left: Vec<f64> = a[row * inner..][..height * inner].iter().map(|item| item.wide()).collect();
            let (left, right) = (MatrixItems::dense(&left, inner), MatrixItems::dense(&right, width));
            let product = left.view((height, inner))?.dot(&right.view((inner, width))?);
            for (i, line) in product.rows().into_iter().enumerate() {
                let to = &mut to[(row + i) * columns + column..][..width];
                to.iter_mut().zip(line).for_each(|(to, item)| *to = T::rounded(*item));
            }
        }
    }
    Ok(())
}

/// The product for few rows, which reads the right matrix in its order.
fn row_by_row<T: MatrixItem>(a: &[T], b: &[T], [rows, inner, columns]: [usize; 3], to: &mut [T]) {
    let mut sums = vec![0.0; columns];
    for row in 0..rows {
        sums.fill(0.0);
        for k in 0..inner {
            let factor = a[row * inner + k].wide();
            let line = &b[k * columns..][..columns];
            sums.iter_mut().zip(line).for_each(|(sum, item)| *sum += factor * item.wide());
        }
        to[row * columns..][..columns].iter_mut().zip(&sums).for_each(|(to, sum)| *to = T::rounded(*sum));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Limits;

    fn items(count: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919) % 101) as f64 / 8.0 - 6.0).collect()
    }

    /// The sums of these items are exact, so that all ways to form the product give the same.
    #[test]
    fn tiles_rows_and_whole_matrices_give_the_same() {
        for [rows, inner, columns] in [[1, 3, 4], [9, 5, 7], [20, 3000, 130], [300, 1, 2], [8, 0, 3], [3, 2, 0]] {
            let (a, b) = (items(rows * inner), items(inner * columns));
            let budget = Budget::new(Limits::default());
            let wanted = multiplied(&budget, &a, &b, [rows, inner, columns]).unwrap();
            let mut by_rows = vec![1.0; rows * columns];
            row_by_row(&a, &b, [rows, inner, columns], &mut by_rows);
            let mut by_tiles = vec![1.0; rows * columns];
            of_items(&a, &b, [rows, inner, columns], &mut by_tiles).unwrap();
            let mut strided = Vec::new();
            let turned = exchanged(&b, [1, inner, columns, 1]);
            product(&a, (inner, 1), &turned, (1, inner), [rows, inner, columns], &mut strided).unwrap();
            assert_eq!((&by_rows, &by_tiles, &strided), (&wanted, &wanted, &wanted), "{rows} {inner} {columns}");
        }
    }
}
