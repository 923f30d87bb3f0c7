//! Any bytes as an `.npz` archive: what is read can be written and read again.

use nnef_flatten::tensor::Tensor;

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let Ok(tensors) = Tensor::from_npz(bytes) else { return };
    let named = || tensors.iter().map(|(name, tensor)| (name.as_str(), tensor));
    // Two members can have the same name up to the ending.
    let Ok(written) = Tensor::to_npz(named()) else { return };
    let again = Tensor::from_npz(&written).expect("what was written is read");
    assert!(again.iter().map(|(_, tensor)| tensor.shape()).eq(named().map(|(_, tensor)| tensor.shape())));
}
