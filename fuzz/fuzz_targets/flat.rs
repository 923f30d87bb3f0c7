//! Any text: what flattens is flat, with all options. Flattening it again gives the same text and graph.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nnef_flatten_fuzz::mutants::again;
use nnef_flatten_fuzz::{bounded, chosen};

fuzz_target!(|bytes: &[u8]| bounded(|| {
    let (options, text) = chosen(bytes);
    again(&String::from_utf8_lossy(text), &options).expect("the same again");
}));
