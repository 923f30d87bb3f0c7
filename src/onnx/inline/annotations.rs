//! How tensors of a graph were quantized: annotations of a graph name its values, as text.
//!
//! A copy of a graph has values of other names, which are settled at the end of an expansion. Until then the text in a copy
//! is the number of the name.

use bytes::Bytes;

use super::functions::{each_graph_mut, each_node_mut};
use super::shardings::changed;
use crate::graph::names::NameId;
use crate::onnx::model::{Fields, ModelNames, ModelProto, Wire};
use crate::onnx::protobuf::fields::{annotation, entry, graph as graph_fields};

/// What begins the text of a number: no name of a value has this character.
const NUMBER: char = '\u{1}';

/// The fields of a graph, with other names in its annotations.
pub(super) fn renamed(names: &ModelNames, fields: &Fields, renamed: impl Fn(NameId) -> NameId) -> Fields {
    let mut fields = fields.clone();
    rewrite(&mut fields, &|text| {
        let name = numbered(names, text).or_else(|| names.value_named(text))?;
        let other = renamed(name);
        (other != name).then(|| format!("{NUMBER}{}", other.index()))
    });
    fields
}

/// Writes names in place of their numbers.
pub(super) fn settle(model: &mut ModelProto) {
    let ModelProto { names, graph, functions, .. } = model;
    let graphs = graph.iter_mut().map(|graph| &mut graph.nodes);
    for nodes in graphs.chain(functions.iter_mut().map(|function| &mut function.nodes)) {
        each_node_mut(nodes, &mut |node| {
            for attribute in &mut node.attributes {
                each_graph_mut(&mut attribute.value, &mut |graph| {
                    rewrite(&mut graph.rest, &|text| numbered(names, text).map(|name| names.spelled(name)));
                });
            }
        });
    }
}

/// The name with a number.
fn numbered(names: &ModelNames, text: &str) -> Option<NameId> {
    let number: usize = text.strip_prefix(NUMBER)?.parse().ok()?;
    (number < names.values.len()).then(|| NameId::at(number))
}

/// Replaces the names of values in annotations of a graph.
fn rewrite(fields: &mut Fields, renamed: &dyn Fn(&str) -> Option<String>) {
    let annotations = fields.iter_mut().flat_map(|fields| fields.iter_mut());
    let is_annotation =
        |number: u32, wire: Wire| number == graph_fields::QUANTIZATION_ANNOTATION && wire == Wire::Bytes;
    for field in annotations.filter(|field| is_annotation(field.number, field.wire)) {
        let Ok(message) = field.bytes.load() else { continue };
        let name = |text: &Bytes| Some(renamed(std::str::from_utf8(text).ok()?)?.into_bytes());
        let parameter = |entry: &Bytes| changed(entry, entry::VALUE, &name);
        let named = changed(&message, annotation::TENSOR, &name);
        let message = named.clone().map_or(message, Bytes::from);
        if let Some(message) = changed(&message, annotation::PARAMETERS, &parameter).or(named) {
            field.bytes = message.into();
        }
    }
}
