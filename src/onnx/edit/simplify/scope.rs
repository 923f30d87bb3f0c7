//! What the pass knows of the values that are visible: where they come from, and what replaces them.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::uniform::ConstantItems;
use crate::graph::names::NameId;
use crate::onnx::infer::{GraphTypes, TensorFacts, ValueType};
use crate::onnx::model::{AttributeValue, GraphProto, NodeProto, TensorProto};
use crate::onnx::protobuf::fields::node as node_fields;
use crate::onnx::walk::{each_graph, own_names};
use crate::room::with_stack;

/// The number of graphs around a node whose types are looked at: nests may be deep.
const MAX_LEVELS: usize = 64;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum NamedSource {
    /// It is an input, or it is not visible.
    #[default]
    Open,
    /// It is the initializer with this position among those of the open graphs.
    Constant(u32),
    /// It is a result of the node with this position among those of the open graphs.
    Node(u32),
}

impl NamedSource {
    /// Whether it is in a graph.
    fn is_since(self, start: ScopeStart) -> bool {
        match self {
            NamedSource::Open => false,
            NamedSource::Constant(at) => at as usize >= start.constants,
            NamedSource::Node(at) => at as usize >= start.nodes,
        }
    }
}

/// The values of the open graphs.
pub(in crate::onnx::edit) struct SimplifyScope<'m> {
    /// Where each value comes from, by the number of its name.
    sources: Vec<NamedSource>,
    /// The initializers of the open graphs, those of the outermost graph first.
    pub(super) constants: Vec<TensorProto>,
    /// What is known of the items of constants, for those that were asked for.
    items: RefCell<FxHashMap<NamedSource, ConstantItems>>,
    /// The nodes of the open graphs that are left so far.
    pub(super) nodes: Vec<NodeProto>,
    /// The values that others stand for.
    replaced: FxHashMap<NameId, NameId>,
    /// What the end of a graph restores.
    undo: Vec<Undo>,
    /// The values whose names another graph around or inside has, too: nothing is said with them in another place.
    hidden: FxHashSet<NameId>,
    /// The types of the open graphs, those of the outermost graph first.
    around: Vec<Option<&'m GraphTypes>>,
    /// The values of whose floats none is a negative zero.
    positive: FxHashSet<NameId>,
    /// The values that have the shape of another one, from which operators compute them item by item.
    shaped: FxHashMap<NameId, NameId>,
}

enum Undo {
    Source(NameId, NamedSource),
    Replaced(NameId, Option<NameId>),
    /// What was noted of a value: another graph may have its name for another value.
    Noted(NameId),
}

/// The start of a graph.
#[derive(Clone, Copy, Debug)]
pub(in crate::onnx::edit) struct ScopeStart {
    pub(super) constants: usize,
    pub(super) nodes: usize,
    undo: usize,
}

impl<'m> SimplifyScope<'m> {
    pub(in crate::onnx::edit) fn new(names: usize, hidden: FxHashSet<NameId>) -> Self {
        SimplifyScope {
            sources: vec![NamedSource::Open; names],
            constants: Vec::new(),
            items: RefCell::default(),
            nodes: Vec::new(),
            replaced: FxHashMap::default(),
            undo: Vec::new(),
            hidden,
            around: Vec::new(),
            positive: FxHashSet::default(),
            shaped: FxHashMap::default(),
        }
    }

    /// Opens a graph with these names of its own.
    pub(in crate::onnx::edit) fn open(&mut self, own: &[NameId], types: Option<&'m GraphTypes>) -> ScopeStart {
        let start = ScopeStart { constants: self.constants.len(), nodes: self.nodes.len(), undo: self.undo.len() };
        for name in own {
            let before = self.replaced.remove(name);
            self.undo.push(Undo::Replaced(*name, before));
            self.set(*name, NamedSource::Open);
            self.forget(*name);
        }
        self.around.push(types);
        start
    }

    /// Closes a graph. Returns its initializers and its nodes.
    pub(in crate::onnx::edit) fn close(&mut self, start: ScopeStart) -> (Vec<TensorProto>, Vec<NodeProto>) {
        self.around.pop();
        while self.undo.len() > start.undo {
            match self.undo.pop() {
                Some(Undo::Source(name, before)) => *self.place(name) = before,
                Some(Undo::Replaced(name, Some(before))) => _ = self.replaced.insert(name, before),
                Some(Undo::Replaced(name, None)) => _ = self.replaced.remove(&name),
                Some(Undo::Noted(name)) => self.forget(name),
                None => break,
            }
        }
        let constants = self.constants.split_off(start.constants);
        if !self.items.borrow().is_empty() {
            self.items.borrow_mut().retain(|source, _| !source.is_since(start));
        }
        (constants, self.nodes.split_off(start.nodes))
    }

    fn place(&mut self, name: NameId) -> &mut NamedSource {
        if self.sources.len() <= name.index() {
            self.sources.resize(name.index() + 1, NamedSource::Open);
        }
        &mut self.sources[name.index()]
    }

    fn set(&mut self, name: NameId, source: NamedSource) {
        if name != NameId::ROOT {
            let before = std::mem::replace(self.place(name), source);
            self.undo.push(Undo::Source(name, before));
        }
    }

    /// Adds an initializer to the innermost graph; one that is no constant is not looked at.
    pub(in crate::onnx::edit) fn add_constant(&mut self, constant: TensorProto, is_known: bool) {
        if let Some(name) = constant.name.filter(|_| is_known) {
            self.set(name, NamedSource::Constant(self.constants.len() as u32));
        }
        self.constants.push(constant);
    }

