//! Inference in graphs, and the graphs in attributes.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::declared::{declared, of_constant};
use super::engine::Inference;
use super::facts::ValueType;
use super::infer_call::Known;
use super::tables::{GraphTypes, InnerPlace, InnerTable};
use crate::graph::names::NameId;
use crate::onnx::model::{GraphProto, NodeProto, TensorProto, TypeProto, ValueInfo};

/// What is known of the results of the nodes of a graph beside what follows from their operands.
#[derive(Default)]
pub(super) struct KnownResults<'m> {
    /// Their declared types.
    declared: Notes<&'m TypeProto>,
    /// Those that were computed.
    noted: Notes<&'m TensorProto>,
}

/// Notes about values, sorted by name. Most graphs have one or none, and are many.
struct Notes<T>(SmallVec<[(NameId, T); 2]>);

impl<T> Default for Notes<T> {
    fn default() -> Self {
        Notes(SmallVec::new())
    }
}

impl<T: Copy> Notes<T> {
    /// Notes in the order of the model: of several about one value the last one counts.
    fn new(notes: impl Iterator<Item = (NameId, T)>) -> Self {
        let mut notes: SmallVec<[(NameId, T); 2]> = notes.collect();
        notes.sort_by_key(|note| note.0);
        Notes(notes)
    }

    fn of(&self, name: NameId) -> Option<T> {
        let end = self.0.partition_point(|note| note.0 <= name);
        let last = self.0.get(end.checked_sub(1)?)?;
        (last.0 == name).then_some(last.1)
    }
}

/// The graphs of a node with their places; `node` is the index of the node.
pub(super) fn graphs_of(node: &NodeProto) -> Vec<(InnerPlace, &GraphProto)> {
    let mut graphs = Vec::new();
    for (i, attribute) in node.attributes.iter().enumerate() {
        graphs.extend(attribute.value.graphs().iter().enumerate().map(|(k, graph)| ((0, i, k), graph)));
    }
    graphs
}

impl<'m> KnownResults<'m> {
    fn of(graph: &'m GraphProto) -> Self {
        let declared = |value: &'m ValueInfo| Some((value.name?, value.ty.as_ref()?));
        KnownResults {
            declared: Notes::new(graph.outputs.iter().chain(&graph.value_info).filter_map(declared)),
            noted: Notes::new(graph.noted.iter().filter_map(|constant| Some((constant.name?, constant)))),
        }
    }

    /// The declared type of a value.
    pub(super) fn declared(&self, name: NameId) -> Option<&'m TypeProto> {
        self.declared.of(name)
    }

    /// A value that was computed.
    pub(super) fn noted(&self, name: NameId) -> Option<&'m TensorProto> {
        self.noted.of(name)
    }

    /// Whether there are no declared types.
    pub(super) fn declares_nothing(&self) -> bool {
        self.declared.0.is_empty()
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
            let both = constant.zip(input.ty.as_ref());
            let mistake = both.and_then(|(constant, ty)| self.compare_constant(constant, name, ty, graph));
            let found = given.get(i).cloned().unwrap_or_default();
            let ty = input.ty.as_ref().map_or(ValueType::Unknown, |ty| declared(&self.model.names, ty));
            let mistake = self.compare_input(&found, &ty, name, graph).or(mistake);
            let mut ty = super::merge::unified(found, ty);
            if let (ValueType::Unknown, Some(constant)) = (&ty, constant) {
                ty = of_constant(constant);
            }
            if let Some(mistake) = mistake {
                self.scope.define(name, Known::new(mistake.leaves(&ty), None));
                continue;
            }
            let ty = self.completed(ty);
            self.scope.define(name, Known::new(ty, constant));
        }
    }
}
