//! Inference in graphs, and the graphs in attributes.

use rustc_hash::FxHashMap;

use super::call::Known;
use super::declared::{declared, of_constant};
use super::engine::Inference;
use super::facts::ValueType;
use super::tables::{GraphTypes, InnerPlace, InnerTable};
use crate::graph::names::NameId;
use crate::onnx::model::{AttributeValue, GraphProto, NodeProto, TensorProto, TypeProto, ValueInfo};

/// What is known of the results of the nodes of a graph beside what follows from their operands.
#[derive(Default)]
pub(super) struct KnownResults<'m> {
    /// Their declared types.
    pub(super) declared: FxHashMap<NameId, &'m TypeProto>,
    /// Those that were computed.
    pub(super) noted: FxHashMap<NameId, &'m TensorProto>,
}

/// The graphs of a node with their places; `node` is the index of the node.
pub(super) fn graphs_of(node: &NodeProto) -> Vec<(InnerPlace, &GraphProto)> {
    let mut graphs = Vec::new();
    for (i, attribute) in node.attributes.iter().enumerate() {
        match &attribute.value {
            AttributeValue::Graph(graph) => graphs.push(((0, i, 0), &**graph)),
            AttributeValue::Graphs(all) => graphs.extend(all.iter().enumerate().map(|(k, graph)| ((0, i, k), graph))),
            _ => {}
        }
    }
    graphs
}

impl<'m> KnownResults<'m> {
    fn of(graph: &'m GraphProto) -> Self {
        let declared = |value: &'m ValueInfo| Some((value.name?, value.ty.as_ref()?));
        KnownResults {
            declared: graph.outputs.iter().chain(&graph.value_info).filter_map(declared).collect(),
            noted: graph.noted.iter().filter_map(|constant| Some((constant.name?, constant))).collect(),
        }
    }
}

impl<'m> Inference<'m> {
    /// The types of the values of a graph, and of its outputs, given those of its inputs as far as they are known.
    pub(super) fn graph(&mut self, graph: &'m GraphProto, given: &[ValueType]) -> (GraphTypes, Vec<ValueType>) {
        self.first_nodes(graph, given, graph.nodes.len())
    }

    /// [`Self::graph`] for the values that the first nodes of a graph produce.
    pub(super) fn first_nodes(
        &mut self,
        graph: &'m GraphProto,
        given: &[ValueType],
        nodes: usize,
    ) -> (GraphTypes, Vec<ValueType>) {
        let nodes = &graph.nodes[..nodes.min(graph.nodes.len())];
        let start = self.scope.open(graph.inputs.len() + graph.initializers.len() + nodes.len());
        let mut constants = FxHashMap::default();
        for constant in &graph.initializers {
            let name = constant.name.unwrap_or(NameId::ROOT);
            let known = self.stored(constant);
            self.scope.define(name, known);
            constants.insert(name, constant);
        }
        self.inputs(graph, given, &constants);
        let results = KnownResults::of(graph);
        self.compare_constants(graph, &results);
        let mut inner = InnerTable::default();
        let before = self.contradictions.mark();
        self.nodes(nodes, &results, &mut inner);
        let contradicts = self.contradictions.grew_since(before);
        let outputs = graph.outputs.iter().map(|output| self.scope.type_of(output.name.unwrap_or(NameId::ROOT)));
        let outputs = outputs.collect();
        (GraphTypes { values: self.scope.close(start), inner, contradicts }, outputs)
    }

    /// Infers the results of nodes.
    pub(super) fn nodes(&mut self, nodes: &'m [NodeProto], results: &KnownResults<'m>, inner: &mut InnerTable) {
        for (i, node) in nodes.iter().enumerate() {
            inner.add(i, self.node(node, results));
        }
    }

    /// Defines the inputs of a graph. One with an initializer is taken as this constant.
    fn inputs(&mut self, graph: &'m GraphProto, given: &[ValueType], constants: &FxHashMap<NameId, &'m TensorProto>) {
        for (i, input) in graph.inputs.iter().enumerate() {
            let name = input.name.unwrap_or(NameId::ROOT);
            let constant = constants.get(&name).copied();
            if let (Some(constant), Some(ty)) = (constant, &input.ty) {
                self.compare_constant(constant, name, ty, graph);
            }
            let found = given.get(i).cloned().unwrap_or_default();
            let ty = input.ty.as_ref().map_or(ValueType::Unknown, |ty| declared(&self.model.names, ty));
            self.compare_input(&found, &ty, name, graph);
            let mut ty = super::merge::unified(found, ty);
            if let (ValueType::Unknown, Some(constant)) = (&ty, constant) {
                ty = of_constant(constant);
            }
            let ty = self.completed(ty);
            self.scope.define(name, Known::new(ty, constant));
        }
    }
}
