//! Removes operations whose results are not used.

use super::{Graph, Tensor, TensorId};
use crate::graph::standard::UPDATE;

impl Graph {
    /// For each tensor, whether it is one of these.
    pub(crate) fn marked(&self, tensors: &[TensorId]) -> Vec<bool> {
        let mut marks = vec![false; self.tensors.len()];
        tensors.iter().for_each(|tensor| marks[tensor.index()] = true);
        marks
    }
}

/// Keeps inputs, updates of variables, and the operations that these, the outputs and the tensors named in the document
/// depend on.
pub(crate) fn prune(graph: &mut Graph) {
    if all_used(graph) {
        return;
    }
    let needed = needed_operations(graph, named(graph));
    if needed.iter().all(|&needed| needed) {
        return;
    }
    keep(graph, &needed);
}

/// [`prune`], except that names of the document do not keep these tensors.
#[cfg(feature = "eval")]
pub(crate) fn prune_except(graph: &mut Graph, droppable: &[bool]) {
    let mut wanted = named(graph);
    wanted.iter_mut().zip(droppable).for_each(|(wanted, droppable)| *wanted &= !droppable);
    prune_to(graph, wanted);
}

/// Keeps inputs, updates of variables, and the operations that these, the outputs and the tensors that are marked depend on.
#[cfg(feature = "eval")]
pub(crate) fn prune_to(graph: &mut Graph, wanted: Vec<bool>) {
    let needed = needed_operations(graph, wanted);
    keep(graph, &needed);
}

/// The tensors that the document names, as marks.
fn named(graph: &Graph) -> Vec<bool> {
    graph.tensors.iter().map(|tensor| graph.names.is_user(tensor.name)).collect()
}

/// Keeps the operations that are marked, their results, and the inputs of kept fragments.
pub(crate) fn keep(graph: &mut Graph, needed: &[bool]) {
    let mut renumbered: Vec<Option<TensorId>> = vec![None; graph.tensors.len()];
    let mut kept = 0;
    // Tensors without a producer are inputs of a kept fragment.
    for (i, tensor) in graph.tensors.iter().enumerate() {
        if tensor.producer.is_none_or(|producer| needed[producer.index()]) {
            renumbered[i] = Some(TensorId(kept));
            kept += 1;
        }
    }
    graph.retain(needed, &renumbered);
}

/// Whether every tensor is an argument of an operation, an input, an output, or named in the document. Then all
/// operations are needed, because each is followed by the operations that use its results. This is the usual
/// case, and testing it is faster than finding the needed operations.
fn all_used(graph: &Graph) -> bool {
    let mut used = graph.marked(&graph.outputs);
    graph.inputs.iter().for_each(|tensor| used[tensor.index()] = true);
    graph.packed.each_operand_tensor(0..graph.packed.operands_len(), &mut |tensor| used[tensor.index()] = true);
    let needed = |(tensor, used): (&Tensor, &bool)| *used || graph.names.is_user(tensor.name);
    let give_tensors = !graph.signatures.any_without_results() && !graph.packed.has_empty_array();
    give_tensors && graph.tensors.iter().zip(&used).all(needed)
}

fn needed_operations(graph: &Graph, mut wanted: Vec<bool>) -> Vec<bool> {
    graph.inputs.iter().chain(&graph.outputs).for_each(|tensor| wanted[tensor.index()] = true);
    let updates: Vec<bool> = graph.kinds.iter().map(|kind| graph.text_of(kind.name) == UPDATE).collect();
    let mut needed = vec![false; graph.operations.len()];
    for (i, operation) in graph.operations.iter().enumerate().rev() {
        let mut wants = updates[graph.kind_id(operation).index()];
        graph.each_result(operation, |tensor| wants |= wanted[tensor.index()]);
        if wants {
            needed[i] = true;
            graph.each_operand_tensor(operation, |tensor| wanted[tensor.index()] = true);
        }
    }
    needed
}
