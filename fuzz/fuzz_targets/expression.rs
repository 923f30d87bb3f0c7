//! See `src/targets/expression.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::expression};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| expression::target(bytes)));
