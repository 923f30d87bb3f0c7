//! Removes operations that nothing needs.

use super::{Graph, TensorId};
use crate::nnef::standard::UPDATE;

/// Keeps what the outputs, the tensors named in the document, and updates of variables depend on.
pub fn prune(graph: &mut Graph) {
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

fn needed_operations(graph: &Graph) -> Vec<bool> {
    let mut wanted: Vec<bool> = graph.tensors.iter().map(|tensor| graph.names.is_user(tensor.name)).collect();
    graph.outputs.iter().for_each(|tensor| wanted[tensor.index()] = true);
    let updates: Vec<bool> = graph.kinds.iter().map(|kind| graph.text_of(kind.name) == UPDATE).collect();
    let mut needed = vec![false; graph.operations.len()];
    for (i, operation) in graph.operations.iter().enumerate().rev() {
        let mut wants = updates[operation.kind.index()];
        graph.each_result(operation, |tensor| wants |= wanted[tensor.index()]);
        if wants {
            needed[i] = true;
            graph.each_operand_tensor(operation, |tensor| wanted[tensor.index()] = true);
        }
    }
    needed
}
