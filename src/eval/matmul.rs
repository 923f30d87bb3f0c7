//! Products of matrices (4.7, 4.9.2).

use ndarray::{ArrayD, ArrayView2, Ix2};

use super::array::{array, pack};
use super::broadcast::{common, map2};
use super::call::{Call, Outcome, lengthened};
use super::fault::Fault;
use super::window::advance;

/// A product over the last two axes; the others are batches that are repeated to a common shape.
pub(crate) fn product(
    call: &Call,
    a: &ArrayD<f64>,
    b: &ArrayD<f64>,
    transpose: (bool, bool),
) -> Result<ArrayD<f64>, Fault> {
    let rank = a.ndim();
    let wrong = || Fault::shapes(format!("`{}` of shapes {:?} and {:?}", call.name(), a.shape(), b.shape()));
    if rank < 2 || b.ndim() != rank {
        return Err(wrong());
    }
    let batch = common(call.name(), &a.shape()[..rank - 2], &b.shape()[..rank - 2])?;
    let dims = |array: &ArrayD<f64>, transpose: bool| {
        let (rows, columns) = (array.shape()[rank - 2], array.shape()[rank - 1]);
        if transpose { (columns, rows) } else { (rows, columns) }
    };
    let ((rows, inner), (b_inner, columns)) = (dims(a, transpose.0), dims(b, transpose.1));
    if inner != b_inner {
        return Err(wrong());
    }
    let shape: Vec<usize> = batch.iter().copied().chain([rows, columns]).collect();
    let count = call.budget().room(&shape)?;
    call.budget().product(count, inner)?;
    let mut items = Vec::with_capacity(count);
    let mut index = vec![0; batch.len()];
    let batches = crate::tensor::volume(&batch).unwrap_or(0);
    for _ in 0..batches {
        let (a, b) = (matrix(a, &index, transpose.0)?, matrix(b, &index, transpose.1)?);
        items.extend(a.dot(&b).iter());
        advance(&mut index, &batch);
    }
    Ok(array(&shape, items)?)
}

/// The matrix of a batch.
fn matrix<'a>(array: &'a ArrayD<f64>, index: &[usize], transpose: bool) -> Result<ArrayView2<'a, f64>, Fault> {
    let mut view = array.view();
    for (i, extent) in index.iter().zip(array.shape()) {
        view = view.index_axis_move(ndarray::Axis(0), if *extent == 1 { 0 } else { *i });
    }
    let matrix = view.into_dimensionality::<Ix2>().map_err(|error| Fault::shapes(error.to_string()))?;
    Ok(if transpose { matrix.reversed_axes() } else { matrix })
}

fn flag(call: &Call, names: [&str; 2]) -> Result<bool, Fault> {
    Ok(call.flag(names[0])? || call.flag(names[1])?)
}

/// A product of matrices.
pub(crate) fn matmul(call: &Call) -> Outcome {
    let (a, b) = (call.scalars_to("A", 2)?, call.scalars_to("B", 2)?);
    let (a, b) = if call.draft() {
        let rank = a.ndim().max(b.ndim());
        (lengthened(&a, rank), lengthened(&b, rank))
    } else {
        (a, b)
    };
    let transpose = (flag(call, ["transposeA", "trA"])?, flag(call, ["transposeB", "trB"])?);
    Ok(vec![pack(product(call, &a, &b, transpose)?)?])
}

/// A product with a transposed filter, and a bias.
pub(crate) fn linear(call: &Call) -> Outcome {
    let (input, filter) = (call.scalars_to("input", 2)?, call.scalars_to("filter", 2)?);
    let product = product(call, &input, &filter, (false, true))?;
    Ok(vec![pack(map2(call.name(), call.budget(), &product, &call.scalars("bias")?, |x, bias| x + bias)?)?])
}
