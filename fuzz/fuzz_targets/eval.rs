//! Texts, and generated documents: evaluating a graph ends; a flat graph computes what its source computes.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use nnef_flatten::eval::{Evaluator, Limits};
use nnef_flatten::{Graph, Lower};
use nnef_flatten_fuzz::common::run;
use nnef_flatten_fuzz::{bounded, choices, documents::document, small};

fn evaluator() -> Evaluator {
    let mut limits = Limits::untrusted();
    (limits.max_items, limits.max_work) = (1 << 20, 10_000_000);
    Evaluator::with_limits(limits).random_variables(1)
}

/// Random inputs, unless they are large: the shapes are those of the text.
fn small_inputs(graph: &Graph) -> Result<Vec<(String, nnef_flatten::tensor::Tensor)>, ()> {
    let items = |input: &_| {
        let shape = graph.shape(*input).and_then(|shape| shape.known()).ok_or(())?;
        shape.iter().try_fold(1i64, |items, extent| items.checked_mul(*extent)).ok_or(())
    };
    for input in graph.inputs() {
        if items(input)? > 1 << 16 {
            return Err(());
        }
    }
    graph.random_inputs(&[], 1).map_err(drop)
}

fuzz_target!(|bytes: &[u8]| bounded(|| {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let text = match first % 2 {
        0 => document(&mut choices(rest)).text,
        _ => String::from_utf8_lossy(rest).into_owned(),
    };
    let flat = |lower: Lower| run(&text, &small().with(|o| o.lower = lower)).ok().map(|expansion| expansion.graph);
    let (Some(source), Some(graph)) = (flat(Lower::All), flat(Lower::Custom)) else { return };
    let Ok(inputs) = small_inputs(&graph) else { return };
    let difference = evaluator().compare([&source, &graph], &inputs, &BTreeMap::new());
    if let Ok(difference) = difference {
        assert!(first % 2 == 1 || difference.largest <= 1e-9, "{difference:?} in {text}");
    }
}));
