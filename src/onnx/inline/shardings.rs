//! How tensors are distributed on devices: nodes name their operands and results in it, as text.
//!
//! A copy of a node names other values, whose names are settled at the end of an expansion. Until then the text in a copy
//! says which operand or result it is.

use bytes::Bytes;

use super::functions::each_node_mut;
use crate::graph::names::NameId;
use crate::onnx::contents::Contents;
use crate::onnx::model::{EncodedField, Fields, ModelNames, ModelProto, NodeProto, Wire};
use crate::onnx::protobuf::fields::{device, node as node_fields, sharding};
use crate::onnx::protobuf::{reader, writer};

/// What begins the text of a place: no name of a value has this character.
const PLACE: char = '\u{1}';

/// The fields of a node, with places of values instead of names in what it says about devices.
pub(super) fn placed(names: &ModelNames, node: &NodeProto) -> Fields {
    let mut fields = node.rest.clone();
    rewrite(&mut fields, &|text| {
        let at = |values: &[NameId]| values.iter().position(|value| names.spelled(*value) == text);
        let place = at(&node.inputs).map(|i| format!("{PLACE}i{i}"));
        place.or_else(|| at(&node.outputs).map(|i| format!("{PLACE}o{i}")))
    });
    fields
}

/// Writes the names of values in place of their places.
pub(super) fn settle(model: &mut ModelProto) {
    let ModelProto { names, graph, functions, .. } = model;
    let mut name = |node: &mut NodeProto| {
        let NodeProto { rest, inputs, outputs, .. } = node;
        rewrite(rest, &|text| {
            let place = text.strip_prefix(PLACE)?;
            let (values, index) = match place.strip_prefix('i') {
                Some(index) => (&*inputs, index),
                None => (&*outputs, place.strip_prefix('o')?),
            };
            values.get(index.parse::<usize>().ok()?).map(|value| names.spelled(*value))
        });
    };
    graph.iter_mut().for_each(|graph| each_node_mut(&mut graph.nodes, &mut name));
    functions.iter_mut().for_each(|function| each_node_mut(&mut function.nodes, &mut name));
}

/// Replaces the names of tensors in what the fields of a node say about devices.
fn rewrite(fields: &mut Fields, renamed: &dyn Fn(&str) -> Option<String>) {
    let devices = fields.iter_mut().flat_map(|fields| fields.iter_mut());
    for field in devices.filter(|field| field.number == node_fields::DEVICES && field.wire == Wire::Bytes) {
        let Ok(message) = field.bytes.load() else { continue };
        let tensor = |text: &Bytes| Some(renamed(std::str::from_utf8(text).ok()?)?.into_bytes());
        let sharded = |spec: &Bytes| changed(spec, sharding::TENSOR, &tensor);
        if let Some(message) = changed(&message, device::SHARDING, &sharded) {
            field.bytes = message.into();
        }
    }
}

/// A message with other payloads of the fields with a number; none if it stays the same.
pub(super) fn changed(message: &Bytes, number: u32, change: &dyn Fn(&Bytes) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let contents = Contents::from(message.clone());
    let mut reader = reader::MessageReader::new(&contents);
    let (mut fields, mut differs) = (Vec::new(), false);
    while let Ok(Some(found)) = reader.next() {
        let mut field: EncodedField = reader.keep();
        if found == (number, Wire::Bytes)
            && let Some(other) = field.bytes.load().ok().and_then(|payload| change(&payload))
        {
            field.bytes = other.into();
            differs = true;
        }
        fields.push(field);
    }
    let fields: Fields = Some(Box::new(fields));
    differs.then(|| writer::to_vec(|writer| writer.kept(&fields, 0..u32::MAX))).flatten()
}
