//! The data of a page: boxes, groups and their rows, tensors, calls, source locations.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

use super::excerpt::{EXCERPT, Excerpt};
use super::measures::{Measure, Measures, measures};
use crate::graph::{Graph, Key, Operand, OperationId, OriginId, TensorId};
use crate::picture::category::{self, STYLES};
use crate::picture::label;
use crate::picture::layout::Arrangement;
use crate::picture::layout::frame;
use crate::picture::layout::ranks::Vertex;
use crate::picture::scene::{Item, Scene, Subject};
use crate::picture::sheet::shown;
use crate::picture::values::{Summaries, Summary};
use crate::source::facts::Facts;
use crate::source::literals::push_int;
use crate::source::places::Places;
use crate::source::{FileId, Location, Sources};

/// The maximum length of the text of an attribute value, in bytes.
const VALUE: usize = 2000;
/// The maximum number of places of a memory that is drawn, and of places in a line.
const MEMORY: (u64, usize) = (256, 16);

/// What is told beside the graph: its texts, what the data of its variables are like, what the model tells about itself.
pub(crate) type PageTexts<'t> = (&'t Sources, &'t Summaries, &'t Facts);

/// Writes the data as one JSON object.
pub(crate) fn write(
    scene: &Scene,
    arrangement: &Arrangement,
    (sources, values, facts): PageTexts,
    out: &mut dyn Write,
) -> io::Result<()> {
    let graph = scene.graph;
    let calls = graph.origins().map(|call| call.at);
    let places = Places::new(sources, graph.operations.iter().map(|operation| operation.at).chain(calls));
    let (measures, text, excerpts) = (measures(scene), String::new(), Excerpts::default());
    let mut data = Data { scene, graph, sources, values, facts, places, measures, text, excerpts };
    data.head();
    data.tensors(out)?;
    data.calls(out)?;
    data.groups(arrangement, out)?;
    data.nodes(out)?;
    data.excerpts();
    out.write_all(data.text.as_bytes())
}

#[derive(Default)]
struct Excerpts {
    of: FxHashMap<(FileId, u32, u32), usize>,
    texts: Vec<Excerpt>,
}

struct Data<'s> {
    scene: &'s Scene<'s>,
    graph: &'s Graph,
    sources: &'s Sources,
    values: &'s Summaries,
    facts: &'s Facts,
    places: Places,
    measures: Measures,
    text: String,
    excerpts: Excerpts,
}

