//! Expressions on dimension symbols, whose values are not known before the flat graph is used.

use std::sync::Arc;

use crate::graph::Extent;
use crate::graph::operators::{BinaryOp, Class};

/// The maximum length of an expression in bytes.
const MAX_TEXT: usize = 1000;

/// An expression on dimension symbols, as text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Symbolic {
    text: Arc<str>,
    precedence: u8,
    unknown: bool,
}

/// The precedence of an expression that never needs parentheses.
const ATOM: u8 = u8::MAX;

impl Symbolic {
    /// A symbol.
    pub(crate) fn symbol(name: &str) -> Self {
        Symbolic { text: name.into(), precedence: ATOM, unknown: false }
    }

    /// An extent that depends on symbols. It becomes unknown if it cannot be written with operators alone.
    pub(crate) fn extent(extent: Extent) -> Self {
        let dim = extent.dim();
        if !dim.is_plain() {
            return Symbolic::unknown();
        }
        let text = spaced(&dim.text());
        let name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        // An expression needs parentheses next to any operator.
        Symbolic { text: text.into(), precedence: if name { ATOM } else { 0 }, unknown: false }
    }

    /// An unknown extent. The flat graph cannot contain it.
    pub(crate) fn unknown() -> Self {
        Symbolic { text: "?".into(), precedence: ATOM, unknown: true }
    }

    /// Whether an unknown extent occurs in it.
    pub(crate) fn is_unknown(&self) -> bool {
        self.unknown
    }

    /// An integer as an operand in an expression.
    pub(crate) fn integer(value: i64) -> Self {
        Symbolic { text: value.to_string().into(), precedence: ATOM, unknown: false }
    }

    /// The text, in the syntax of NNEF.
    pub(crate) fn text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// `a op b`; none if the operator is not arithmetic or the expression is too long.
    pub(crate) fn binary(op: BinaryOp, a: &Symbolic, b: &Symbolic) -> Option<Self> {
        let info = op.info();
        if info.class != Class::Arithmetic || a.text.len() + b.text.len() > MAX_TEXT {
            return None;
        }
        // Operators are left-associative, so the right side needs a higher precedence.
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

/// Puts spaces around the binary operators of an expression, as NNEF is usually written.
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
