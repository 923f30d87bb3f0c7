//! Sparse constants, which are written as dense tensors with zeros.

use bytes::Bytes;

use super::node_call::integers;
use super::stored::{Stores, tensor_of, unread};
use crate::eval::{Budget, EvalError};
use crate::graph::names::NameId;
use crate::onnx::model::{AttributeProto, Fields, GraphProto, ModelNames};
use crate::onnx::protobuf::fields::{attribute, graph, sparse, tensor};
use crate::onnx::protobuf::reader::{merged, payloads};
use crate::onnx::protobuf::sparse::extents;
use crate::onnx::protobuf::{self, texts};
use crate::tensor::{Data, Tensor};

/// The messages in the fields with a number.
fn messages(fields: &Fields, number: u32) -> impl Iterator<Item = Result<Bytes, EvalError>> + '_ {
    let fields = fields.iter().flat_map(|fields| fields.iter()).filter(move |field| field.number == number);
    fields.map(|field| field.bytes.load().map_err(|error| unread(error.to_string())))
}

/// The tensor in a field of a sparse one.
fn part(message: &Bytes, number: u32, stores: &Stores, budget: &Budget) -> Result<Tensor, EvalError> {
    let part = merged(message, number).and_then(|part| protobuf::decode_tensor(&part).ok());
    let (part, _) = part.ok_or_else(|| unread("a sparse constant has no values or no indices"))?;
    tensor_of(&part, stores, budget)
}

/// The dense tensor of a sparse one.
fn dense(message: &Bytes, stores: &Stores, budget: &Budget) -> Result<Tensor, EvalError> {
    let values = part(message, sparse::VALUES, stores, budget)?;
    let extents: Option<Vec<usize>> = extents(message).into_iter().map(|extent| usize::try_from(extent).ok()).collect();
    let extents = extents.ok_or_else(|| unread("a sparse constant has a negative extent"))?;
    let count = budget.extents(&extents)?;
    let mut data = Data::zeros(values.dtype(), count);
    if values.is_empty() {
        return Ok(Tensor::with(&extents, data)?);
    }
    let indices = part(message, sparse::INDICES, stores, budget)?;
    let (items, width) = (integers(&indices)?, if indices.rank() == 2 { indices.shape()[1] } else { 1 });
    let place = |index: &[i64]| {
        let lists = indices.rank() == 2;
        let sizes: &[usize] = if lists { &extents } else { std::slice::from_ref(&count) };
        let step = |place: usize, (index, extent): (&i64, &usize)| {
            let index = usize::try_from(*index).ok().filter(|index| index < extent)?;
            Some(place * extent + index)
        };
        let place = index.iter().zip(sizes).try_fold(0, step).filter(|_| index.len() == sizes.len());
        place.ok_or_else(|| unread("a sparse constant has an index outside of its shape"))
    };
    let places = items.chunks(width.max(1)).map(place).collect::<Result<Vec<_>, _>>()?;
    if places.len() != values.len() {
        return Err(unread("a sparse constant has other numbers of indices than of values"));
    }
    data.put(&places, values.data(), |i| i);
    Ok(Tensor::with(&extents, data)?)
}

/// The sparse constants of a graph.
pub(crate) fn constants(
    names: &ModelNames,
    of: &GraphProto,
    stores: &Stores,
    budget: &Budget,
) -> Result<Vec<(NameId, Tensor)>, EvalError> {
    let mut found = Vec::new();
    for message in messages(&of.rest, graph::SPARSE_INITIALIZER) {
        let message = message?;
        let values = merged(&message, sparse::VALUES).unwrap_or_default();
        let name = payloads(&values, tensor::NAME).pop().unwrap_or_default();
        // A name that no node has is not needed.
        if let Some(id) = names.value_named(&texts::decode(&name)) {
            found.push((id, budget.operation(|| dense(&message, stores, budget))?));
        }
    }
    Ok(found)
}

/// The sparse tensor of an attribute, if it has one.
pub(super) fn of_attribute(of: &AttributeProto, stores: &Stores, budget: &Budget) -> Result<Option<Tensor>, EvalError> {
    let message = messages(&of.rest, attribute::SPARSE_TENSOR).last().transpose()?;
    message.map(|message| dense(&message, stores, budget)).transpose()
}
