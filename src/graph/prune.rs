//! Removes operations that nothing needs.

use super::{Graph, Tensor, TensorId};
use crate::graph::standard::UPDATE;

/// Keeps what the outputs, the tensors named in the document, and updates of variables depend on.
pub(crate) fn prune(graph: &mut Graph) {
    if all_used(graph) {
        return;
    }
    let needed = needed_operations(graph);
    if needed.iter().all(|&needed| needed) {
        return;
    }
    let mut renumbered: Vec<Option<TensorId>> = vec![None; graph.tensors.len()];
    let mut kept = 0;
    // Tensors that no operation makes are inputs of a kept fragment.
    for (i, tensor) in graph.tensors.iter().enumerate() {
        if tensor.producer.is_none_or(|producer| needed[producer.index()]) {
            renumbered[i] = Some(TensorId(kept));
            kept += 1;
        }
    }
    graph.retain(&needed, &renumbered);
}

/// Whether every tensor is used by some operation, or needed for itself: then all operations are
/// needed, since each stands before those that use its results. So it is mostly, and found out
/// faster than which ones are needed.
fn all_used(graph: &Graph) -> bool {
    let mut used = vec![false; graph.tensors.len()];
    graph.outputs.iter().for_each(|tensor| used[tensor.index()] = true);
    graph.packed.each_operand_tensor(0..graph.packed.operands_len(), &mut |tensor| used[tensor.index()] = true);
    let needed = |(tensor, used): (&Tensor, &bool)| *used || graph.names.is_user(tensor.name);
    let give_tensors = !graph.signatures.any_without_results() && !graph.packed.has_empty_array();
    give_tensors && graph.tensors.iter().zip(&used).all(needed)
}

fn needed_operations(graph: &Graph) -> Vec<bool> {
    let mut wanted: Vec<bool> = graph.tensors.iter().map(|tensor| graph.names.is_user(tensor.name)).collect();
    graph.outputs.iter().for_each(|tensor| wanted[tensor.index()] = true);
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
