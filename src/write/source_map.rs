//! The source map: the origins of the operations of a flat graph, as JSON.
//!
//! The form is described in `docs/pictures.md`; [`VERSION`] changes when programs that read it have
//! to be changed.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::graph::names::TensorNames;
use crate::graph::{Graph, Origin, OriginId, TensorId};
use crate::source::places::Places;
use crate::source::{Location, Sources};

/// The version of the form.
pub(crate) const VERSION: u32 = 1;

impl Graph {
    /// Writes the locations and calls of all operations as JSON, in the form of `docs/pictures.md`.
    /// `sources` are the texts that the graph comes from.
    ///
    /// # Errors
    ///
    /// Writing failed.
    pub fn write_source_map(&self, sources: &Sources, out: &mut dyn Write) -> io::Result<()> {
        write(self, sources, out)
    }
}

fn write(graph: &Graph, sources: &Sources, out: &mut dyn Write) -> io::Result<()> {
    let calls = (0..graph.origin_count()).filter_map(|i| graph.origin(OriginId(i as u32)));
    let at = graph.operations.iter().map(|operation| operation.at).chain(calls.clone().map(|call| call.at));
    let map = Map { graph, sources, places: Places::with_ends(sources, at) };
    write!(out, "{{\"version\": {VERSION}, \"graph\": {},\n\"calls\": ", json!(graph.text_of(graph.name)))?;
    list(out, calls.map(|call| map.call(call)))?;
    out.write_all(b",\n\"operations\": ")?;
    list(out, (0..graph.operations.len()).map(|i| map.operation(i)))?;
    out.write_all(b",\n\"tensors\": {")?;
    for i in 0..graph.tensors.len() {
        let id = TensorId(i as u32);
        let separator = if i > 0 { "," } else { "" };
        write!(out, "{separator}\n{}: {}", json!(graph.tensor_name(id)), map.tensor(id))?;
    }
    out.write_all(b"}}\n")
}

fn list(out: &mut dyn Write, items: impl Iterator<Item = Value>) -> io::Result<()> {
    out.write_all(b"[")?;
    for (i, item) in items.enumerate() {
        write!(out, "{}\n{item}", if i > 0 { "," } else { "" })?;
    }
    out.write_all(b"]")
}

struct Map<'g> {
    graph: &'g Graph,
    sources: &'g Sources,
    places: Places,
}

impl Map<'_> {
    /// The number of a call; `None` for the body of the graph.
    fn number(&self, call: OriginId) -> Option<usize> {
        Some(call.index()).filter(|call| *call < self.graph.origin_count())
    }

    fn file(&self, at: Location) -> &str {
        self.sources.file(at.file).short_name()
    }

    fn call(&self, call: Origin) -> Value {
        let start = self.places.start(call.at);
        json!({
            "fragment": self.graph.text_of(call.fragment),
            "file": self.file(call.at), "line": start.line, "column": start.column,
            "parent": self.number(call.parent),
        })
    }

    fn operation(&self, index: usize) -> Value {
        let operation = &self.graph.operations[index];
        let (start, end) = (self.places.start(operation.at), self.places.end(operation.at));
        let results: Vec<String> =
            self.graph.tensors_of(operation).map(|tensor| self.graph.tensor_name(tensor)).collect();
        json!({
            "name": self.graph.operation_name(operation), "results": results,
            "file": self.file(operation.at), "line": start.line, "column": start.column,
            "end_line": end.line, "end_column": end.column,
            "call": self.number(operation.origin),
        })
    }

    fn tensor(&self, id: TensorId) -> Value {
        let tensor = &self.graph.tensors[id.index()];
        let names: &TensorNames = &self.graph.names;
        let source = names.source_name(tensor.name).map(|name| self.graph.text_of(name));
        json!({ "source": source, "operation": tensor.producer.map(|operation| operation.index()) })
    }
}
