//! The graph of an expression is written as a file of PNNX that reads back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nnef_flatten::{Graph, Options};
use nnef_flatten_fuzz::{bounded, small};

fuzz_target!(|bytes: &[u8]| bounded(|| {
    let text = String::from_utf8_lossy(bytes);
    let Ok(graph) = Graph::from_expression(&text, &small()) else { return };
    let Ok(file) = graph.to_pnnx() else { return };
    let again = Graph::from_pnnx(&file, &Options::untrusted()).unwrap_or_else(|found| panic!("{file}\n{found}"));
    assert_eq!(again.inputs().len(), graph.inputs().len());
    assert_eq!(again.outputs().len(), graph.outputs().len());
}));
