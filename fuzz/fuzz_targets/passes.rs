//! See `src/targets/passes.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::passes};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| passes::target(bytes)));
