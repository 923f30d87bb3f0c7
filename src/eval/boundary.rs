//! The names of the inputs and outputs of a graph, for binding tensors by name.

use rustc_hash::{FxHashMap, FxHashSet};

use super::EvalError;
use crate::diagnostics::{Code, suggest};
use crate::graph::Graph;

/// The names of a graph's inputs and outputs.
#[derive(Debug)]
pub(crate) struct Boundary {
    /// The positions of the inputs, by name.
    inputs: FxHashMap<String, usize>,
    outputs: FxHashSet<String>,
}

impl Boundary {
    /// The names of a graph's inputs and outputs.
    pub(crate) fn new(graph: &Graph) -> Self {
        let name = |tensor: &_| graph.tensor_name(*tensor);
        Boundary {
            inputs: graph.inputs.iter().enumerate().map(|(i, input)| (name(input), i)).collect(),
            outputs: graph.outputs.iter().map(name).collect(),
        }
    }

    /// The position of the input with this name; none for an output, since recordings contain outputs too.
    ///
    /// # Errors
    ///
    /// The graph has no input or output with this name.
    pub(crate) fn input(&self, name: &str) -> Result<Option<usize>, EvalError> {
        if let Some(i) = self.inputs.get(name) {
            return Ok(Some(*i));
        }
        if self.outputs.contains(name) {
            return Ok(None);
        }
        let mut known: Vec<(&usize, &str)> = self.inputs.iter().map(|(name, i)| (i, name.as_str())).collect();
        known.sort_unstable();
        let known: Vec<&str> = known.into_iter().map(|(_, name)| name).collect();
        Err(EvalError::new(Code::EvalInput, suggest::no_input("graph", name, &known)))
    }
}
