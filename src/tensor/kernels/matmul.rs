//! Batched matrix products.

use super::{Number, Repeat};
use crate::dictionary::Arith;
use crate::tensor::{Data, Tensor};

/// The matrices of an operand, along its last two axes; the other axes are batches.
pub(crate) struct Matrices {
    /// The index of the first element of each matrix.
    pub starts: Vec<usize>,
    /// The strides of rows and of columns.
    pub steps: (usize, usize),
}

impl Matrices {
    /// The matrices of a shape of at least rank 2, whose batches are broadcast.
    pub(crate) fn new(shape: &[usize], transposed: bool, batch: Repeat) -> Matrices {
        let (outer, matrix) = shape.split_at(shape.len() - 2);
        let steps = batch.steps(outer);
        let size: usize = matrix.iter().product();
        let start = |i: usize| {
            let along =
                |(i, at): (usize, usize), (extent, step): (&usize, &usize)| (i / extent, at + i % extent * step);
            batch.shape.iter().zip(&steps).rev().fold((i, 0), along).1 * size
        };
        let columns = matrix[1];
        let matrix = if transposed { (1, columns) } else { (columns, 1) };
        Matrices { starts: (0..batch.shape.iter().product()).map(start).collect(), steps: matrix }
    }
}

/// The products of `rows` × `inner` matrices with `inner` × `columns` matrices; none for tensors of different types
/// or of logicals. `extents` is `[rows, inner, columns]`.
pub(crate) fn product(a: (&Tensor, Matrices), b: (&Tensor, Matrices), extents: [usize; 3]) -> Option<Data> {
    let matrices = (&a.1, &b.1);
    same_type!(a.0, b.0, [Float32, Float64, Int32, Int64], x, y => multiplied((x.0, matrices.0), (y.0, matrices.1), extents))
}

fn multiplied<T: Number>(a: (&[T], &Matrices), b: (&[T], &Matrices), extents: [usize; 3]) -> Data {
    let [rows, inner, columns] = extents;
    let mut out = Vec::with_capacity(a.1.starts.len() * rows * columns);
    for (&left, &right) in a.1.starts.iter().zip(&b.1.starts) {
        for row in 0..rows {
            for column in 0..columns {
                let term = |k: usize| {
                    let x = a.0[left + row * a.1.steps.0 + k * a.1.steps.1];
                    let y = b.0[right + k * b.1.steps.0 + column * b.1.steps.1];
                    T::calculate(Arith::Mul, x, y)
                };
                out.push((0..inner).fold(T::default(), |sum, k| T::calculate(Arith::Add, sum, term(k))));
            }
        }
    }
    T::pack(out)
}
