//! Removes operations that nothing needs.

use std::sync::Arc;

use super::{Graph, OutputValue, TensorId};
use crate::nnef::standard::UPDATE;

/// Keeps what the outputs, the tensors named in the document, and updates of variables depend on.
pub fn prune(graph: &mut Graph) {
    let needed = needed_operations(graph);
    if needed.iter().all(|&needed| needed) {
        return;
    }
    let mut kept = Graph::new(graph.name, Arc::clone(&graph.symbols));
    let mut renumbered: Vec<Option<TensorId>> = vec![None; graph.tensors.len()];
    // Tensors that no operation makes are inputs of a kept fragment.
    for (i, tensor) in graph.tensors.iter().enumerate() {
        if tensor.producer.is_none_or(|producer| needed[producer.index()]) {
            renumbered[i] = Some(TensorId(kept.tensors.len() as u32));
            kept.tensors.push(super::Tensor { producer: None, ..tensor.clone() });
        }
    }
    let new = |tensor: TensorId| renumbered[tensor.index()].unwrap_or(tensor);
    for (i, operation) in graph.operations.iter().enumerate().filter(|(i, _)| needed[*i]) {
        debug_assert!(needed[i]);
        let mut arguments = graph.arguments(operation).to_vec();
        arguments.iter_mut().for_each(|argument| argument.value.map_tensors(&mut |tensor| new(tensor)));
        let outputs: Vec<OutputValue> = graph
            .outputs_of(operation)
            .iter()
            .map(|output| match output {
                OutputValue::Tensor(tensor) => OutputValue::Tensor(new(*tensor)),
                OutputValue::Array(tensors) => OutputValue::Array(tensors.iter().map(|&tensor| new(tensor)).collect()),
            })
            .collect();
        let dtype = (operation.dtype, operation.explicit_dtype);
        kept.add_operation(operation.kind, dtype, arguments, outputs, (operation.at, operation.origin));
    }
    graph.inputs.iter_mut().chain(&mut graph.outputs).for_each(|tensor| *tensor = new(*tensor));
    graph.tensors = kept.tensors;
    graph.operations = kept.operations;
    graph.arguments = kept.arguments;
    graph.results = kept.results;
}

fn needed_operations(graph: &Graph) -> Vec<bool> {
    let mut needed = vec![false; graph.operations.len()];
    let mut tensors = vec![false; graph.tensors.len()];
    graph.outputs.iter().for_each(|tensor| tensors[tensor.index()] = true);
    for (i, operation) in graph.operations.iter().enumerate().rev() {
        let outputs = graph.outputs_of(operation).iter().flat_map(OutputValue::tensors);
        let wanted =
            |tensor: &TensorId| tensors[tensor.index()] || graph.names.is_user(graph.tensors[tensor.index()].name);
        if outputs.into_iter().any(wanted) || graph.operation_name(operation) == UPDATE {
            needed[i] = true;
            for argument in graph.arguments(operation) {
                argument.value.each_tensor(&mut |tensor| tensors[tensor.index()] = true);
            }
        }
    }
    needed
}
