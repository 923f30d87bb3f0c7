//! Names places in a protobuf file by the path of fields that leads there.

use super::fields::{attribute, function, graph, model, node, tensor, training};
use super::reader::MessageReader;
use crate::diagnostics::NodePlace;
use crate::onnx::contents::Contents;
use crate::onnx::model::{Fields, Wire};

/// A kind of message with nodes or constants in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Message {
    Model,
    Training,
    Graph,
    Function,
    Node,
    Attribute,
    Tensor,
}

/// A field with messages: the message that has it, its number, its name, what it contains, and whether it is repeated.
type FieldRow = (Message, u32, &'static str, Message, bool);

/// The fields on the ways to nodes and constants.
const FIELDS: &[FieldRow] = &[
    (Message::Model, model::GRAPH, "graph", Message::Graph, false),
    (Message::Model, model::FUNCTIONS, "functions", Message::Function, true),
    (Message::Model, model::TRAINING, "training_info", Message::Training, true),
    (Message::Training, training::INITIALIZATION, "initialization", Message::Graph, false),
    (Message::Training, training::ALGORITHM, "algorithm", Message::Graph, false),
    (Message::Graph, graph::NODE, "node", Message::Node, true),
    (Message::Graph, graph::INITIALIZER, "initializer", Message::Tensor, true),
    (Message::Function, function::NODE, "node", Message::Node, true),
    (Message::Function, function::ATTRIBUTE_PROTO, "attribute_proto", Message::Attribute, true),
    (Message::Node, node::ATTRIBUTE, "attribute", Message::Attribute, true),
    (Message::Attribute, attribute::TENSOR, "t", Message::Tensor, false),
    (Message::Attribute, attribute::TENSORS, "tensors", Message::Tensor, true),
    (Message::Attribute, attribute::GRAPH, "g", Message::Graph, false),
    (Message::Attribute, attribute::GRAPHS, "graphs", Message::Graph, true),
];

/// The fields of a tensor that are decoded. The others have elements, or are for people.
const DECODED: &[u32] = &[tensor::DIMS, tensor::DATA_TYPE, tensor::NAME, tensor::EXTERNAL_DATA];

/// The message in a field of bytes that leads to nodes or constants.
pub(crate) fn inner(of: Message, field: u32) -> Option<Message> {
    FIELDS.iter().find(|row| (row.0, row.1) == (of, field)).map(|row| row.3)
}

/// Whether a field of bytes is not decoded, and often long, so that it stays in the file.
pub(crate) fn stays_in_file(of: Message, field: u32) -> bool {
    match of {
        Message::Tensor => !DECODED.contains(&field),
        Message::Graph => field == graph::SPARSE_INITIALIZER,
        Message::Attribute => matches!(field, attribute::SPARSE_TENSOR | attribute::SPARSE_TENSORS),
        Message::Model | Message::Training | Message::Function | Message::Node => false,
    }
}

/// A node or a function in a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundNode {
    /// The path to it, with its name.
    pub(crate) place: NodePlace,
    /// The metadata of a node.
    pub(crate) metadata: Fields,
}

/// The node or function whose message starts at an offset; none for other offsets.
pub(crate) fn path(file: &Contents, at: u32) -> Option<FoundNode> {
    let (mut reader, mut kind, mut path) = (MessageReader::new(file), Message::Model, String::new());
    while path.is_empty() || reader.position() != at {
        let (row, index) = step(&mut reader, kind, at)?;
        let point = if path.is_empty() { "" } else { "." };
        let index = if row.4 { format!("[{index}]") } else { String::new() };
        path.push_str(&format!("{point}{}{index}", row.2));
        kind = row.3;
    }
    let name = match kind {
        Message::Node => node::NAME,
        Message::Function => function::NAME,
        _ => return None,
    };
    let (mut named, mut metadata) = (None, Fields::None);
    while let Ok(Some((number, _))) = reader.next() {
        if number == name {
            named = reader.bytes().ok();
        } else if kind == Message::Node && number == node::METADATA {
            metadata.get_or_insert_default().push(reader.keep());
        }
    }
    let name = named.filter(|name| !name.is_empty()).map(|name| String::from_utf8_lossy(&name).into_owned());
    Some(FoundNode { place: NodePlace { path, name, part: None }, metadata })
}

/// Enters the message in the current one that contains an offset. Returns its field, and its index in that field.
fn step(reader: &mut MessageReader, kind: Message, at: u32) -> Option<(&'static FieldRow, usize)> {
    let mut counts = [0; FIELDS.len()];
    while let Some((number, wire)) = reader.next().ok()? {
        let Some(known) = FIELDS.iter().position(|row| (row.0, row.1) == (kind, number)) else { continue };
        if wire != Wire::Bytes {
            continue;
        }
        let (start, end) = reader.range().ok()?;
        let at = at as usize;
        if (start..end).contains(&at) || start == at {
            // What comes behind the message is not read.
            let _outer = reader.enter().ok()?;
            return Some((&FIELDS[known], counts[known]));
        }
        counts[known] += 1;
    }
    None
}
