//! See `src/targets/quant.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::quant};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| quant::target(bytes)));
