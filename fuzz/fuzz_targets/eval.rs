//! See `src/targets/eval.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::eval};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| eval::target(bytes)));
