//! See `src/targets/dat.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::dat};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| dat::target(bytes)));
