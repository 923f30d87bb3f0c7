//! The invariants of a flat graph. Tests check them after every transformation.

use std::collections::BTreeSet;

use super::Graph;
use crate::source::names::is_identifier;

impl Graph {
    /// Checks the invariants of the graph, and returns a message for each violation. A violation is a defect of
    /// this library.
    ///
    /// Every tensor is produced by one operation (or is an input of a kept fragment) before it is used, names
    /// are distinct identifiers, and all outputs exist.
    pub fn verify(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let free_inputs = self.inputs.iter().filter(|input| self.tensors[input.index()].producer.is_none());
        let mut made: Vec<bool> = vec![false; self.tensors.len()];
        free_inputs.for_each(|input| made[input.index()] = true);
        for operation in &self.operations {
            let name = self.operation_name(operation);
            for (_, value) in self.arguments(operation) {
                value.each_tensor(&mut |tensor| {
                    if !made[tensor.index()] {
                        wrong.push(format!("`{name}` uses `{}` before it is made", self.tensor_name(tensor)));
                    }
                });
            }
            for tensor in self.tensors_of(operation) {
                if std::mem::replace(&mut made[tensor.index()], true) {
                    wrong.push(format!("`{}` is made twice", self.tensor_name(tensor)));
                }
            }
        }
        for (what, tensors) in [("input", &self.inputs), ("output", &self.outputs)] {
            for tensor in tensors.iter().filter(|tensor| !made[tensor.index()]) {
                wrong.push(format!("{what} `{}` is never made", self.tensor_name(*tensor)));
            }
        }
        let mut names = BTreeSet::new();
        for i in 0..self.tensors.len() {
            let name = self.tensor_name(super::TensorId(i as u32));
            if !is_identifier(&name) {
                wrong.push(format!("`{name}` is not an identifier"));
            }
            if !names.insert(name.clone()) {
                wrong.push(format!("two tensors are named `{name}`"));
            }
        }
        wrong
    }
}
