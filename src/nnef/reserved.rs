//! Names that what is added to a document does not get.

use super::lexer::{SPELLED, TokenKind};
use crate::graph::Dialect;
use crate::library::texts::standard;

/// Whether a word is a keyword, or the name of a standard operation.
pub(crate) fn is_reserved(word: &str) -> bool {
    SPELLED.iter().any(|(spelling, _)| *spelling == word)
        || TokenKind::of_loops(word).is_some()
        || standard(Dialect::V1).find(word).is_some()
}
