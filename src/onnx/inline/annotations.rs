//! How tensors of a graph were quantized: annotations of a graph name its values, as text.
//!
//! A copy of a graph has values of other names, which are settled at the end of an expansion. Until then what stands in a
//! copy is the number of the name, behind a byte that no text has.

use bytes::Bytes;

use super::shardings::{MARK, changed, marked};
use crate::graph::names::NameId;
use crate::onnx::model::{EncodedField, Fields, ModelNames, NodeProto, Wire};
use crate::onnx::protobuf::fields::{annotation, entry, graph as graph_fields};
use crate::onnx::walk::each_graph_mut;

/// The size of the annotations of a graph: a copy with other names has its own.
pub(super) fn own_bytes(fields: &Fields) -> usize {
    let fields = fields.iter().flat_map(|fields| fields.iter());
    fields.filter(|field| is_annotation(field)).map(|field| field.bytes.len()).sum()
}

/// The fields of a graph, with other names in its annotations.
pub(super) fn renamed(names: &ModelNames, fields: &Fields, renamed: impl Fn(NameId) -> NameId) -> Fields {
    let mut fields = fields.clone();
    rewrite(&mut fields, &|text| {
        let name = numbered(names, text).or_else(|| names.value_named(std::str::from_utf8(text).ok()?))?;
        let other = renamed(name);
        (other != name).then(|| marked(&other.index().to_string()))
    });
    fields
}

/// Writes names in place of their numbers, in the graphs of a node.
pub(super) fn settle(names: &ModelNames, node: &mut NodeProto) {
    for attribute in &mut node.attributes {
        each_graph_mut(&mut attribute.value, &mut |graph| {
            rewrite(&mut graph.rest, &|text| Some(names.spelled(numbered(names, text)?).into_bytes()));
        });
    }
}

fn is_annotation(field: &EncodedField) -> bool {
    field.number == graph_fields::QUANTIZATION_ANNOTATION && field.wire == Wire::Bytes
}

/// The name with a number.
fn numbered(names: &ModelNames, text: &[u8]) -> Option<NameId> {
    let number: usize = std::str::from_utf8(text.strip_prefix(&[MARK])?).ok()?.parse().ok()?;
    (number < names.values.len()).then(|| NameId::at(number))
}

/// Replaces the names of values in annotations of a graph.
fn rewrite(fields: &mut Fields, renamed: &dyn Fn(&[u8]) -> Option<Vec<u8>>) {
    let annotations = fields.iter_mut().flat_map(|fields| fields.iter_mut());
    for field in annotations.filter(|field| is_annotation(field)) {
        let Ok(message) = field.bytes.load() else { continue };
        let name = |text: &Bytes| renamed(text);
        let parameter = |entry: &Bytes| changed(entry, entry::VALUE, &name);
        let named = changed(&message, annotation::TENSOR, &name);
        let message = named.clone().map_or(message, Bytes::from);
        if let Some(message) = changed(&message, annotation::PARAMETERS, &parameter).or(named) {
            field.bytes = message.into();
        }
    }
}
