//! A model in protobuf is read, checked, flattened and drawn, or refused; what is written reads back, and what
//! is flat stays as it is.

use crate::models;
use crate::shared::small;
use nnef_flatten::onnx::Document;
use nnef_flatten::source::Sources;

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let options = small();
    if let (Some(model), _) = Document::decode("fuzz.onnx", bytes.to_vec(), &mut Sources::new(), &options) {
        models::use_model(&model, &options);
    }
}
