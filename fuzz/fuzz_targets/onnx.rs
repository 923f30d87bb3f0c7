//! See `src/targets/onnx.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::onnx};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| onnx::target(bytes)));
