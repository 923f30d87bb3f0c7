//! Checks the number of elements of constant tensors.

use super::Check;
use crate::diagnostics::Code;
use crate::onnx::elements::{self, Length};
use crate::onnx::model::{Graph, Tensor};
use crate::onnx::protobuf::fields::{graph, sparse, tensor};
use crate::onnx::protobuf::reader::{merged, payloads};
use crate::onnx::protobuf::texts;

/// The names of sparse constants, which are not decoded.
pub(super) fn sparse_names(graph: &Graph) -> impl Iterator<Item = String> + use<'_> {
    let fields = graph.rest.iter().flat_map(|fields| fields.iter());
    fields.filter(|field| field.number == graph::SPARSE_INITIALIZER).filter_map(|field| {
        let name = payloads(&merged(&field.bytes, sparse::VALUES)?, tensor::NAME).pop()?;
        Some(texts::decode(&name).into_owned())
    })
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
