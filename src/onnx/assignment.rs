//! Single assignment: a name means one value in a graph and in the graphs inside it.
//!
//! Readers do not agree on what a second value of one name is (onnxruntime takes the last one), so that a copy with the
//! name of another value computes something else without a word. Names are made distinct where nodes are copied; this is
//! what writers of tests and of debug builds ask before they write.

use rustc_hash::FxHashSet;

use super::model::{FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto};
use crate::graph::names::NameId;
use crate::onnx::walk::each_graph;
use crate::room::with_stack;

/// A name that a model, its graphs or its functions give to two values; none if there is none.
pub(super) fn assigned_twice(model: &ModelProto) -> Option<String> {
    let mut found = Assignments { names: &model.names, visible: FxHashSet::default(), twice: None };
    model.graph.iter().for_each(|graph| found.graph(graph));
    model.functions.iter().for_each(|function| found.function(function));
    found.twice
}

struct Assignments<'m> {
    names: &'m ModelNames,
    /// The names of the open graphs, as they are written.
    visible: FxHashSet<String>,
    twice: Option<String>,
}

impl Assignments<'_> {
    fn graph(&mut self, graph: &GraphProto) {
        let inputs: FxHashSet<NameId> = graph.inputs.iter().filter_map(|input| input.name).collect();
        let constants: Vec<NameId> = graph.initializers.iter().filter_map(|constant| constant.name).collect();
        // An initializer is the default of an input with its name.
        let constants = constants.into_iter().filter(|name| !inputs.contains(name));
        // Inputs of a body may hide values around it.
        let mut own: Vec<String> = Vec::new();
        own.extend(inputs.iter().filter_map(|name| self.visible_from_now_on(*name)));
        own.extend(constants.filter_map(|name| self.defined(name)));
        self.nodes(&graph.nodes, own);
    }

    fn function(&mut self, function: &FunctionProto) {
        let own = function.inputs.iter().filter_map(|name| self.visible_from_now_on(*name)).collect();
        self.nodes(&function.nodes, own);
    }

    /// Looks at the nodes of a graph with these names, which are not visible behind it.
    fn nodes(&mut self, nodes: &[NodeProto], mut own: Vec<String>) {
        for node in nodes {
            for attribute in &node.attributes {
                each_graph(&attribute.value, &mut |graph| with_stack(|| self.graph(graph)));
            }
            own.extend(node.outputs.iter().filter_map(|name| self.defined(*name)));
        }
        own.iter().for_each(|name| _ = self.visible.remove(name));
    }

    /// Adds a name; none if it has been visible before.
    fn visible_from_now_on(&mut self, name: NameId) -> Option<String> {
        let text = Some(self.names.spelled(name)).filter(|text| !text.is_empty())?;
        self.visible.insert(text.clone()).then_some(text)
    }

    /// Adds a name, which must not have been visible before.
    fn defined(&mut self, name: NameId) -> Option<String> {
        let added = self.visible_from_now_on(name);
        if added.is_none() && name != NameId::ROOT {
            self.twice.get_or_insert_with(|| self.names.spelled(name));
        }
        added
    }
}
