//! Checks the data of constant tensors: their length and their location.

use std::path::{Component, Path};

use bytes::Bytes;

use super::Check;
use crate::diagnostics::Code;
use crate::onnx::elements::{self, Length};
use crate::onnx::model::{Graph, Tensor};
use crate::onnx::protobuf::fields::tensor;
use crate::onnx::protobuf::reader::Reader;

/// The field number of the sparse initializers of a graph.
const SPARSE_INITIALIZER: u32 = 15;
/// The field number of the values, a tensor, of a sparse initializer.
const SPARSE_VALUES: u32 = 1;

/// The names of sparse constants, which are not decoded.
pub(super) fn sparse_names(graph: &Graph) -> impl Iterator<Item = String> + use<'_> {
    let fields = graph.rest.iter().flat_map(|fields| fields.iter());
    fields.filter(|field| field.number == SPARSE_INITIALIZER).filter_map(|field| {
        let name = payload(&payload(&field.bytes, SPARSE_VALUES)?, tensor::NAME)?;
        Some(String::from_utf8_lossy(&name).into_owned())
    })
}

/// The payload of the last field with a number.
fn payload(message: &Bytes, wanted: u32) -> Option<Bytes> {
    let mut reader = Reader::new(message);
    let mut found = None;
    while let Ok(Some((number, payload))) = reader.field() {
        if number == wanted {
            found = reader.bytes(&payload).ok();
        }
    }
    found
}

/// The location of external data, if it is outside of the folder of the model.
pub(crate) fn leads_out(tensor: &Tensor) -> Option<&str> {
    let location = tensor.external.iter().find(|entry| entry.key.as_deref() == Some("location"))?;
    let location = location.value.as_deref()?;
    // Windows paths are refused on all systems, since models are moved between systems.
    let within = |component: Component| matches!(component, Component::Normal(_) | Component::CurDir);
    let windows = location.contains('\\') || location.as_bytes().get(1) == Some(&b':');
    (windows || !Path::new(location).components().all(within)).then_some(location)
}

impl Check<'_> {
    /// Checks a constant tensor.
    pub(super) fn tensor(&mut self, tensor: &Tensor, at: u32) {
        let name = tensor.name.map_or("", |name| self.names.text(name));
        if let Some(location) = leads_out(tensor) {
            let message = format!("the data of `{name}` are at `{location}`, outside the folder of the model");
            return self.report(Code::OnnxExternal, at, message, None);
        }
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
