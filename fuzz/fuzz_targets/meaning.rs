//! See `src/targets/meaning.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::meaning};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| meaning::target(bytes)));
