//! Generated documents with mistakes: what is accepted and flattened is accepted again, with all options.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nnef_flatten_fuzz::mutants::{again, mutated};
use nnef_flatten_fuzz::{bounded, choices, chosen};

fuzz_target!(|bytes: &[u8]| bounded(|| {
    let (options, bytes) = chosen(bytes);
    again(&mutated(&mut choices(bytes)), &options).expect("the same again");
}));
