//! See `src/targets/law.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::law};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| law::target(bytes)));
