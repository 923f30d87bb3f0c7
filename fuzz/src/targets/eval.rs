//! Texts, and generated documents: evaluating a graph ends; a flat graph computes what its source computes.

use std::collections::BTreeMap;

use crate::common::run;
use crate::shared::{evaluator, small, small_inputs, source};
use nnef_flatten::Lower;

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let (first, text) = source(bytes);
    let flat = |lower: Lower| run(&text, &small().with(|o| o.lower = lower)).ok().map(|expansion| expansion.graph);
    let (Some(before), Some(graph)) = (flat(Lower::All), flat(Lower::Custom)) else { return };
    let Some(inputs) = small_inputs(&graph) else { return };
    let difference = evaluator().compare([&before, &graph], &inputs, &BTreeMap::new());
    if let Ok(difference) = difference {
        assert!(first % 2 == 1 || difference.largest <= 1e-9, "{difference:?} in {text}");
    }
}
