//! The error of tensors.

use std::fmt;

/// The error of bytes or values that do not form a valid tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorError(pub(crate) String);

impl TensorError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        TensorError(message.into())
    }
}

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TensorError {}
