//! The contents of a picture of a graph: boxes, groups around them, and nets between them.
//!
//! Variables and constants have no boxes: they are named in the boxes of the operations that use them.

use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

use super::category::{self, Category};
use super::groups::{GroupCall, GroupTitle, Groups, ROOT};
use super::layout::ranks::{Level, Net};
use super::{grouping, label};
use crate::graph::{Graph, Key, Operation, OperationId, OriginId, TensorId, Value};
use crate::progress;

/// What a box represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// An operation.
    Operation(OperationId),
    /// A tensor that is not the result of an operation.
    Input(TensorId),
    /// An output of the graph.
    Output(TensorId),
}

/// A box.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// What it represents.
    pub(crate) subject: Subject,
    /// The group that contains it.
    pub(crate) group: u32,
    /// Its title.
    pub(crate) title: String,
    /// The text beside the title: the shape of the result.
    pub(crate) note: String,
    /// The text rows below: the parameter of a variable or constant argument, and its shape or value.
    pub(crate) rows: Vec<(String, String)>,
    /// How many of the last rows name tensors whose lines are not drawn.
    pub(crate) told: usize,
    /// The category of the operation.
    pub(crate) category: Category,
}

/// A group with its contents.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The group around it.
    pub(crate) parent: u32,
    /// Its index among the items of that group.
    pub(crate) item: u32,
    /// What is written on it.
    pub(crate) title: String,
    /// The name of the fragment or module; empty for runs and parts.
    pub(crate) step: String,
    /// The class of the module; empty if it is not known.
    pub(crate) class: String,
    /// The call.
    pub(crate) origin: OriginId,
    /// Whether it is a part of a large group.
    pub(crate) is_part: bool,
    /// The number of equal modules that it consists of, or zero.
    pub(crate) run: u32,
    /// The number of operations in it, including inner groups.
    pub(crate) operations: u32,
    /// Its items.
    pub(crate) items: Vec<Item>,
    /// The tensors between its items.
    pub(crate) nets: IndexMap<TensorId, Net, FxBuildHasher>,
    depth: u32,
}

/// An item of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A box.
    Node(u32),
    /// A group.
    Group(u32),
}

/// The contents of a picture.
#[derive(Debug)]
pub(crate) struct Scene<'g> {
    /// The graph.
    pub(crate) graph: &'g Graph,
    /// The boxes.
    pub(crate) nodes: Vec<Node>,
    /// The groups; the first one is the graph itself.
    pub(crate) groups: Vec<Group>,
    /// Whether each operation has no box: variables and constants, which are named in the boxes of their users.
    pub(crate) folded: Vec<bool>,
    /// The box of each tensor, where its lines start.
    sources: Vec<Option<u32>>,
    /// The index of each box among the items of its group.
    items: Vec<u32>,
}

impl<'g> Scene<'g> {
    /// The contents of a picture of a graph.
    pub(crate) fn new(graph: &'g Graph) -> Self {
        Scene::grouped(graph, grouping::grouped)
    }

    /// The contents of a picture of a graph, with the groups that a function finds for the operations that are drawn.
    pub(super) fn grouped(graph: &'g Graph, find: fn(&Graph, &[usize]) -> Groups) -> Self {
        let folded = folded(graph);
        let drawn: Vec<usize> = (0..graph.operations.len()).filter(|i| !folded[*i]).collect();
        let groups = find(graph, &drawn);
        let mut scene = Scene {
            graph,
            nodes: Vec::new(),
            groups: groups.calls.iter().zip(groups.titles(graph)).map(|(call, title)| group(call, title)).collect(),
            folded,
            sources: vec![None; graph.tensors.len()],
            items: Vec::new(),
        };
        for i in 1..scene.groups.len() {
            scene.groups[i].depth = scene.groups[scene.groups[i].parent as usize].depth + 1;
        }
        scene.inputs();
        let categories: Vec<Category> = graph.kinds.iter().map(|kind| category::of(graph.text_of(kind.name))).collect();
        for (i, operation) in graph.operations.iter().enumerate() {
            progress::add(1);
            if !scene.folded[i] {
                let category = categories[graph.kind_id(operation).index()];
                scene.add(operation_node(graph, &scene.folded, i, groups.of(i), category));
            }
        }
        scene.outputs();
        scene.connect();
        scene
    }

    /// The level of a group: its items and nets; `columns` are the numbers of columns of groups.
    pub(crate) fn level(&self, group: u32, columns: &[u32]) -> Level {
        let group = &self.groups[group as usize];
        let of = |item: &Item| match *item {
            Item::Node(_) => 1,
            Item::Group(within) => columns[within as usize],
        };
        Level { items: group.items.iter().map(of).collect(), nets: group.nets.values().cloned().collect() }
    }

    /// The number of groups around a group.
    pub(crate) fn depth(&self, group: u32) -> u32 {
        self.groups[group as usize].depth
    }

