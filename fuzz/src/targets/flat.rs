//! Any text: what flattens is flat, with all options. Flattening it again gives the same text and graph.

use crate::mutants::again;
use crate::shared::chosen;

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let (options, text) = chosen(bytes);
    again(&String::from_utf8_lossy(text), &options).expect("the same again");
}
