//! Checks the number of elements of constant tensors.

use bytes::Bytes;

use super::Check;
use crate::diagnostics::Code;
use crate::onnx::elements::{self, Length};
use crate::onnx::model::Tensor;
use crate::onnx::protobuf::reader::Reader;

/// The payloads of the fields with a number. The last one counts, if the field is not repeated.
pub(super) fn payloads(message: &Bytes, wanted: u32) -> Vec<Bytes> {
    let mut reader = Reader::new(message);
    let mut found = Vec::new();
    while let Ok(Some((number, payload))) = reader.field() {
        if number == wanted {
            found.extend(reader.bytes(&payload));
        }
    }
    found
}

impl Check<'_> {
    /// Checks a constant tensor.
    pub(super) fn tensor(&mut self, tensor: &Tensor, at: u32) {
        let name = tensor.name.map_or("", |name| self.names.text(name));
        let message = match elements::length(tensor) {
            Length::Right => return,
            Length::Wrong { expected, found } => {
                format!(
                    "the tensor `{name}` of shape {:?} has {found} elements instead of {expected}",
                    &tensor.dims[..]
                )
            }
            Length::Broken => format!("the elements of the tensor `{name}` do not fit its type"),
        };
        self.report(Code::OnnxData, at, message, None);
    }
}
