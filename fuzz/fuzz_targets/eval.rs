//! Texts, and generated documents: evaluating a graph ends; a flat graph computes what its source computes.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use nnef_flatten::Lower;
use nnef_flatten_fuzz::common::run;
use nnef_flatten_fuzz::{bounded, evaluator, small, small_inputs, source};

fuzz_target!(|bytes: &[u8]| bounded(|| {
    let (first, text) = source(bytes);
    let flat = |lower: Lower| run(&text, &small().with(|o| o.lower = lower)).ok().map(|expansion| expansion.graph);
    let (Some(before), Some(graph)) = (flat(Lower::All), flat(Lower::Custom)) else { return };
    let Some(inputs) = small_inputs(&graph) else { return };
    let difference = evaluator().compare([&before, &graph], &inputs, &BTreeMap::new());
    if let Ok(difference) = difference {
        assert!(first % 2 == 1 || difference.largest <= 1e-9, "{difference:?} in {text}");
    }
}));
