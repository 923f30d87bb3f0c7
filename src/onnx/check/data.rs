//! Checks the number of elements of constant tensors.

use super::checker::Check;
use crate::diagnostics::Code;
use crate::onnx::elements::{self, Length};
use crate::onnx::model::TensorProto;

impl Check<'_> {
    /// Checks a constant tensor.
    pub(super) fn tensor(&mut self, tensor: &TensorProto, at: u32) {
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
