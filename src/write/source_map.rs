//! The source map: the origins of the operations of a flat graph, as JSON.
//!
//! The form is described in `docs/pictures.md`; [`VERSION`] changes when programs that read it have
//! to be changed.

use std::io::{self, Write};

use super::json::push_string;
use crate::graph::names::Spellings;
use crate::graph::{Graph, OperationId, Origin, OriginId, TensorId};
use crate::source::Sources;
use crate::source::literals::push_int;
use crate::source::places::Places;

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

/// The bytes that are collected before they are written.
const BUFFER: usize = 1 << 16;

fn write(graph: &Graph, sources: &Sources, out: &mut dyn Write) -> io::Result<()> {
    let calls = (0..graph.origin_count()).filter_map(|i| graph.origin(OriginId(i as u32)));
    let at = graph.operations.iter().map(|operation| operation.at).chain(calls.clone().map(|call| call.at));
    let places = Places::with_ends(sources, at);
    let mut map = Map {
        graph,
        sources,
        places,
        speller: Spellings::new(&graph.names, &graph.symbols),
        buffer: String::new(),
        out,
    };
    map.put(&format!("{{\"version\": {VERSION}, \"graph\": "));
    push_string(&mut map.buffer, graph.text_of(graph.name));
    map.put(",\n\"calls\": [");
    for (i, call) in calls.enumerate() {
        map.next(i)?;
        map.call(call);
    }
    map.put("],\n\"operations\": [");
    for i in 0..graph.operations.len() {
        map.next(i)?;
        map.operation(i);
    }
    map.put("],\n\"tensors\": {");
    for i in 0..graph.tensors.len() {
        map.next(i)?;
        map.tensor(TensorId(i as u32));
    }
    map.put("}}\n");
    map.flush()
}

struct Map<'g, 'o> {
    graph: &'g Graph,
    sources: &'g Sources,
    places: Places,
    speller: Spellings<'g>,
    buffer: String,
    out: &'o mut dyn Write,
}

impl Map<'_, '_> {
    fn put(&mut self, text: &str) {
        self.buffer.push_str(text);
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.out.write_all(self.buffer.as_bytes());
        self.buffer.clear();
        written
    }

    /// Starts an item of a list.
    fn next(&mut self, i: usize) -> io::Result<()> {
        if self.buffer.len() >= BUFFER {
            self.flush()?;
        }
        self.put(if i > 0 { ",\n" } else { "\n" });
        Ok(())
    }

    /// Adds a key, before a number or null.
    fn number(&mut self, key: &str, number: Option<impl Into<u64>>) {
        self.put(key);
        match number {
            Some(number) => push_int(&mut self.buffer, number.into() as i64),
            None => self.put("null"),
        }
    }

    /// Adds a key, before a text or null.
    fn text(&mut self, key: &str, text: Option<&str>) {
        self.put(key);
        match text {
            Some(text) => push_string(&mut self.buffer, text),
            None => self.put("null"),
        }
    }

    /// A call; `None` for the body of the graph.
    fn of_call(&self, call: OriginId) -> Option<u64> {
        Some(call.index()).filter(|call| *call < self.graph.origin_count()).map(|call| call as u64)
    }

    /// Adds the name of a tensor.
    fn name(&mut self, id: TensorId) {
        let name = self.graph.tensors[id.index()].name;
        push_string(&mut self.buffer, self.speller.spell(name));
    }

    fn call(&mut self, call: Origin) {
        let (start, sources) = (self.places.start(call.at), self.sources);
        self.number("{\"column\":", Some(start.column));
        self.text(",\"file\":", Some(sources.file(call.at.file).short_name()));
        self.text(",\"fragment\":", Some(self.graph.text_of(call.fragment)));
        self.number(",\"line\":", Some(start.line));
        self.number(",\"parent\":", self.of_call(call.parent));
        self.put("}");
    }

    fn operation(&mut self, index: usize) {
        let (graph, sources) = (self.graph, self.sources);
        let operation = &graph.operations[index];
        let (start, end) = (self.places.start(operation.at), self.places.end(operation.at));
        self.number("{\"call\":", self.of_call(operation.origin));
        self.number(",\"column\":", Some(start.column));
        self.number(",\"end_column\":", Some(end.column));
        self.number(",\"end_line\":", Some(end.line));
        self.text(",\"file\":", Some(sources.file(operation.at.file).short_name()));
        self.number(",\"line\":", Some(start.line));
        self.text(",\"name\":", Some(graph.operation_name(operation)));
        self.put(",\"results\":[");
        for (i, tensor) in graph.tensors_of(operation).enumerate() {
            self.put(if i > 0 { "," } else { "" });
            self.name(tensor);
        }
        self.put("]");
        for (key, text) in graph.note(OperationId::at(index)).iter().flat_map(|note| note.parts(graph)) {
            if text.is_some() {
                self.text(&format!(",\"{key}\":"), text.as_deref());
            }
        }
        self.put("}");
    }

    fn tensor(&mut self, id: TensorId) {
        let graph = self.graph;
        let tensor = &graph.tensors[id.index()];
        let source = graph.names.source_name(tensor.name).map(|name| graph.text_of(name));
        self.name(id);
        self.number(": {\"operation\":", tensor.producer.map(|operation| operation.index() as u64));
        self.text(",\"source\":", source);
        self.put("}");
    }
}
