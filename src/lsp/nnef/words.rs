//! The words of a text up to a position, and words as names.

use crate::diagnostics::Policy;
use crate::graph::Dialect;
use crate::nnef::lexer::{Lexer, TokenKind, Tokens};
use crate::source::{FileId, Span};

/// The tokens of a text; what is wrong with it is told elsewhere.
pub(super) fn tokens(text: &str, dialect: Dialect) -> Tokens {
    let mut tokens = Tokens::default();
    let mut lexer = Lexer::new(text, FileId::default(), dialect, Policy::default());
    while lexer.next(&mut tokens).is_some() {}
    tokens
}

/// A name as a document of a dialect has it.
///
/// # Errors
///
/// It is not an identifier, or a keyword.
pub(super) fn spelled(name: &str, dialect: Dialect) -> Result<String, String> {
    let tokens = tokens(name, dialect);
    let whole = Span::new(0, name.len() as u32);
    match (&tokens.kinds[..], &tokens.spans[..]) {
        ([TokenKind::Ident], [span]) if *span == whole => Ok(name.to_owned()),
        ([kind], [span]) if *span == whole && kind.is_keyword() => Err(format!("`{name}` is a keyword")),
        _ => Err(format!("`{name}` is not an identifier: letters, digits and `_`, not starting with a digit")),
    }
}
