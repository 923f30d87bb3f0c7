//! Products of matrices (4.7, 4.9.2).

use super::broadcast::{common, map2};
use super::error::EvalError;
use super::eval_call::{Call, KernelResult};
use super::kernels;
use crate::extents::Align;
use crate::tensor::Tensor;
use crate::tensor::kernels::{Matrices, Repeat};

/// The matrix product over the last two axes; the other axes are batches, which are broadcast.
fn product(call: &Call, a: &Tensor, b: &Tensor, transpose: (bool, bool)) -> Result<Tensor, EvalError> {
    let rank = a.rank();
    let wrong = || EvalError::shapes(format!("`{}` of shapes {:?} and {:?}", call.name(), a.shape(), b.shape()));
    if rank < 2 || b.rank() != rank {
        return Err(wrong());
    }
    let batch = common(call.name(), &a.shape()[..rank - 2], &b.shape()[..rank - 2])?;
    let dims = |tensor: &Tensor, transpose: bool| {
        let (rows, columns) = (tensor.shape()[rank - 2], tensor.shape()[rank - 1]);
        if transpose { (columns, rows) } else { (rows, columns) }
    };
    let ((rows, inner), (b_inner, columns)) = (dims(a, transpose.0), dims(b, transpose.1));
    if inner != b_inner {
        return Err(wrong());
    }
    let shape: Vec<usize> = batch.iter().copied().chain([rows, columns]).collect();
    let count = call.budget().room(&shape)?;
    call.budget().product(count, inner)?;
    let batch = Repeat { shape: &batch, align: Align::First };
    let (left, right) = (Matrices::new(a.shape(), transpose.0, batch), Matrices::new(b.shape(), transpose.1, batch));
    let (x, y) = (a.items().unwrap_or_default(), b.items().unwrap_or_default());
    let mut items: Vec<f64> = Vec::with_capacity(count);
    for (&first, &second) in left.starts.iter().zip(&right.starts) {
        kernels::product(&x[first..], left.steps, &y[second..], right.steps, [rows, inner, columns], &mut items)?;
    }
    Ok(Tensor::of(&shape, items)?)
}

fn flag(call: &Call, names: [&str; 2]) -> Result<bool, EvalError> {
    Ok(call.flag(names[0])? || call.flag(names[1])?)
}

/// A product of matrices.
pub(crate) fn matmul(call: &Call) -> KernelResult {
    let (mut a, mut b) = (call.numbers_to("A", 2)?, call.numbers_to("B", 2)?);
    if call.draft() {
        let rank = a.rank().max(b.rank());
        (a, b) = (a.lengthened(rank).into(), b.lengthened(rank).into());
    }
    let transpose = (flag(call, ["transposeA", "trA"])?, flag(call, ["transposeB", "trB"])?);
    Ok(vec![product(call, &a, &b, transpose)?])
}

/// A product with a transposed filter, and a bias.
pub(crate) fn linear(call: &Call) -> KernelResult {
    let (input, filter) = (call.numbers_to("input", 2)?, call.numbers_to("filter", 2)?);
    let product = product(call, &input, &filter, (false, true))?;
    Ok(vec![map2(call, &product, &*call.numbers("bias")?, |x, bias| x + bias)?])
}
