//! See `src/targets/flat.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::flat};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| flat::target(bytes)));
