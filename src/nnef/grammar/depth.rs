//! A bound on nesting, checked before anything recurses.

use crate::nnef::lexer::TokenKind;

/// How deep expressions and types can nest. The stack of WebAssembly does not grow, and that of a browser overflows at
/// some 3,000 levels.
pub(crate) const MAX_NESTING: usize = if cfg!(target_family = "wasm") { 500 } else { 100_000 };

/// How deep bodies of loops can nest.
const MAX_BRACES: usize = 256;

/// Slices with at most this many tokens cannot be nested too deeply.
pub(super) const SHALLOW: usize = MAX_BRACES;

/// What is nested deeper than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nested {
    /// Brackets, prefix operators and selects: at most [`MAX_NESTING`].
    Expressions,
    /// Bodies of loops: at most [`MAX_BRACES`].
    Bodies,
}

impl Nested {
    /// The message.
    pub(super) fn told(self) -> String {
        match self {
            Nested::Expressions => format!("more than {MAX_NESTING} levels of brackets and operators"),
            Nested::Bodies => format!("more than {MAX_BRACES} levels of bodies"),
        }
    }
}

/// The token at which the nesting exceeds the limit, if it does, and what is nested.
///
/// Brackets nest, and so do `if`s and prefix operators between two commas.
pub(super) fn too_deep(kinds: &[TokenKind], limit: usize) -> Option<(usize, Nested)> {
    // Per open bracket, how many levels `if`s and pending prefix operators add to it.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let (mut selects, mut prefixes, mut outer) = (0usize, 0usize, 0usize);
    let mut operand = false;
    let mut braces = 0usize;
    for (at, &kind) in kinds.iter().enumerate() {
        match kind {
            TokenKind::LParen | TokenKind::LBracket => {
                open.push((selects, prefixes));
                outer += selects + prefixes + 1;
                (selects, prefixes) = (0, 0);
            }
            TokenKind::RParen | TokenKind::RBracket => {
                if let Some(last) = open.pop() {
                    (selects, prefixes) = last;
                    outer -= selects + prefixes + 1;
                }
            }
            TokenKind::If => (selects, prefixes) = (selects + 1, 0),
            TokenKind::Comma | TokenKind::Colon | TokenKind::Assign => (selects, prefixes) = (0, 0),
            TokenKind::Semicolon | TokenKind::LBrace | TokenKind::RBrace => {
                open.clear();
                (selects, prefixes, outer) = (0, 0, 0);
                match kind {
                    TokenKind::LBrace => braces += 1,
                    TokenKind::RBrace => braces = braces.saturating_sub(1),
                    _ => {}
                }
            }
            TokenKind::Minus | TokenKind::Plus | TokenKind::Bang if !operand => prefixes += 1,
            TokenKind::Int | TokenKind::Real | TokenKind::Str | TokenKind::Ident => {}
            _ => prefixes = 0,
        }
        operand = kind.ends_expression();
        if outer + selects + prefixes > limit {
            return Some((at, Nested::Expressions));
        }
        if braces > MAX_BRACES {
            return Some((at, Nested::Bodies));
        }
    }
    None
}
