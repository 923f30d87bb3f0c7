//! See `src/targets/onnxtxt.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::onnxtxt};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| onnxtxt::target(bytes)));
