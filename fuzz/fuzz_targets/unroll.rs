//! See `src/targets/unroll.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::unroll};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| unroll::target(bytes)));
