//! See `src/targets/npz.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::npz};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| npz::target(bytes)));
