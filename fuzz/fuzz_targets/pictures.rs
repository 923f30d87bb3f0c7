//! See `src/targets/pictures.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::pictures};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| pictures::target(bytes)));
