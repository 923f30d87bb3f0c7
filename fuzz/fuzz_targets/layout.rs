//! See `src/targets/layout.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::layout};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| layout::target(bytes)));
