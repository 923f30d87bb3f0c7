//! Operands as real numbers, with their shapes.

use std::borrow::Cow;

use crate::eval::EvalError;
use crate::eval::kernels::multiplied;
use crate::onnx::run::broadcast::{common_or, to};
use crate::onnx::run::node_call::{NodeCall, floats};
use crate::tensor::kernels::Matrices;
use crate::tensor::{DType, Tensor};

/// An operand as real numbers.
pub(super) struct Reals<'c> {
    pub(super) shape: &'c [usize],
    pub(super) items: Cow<'c, [f64]>,
    pub(super) dtype: DType,
}

impl<'c> Reals<'c> {
    /// The numbers of a tensor.
    ///
    /// # Errors
    ///
    /// The items are not numbers, or a limit is exceeded.
    pub(super) fn new(call: &NodeCall, tensor: &'c Tensor) -> Result<Self, EvalError> {
        room_around(call, tensor.shape())?;
        Ok(Reals { shape: tensor.shape(), items: floats(tensor)?, dtype: tensor.dtype() })
    }

    /// An operand.
    pub(super) fn of(call: &'c NodeCall, i: usize) -> Result<Self, EvalError> {
        Reals::new(call, call.tensor(i)?)
    }

    /// An operand that may be left out.
    pub(super) fn optional(call: &'c NodeCall, i: usize) -> Result<Option<Self>, EvalError> {
        call.optional(i)?.map(|tensor| Reals::new(call, tensor)).transpose()
    }

    /// An operand that must have a shape.
    pub(super) fn shaped(call: &'c NodeCall, i: usize, shape: &[usize]) -> Result<Self, EvalError> {
        Reals::of(call, i)?.having(call, i, shape)
    }

    /// An operand that may be left out, and must have a shape.
    pub(super) fn optional_shaped(call: &'c NodeCall, i: usize, shape: &[usize]) -> Result<Option<Self>, EvalError> {
        Reals::optional(call, i)?.map(|found| found.having(call, i, shape)).transpose()
    }

    fn having(self, call: &NodeCall, i: usize, shape: &[usize]) -> Result<Self, EvalError> {
        if self.shape == shape {
            return Ok(self);
        }
        Err(call.misfit(format!("operand {i} has the shape {:?} instead of {shape:?}", self.shape)))
    }

    /// The number of axes must be a given one.
    pub(super) fn ranked(self, call: &NodeCall, rank: usize) -> Result<Self, EvalError> {
        if self.shape.len() == rank {
            return Ok(self);
        }
        Err(call.misfit(format!("an operand has the shape {:?}, not of rank {rank}", self.shape)))
    }
}

/// Checks that the limits allow a loop over any axes of a shape, even if the tensor is empty.
///
/// # Errors
///
/// They do not.
pub(super) fn room_around(call: &NodeCall, shape: &[usize]) -> Result<(), EvalError> {
    call.budget.room(&shape.iter().map(|&extent| extent.max(1)).collect::<Vec<_>>())?;
    Ok(())
}

/// Batch, channels and the spatial extents of a shape.
///
/// # Errors
///
/// There are fewer axes.
pub(super) fn planes<'s>(call: &NodeCall, shape: &'s [usize]) -> Result<(usize, usize, &'s [usize]), EvalError> {
    match shape {
        [batch, channels, space @ ..] => Ok((*batch, *channels, space)),
        _ => Err(call.misfit(format!("the operand of shape {shape:?} has no batch and channels"))),
    }
}

/// The number of items before an axis, along it, and after it; the axis must be within the rank.
pub(super) fn around(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product())
}

/// The nearest integer that a type has; floats stay as they are.
pub(super) fn saturated(dtype: DType, value: f64) -> f64 {
    match dtype.range() {
        Some((least, greatest)) => value.round_ties_even().clamp(least as f64, greatest as f64),
        None => value,
    }
}

/// The shape that two shapes are repeated to.
///
/// # Errors
///
/// Two extents differ, and none of them is 1.
pub(super) fn broadcast(call: &NodeCall, a: &[usize], b: &[usize]) -> Result<Vec<usize>, EvalError> {
    common_or(&[a, b], |_, _| call.misfit(format!("the shapes {a:?} and {b:?} cannot be repeated to a common one")))
}

/// The product of the matrices along the last two axes of two operands, whose other axes are repeated. Vectors are a
/// row on the left and a column on the right.
///
/// # Errors
///
/// The shapes do not fit, or a limit is exceeded.
pub(super) fn matrices(
    call: &NodeCall,
    a: &[f64],
    left: &[usize],
    b: &[f64],
    right: &[usize],
) -> Result<(Vec<usize>, Vec<f64>), EvalError> {
    let misfit = || call.misfit(format!("matrices of shapes {left:?} and {right:?} have no product"));
    let (row, column) = (left.len() == 1, right.len() == 1);
    let left = if row { [&[1], left].concat() } else { left.to_vec() };
    let right = if column { [right, &[1]].concat() } else { right.to_vec() };
    let ([outer @ .., rows, inner], [other @ .., shared, columns]) = (&left[..], &right[..]) else {
        return Err(misfit());
    };
    if inner != shared {
        return Err(misfit());
    }
    let batch = broadcast(call, outer, other)?;
    call.budget.room(&batch)?;
    let repeat = to(&batch);
    let (x, y) = (Matrices::new(&left, false, repeat), Matrices::new(&right, false, repeat));
    let mut result = Vec::new();
    for (&x, &y) in x.starts.iter().zip(&y.starts) {
        let (x, y) = (&a[x..x + rows * inner], &b[y..y + inner * columns]);
        let product = call.budget.operation(|| multiplied(call.budget, x, y, [*rows, *inner, *columns]))?;
        call.budget.room(&[product.len()])?;
        result.extend(product);
    }
    let mut shape = batch;
    shape.extend((!row).then_some(*rows));
    shape.extend((!column).then_some(*columns));
    Ok((shape, result))
}

/// An attribute that lists naturals.
///
/// # Errors
///
/// A number is negative.
pub(super) fn naturals(call: &NodeCall, name: &str) -> Result<Option<Vec<usize>>, EvalError> {
    call.ints(name)?.map(|items| sizes(call, &items)).transpose()
}

/// Integers as extents.
///
/// # Errors
///
/// A number is negative.
pub(super) fn sizes(call: &NodeCall, items: &[i64]) -> Result<Vec<usize>, EvalError> {
    let size = |&item: &i64| usize::try_from(item).map_err(|_| call.misfit(format!("an extent is {item}")));
    items.iter().map(size).collect()
}
