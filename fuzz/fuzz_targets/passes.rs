//! Texts, and generated documents: folding and merging end, and leave a flat graph that computes the same.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use nnef_flatten::eval::Limits;
use nnef_flatten::{Graph, Lower};
use nnef_flatten_fuzz::common::{flat_text, run};
use nnef_flatten_fuzz::{bounded, choices, documents::document, evaluator, small, small_inputs};

/// The graph of a text with its constants folded and its equal operations merged.
fn reworked(text: &str, lower: Lower) -> Option<Graph> {
    let mut graph = run(text, &small().with(|o| o.lower = lower)).ok()?.graph;
    graph.fold(Limits::untrusted(), &[], false);
    graph.share(&[]);
    Some(graph)
}

fuzz_target!(|bytes: &[u8]| bounded(|| {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let text = match first % 2 {
        0 => document(&mut choices(rest)).text,
        _ => String::from_utf8_lossy(rest).into_owned(),
    };
    let lower = [Lower::Custom, Lower::All, Lower::None][usize::from(first / 2) % 3].clone();
    let Some(graph) = reworked(&text, lower.clone()) else { return };
    assert!(graph.verify().is_empty(), "{:?} in {text}", graph.verify());
    let written = flat_text(&graph);
    // What was folded may be checked more closely than its source: a flat text has the shapes of its constants.
    if let Some(again) = reworked(&written, lower.clone()) {
        assert_eq!(flat_text(&again), written, "once and twice");
    }
    let Ok(source) = run(&text, &small().with(|o| o.lower = lower)) else { return };
    let Some(inputs) = small_inputs(&source.graph) else { return };
    let difference = evaluator().compare([&source.graph, &graph], &inputs, &BTreeMap::new());
    if let Ok(difference) = difference {
        assert!(difference.largest == 0.0, "{difference:?} in {text}");
    }
}));
