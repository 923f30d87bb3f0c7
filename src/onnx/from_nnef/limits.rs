//! The limits of models.

/// The maximum size of a protobuf file in bytes.
pub(super) const MOST_BYTES: usize = i32::MAX as usize;

/// What takes memory, for messages.
pub(super) const WHAT: &str = "the model of ONNX";
