//! Tensors that are concatenated or stacked, whatever their types.

use std::borrow::{Borrow, Cow};

use super::error::EvalError;
use crate::tensor::{DType, Tensor};

/// Converts tensors to a common type: those of several types become scalars.
fn unified<T: Borrow<Tensor>>(parts: &[T]) -> Result<Vec<Cow<'_, Tensor>>, EvalError> {
    let mut types = parts.iter().map(|part| part.borrow().dtype());
    let first = types.next();
    let mixed = types.any(|of| Some(of) != first);
    let convert = |part: &Tensor| part.clone().into_type(DType::Float64).map_err(EvalError::from);
    let parts = parts.iter().map(Borrow::borrow);
    if mixed {
        return parts.map(|part| Ok(Cow::Owned(convert(part)?))).collect();
    }
    Ok(parts.map(Cow::Borrowed).collect())
}

/// Concatenates tensors along an existing axis.
pub(crate) fn concatenated<T: Borrow<Tensor>>(parts: &[T], axis: usize) -> Result<Tensor, EvalError> {
    let parts = unified(parts)?;
    if parts.is_empty() {
        return Err(EvalError::shapes("there are no tensors to concatenate"));
    }
    Tensor::joined(&parts.iter().map(|part| &**part).collect::<Vec<_>>(), axis).ok_or_else(|| {
        let shapes: Vec<_> = parts.iter().take(8).map(|part| part.shape()).collect();
        EvalError::shapes(format!("tensors of shapes {shapes:?} cannot be concatenated along axis {axis}"))
    })
}

/// Stacks tensors of equal shapes along a new axis.
pub(crate) fn stacked<T: Borrow<Tensor>>(parts: &[T], axis: usize) -> Result<Tensor, EvalError> {
    let parts: Vec<&Tensor> = parts.iter().map(Borrow::borrow).collect();
    if parts.iter().any(|part| part.shape() != parts[0].shape() || axis > part.rank()) {
        return Err(EvalError::shapes("tensors of different shapes cannot be stacked"));
    }
    concatenated(&parts.iter().map(|part| part.unsqueezed(axis)).collect::<Vec<_>>(), axis)
}
