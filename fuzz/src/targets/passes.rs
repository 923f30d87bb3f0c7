//! Texts, and generated documents: folding and merging end, and leave a flat graph that computes the same.

use std::collections::BTreeMap;

use crate::common::{flat_text, run};
use crate::shared::{evaluator, small, small_inputs, source};
use nnef_flatten::eval::Limits;
use nnef_flatten::{Graph, Lower};

/// A graph with its constants folded and its equal operations merged.
fn reworked(mut graph: Graph) -> Graph {
    graph.fold(Limits::untrusted(), &[], false);
    graph.share(&[]);
    graph
}

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let (first, text) = source(bytes);
    let lower = [Lower::Custom, Lower::All, Lower::None][usize::from(first / 2) % 3].clone();
    let options = small().with(|o| o.lower = lower);
    let Ok(before) = run(&text, &options) else { return };
    let graph = reworked(before.graph.clone());
    assert!(graph.verify().is_empty(), "{:?} in {text}", graph.verify());
    let written = flat_text(&graph);
    // What was folded may be checked more closely than its source: a flat text has the shapes of its constants.
    if let Ok(again) = run(&written, &options) {
        assert_eq!(flat_text(&reworked(again.graph)), written, "once and twice");
    }
    let Some(inputs) = small_inputs(&before.graph) else { return };
    let difference = evaluator().compare([&before.graph, &graph], &inputs, &BTreeMap::new());
    if let Ok(difference) = difference {
        assert!(difference.largest == 0.0, "{difference:?} in {text}");
    }
}
