//! See `src/targets/model.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::model};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| model::target(bytes)));
