//! The source map: the origins of the operations of a flat graph, as JSON.
//!
//! The form is described in `docs/pictures.md`; [`VERSION`] changes when programs that read it have
//! to be changed.

use std::io::{self, Write};
use std::ops::Range;

use super::json::{push_name, push_string};
use crate::graph::names::Speller;
use crate::graph::{Graph, OperationId, Origin, OriginId, TensorId};
use crate::source::literals::push_int;
use crate::source::names::Name;
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

/// The bytes that are collected before they are written.
const BUFFER: usize = 1 << 16;

fn write(graph: &Graph, sources: &Sources, out: &mut dyn Write) -> io::Result<()> {
    let calls = graph.origins();
    let at = graph.operations.iter().map(|operation| operation.at).chain(calls.clone().map(|call| call.at));
    let places = Places::with_ends(sources, at);
    let mut map = Map {
        graph,
        sources,
        places,
        of_calls: PlaceTexts::new(),
        of_operations: PlaceTexts::new(),
        speller: graph.speller(),
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
    of_calls: PlaceTexts,
    of_operations: PlaceTexts,
    speller: Speller<'g>,
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
        // Names are copied from the buffer.
        self.speller.forget();
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

    /// A call; `None` for the body of the graph.
    fn of_call(&self, call: OriginId) -> Option<u64> {
        Some(call.index()).filter(|call| *call < self.graph.origin_count()).map(|call| call as u64)
    }

    /// Adds the name of a tensor.
    fn name(&mut self, id: TensorId) {
        push_name(&mut self.speller, self.graph.tensors[id.index()].name, &mut self.buffer);
    }

    fn call(&mut self, call: Origin) {
        let (graph, sources, places) = (self.graph, self.sources, &self.places);
        let text = self.of_calls.get(call.at, call.fragment, |text| {
            let start = places.start(call.at);
            number(text, "{\"column\":", Some(start.column));
            string(text, ",\"file\":", Some(sources.file(call.at.file).short_name()));
            string(text, ",\"fragment\":", Some(graph.text_of(call.fragment)));
            number(text, ",\"line\":", Some(start.line));
        });
        self.buffer.push_str(text);
        let parent = self.of_call(call.parent);
        number(&mut self.buffer, ",\"parent\":", parent);
        self.put("}");
    }

    fn operation(&mut self, index: usize) {
        let (graph, sources, places) = (self.graph, self.sources, &self.places);
        let operation = &graph.operations[index];
        let call = self.of_call(operation.origin);
        number(&mut self.buffer, "{\"call\":", call);
        let (at, name) = (operation.at, graph.kind(operation).name);
        let text = self.of_operations.get(at, name, |text| {
            let (start, end) = (places.start(at), places.end(at));
            number(text, ",\"column\":", Some(start.column));
            number(text, ",\"end_column\":", Some(end.column));
            number(text, ",\"end_line\":", Some(end.line));
            string(text, ",\"file\":", Some(sources.file(at.file).short_name()));
            number(text, ",\"line\":", Some(start.line));
            string(text, ",\"name\":", Some(graph.text_of(name)));
        });
        self.buffer.push_str(text);
        self.put(",\"results\":[");
        for (i, tensor) in graph.tensors_of(operation).enumerate() {
            self.put(if i > 0 { "," } else { "" });
            self.name(tensor);
        }
        self.put("]");
        for (key, text) in graph.note(OperationId::at(index)).iter().flat_map(|note| note.parts(graph)) {
            if text.is_some() {
                string(&mut self.buffer, &format!(",\"{key}\":"), text.as_deref());
            }
        }
        self.put("}");
    }

    fn tensor(&mut self, id: TensorId) {
        let graph = self.graph;
        let tensor = &graph.tensors[id.index()];
        let source = graph.names.source_name(tensor.name).map(|name| graph.text_of(name));
        self.name(id);
        let producer = tensor.producer.map(|operation| operation.index() as u64);
        number(&mut self.buffer, ": {\"operation\":", producer);
        string(&mut self.buffer, ",\"source\":", source);
        self.put("}");
    }
}

/// Adds a key, before a number or null.
fn number(out: &mut String, key: &str, number: Option<impl Into<u64>>) {
    out.push_str(key);
    match number {
        Some(number) => push_int(out, number.into() as i64),
        None => out.push_str("null"),
    }
}

/// Adds a key, before a string or null.
fn string(out: &mut String, key: &str, text: Option<&str>) {
    out.push_str(key);
    match text {
        Some(text) => push_string(out, text),
        None => out.push_str("null"),
    }
}

/// What the rows of calls, or of operations, of one place and name have in common: copies of a call or an operation have
/// both. The last ones are remembered.
struct PlaceTexts {
    known: Box<[Option<PlaceText>]>,
    text: String,
}

/// A place and a name, and the range of what is written for them.
type PlaceText = (Location, Name, Range<usize>);

impl PlaceTexts {
    /// The number of texts that are remembered. A power of two.
    const COUNT: usize = 1 << 9;

    fn new() -> Self {
        PlaceTexts { known: vec![None; Self::COUNT].into(), text: String::new() }
    }

    /// The text for a place and a name, which is written if it is not known.
    fn get(&mut self, at: Location, name: Name, write: impl FnOnce(&mut String)) -> &str {
        let slot = (at.span.start as usize).wrapping_add(name.index().wrapping_mul(37)) % Self::COUNT;
        let known = self.known[slot].as_ref().filter(|known| (known.0, known.1) == (at, name));
        let range = match known {
            Some(known) => known.2.clone(),
            None => {
                if self.text.len() >= BUFFER {
                    self.text.clear();
                    self.known.fill(None);
                }
                let start = self.text.len();
                write(&mut self.text);
                self.known[slot] = Some((at, name, start..self.text.len()));
                start..self.text.len()
            }
        };
        &self.text[range]
    }
}
