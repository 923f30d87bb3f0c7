//! See `src/targets/to_onnx.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::to_onnx};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| to_onnx::target(bytes)));
