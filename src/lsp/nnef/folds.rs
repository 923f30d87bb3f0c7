//! What can be folded in a document.

use super::text::NnefText;
use super::words::tokens;
use crate::lsp::analyzed::Fold;
use crate::lsp::folding::BracketPairs;
use crate::nnef::lexer::TokenKind;

/// The brackets of a document, then its comments.
pub(super) fn folds(of: &NnefText) -> Vec<Fold> {
    use TokenKind::{LBrace, LBracket, LParen, RBrace, RBracket, RParen};
    let tokens = tokens(of.source(), of.document.dialect());
    let mut pairs = BracketPairs::default();
    let mut found = Vec::new();
    for (kind, span) in tokens.kinds.iter().zip(&tokens.spans) {
        match kind {
            LParen => pairs.open(b'(', span.start),
            LBracket => pairs.open(b'[', span.start),
            LBrace => pairs.open(b'{', span.start),
            RParen => found.extend(pairs.close(b')', span.end).map(Fold::Brackets)),
            RBracket => found.extend(pairs.close(b']', span.end).map(Fold::Brackets)),
            RBrace => found.extend(pairs.close(b'}', span.end).map(Fold::Brackets)),
            _ => {}
        }
    }
    found.extend(tokens.comments.iter().copied().map(Fold::Comment));
    found
}
