//! See `src/targets/text.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::text};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| text::target(bytes)));
