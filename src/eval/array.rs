//! Tensors as arrays of `ndarray`, which some kernels use.

use ndarray::{ArrayD, ArrayViewD, IxDyn};

use crate::tensor::{Element, Tensor, TensorError};

/// An array of items in row-major order.
///
/// # Errors
///
/// The number of items differs from that of the shape.
pub(crate) fn array<T>(shape: &[usize], items: Vec<T>) -> Result<ArrayD<T>, TensorError> {
    let count = items.len();
    let unfilled = |_| TensorError::new(format!("{count} items do not fill the shape {shape:?}"));
    ArrayD::from_shape_vec(IxDyn(shape), items).map_err(unfilled)
}

/// The items of a tensor, if they have the type `T`.
pub(crate) fn view<T: Element>(tensor: &Tensor) -> Option<ArrayViewD<'_, T>> {
    ArrayViewD::from_shape(IxDyn(tensor.shape()), tensor.items()?).ok()
}

/// The items of a tensor as real numbers: logicals become 0 and 1.
pub(crate) fn scalars(tensor: &Tensor) -> ArrayD<f64> {
    match view(tensor) {
        Some(scalars) => scalars.to_owned(),
        // The number of items of a tensor always matches its shape.
        None => array(tensor.shape(), tensor.to_scalars()).unwrap_or_default(),
    }
}

/// Converts an array to a tensor.
///
/// # Errors
///
/// The tensor would be too large.
pub(crate) fn pack<T: Element>(array: ArrayD<T>) -> Result<Tensor, TensorError> {
    let shape = array.shape().to_vec();
    if !array.is_standard_layout() {
        return Tensor::of(&shape, array.iter().copied().collect());
    }
    let count = array.len();
    let (mut items, first) = array.into_raw_vec_and_offset();
    items.truncate(first.unwrap_or(0) + count);
    items.drain(..first.unwrap_or(0));
    Tensor::of(&shape, items)
}
