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
    let mut needed = vec![false; graph.operations.len()];
    let mut tensors = vec![false; graph.tensors.len()];
    graph.outputs.iter().for_each(|tensor| tensors[tensor.index()] = true);
    let updates: Vec<bool> = graph.kinds.iter().map(|kind| graph.text_of(kind.name) == UPDATE).collect();
    for (i, operation) in graph.operations.iter().enumerate().rev() {
        let wanted =
            |tensor: TensorId| tensors[tensor.index()] || graph.names.is_user(graph.tensors[tensor.index()].name);
        if graph.tensors_of(operation).any(wanted) || updates[operation.kind.index()] {
            needed[i] = true;
            for (_, value) in graph.arguments(operation) {
                value.each_tensor(&mut |tensor| tensors[tensor.index()] = true);
            }
        }
    }
    needed
}
