//! Sparse tensors, which stay encoded in a model.

use bytes::Bytes;

use super::fields::{graph, sparse, tensor};
use super::reader::{MessageReader, merged, payloads};
use super::texts;
use crate::onnx::contents::Contents;
use crate::onnx::model::GraphProto;

/// The names of sparse constants, which are not decoded.
pub(in crate::onnx) fn names(graph: &GraphProto) -> impl Iterator<Item = String> + use<'_> {
    let fields = graph.rest.iter().flat_map(|fields| fields.iter());
    fields.filter(|field| field.number == graph::SPARSE_INITIALIZER).map(|field| {
        let message = field.bytes.load().unwrap_or_default();
        let values = merged(&message, sparse::VALUES).unwrap_or_default();
        let name = payloads(&values, tensor::NAME).pop().unwrap_or_default();
        texts::decode(&name).into_owned()
    })
}

/// The extents of a sparse tensor.
pub(in crate::onnx) fn extents(message: &Bytes) -> Vec<i64> {
    let message = Contents::from(message.clone());
    let (mut reader, mut extents) = (MessageReader::new(&message), Vec::new());
    while let Ok(Some((number, _))) = reader.next() {
        if number == sparse::DIMS {
            // A malformed number ends the list, which then has another rank than the indices.
            let _ = reader.ints(|extent| extents.push(extent));
        }
    }
    extents
}
