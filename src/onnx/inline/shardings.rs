//! How tensors are distributed on devices: nodes name their operands and results in it, as text.
//!
//! A copy of a node names other values, whose names are settled at the end of an expansion. Until then what stands in a
//! copy says which operand or result it is, behind a byte that no text has.

use bytes::Bytes;

use crate::graph::names::NameId;
use crate::onnx::contents::Contents;
use crate::onnx::model::{EncodedField, Fields, ModelNames, NodeProto, Wire};
use crate::onnx::protobuf::fields::{device, node as node_fields, sharding};
use crate::onnx::protobuf::{reader, writer};

/// What begins the place or the number of a value, until its name is settled: a byte that UTF-8 does not have.
pub(super) const MARK: u8 = 0xff;

/// What stands for a value until its name is settled.
pub(super) fn marked(place: &str) -> Vec<u8> {
    [&[MARK], place.as_bytes()].concat()
}

/// The fields of a node, with places of values instead of names in what it says about devices.
pub(super) fn placed(names: &ModelNames, node: &NodeProto) -> Fields {
    let mut fields = node.rest.clone();
    rewrite(&mut fields, &|text| {
        let at = |values: &[NameId]| values.iter().position(|value| names.spelled(*value).as_bytes() == text);
        let place = at(&node.inputs).map(|i| format!("i{i}"));
        Some(marked(&place.or_else(|| at(&node.outputs).map(|i| format!("o{i}")))?))
    });
    fields
}

/// Writes the names of values in place of their places.
pub(super) fn settle(names: &ModelNames, node: &mut NodeProto) {
    let NodeProto { rest, inputs, outputs, .. } = node;
    rewrite(rest, &|text| {
        let place = std::str::from_utf8(text.strip_prefix(&[MARK])?).ok()?;
        let (values, index) = match place.strip_prefix('i') {
            Some(index) => (&*inputs, index),
            None => (&*outputs, place.strip_prefix('o')?),
        };
        values.get(index.parse::<usize>().ok()?).map(|value| names.spelled(*value).into_bytes())
    });
}

/// Replaces the names of tensors in what the fields of a node say about devices.
fn rewrite(fields: &mut Fields, renamed: &dyn Fn(&[u8]) -> Option<Vec<u8>>) {
    let devices = fields.iter_mut().flat_map(|fields| fields.iter_mut());
    for field in devices.filter(|field| field.number == node_fields::DEVICES && field.wire == Wire::Bytes) {
        let Ok(message) = field.bytes.load() else { continue };
        let tensor = |text: &Bytes| renamed(text);
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
