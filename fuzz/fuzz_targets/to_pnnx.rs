//! See `src/targets/to_pnnx.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::to_pnnx};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| to_pnnx::target(bytes)));
