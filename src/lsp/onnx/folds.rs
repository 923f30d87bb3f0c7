//! What can be folded in a model's text.

use super::scan::{Piece, pieces};
use crate::lsp::analyzed::Fold;
use crate::lsp::folding::BracketPairs;

/// The brackets and the comments of a text.
pub(super) fn folds(text: &str) -> Vec<Fold> {
    let mut pairs = BracketPairs::default();
    let mut found = Vec::new();
    for (span, piece) in pieces(text) {
        match piece {
            Piece::Byte(byte @ (b'(' | b'[' | b'{' | b'<')) => pairs.open(byte, span.start),
            Piece::Byte(byte @ (b')' | b']' | b'}' | b'>')) => {
                found.extend(pairs.close(byte, span.end).map(Fold::Brackets));
            }
            Piece::Comment(_) => found.push(Fold::Comment(span)),
            _ => {}
        }
    }
    found
}
