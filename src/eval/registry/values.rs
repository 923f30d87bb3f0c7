//! Values of calls: their arguments and results, and the errors of arguments that do not fit.

use ndarray::ArrayD;

use crate::eval::array::pack;
use crate::eval::error::EvalError;
use crate::eval::eval_call::{Call, KernelResult};
use crate::tensor::{DType, Tensor};

/// Converts an array to a tensor of an element type.
pub(super) fn like(items: ArrayD<f64>, other: DType) -> Result<Tensor, EvalError> {
    if other == DType::Bool {
        let truths = items.iter().map(|item| *item != 0.0).collect();
        return Ok(Tensor::logicals(items.shape(), truths)?);
    }
    let tensor = pack(items)?;
    if tensor.dtype() == other {
        Ok(tensor)
    } else {
        tensor.into_type(other).map_err(|error| EvalError::value(error.0))
    }
}

/// The only result of an operation.
pub(super) fn one(array: ArrayD<f64>) -> KernelResult {
    Ok(vec![pack(array)?])
}

/// An optional number.
pub(super) fn number_or(call: &Call, name: &str, default: f64) -> Result<f64, EvalError> {
    if call.value(name).is_some() { call.number(name) } else { Ok(default) }
}

/// A non-negative integer, such as an extent or a number of items.
pub(super) fn natural(call: &Call, name: &str) -> Result<usize, EvalError> {
    let value = call.int(name)?;
    usize::try_from(value).map_err(|_| EvalError::argument(format!("`{name}` of `{}` is {value}", call.name())))
}

/// The error of operands with incompatible shapes.
pub(super) fn unfit(call: &Call, shapes: &[&[usize]]) -> EvalError {
    let shapes: Vec<String> = shapes.iter().map(|shape| format!("{shape:?}")).collect();
    EvalError::shapes(format!("`{}` of operands of shapes {}", call.name(), shapes.join(" and ")))
}
