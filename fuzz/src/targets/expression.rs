//! The graph of an expression is written as a file of PNNX that reads back.

use crate::shared::small;
use nnef_flatten::{Graph, Options};

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(graph) = Graph::from_expression(&text, &small()) else { return };
    let Ok(file) = graph.to_pnnx() else { return };
    let again = Graph::from_pnnx(&file, &Options::untrusted()).unwrap_or_else(|found| panic!("{file}\n{found}"));
    assert_eq!(again.inputs().len(), graph.inputs().len());
    assert_eq!(again.outputs().len(), graph.outputs().len());
}