impl Data<'_> {
    fn flush(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.text.len() > 1 << 16 {
            out.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    fn key(&mut self, key: &str) {
        if !self.text.ends_with('{') {
            self.text.push(',');
        }
        self.string(key);
        self.text.push(':');
    }

    fn string(&mut self, text: &str) {
        let shown: String = text.chars().map(shown).collect();
        self.text.push_str(&serde_json::Value::from(shown).to_string());
    }

    fn int(&mut self, value: impl Into<i64>) {
        push_int(&mut self.text, value.into());
    }

    fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut each: impl FnMut(&mut Self, T)) {
        self.text.push('[');
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.text.push(',');
            }
            each(self, item);
        }
        self.text.push(']');
    }

    fn strings(&mut self, texts: &[&str]) {
        self.list(texts, |data, text| data.string(text));
    }

    fn ints(&mut self, items: impl IntoIterator<Item = u32>) {
        self.list(items, |data, item| data.int(item));
    }

    /// A list that is written in pieces.
    fn long_list(
        &mut self,
        count: usize,
        out: &mut dyn Write,
        mut each: impl FnMut(&mut Self, usize),
    ) -> io::Result<()> {
        self.text.push('[');
        for i in 0..count {
            self.text.push_str(if i > 0 { ",\n" } else { "\n" });
            each(self, i);
            self.flush(out)?;
        }
        self.text.push(']');
        Ok(())
    }

    fn head(&mut self) {
        self.text.push('{');
        self.key("files");
        let files: Vec<&str> = self.sources.iter().map(|(_, file)| file.short_name()).collect();
        self.strings(&files);
        self.key("styles");
        self.list(STYLES, |data, style| {
            data.strings(&[style.class, style.light.0, style.light.1, style.dark.0, style.dark.1]);
        });
        self.key("called");
        self.string(if self.graph.conventions.is_view { "function" } else { "fragment" });
        self.key("about");
        let about = &self.facts.0;
        self.list(about, |data, (key, text)| data.strings(&[key, text]));
        for (key, tensors) in [("inputs", &self.graph.inputs), ("outputs", &self.graph.outputs)] {
            self.key(key);
            self.ints(tensors.iter().map(|tensor| tensor.0));
        }
    }

    fn tensors(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.key("tensors");
        self.long_list(self.graph.tensors.len(), out, |data, i| {
            let (graph, id) = (data.graph, TensorId(i as u32));
            let dtype = graph.element_type(id).unwrap_or("");
            data.strings(&[&graph.tensor_name(id), dtype, &label::shape(graph, id)]);
            if let Some(layout) = graph.layout(id) {
                data.text.pop();
                data.text.push(',');
                data.layout(id, &layout.to_string());
                data.text.push(']');
            }
        })
    }

    /// The declared layout of a tensor, its size, and the walk through its memory if that is small.
    fn layout(&mut self, id: TensorId, layout: &str) {
        self.text.push('{');
        self.key("layout");
        self.string(layout);
        let array = self.graph.array_shape(id);
        let sizes = array.as_ref().and_then(|array| array.element_bytes().ok().zip(array.allocated_bytes().ok()));
        if let Some((elements, memory)) = sizes {
            for (key, size) in [("elements", elements), ("bytes", memory)] {
                self.key(key);
                self.text.push_str(&size.to_string());
            }
        }
        let memory = array.and_then(|array| Some((array.memory().ok()?, array.sizes().ok()?)));
        if let Some((memory, sizes)) = memory.filter(|(memory, _)| (1..=MEMORY.0).contains(&memory.places())) {
            let (line, row) = memory.lines(MEMORY.1);
            self.key("dims");
            self.list(sizes, |data, size| data.text.push_str(&size.to_string()));
            for (key, count) in [("line", line), ("row", row)] {
                self.key(key);
                self.int(count as i64);
            }
            self.key("walk");
            self.list(memory.walk().unwrap_or_default(), |data, element| match element {
                Some(element) => data.text.push_str(&element.to_string()),
                None => data.text.push_str("null"),
            });
        }
        self.text.push('}');
    }

    fn calls(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.key("calls");
        self.long_list(self.graph.origin_count(), out, |data, i| {
            let Some(call) = data.graph.origin(OriginId(i as u32)) else { return };
            data.text.push('[');
            data.call(call.parent);
            data.text.push(',');
            data.string(data.graph.text_of(call.fragment));
            data.text.push(',');
            data.place(call.at);
            data.text.push(',');
            data.excerpt(call.at);
            data.text.push_str(if data.graph.is_graph(OriginId(i as u32)) { ",1]" } else { "]" });
        })
    }

    fn call(&mut self, call: OriginId) {
        self.int(if call.index() < self.graph.origin_count() { call.index() as i64 } else { -1 });
    }

    /// A location as file, line and column, without brackets.
    fn place(&mut self, at: Location) {
        let position = self.places.start(at);
        let file = self.sources.iter().position(|(id, _)| id == at.file).unwrap_or(0);
        self.int(file as i64);
        self.text.push(',');
        self.int(position.line);
        self.text.push(',');
        self.int(position.column);
    }

    fn groups(&mut self, arrangement: &Arrangement, out: &mut dyn Write) -> io::Result<()> {
        self.key("groups");
        self.long_list(self.scene.groups.len(), out, |data, i| {
            let (group, level) = (&data.scene.groups[i], &arrangement.levels[i]);
            data.text.push('{');
            data.key("title");
            data.string(&group.title);
            for (key, value) in [("parent", group.parent), ("count", group.operations)] {
                data.key(key);
                data.int(value);
            }
            data.key("f");
            data.call(group.origin);
            if group.is_part {
                data.key("p");
                data.int(1);
            }
            if group.run > 0 {
                data.key("x");
                data.int(group.run);
            }
            if !group.class.is_empty() {
                data.key("cl");
                data.string(&group.class);
            }
            if group.step != group.title {
                data.key("step");
                data.string(&group.step);
            }
            let line = data.measure(i);
            data.key("titleWidth");
            data.int(frame::title_width(&group.title) as i64);
            let (width, height) = frame::closed_size(group, &line);
            data.key("closed");
            data.text.push_str(&format!("{{\"w\":{width},\"h\":{height}}}"));
            data.key("items");
            data.list(&group.items, |data, item| match *item {
                Item::Node(node) => data.int(node),
                Item::Group(group) => data.int(-1 - i64::from(group)),
            });
            let vertices = &level.rows.vertices[group.items.len()..];
            let (kinds, of): (Vec<u32>, Vec<u32>) = vertices.iter().map(|vertex| kind(*vertex)).unzip();
            data.key("kinds");
            data.ints(kinds);
            data.key("of");
            data.ints(of);
            data.key("rows");
            data.list(&level.rows.rows, |data, row| data.ints(row.iter().copied()));
            data.key("edges");
            data.ints(level.rows.edges.iter().flat_map(|edge| [edge.upper, edge.lower, edge.net]));
            data.key("nets");
            data.ints(level.tensors.iter().map(|tensor| tensor.0));
            data.text.push('}');
        })
    }

    /// What is counted in a group, and the line of text in it while it is closed.
    fn measure(&mut self, group: usize) -> (String, String) {
        let (group, measure) = (&self.scene.groups[group], self.measures.groups[group].clone());
        let Measure { counts, uncounted, data } = &measure;
        self.key("m");
        let (parameters, products) = (counts.parameters.told(), counts.multiply_adds.told());
        self.text.push_str(&format!("[{parameters},{products},{uncounted},{data}]"));
        let line = measure.line(self.graph, group);
        if line != Default::default() {
            self.key("r");
            self.strings(&[&line.0, &line.1]);
        }
        line
    }

    /// The boxes; then the variables and constants without a box, so that a search finds them.
    fn nodes(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let boxes = self.scene.nodes.len();
        let undrawn = |i: &usize| self.scene.folded[*i];
        let others: Vec<usize> = (0..self.graph.operations.len()).filter(undrawn).collect();
        self.key("nodes");
        self.long_list(boxes + others.len(), out, |data, i| match i.checked_sub(boxes) {
            None => data.node(i),
            Some(other) => data.undrawn(others[other]),
        })?;
        Ok(())
    }

    fn node(&mut self, index: usize) {
        let node = &self.scene.nodes[index];
        let (width, height) = frame::box_size(node);
        let (kind, name) = match node.subject {
            Subject::Operation(id) => (0, self.graph.operation_name(&self.graph.operations[id.index()]).to_owned()),
            Subject::Input(tensor) => (1, self.graph.tensor_name(tensor)),
            Subject::Output(tensor) => (2, self.graph.tensor_name(tensor)),
        };
        self.begin(kind, &name, node.category, i64::from(node.group));
        for (key, text) in [("t", &node.title), ("n", &node.note)] {
            self.key(key);
            self.string(text);
        }
        self.key("r");
        self.list(&node.rows, |data, (key, value)| data.strings(&[key, value]));
        for (key, value) in [("w", width), ("h", height)] {
            self.key(key);
            self.int(value as i64);
        }
        match node.subject {
            Subject::Operation(id) => self.operation(id),
            Subject::Input(tensor) => self.text.push_str(&format!(",\"o\":[[\"tensor\",[{}]]],\"i\":[]", tensor.0)),
            Subject::Output(tensor) => {
                self.text.push_str(&format!(",\"o\":[],\"i\":[[\"tensor\",\"\",[{}]]]", tensor.0));
            }
        }
        self.text.push('}');
    }

    fn undrawn(&mut self, index: usize) {
        let operation = &self.graph.operations[index];
        let name = self.graph.operation_name(operation);
        self.begin(3, name, category::of(name), 0);
        self.operation(OperationId::at(index));
        self.text.push('}');
    }

    fn begin(&mut self, kind: u32, name: &str, category: category::Category, group: i64) {
        self.text.push('{');
        self.key("k");
        self.int(kind);
        self.key("name");
        self.string(name);
        self.key("c");
        self.int(category as u32);
        self.key("g");
        self.int(group);
    }

    /// Results, arguments and defaults, location and calls of an operation.
    fn operation(&mut self, id: OperationId) {
        let graph = self.graph;
        let operation = &graph.operations[id.index()];
        let kind = graph.kind(operation);
        self.key("o");
        self.list(graph.outputs_of(operation).enumerate(), |data, (i, output)| {
            data.text.push('[');
            data.string(kind.results.get(i).map_or("", |name| graph.text_of(*name)));
            data.text.push(',');
            data.ints(output.tensors().iter().map(|tensor| tensor.0));
            data.text.push(']');
        });
        let mut given: Vec<(&str, Operand, bool)> = Vec::new();
        for (key, value) in graph.arguments(operation) {
            let name = match key {
                Key::Param(i) => kind.params[i as usize].name,
                Key::Named(name) => name,
                Key::Positional => {
                    given.push(("", value, false));
                    continue;
                }
            };
            given.push((graph.text_of(name), value, false));
        }
        for (i, param) in kind.params.iter().enumerate() {
            let is_given = graph.arguments(operation).any(|(key, _)| key == Key::Param(i as u32));
            if let (false, Some(default)) = (is_given, &param.default) {
                given.push((graph.text_of(param.name), default.into(), true));
            }
        }
        self.key("i");
        self.list(given, |data, (name, value, usual)| data.argument(name, value, usual));
        self.key("s");
        self.text.push('[');
        self.place(operation.at);
        self.text.push(']');
        self.key("e");
        self.excerpt(operation.at);
        self.key("f");
        self.call(operation.origin);
        if let Some(note) = graph.note(id) {
            self.key("m");
            self.list(label::told(graph, note), |data, (key, text)| data.strings(&[key, &text]));
        }
        if !self.measures.is_counted[id.index()] {
            self.key("u");
            self.int(1);
        }
        if let Some(summary) = self.values.get(&id) {
            self.summary(summary);
        }
    }

    /// What the data of a variable are like.
    fn summary(&mut self, summary: &Summary) {
        self.key("v");
        self.text.push('{');
        for (key, value) in [("min", summary.min), ("max", summary.max), ("mean", summary.mean)] {
            if let Some(value) = value {
                self.key(key);
                self.number(value);
            }
        }
        self.key("nan");
        self.text.push_str(&summary.not_numbers.to_string());
        self.key("first");
        self.list(&summary.first, |data, value| data.number(*value));
        if summary.min < summary.max {
            self.key("bins");
            self.list(&summary.bins, |data, count| data.text.push_str(&count.to_string()));
        }
        self.text.push('}');
    }

    /// A number with seven digits; JSON has no others than finite ones.
    fn number(&mut self, value: f64) {
        let rounded = format!("{value:.6e}").parse().unwrap_or(value);
        match serde_json::Number::from_f64(rounded) {
            Some(number) => self.text.push_str(&number.to_string()),
            None => self.string(&value.to_string()),
        }
    }

    fn argument(&mut self, name: &str, value: Operand, usual: bool) {
        let mut tensors = Vec::new();
        value.each_tensor(&mut |tensor| tensors.push(tensor.0));
        self.text.push('[');
        self.string(name);
        self.text.push(',');
        let text = if tensors.is_empty() { label::operand(self.graph, value, VALUE) } else { String::new() };
        self.string(&text);
        self.text.push(',');
        self.ints(tensors);
        self.text.push_str(if usual { ",1]" } else { "]" });
    }

    /// The number of the excerpt for a location, and the part of it that is marked, in characters.
    fn excerpt(&mut self, at: Location) {
        let position = self.places.start(at);
        // Long lines have several excerpts.
        let key = (at.file, position.line, position.column / EXCERPT.1 as u32);
        let index = match self.excerpts.of.get(&key) {
            Some(known) => *known,
            None => {
                self.excerpts.texts.push(Excerpt::new(self.sources, at));
                self.excerpts.of.insert(key, self.excerpts.texts.len() - 1);
                self.excerpts.texts.len() - 1
            }
        };
        let (start, length) = self.excerpts.texts[index].marked(self.sources, at);
        self.text.push_str(&format!("[{index},{start},{length}]"));
    }

    fn excerpts(&mut self) {
        self.key("excerpts");
        let texts = std::mem::take(&mut self.excerpts.texts);
        self.list(&texts, |data, excerpt| data.string(&excerpt.text));
        self.text.push_str("}\n");
    }
}

/// The kind of a vertex as a number, and its item or net.
fn kind(vertex: Vertex) -> (u32, u32) {
    match vertex {
        Vertex::Item(item) => (0, item),
        Vertex::Lane(net) => (1, net),
        Vertex::In(net) => (2, net),
        Vertex::Out(net) => (3, net),
    }
}
