//! Kernels of the operations of registries, with the semantics of tract 0.23.9.

pub(super) mod arrange;
pub(super) mod attention;
pub(super) mod einsum;
pub(super) mod items;
pub(super) mod recurrent;
pub(super) mod resample;
pub(super) mod signal;
#[cfg(test)]
mod tests;

use ndarray::ArrayD;

use super::array::pack;
use super::call::{Call, KernelResult};
use super::error::EvalError;
use crate::tensor::{DType, Tensor};

/// Converts an array to a tensor of an element type.
fn like(array: ArrayD<f64>, other: DType) -> Result<Tensor, EvalError> {
    if other == DType::Bool {
        let items = array.iter().map(|item| *item != 0.0).collect();
        return Ok(Tensor::logicals(array.shape(), items)?);
    }
    let tensor = pack(array)?;
    if tensor.dtype() == other {
        Ok(tensor)
    } else {
        tensor.into_type(other).map_err(|error| EvalError::value(error.0))
    }
}

/// The only result of an operation.
fn one(array: ArrayD<f64>) -> KernelResult {
    Ok(vec![pack(array)?])
}

/// An optional number.
fn number_or(call: &Call, name: &str, default: f64) -> Result<f64, EvalError> {
    if call.value(name).is_some() { call.number(name) } else { Ok(default) }
}

/// A non-negative integer, such as an extent or a number of items.
fn natural(call: &Call, name: &str) -> Result<usize, EvalError> {
    let value = call.int(name)?;
    usize::try_from(value).map_err(|_| EvalError::argument(format!("`{name}` of `{}` is {value}", call.name())))
}

/// The error of operands with incompatible shapes.
fn unfit(call: &Call, shapes: &[&[usize]]) -> EvalError {
    let shapes: Vec<String> = shapes.iter().map(|shape| format!("{shape:?}")).collect();
    EvalError::shapes(format!("`{}` of operands of shapes {}", call.name(), shapes.join(" and ")))
}
