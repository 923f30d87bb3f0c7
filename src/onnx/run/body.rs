//! What runs: the nodes of a graph or of a function, with its constants and the last uses of its values.

use rustc_hash::{FxHashMap, FxHashSet};

use super::holdings::Holdings;
use super::sparse;
use super::stored::{Stores, tensor_of};
use crate::eval::EvalError;
use crate::graph::names::NameId;
use crate::onnx::model::{FunctionProto, GraphProto, ModelNames, NodeProto};
use crate::onnx::walk::each_graph;
use crate::room::with_stack;
use crate::tensor::value::RunValue;

/// Constants by their names.
pub(super) type Constants = FxHashMap<NameId, RunValue>;

/// The nodes of a graph or of a function.
pub(super) struct RunBody<'m> {
    pub(super) nodes: &'m [NodeProto],
    pub(super) inputs: Vec<NameId>,
    pub(super) outputs: Vec<NameId>,
    pub(super) constants: Constants,
    /// For each node the values that no later node uses.
    pub(super) dead: Vec<Vec<NameId>>,
}

impl<'m> RunBody<'m> {
    /// The body of a graph.
    ///
    /// # Errors
    ///
    /// A constant cannot be read.
    pub(super) fn of_graph(
        names: &ModelNames,
        graph: &'m GraphProto,
        stores: &Stores,
        holdings: &Holdings,
    ) -> Result<Self, EvalError> {
        let budget = holdings.budget;
        let constant = |tensor| Ok((tensor, budget.operation(|| tensor_of(tensor, stores, budget))?));
        let named = graph.initializers.iter().map(constant).collect::<Result<Vec<_>, EvalError>>()?;
        let dense = named.into_iter().filter_map(|(of, tensor)| Some((of.name?, tensor)));
        let sparse = sparse::constants(names, graph, stores, budget)?;
        let constants: Constants = dense.chain(sparse).map(|(name, tensor)| (name, tensor.into())).collect();
        // They stay as long as the model runs.
        constants.values().for_each(|constant| holdings.hold(constant));
        let inputs = graph.inputs.iter().filter_map(|input| input.name).collect();
        let outputs = graph.outputs.iter().filter_map(|output| output.name).collect();
        Ok(RunBody::new(&graph.nodes, inputs, outputs, constants))
    }

    /// The body of a function.
    pub(super) fn of_function(function: &'m FunctionProto) -> Self {
        RunBody::new(&function.nodes, function.inputs.clone(), function.outputs.clone(), Constants::default())
    }

    /// The body of a function of which only some outputs are wanted.
    pub(super) fn of_outputs(function: &'m FunctionProto, wanted: impl Fn(usize) -> bool) -> Self {
        let outputs = function.outputs.iter().enumerate().filter(|(i, _)| wanted(*i)).map(|(_, name)| *name);
        RunBody::new(&function.nodes, function.inputs.clone(), outputs.collect(), Constants::default())
    }

    fn new(nodes: &'m [NodeProto], inputs: Vec<NameId>, outputs: Vec<NameId>, constants: Constants) -> Self {
        let mut last = FxHashMap::default();
        for (i, node) in nodes.iter().enumerate() {
            each_use(node, &mut |name| {
                last.insert(name, i);
            });
            // A result that is never used dies at once.
            node.outputs.iter().for_each(|name| {
                last.entry(*name).or_insert(i);
            });
        }
        // A graph that the call gives may use all that is defined before the node that places it.
        let placing = nodes.iter().rposition(places_given_graph).unwrap_or(0);
        last.values_mut().for_each(|at| *at = (*at).max(placing));
        let kept: FxHashSet<NameId> = outputs.iter().copied().collect();
        let mut dead = vec![Vec::new(); nodes.len()];
        for (name, i) in last.into_iter().filter(|(name, _)| *name != NameId::ROOT && !kept.contains(name)) {
            dead[i].push(name);
        }
        RunBody { nodes, inputs, outputs, constants, dead }
    }
}

/// Whether a node, or one in its graphs, has a graph that the call of the function around it gives.
fn places_given_graph(node: &NodeProto) -> bool {
    node.attributes.iter().any(|attribute| {
        let inner = |graph: &GraphProto| with_stack(|| graph.nodes.iter().any(places_given_graph));
        attribute.refers_to_graphs() || attribute.value.graphs().iter().any(inner)
    })
}

/// Visits the values that a node uses, those that graphs in it use included.
fn each_use(node: &NodeProto, visit: &mut dyn FnMut(NameId)) {
    node.inputs.iter().for_each(|name| visit(*name));
    for attribute in &node.attributes {
        each_graph(&attribute.value, &mut |graph| {
            with_stack(|| {
                graph.nodes.iter().for_each(|node| each_use(node, visit));
                graph.outputs.iter().filter_map(|output| output.name).for_each(&mut *visit);
            });
        });
    }
}