    /// Adds a node to the innermost graph.
    pub(in crate::onnx::edit) fn add_node(&mut self, node: NodeProto) {
        let source = NamedSource::Node(self.nodes.len() as u32);
        node.outputs.iter().for_each(|output| self.set(*output, source));
        self.nodes.push(node);
    }

    /// Where a value comes from.
    pub(super) fn source(&self, name: NameId) -> NamedSource {
        self.sources.get(name.index()).copied().unwrap_or_default()
    }

    /// The node that a value comes from.
    pub(super) fn producer(&self, name: NameId) -> Option<&NodeProto> {
        match self.source(name) {
            NamedSource::Node(at) => self.nodes.get(at as usize),
            _ => None,
        }
    }

    /// The constant that a value is: an initializer, or the value of a node `Constant`.
    pub(in crate::onnx::edit) fn constant(&self, name: NameId) -> Option<&TensorProto> {
        match self.source(name) {
            NamedSource::Constant(at) => self.constants.get(at as usize),
            NamedSource::Node(at) => {
                let [attribute] = &self.nodes.get(at as usize).filter(|node| node.inputs.is_empty())?.attributes[..]
                else {
                    return None;
                };
                match &attribute.value {
                    AttributeValue::Tensor(tensor) if attribute.reference.is_none() => Some(tensor),
                    _ => None,
                }
            }
            NamedSource::Open => None,
        }
    }

    /// What is known of the items of a constant.
    pub(super) fn items(&self, name: NameId) -> ConstantItems {
        match self.constant(name) {
            Some(constant) => {
                *self.items.borrow_mut().entry(self.source(name)).or_insert_with(|| ConstantItems::of(constant))
            }
            None => ConstantItems::default(),
        }
    }

    /// What stands for a value.
    pub(super) fn replacement(&self, name: NameId) -> NameId {
        self.replaced.get(&name).copied().unwrap_or(name)
    }

    /// From now on, another value stands for one.
    pub(super) fn replace(&mut self, name: NameId, by: NameId) {
        let before = self.replaced.insert(name, by);
        self.undo.push(Undo::Replaced(name, before));
    }

    /// Whether a name means one value wherever it is visible.
    pub(super) fn is_plain(&self, name: NameId) -> bool {
        !self.hidden.contains(&name)
    }

    /// What is known of the type of a value.
    pub(in crate::onnx::edit) fn value_type(&self, name: NameId) -> Option<&'m ValueType> {
        for types in self.around.iter().rev().take(MAX_LEVELS) {
            // A graph without types may hide a value around it.
            if let Some(ty) = (*types)?.values.get(name) {
                return Some(ty);
            }
        }
        None
    }

    /// What is known of the type of a value that is a tensor.
    pub(in crate::onnx::edit) fn facts(&self, name: NameId) -> Option<&'m TensorFacts> {
        self.value_type(name)?.as_tensor()
    }

    /// Notes that no float of a value is a negative zero.
    pub(super) fn note_positive(&mut self, name: NameId) {
        self.positive.insert(name);
        self.undo.push(Undo::Noted(name));
    }

    /// Forgets what was noted of a value.
    fn forget(&mut self, name: NameId) {
        self.positive.remove(&name);
        self.shaped.remove(&name);
    }

    /// Whether no float of a value is a negative zero.
    pub(super) fn is_positive(&self, name: NameId) -> bool {
        self.positive.contains(&name)
    }
}

impl SimplifyScope<'_> {
    /// Notes that a value has the shape of another one.
    pub(super) fn note_shape(&mut self, name: NameId, source: NameId) {
        self.shaped.insert(name, source);
        self.undo.push(Undo::Noted(name));
    }

    /// The first value with the shape of a value, behind all that operators compute item by item.
    pub(super) fn shape_source(&self, name: NameId) -> Option<NameId> {
        self.shaped.get(&name).copied()
    }
}

/// The names that a graph and a graph inside it have, and those of values that nodes place on devices by their names.
pub(super) fn hidden(nodes: &[NodeProto], own: &[NameId]) -> FxHashSet<NameId> {
    let mut found = HiddenNames::default();
    found.graph(nodes, own);
    found.hidden
}

#[derive(Default)]
struct HiddenNames {
    open: FxHashMap<NameId, u32>,
    hidden: FxHashSet<NameId>,
}

impl HiddenNames {
    fn graph(&mut self, nodes: &[NodeProto], own: &[NameId]) {
        for name in own {
            let count = self.open.entry(*name).or_default();
            *count += 1;
            if *count > 1 {
                self.hidden.insert(*name);
            }
        }
        for node in nodes {
            if is_placed(node) {
                self.hidden.extend(node.inputs.iter().chain(&node.outputs));
            }
            for attribute in &node.attributes {
                each_graph(&attribute.value, &mut |inner| with_stack(|| self.inner(inner)));
            }
        }
        for name in own {
            self.open.entry(*name).and_modify(|count| *count -= 1);
        }
    }
}

impl HiddenNames {
    fn inner(&mut self, graph: &GraphProto) {
        let own = own_names(graph);
        // An output from around the graph is no operand, whose name could become another one.
        let outputs = graph.outputs.iter().filter_map(|output| output.name);
        self.hidden.extend(outputs.filter(|name| !self.open.contains_key(name) || !own.contains(name)));
        self.graph(&graph.nodes, &own);
    }
}

/// Whether a node tells by the names of its operands and results on which devices they are.
fn is_placed(node: &NodeProto) -> bool {
    node.rest.iter().flat_map(|fields| fields.iter()).any(|field| field.number == node_fields::DEVICES)
}
