//! What the copies of a function share.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::names::NameId;
use crate::onnx::functions::{Imports, NameMarks};
use crate::onnx::model::{AttributeProto, FunctionProto, GraphProto, ModelNames, NodeProto};
use crate::onnx::walk::{each_graph, each_node};
use crate::source::names::Name;

/// What the copies of a function share.
#[derive(Debug, Default)]
pub(super) struct Callee {
    pub(super) imports: Imports,
    /// The names of its inputs and outputs; empty if there are no types.
    boundary: FxHashSet<NameId>,
    /// For each output, whether it is an input, or an output before it.
    pub(super) passed: Vec<bool>,
    /// The results of its nodes that are not outputs.
    pub(super) locals: Vec<NameId>,
    /// The first default of each attribute, as its index.
    defaults: FxHashMap<Name, usize>,
    /// Whether it notes types of its values, or graphs in it do.
    pub(super) has_types: bool,
    /// The note of the type of each input, as its index; empty if there are no types.
    pub(super) noted: Vec<Option<usize>>,
    /// How often it is copied.
    pub(super) copies: u64,
    /// A value that is defined twice, and the location of the second definition.
    pub(super) reassigned: Option<(NameId, u32)>,
}

impl Callee {
    pub(super) fn new(names: &ModelNames, function: &FunctionProto, copies: u64, marks: &mut NameMarks) -> Self {
        let mut callee = Callee { imports: Imports::new(names, &function.opsets), copies, ..Callee::default() };
        callee.has_types = has_types(function);
        if callee.has_types {
            let notes: FxHashMap<_, _> =
                function.value_info.iter().enumerate().map(|(i, note)| (note.name, i)).collect();
            callee.noted = function.inputs.iter().map(|input| notes.get(&Some(*input)).copied()).collect();
        }
        let inputs = function.inputs.iter().map(|input| (*input, function.at));
        let results = function.nodes.iter().flat_map(|node| node.outputs.iter().map(|result| (*result, node.at)));
        let mut defined = inputs.chain(results).filter(|(name, _)| *name != NameId::ROOT);
        marks.start();
        callee.reassigned = defined.find(|(name, _)| !marks.insert(*name));
        marks.start();
        marks.extend(&function.inputs);
        callee.passed = function.outputs.iter().map(|output| !marks.insert(*output)).collect();
        let results = function.nodes.iter().flat_map(|node| &node.outputs).copied();
        callee.locals = results.filter(|result| *result != NameId::ROOT && !marks.contains(*result)).collect();
        if callee.has_types {
            callee.boundary = function.inputs.iter().chain(&function.outputs).copied().collect();
        }
        for (i, default) in function.defaults.iter().enumerate() {
            default.name.map(|name| *callee.defaults.entry(name).or_insert(i));
        }
        callee
    }

    /// Whether a name is an input or an output of a function that notes types.
    pub(super) fn is_boundary(&self, name: NameId) -> bool {
        self.boundary.contains(&name)
    }

    /// The default of an attribute of the function.
    pub(super) fn default_of<'f>(&self, function: &'f FunctionProto, name: Name) -> Option<&'f AttributeProto> {
        function.defaults.get(*self.defaults.get(&name)?)
    }
}

/// Whether a function notes types of its values, or graphs in it do.
fn has_types(function: &FunctionProto) -> bool {
    let mut found = !function.value_info.is_empty();
    let mut visit = |graph: &GraphProto| {
        let mut values = graph.inputs.iter().chain(&graph.outputs).chain(&graph.value_info);
        found |= values.any(|value| value.ty.is_some());
    };
    let mut each_graph_of = |nodes: &[NodeProto]| {
        each_node(nodes, &mut |node| node.attributes.iter().for_each(|found| each_graph(&found.value, &mut visit)));
    };
    each_graph_of(&function.nodes);
    for default in &function.defaults {
        each_graph(&default.value, &mut |graph| each_graph_of(&graph.nodes));
    }
    found || function.defaults.iter().any(|default| default.value.has_graphs())
}
