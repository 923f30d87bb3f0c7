//! The invariants of a flat graph, which tests check after every step that makes one.

use std::collections::BTreeSet;

use super::Graph;

impl Graph {
    /// Checks the invariants of the graph: a message for each violation. There are none unless the
    /// library has a defect.
    ///
    /// Every tensor is the result of one operation (or an input of a kept fragment) before it is used,
    /// names are distinct and are identifiers, and all outputs exist.
    pub fn verify(&self) -> Vec<String> {
        verify(self)
    }
}

fn verify(graph: &Graph) -> Vec<String> {
    let mut wrong = Vec::new();
    let free_inputs = graph.inputs.iter().filter(|input| graph.tensors[input.index()].producer.is_none());
    let mut made: Vec<bool> = vec![false; graph.tensors.len()];
    free_inputs.for_each(|input| made[input.index()] = true);
    for operation in &graph.operations {
        let name = graph.operation_name(operation);
        for (_, value) in graph.arguments(operation) {
            value.each_tensor(&mut |tensor| {
                if !made[tensor.index()] {
                    wrong.push(format!("`{name}` uses `{}` before it is made", graph.tensor_name(tensor)));
                }
            });
        }
        for tensor in graph.tensors_of(operation) {
            if std::mem::replace(&mut made[tensor.index()], true) {
                wrong.push(format!("`{}` is made twice", graph.tensor_name(tensor)));
            }
        }
    }
    for (what, tensors) in [("input", &graph.inputs), ("output", &graph.outputs)] {
        for tensor in tensors.iter().filter(|tensor| !made[tensor.index()]) {
            wrong.push(format!("{what} `{}` is never made", graph.tensor_name(*tensor)));
        }
    }
    let mut names = BTreeSet::new();
    for i in 0..graph.tensors.len() {
        let name = graph.tensor_name(super::TensorId(i as u32));
        if !is_identifier(&name) {
            wrong.push(format!("`{name}` is no identifier"));
        }
        if !names.insert(name.clone()) {
            wrong.push(format!("two tensors are named `{name}`"));
        }
    }
    wrong
}

fn is_identifier(text: &str) -> bool {
    text.bytes().next().is_some_and(|byte| byte == b'_' || byte.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}
