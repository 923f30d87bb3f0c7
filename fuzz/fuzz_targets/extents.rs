//! See `src/targets/extents.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::extents};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| extents::target(bytes)));
