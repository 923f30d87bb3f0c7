//! Products of matrices.

use crate::eval::EvalError;
use crate::eval::kernels::{MatrixItem, of_items};
use crate::onnx::run::broadcast::{common, to};
use crate::onnx::run::kernels::elementwise::wide;
use crate::onnx::run::node_call::{KernelResult, NodeCall, floats, one};
use crate::tensor::kernels::Matrices;
use crate::tensor::{Data, Tensor};

/// The product of two matrices, or of stacks of them.
pub(in crate::onnx) fn matmul(call: &NodeCall) -> KernelResult {
    one(product(call, call.tensor(0)?, call.tensor(1)?)?)
}

/// The product of two tensors as matrices along their last two axes. A left vector is a row, a right one a column.
pub(in crate::onnx) fn product(call: &NodeCall, a: &Tensor, b: &Tensor) -> Result<Tensor, EvalError> {
    if a.rank() == 0 || b.rank() == 0 || a.dtype() != b.dtype() {
        return Err(call.misfit("the operands are not matrices of the same type"));
    }
    let (row, column) = (a.rank() == 1, b.rank() == 1);
    let (a, b) = (if row { a.unsqueezed(0) } else { a.clone() }, if column { b.unsqueezed(1) } else { b.clone() });
    let mut shape = common(&[&a.shape()[..a.rank() - 2], &b.shape()[..b.rank() - 2]])?;
    let batch = shape.clone();
    let [rows, inner] = [a.shape()[a.rank() - 2], a.shape()[a.rank() - 1]];
    let [depth, columns] = [b.shape()[b.rank() - 2], b.shape()[b.rank() - 1]];
    if inner != depth {
        return Err(call.misfit(format!("{:?} times {:?}", a.shape(), b.shape())));
    }
    if !row {
        shape.push(rows);
    }
    if !column {
        shape.push(columns);
    }
    let count = call.room(&shape)?;
    call.budget.product(count, inner)?;
    let matrices = |of: &Tensor| Matrices::new(of.shape(), false, to(&batch)).starts;
    let starts = (matrices(&a), matrices(&b));
    let extents = [rows, inner, columns];
    let data = match (a.data(), b.data()) {
        (Data::Float32(x), Data::Float32(y)) => Data::Float32(multiplied(x, y, &starts, extents)?),
        _ if a.dtype().is_integer() => {
            let (x, y): (Vec<i128>, Vec<i128>) = (wide(&a).collect(), wide(&b).collect());
            Data::from_wide(a.dtype(), whole(&x, &y, &starts, extents).into_iter())
        }
        _ => Data::from_floats(a.dtype(), multiplied(&floats(&a)?, &floats(&b)?, &starts, extents)?.into_iter()),
    };
    Ok(Tensor::with(&shape, data)?)
}

/// Products of floats for each pair of starts.
fn multiplied<T: MatrixItem>(
    a: &[T],
    b: &[T],
    starts: &(Vec<usize>, Vec<usize>),
    extents: [usize; 3],
) -> Result<Vec<T>, EvalError> {
    let [rows, inner, columns] = extents;
    let mut out = vec![T::rounded(0.0); starts.0.len() * rows * columns];
    if out.is_empty() {
        return Ok(out);
    }
    let blocks = out.chunks_exact_mut(rows * columns);
    for ((&left, &right), block) in starts.0.iter().zip(&starts.1).zip(blocks) {
        of_items(&a[left..][..rows * inner], &b[right..][..inner * columns], extents, block)?;
    }
    Ok(out)
}

fn whole(a: &[i128], b: &[i128], starts: &(Vec<usize>, Vec<usize>), [rows, inner, columns]: [usize; 3]) -> Vec<i128> {
    let mut out = Vec::with_capacity(starts.0.len() * rows * columns);
    for (&left, &right) in starts.0.iter().zip(&starts.1) {
        for row in 0..rows {
            for column in 0..columns {
                let term = |k: usize| a[left + row * inner + k].wrapping_mul(b[right + k * columns + column]);
                out.push((0..inner).fold(0i128, |sum, k| sum.wrapping_add(term(k))));
            }
        }
    }
    out
}

/// A scaled product of matrices, and a scaled summand.
pub(in crate::onnx) fn gemm(call: &NodeCall) -> KernelResult {
    let matrix = |i: usize, name: &str| {
        let matrix = call.tensor(i)?;
        match matrix.rank() {
            2 if call.flag(name, false)? => Ok(matrix.transposed(&[1, 0])),
            2 => Ok(Tensor::clone(matrix)),
            rank => Err(call.misfit(format!("operand {i} has rank {rank}, not 2"))),
        }
    };
    let product = product(call, &matrix(0, "transA")?, &matrix(1, "transB")?)?;
    let (alpha, beta) = (call.float_or("alpha", 1.0)?, call.float_or("beta", 1.0)?);
    // A factor of 0 leaves the summand out, also where that is not finite, as in BLAS.
    let summand = call.optional(2)?;
    let shape = match summand {
        Some(summand) => common(&[product.shape(), summand.shape()])?,
        None => product.shape().to_vec(),
    };
    if shape != product.shape() {
        return Err(call.misfit("the summand is larger than the product"));
    }
    if product.dtype().is_integer() && alpha == 1.0 && beta == 1.0 {
        let Some(summand) = summand else { return one(product) };
        let add = |a: i128, b: i128| Some(a.wrapping_add(b));
        return one(super::elementwise::both(call, &product, summand, |a, b| a + b, add)?);
    }
    let mut items: Vec<f64> = floats(&product)?.iter().map(|item| alpha * item).collect();
    if let Some(summand) = summand.filter(|_| beta != 0.0) {
        items = to(&shape).zip((&items, &shape), (&floats(summand)?, summand.shape()), |a, b| a + beta * b);
    }
    one(call.rounded(product.dtype(), &shape, items)?)
}

/// The determinants of square matrices.
pub(in crate::onnx) fn determinant(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let [batch @ .., rows, columns] = x.shape() else { return Err(call.misfit("the operand is not a matrix")) };
    if rows != columns {
        return Err(call.misfit(format!("a matrix of {rows} rows and {columns} columns is not square")));
    }
    let size = *rows;
    call.budget.product(x.len(), size)?;
    let items = floats(x)?;
    let count: usize = batch.iter().product();
    let matrices = (0..count).map(|i| of_matrix(items[i * size * size..(i + 1) * size * size].to_vec(), size));
    one(call.rounded(x.dtype(), batch, matrices)?)
}

/// The determinant by elimination; the largest number of a column is its pivot.
fn of_matrix(mut matrix: Vec<f64>, size: usize) -> f64 {
    let mut product = 1.0;
    for column in 0..size {
        let largest =
            (column..size).max_by(|a, b| matrix[a * size + column].abs().total_cmp(&matrix[b * size + column].abs()));
        let pivot = largest.unwrap_or(column);
        if matrix[pivot * size + column] == 0.0 {
            return 0.0;
        }
        if pivot != column {
            (0..size).for_each(|k| matrix.swap(pivot * size + k, column * size + k));
            product = -product;
        }
        product *= matrix[column * size + column];
        for row in column + 1..size {
            let factor = matrix[row * size + column] / matrix[column * size + column];
            (column..size).for_each(|k| matrix[row * size + k] -= factor * matrix[column * size + k]);
        }
    }
    product
}
