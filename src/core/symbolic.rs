//! Expressions on dimension symbols: their values are known to the reader of the flat graph only.

use std::sync::Arc;

use crate::graph::Extent;
use crate::graph::operators::{BinaryOp, Class};

/// The longest expression that is kept.
const MAX_TEXT: usize = 1000;

/// An expression on dimension symbols, as text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Symbolic {
    text: Arc<str>,
    precedence: u8,
    unknown: bool,
}

/// Binds tighter than any operator.
const ATOM: u8 = u8::MAX;

impl Symbolic {
    /// A symbol.
    pub(crate) fn symbol(name: &str) -> Self {
        Symbolic { text: name.into(), precedence: ATOM, unknown: false }
    }

    /// An extent that depends on symbols. One that no operators can write is not known to the flat graph.
    pub(crate) fn extent(extent: Extent) -> Self {
        let dim = extent.dim();
        if !dim.is_plain() {
            return Symbolic::unknown();
        }
        let text = spaced(&dim.text());
        let name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        // Whatever stands beside it, it needs parentheses.
        Symbolic { text: text.into(), precedence: if name { ATOM } else { 0 }, unknown: false }
    }

    /// An extent that is not known and has no name: the flat graph cannot speak of it.
    pub(crate) fn unknown() -> Self {
        Symbolic { text: "?".into(), precedence: ATOM, unknown: true }
    }

    /// Whether an extent without a name occurs in it.
    pub(crate) fn is_unknown(&self) -> bool {
        self.unknown
    }

    /// An integer beside a symbol.
    pub(crate) fn integer(value: i64) -> Self {
        Symbolic { text: value.to_string().into(), precedence: ATOM, unknown: false }
    }

    /// The text, in the syntax of NNEF.
    pub(crate) fn text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// `a op b`; none where the operator is not arithmetic, or the expression too long.
    pub(crate) fn binary(op: BinaryOp, a: &Symbolic, b: &Symbolic) -> Option<Self> {
        let info = op.info();
        if info.class != Class::Arithmetic || a.text.len() + b.text.len() > MAX_TEXT {
            return None;
        }
        // Operators associate to the left, so the right side needs to bind tighter.
        let left = a.within(a.precedence < info.precedence);
        let right = b.within(b.precedence <= info.precedence);
        let text = format!("{left} {} {right}", info.text);
        Some(Symbolic { text: text.into(), precedence: info.precedence, unknown: a.unknown || b.unknown })
    }

    /// `-a`
    pub(crate) fn negated(&self) -> Option<Self> {
        let text = format!("-{}", self.within(self.precedence != ATOM));
        (text.len() <= MAX_TEXT).then_some(Symbolic { text: text.into(), precedence: ATOM - 1, unknown: self.unknown })
    }

    fn within(&self, parentheses: bool) -> String {
        if parentheses { format!("({})", self.text) } else { self.text.to_string() }
    }
}

/// A text with spaces around its binary operators, as the expressions of documents are written.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(2 * text.len());
    for letter in text.chars() {
        let operator = matches!(letter, '+' | '-' | '*' | '/');
        match operator && !out.is_empty() && !out.ends_with(['(', ' ']) {
            true => out.extend([' ', letter, ' ']),
            false => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests;
