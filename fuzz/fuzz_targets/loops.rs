//! See `src/targets/loops.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::loops};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| loops::target(bytes)));
