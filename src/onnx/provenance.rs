//! Metadata on the provenance of the nodes of a flat model.

use bytes::Bytes;

use super::model::{AttributeValue, ExpandedCall, Field, Graph, Model, Node, Wire};
use super::protobuf::fields::{entry, node};
use super::protobuf::writer::Writer;
use crate::graph::OriginId;
use crate::source::names::Names;

/// The key of the metadata.
const KEY: &str = "nnef_flatten.calls";
/// The maximum number of calls in the metadata of a node; only the innermost are listed, so that the size is linear in
/// the number of nodes.
const MAX_CALLS: usize = 16;

/// Adds metadata to each node that was copied from a function: the functions that it comes from, the outermost call
/// first, separated by `/`.
pub(super) fn annotate(model: &mut Model) {
    let mut notes = Notes { calls: &model.calls, texts: &model.names.texts, known: vec![None; model.calls.len()] };
    let functions = model.functions.iter_mut().map(|function| &mut function.nodes);
    for nodes in model.graph.iter_mut().map(|graph| &mut graph.nodes).chain(functions) {
        notes.nodes(nodes);
    }
}

struct Notes<'m> {
    calls: &'m [ExpandedCall],
    texts: &'m Names,
    /// The encoded metadata of each call, shared by its nodes.
    known: Vec<Option<Bytes>>,
}

impl Notes<'_> {
    fn nodes(&mut self, nodes: &mut [Node]) {
        for node in nodes {
            for attribute in &mut node.attributes {
                match &mut attribute.value {
                    AttributeValue::Graph(graph) => self.graph(graph),
                    AttributeValue::Graphs(graphs) => graphs.iter_mut().for_each(|graph| self.graph(graph)),
                    _ => {}
                }
            }
            if let Some(bytes) = self.note(node.origin) {
                let field = Field { number: node::METADATA, wire: Wire::Bytes, bytes };
                node.rest.get_or_insert_default().push(field);
            }
        }
    }

    fn graph(&mut self, graph: &mut Graph) {
        self.nodes(&mut graph.nodes);
    }

    /// The metadata of the nodes of a call; none for nodes of the model itself.
    fn note(&mut self, origin: OriginId) -> Option<Bytes> {
        let known = self.known.get(origin.index())?;
        if let Some(known) = known {
            return Some(known.clone());
        }
        let mut chain = Vec::new();
        let mut at = origin;
        while let Some(call) = self.calls.get(at.index()) {
            if chain.len() == MAX_CALLS {
                chain.push("…");
                break;
            }
            chain.push(self.texts.text(call.function));
            at = call.parent;
        }
        chain.reverse();
        let mut writer = Writer::default();
        writer.text(entry::VALUE, &chain.join("/"));
        writer.bytes(entry::KEY, KEY.as_bytes());
        let note = Bytes::from(writer.finish());
        self.known[origin.index()] = Some(note.clone());
        Some(note)
    }
}

#[cfg(test)]
mod tests {
    use crate::Options;
    use crate::onnx::Document;
    use crate::source::Sources;

    #[test]
    fn nodes_tell_the_functions_that_they_come_from() {
        let text = r#"<ir_version: 10, opset_import: ["" : 21, "l" : 1]>
            g (float[2] x) => (float[2] y) { t = Neg (x) y = l.f (t) }
            <domain: "l", opset_import: ["" : 21, "l" : 1]> f (a) => (c) { b = l.g (a) c = Abs (b) }
            <domain: "l", opset_import: ["" : 21]> g (a) => (b) { b = Exp (a) }"#;
        let mut sources = Sources::new();
        let (document, _) = Document::parse("m", text, &mut sources, &Options::default());
        let mut document = document.unwrap();
        document.flatten(&Options::default()).unwrap();
        document.note_origins();
        let (again, _) = Document::decode("m", document.to_protobuf(), &mut sources, &Options::default());
        let mut again = again.unwrap();
        let nodes = &again.model().unwrap().graph.as_ref().unwrap().nodes;
        let note = |i: usize| nodes[i].rest.as_ref().map(|fields| String::from_utf8(fields[0].bytes.to_vec()).unwrap());
        assert_eq!(note(0), None);
        assert_eq!(note(1).unwrap(), "\n\u{12}nnef_flatten.calls\u{12}\u{3}f/g");
        assert_eq!(note(2).unwrap(), "\n\u{12}nnef_flatten.calls\u{12}\u{1}f");
    }
}