    fn add(&mut self, node: Node) {
        let (group, id) = (node.group, self.nodes.len() as u32);
        match node.subject {
            Subject::Input(tensor) => self.sources[tensor.index()] = Some(id),
            Subject::Operation(operation) => {
                let results = self.graph.tensors_of(&self.graph.operations[operation.index()]);
                results.for_each(|tensor| self.sources[tensor.index()] = Some(id));
            }
            Subject::Output(_) => {}
        }
        self.nodes.push(node);
        let item = self.enter(group, Item::Node(id));
        self.items.push(item);
        let mut around = group;
        while around != ROOT {
            self.groups[around as usize].operations += 1;
            around = self.groups[around as usize].parent;
        }
    }

    /// Adds an item to a group; with its first item, the group is added to its parent.
    fn enter(&mut self, group: u32, item: Item) -> u32 {
        let first = self.groups[group as usize].items.is_empty();
        if first && group != ROOT {
            self.groups[group as usize].item = self.enter(self.groups[group as usize].parent, Item::Group(group));
        }
        let items = &mut self.groups[group as usize].items;
        items.push(item);
        items.len() as u32 - 1
    }

    /// Adds boxes for the tensors that are not the result of an operation.
    fn inputs(&mut self) {
        for &tensor in self.graph.inputs.iter().filter(|input| self.graph.tensors[input.index()].producer.is_none()) {
            self.add(port(self.graph, Subject::Input(tensor), tensor));
        }
    }

    fn outputs(&mut self) {
        for &tensor in &self.graph.outputs {
            self.add(port(self.graph, Subject::Output(tensor), tensor));
        }
    }

    /// Adds the nets of the tensors that boxes use.
    fn connect(&mut self) {
        for id in 0..self.nodes.len() {
            for tensor in self.used(self.nodes[id].subject) {
                self.net(tensor, id as u32);
            }
        }
    }

    /// The tensors that a box uses, each once.
    pub(crate) fn used(&self, subject: Subject) -> IndexSet<TensorId, FxBuildHasher> {
        let mut used = IndexSet::default();
        match subject {
            Subject::Input(_) => {}
            Subject::Output(tensor) => used.extend([tensor]),
            Subject::Operation(operation) => {
                for (_, value) in self.graph.arguments(&self.graph.operations[operation.index()]) {
                    value.each_tensor(&mut |tensor| used.extend([tensor]));
                }
            }
        }
        used
    }

    /// The box of a tensor; none if it is named in the boxes that use it.
    pub(crate) fn source(&self, tensor: TensorId) -> Option<u32> {
        self.sources[tensor.index()]
    }

    /// Adds the nets of a tensor to a box: out of the groups around its source, and into those around the box.
    fn net(&mut self, tensor: TensorId, user: u32) {
        let Some(source) = self.source(tensor) else { return };
        let (mut from, mut to) = (self.place(source), self.place(user));
        while from.0 != to.0 {
            if self.groups[from.0 as usize].depth >= self.groups[to.0 as usize].depth {
                let net = self.groups[from.0 as usize].nets.entry(tensor).or_default();
                (net.source, net.leaves) = (Some(from.1), true);
                from = self.around(from.0);
            } else {
                self.groups[to.0 as usize].nets.entry(tensor).or_default().targets.push(to.1);
                to = self.around(to.0);
            }
        }
        let net = self.groups[from.0 as usize].nets.entry(tensor).or_default();
        net.source = Some(from.1);
        net.targets.push(to.1);
    }

    /// The group of a box, and its index among the items of the group.
    fn place(&self, node: u32) -> (u32, u32) {
        (self.nodes[node as usize].group, self.items[node as usize])
    }

    fn around(&self, group: u32) -> (u32, u32) {
        let group = &self.groups[group as usize];
        (group.parent, group.item)
    }
}

fn group(of: &GroupCall, title: GroupTitle) -> Group {
    Group {
        parent: of.parent,
        item: 0,
        title: label::shorten(&title.text, GROUP_TITLE),
        step: title.step,
        class: of.class.clone(),
        origin: of.origin,
        is_part: of.is_part,
        run: of.run.as_ref().map_or(0, |run| run.count),
        operations: 0,
        items: Vec::new(),
        nets: IndexMap::default(),
        depth: 0,
    }
}

/// Operations that hold data and have no box.
const DATA: &[&str] = &["variable", "constant", "initializer", "Constant"];

/// By operation, whether it has no box and is named in the boxes of its users: data, and other forms of the same data.
fn folded(graph: &Graph) -> Vec<bool> {
    let mut used = vec![false; graph.tensors.len()];
    for operation in &graph.operations {
        graph.arguments(operation).for_each(|(_, value)| value.each_tensor(&mut |tensor| used[tensor.index()] = true));
    }
    graph.outputs.iter().for_each(|tensor| used[tensor.index()] = false);
    let moves: Vec<bool> = graph.kinds.iter().map(|kind| moves_items(graph.text_of(kind.name))).collect();
    let mut folded = vec![false; graph.operations.len()];
    for (at, operation) in graph.operations.iter().enumerate() {
        let is_data = || DATA.contains(&graph.operation_name(operation));
        let is_form = || moves[graph.kind_id(operation).index()] && has_only_data(graph, &folded, operation);
        let is_used = graph.tensors_of(operation).all(|tensor| used[tensor.index()]);
        folded[at] = is_used && (is_data() || is_form());
    }
    folded
}

