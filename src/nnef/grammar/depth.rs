//! A bound on nesting, checked before anything recurses.

use crate::nnef::lexer::Kind;

/// How deep expressions and types can nest.
pub(crate) const MAX_NESTING: usize = 100_000;

/// How deep bodies of loops can nest.
const MAX_BRACES: usize = 256;

/// Slices with at most this many tokens cannot be nested too deeply.
pub(super) const SHALLOW: usize = MAX_BRACES;

/// The token at which the nesting exceeds the limit, if it does.
///
/// Brackets nest, and so do `if`s and prefix operators between two commas.
pub(super) fn too_deep(kinds: &[Kind], limit: usize) -> Option<usize> {
    // Per open bracket, how many levels `if`s and pending prefix operators add to it.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let (mut selects, mut prefixes, mut outer) = (0usize, 0usize, 0usize);
    let mut operand = false;
    let mut braces = 0usize;
    for (at, &kind) in kinds.iter().enumerate() {
        match kind {
            Kind::LParen | Kind::LBracket => {
                open.push((selects, prefixes));
                outer += selects + prefixes + 1;
                (selects, prefixes) = (0, 0);
            }
            Kind::RParen | Kind::RBracket => {
                if let Some(last) = open.pop() {
                    (selects, prefixes) = last;
                    outer -= selects + prefixes + 1;
                }
            }
            Kind::If => (selects, prefixes) = (selects + 1, 0),
            Kind::Comma | Kind::Colon | Kind::Assign => (selects, prefixes) = (0, 0),
            Kind::Semicolon | Kind::LBrace | Kind::RBrace => {
                open.clear();
                (selects, prefixes, outer) = (0, 0, 0);
                match kind {
                    Kind::LBrace => braces += 1,
                    Kind::RBrace => braces = braces.saturating_sub(1),
                    _ => {}
                }
            }
            Kind::Minus | Kind::Plus | Kind::Bang if !operand => prefixes += 1,
            Kind::Int | Kind::Real | Kind::Str | Kind::Ident => {}
            _ => prefixes = 0,
        }
        operand = kind.ends_expression();
        if outer + selects + prefixes > limit || braces > MAX_BRACES {
            return Some(at);
        }
    }
    None
}
