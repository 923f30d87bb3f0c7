//! See `src/targets/layout_list.rs`.
#![no_main]

use nnef_flatten_fuzz::{shared::bounded, targets::layout_list};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| bounded(|| layout_list::target(bytes)));