/// Whether a kind of operations gives the items of its operands in another order, shape or type.
fn moves_items(name: &str) -> bool {
    category::of(name) == Category::Layout
}

/// Whether all operands of an operation are data without boxes, and there is one.
fn has_only_data(graph: &Graph, folded: &[bool], operation: &Operation) -> bool {
    let (mut any, mut all) = (false, true);
    let mut look = |tensor: TensorId| {
        any = true;
        all &= graph.tensors[tensor.index()].producer.is_some_and(|maker| folded[maker.index()]);
    };
    graph.arguments(operation).for_each(|(_, value)| value.each_tensor(&mut look));
    any && all
}

/// The maximum length of the title of a group, in characters.
const GROUP_TITLE: usize = 32;
/// The maximum lengths of a title, a note, and the parts of a row, in characters.
const TITLE: usize = 30;
const NOTE: usize = 28;
const ROW: (usize, usize) = (18, 28);
/// The maximum number of text rows of a box.
pub(crate) const ROWS: usize = 5;

fn port(graph: &Graph, subject: Subject, tensor: TensorId) -> Node {
    Node {
        subject,
        group: ROOT,
        title: label::shorten(&graph.tensor_name(tensor), TITLE),
        note: label::shorten(&label::shape(graph, tensor), NOTE),
        rows: Vec::new(),
        told: 0,
        category: Category::Port,
    }
}

fn operation_node(graph: &Graph, folded: &[bool], i: usize, group: u32, category: Category) -> Node {
    let operation = &graph.operations[i];
    let name = graph.operation_name(operation);
    let first = graph.tensors_of(operation).next();
    let title = match first {
        Some(tensor) if category == Category::Port => graph.tensor_name(tensor),
        _ => name.to_owned(),
    };
    let note = first.map(|tensor| label::shape(graph, tensor)).unwrap_or_default();
    let rows = if category == Category::Port { Vec::new() } else { rows(graph, folded, operation) };
    Node {
        subject: Subject::Operation(OperationId::at(i)),
        group,
        title: label::shorten(&title, TITLE),
        note: label::shorten(&note, NOTE),
        rows: limit(rows),
        told: 0,
        category,
    }
}

/// Limits the number of text rows; the last one has the number of omitted rows.
pub(crate) fn limit(mut rows: Vec<(String, String)>) -> Vec<(String, String)> {
    if rows.len() > ROWS {
        let more = rows.len() - (ROWS - 1);
        rows.truncate(ROWS - 1);
        rows.push((String::new(), format!("… {more} more")));
    }
    rows
}

/// A text row of a box.
pub(crate) fn row(key: &str, value: &str) -> (String, String) {
    (label::shorten(key, ROW.0), label::shorten(value, ROW.1))
}

/// The text rows for the variables and constants among the arguments of an operation.
fn rows(graph: &Graph, folded: &[bool], operation: &Operation) -> Vec<(String, String)> {
    let kind = graph.kind(operation);
    let mut rows = Vec::new();
    for (key, value) in graph.arguments(operation) {
        // Arguments that equal the default are omitted.
        let (name, takes_tensors) = match key {
            Key::Param(i) => {
                let param = &kind.params[i as usize];
                let usual = value.value().is_some() && value.value() == param.default.as_ref();
                (graph.text_of(param.name), param.tensor && !usual)
            }
            Key::Named(name) => (graph.text_of(name), false),
            Key::Positional => ("", true),
        };
        let mut has_tensor = false;
        value.each_tensor(&mut |tensor| {
            has_tensor = true;
            if let Some(data) = data(graph, folded, tensor) {
                rows.push(row(name, &data));
            }
        });
        if takes_tensors && !has_tensor {
            rows.push(row(name, &is(&label::short_operand(graph, value))));
        }
    }
    rows
}

/// The text of a value, which is not that of a shape.
fn is(value: &str) -> String {
    format!("= {value}")
}

/// The text for a tensor that is a variable or a constant: its value if that is short, else its shape.
fn data(graph: &Graph, folded: &[bool], tensor: TensorId) -> Option<String> {
    let maker = graph.tensors[tensor.index()].producer.filter(|maker| folded[maker.index()])?;
    let maker = &graph.operations[maker.index()];
    // Constants of ONNX have one attribute, `value` or, for example, `value_float`.
    let name = |key: Key| match key {
        Key::Param(i) => graph.text_of(graph.kind(maker).params[i as usize].name),
        Key::Named(name) => graph.text_of(name),
        Key::Positional => "",
    };
    let value = graph.arguments(maker).find(|(key, _)| name(*key).starts_with("value"));
    // A symbol stands for a tensor: it is its type.
    let value = value.filter(|(_, value)| !matches!(value.value(), Some(Value::Symbol(_))));
    let value = value.map(|(_, value)| label::short_operand(graph, value));
    let shape = label::shape(graph, tensor);
    Some(match value {
        Some(value) if value.len() <= 16 => is(&value),
        _ if shape.is_empty() => graph.tensor_name(tensor),
        _ => shape,
    })
}
