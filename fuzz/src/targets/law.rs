//! Generated documents with mistakes: what is accepted and flattened is accepted again, with all options.

use crate::mutants::{again, mutated};
use crate::shared::{choices, chosen};

/// Runs the target on an input.
pub fn target(bytes: &[u8]) {
    let (options, bytes) = chosen(bytes);
    again(&mutated(&mut choices(bytes)), &options).expect("the same again");
}
