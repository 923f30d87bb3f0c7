//! See `src/targets/param.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::param};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| param::target(bytes)));
