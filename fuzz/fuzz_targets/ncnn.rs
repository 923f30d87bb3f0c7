//! See `src/targets/ncnn.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::ncnn};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| ncnn::target(bytes)));
