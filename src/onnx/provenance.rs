//! Metadata on the provenance of the nodes of a flat model.

use bytes::Bytes;
use rustc_hash::FxHashMap;

use super::inline::add_metadata;
use super::model::{EncodedField, ExpandedCall, ModelProto, NodeProto, Wire};
use super::protobuf::fields::{entry, node};
use super::protobuf::writer;
use crate::source::names::{Name, Names};

/// The key of the metadata.
const KEY: &str = "nnef_flatten.calls";
/// The maximum number of calls in the metadata of a node; only the innermost are listed, so that the size is linear in
/// the number of nodes.
const MAX_CALLS: usize = 16;

/// Adds metadata to each node that was copied from a function: the functions that it comes from, the outermost call
/// first, separated by `/`. Returns false, with a part of the metadata added, if the nodes of the model and their metadata
/// take more than `limit` bytes.
pub(super) fn annotate(model: &mut ModelProto, limit: u64) -> bool {
    let mut notes = Notes::new(model);
    let functions = model.functions.iter_mut().map(|function| &mut function.nodes);
    let mut all = model.graph.iter_mut().map(|graph| &mut graph.nodes).chain(functions);
    all.all(|nodes| notes.nodes(nodes, limit))
}

/// The bytes of the metadata of a node.
const NOTE: usize = size_of::<Vec<EncodedField>>() + size_of::<EncodedField>() + 32;

/// The metadata of calls. Calls with the same chain of functions around them share it.
struct Notes {
    /// The chain of each call.
    chains: Vec<u32>,
    notes: Vec<Option<Bytes>>,
    /// The bytes of the calls, and of the nodes so far with their metadata.
    bytes: u64,
}

impl Notes {
    fn new(model: &ModelProto) -> Self {
        // A chain is a function in another chain, or in none. Calls come after those around them.
        let mut known: FxHashMap<(Option<u32>, Name), u32> = FxHashMap::default();
        let (mut chains, mut steps): (Vec<u32>, Vec<(Option<u32>, Name)>) = (Vec::new(), Vec::new());
        for call in &model.calls {
            let step = (chains.get(call.parent.index()).copied(), call.function);
            let chain = *known.entry(step).or_insert_with(|| {
                steps.push(step);
                steps.len() as u32 - 1
            });
            chains.push(chain);
        }
        let notes = (0..steps.len()).map(|chain| note(&model.names.texts, &steps, chain)).collect();
        let bytes = (model.calls.len() * (size_of::<ExpandedCall>() + size_of::<u32>())) as u64;
        Notes { chains, notes, bytes }
    }

    /// Adds metadata to nodes, and to those of their graphs, unless they take too many bytes. Returns whether they do not.
    fn nodes(&mut self, nodes: &mut [NodeProto], limit: u64) -> bool {
        for node in nodes {
            self.bytes += (node.bytes() + NOTE) as u64;
            let mut graphs = node.attributes.iter_mut().flat_map(|attribute| attribute.value.graphs_mut());
            if self.bytes > limit || !graphs.all(|graph| self.nodes(&mut graph.nodes, limit)) {
                return false;
            }
            let chain = self.chains.get(node.origin.index());
            if let Some(Some(bytes)) = chain.and_then(|chain| self.notes.get(*chain as usize)) {
                let field = EncodedField { number: node::METADATA, wire: Wire::Bytes, bytes: bytes.clone().into() };
                add_metadata(&mut node.rest, field);
            }
        }
        true
    }
}

/// The metadata of a chain of functions, from the innermost one on.
fn note(texts: &Names, steps: &[(Option<u32>, Name)], chain: usize) -> Option<Bytes> {
    let mut names = Vec::new();
    let mut at = Some(chain);
    while let Some(&(outer, function)) = at.and_then(|at| steps.get(at)) {
        if names.len() == MAX_CALLS {
            names.push("…");
            break;
        }
        names.push(texts.text(function));
        at = outer.map(|outer| outer as usize);
    }
    names.reverse();
    let value = names.join("/");
    let note = writer::to_vec(|writer| {
        writer.bytes(entry::KEY, KEY.as_bytes());
        writer.text(entry::VALUE, &value);
    });
    note.map(Bytes::from)
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
        let note = |i: usize| {
            nodes[i].rest.as_ref().map(|fields| String::from_utf8(fields[0].bytes.load().unwrap().to_vec()).unwrap())
        };
        assert_eq!(note(0), None);
        assert_eq!(note(1).unwrap(), "\n\u{12}nnef_flatten.calls\u{12}\u{3}f/g");
        assert_eq!(note(2).unwrap(), "\n\u{12}nnef_flatten.calls\u{12}\u{1}f");
    }
}
