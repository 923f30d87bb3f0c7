//! Expressions on dimension symbols, which only the reader of the flat graph can compute.

use super::operators::{BinaryOp, Class};

/// The longest expression that is kept.
const MAX_TEXT: usize = 1000;

/// An expression on symbols, as text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Symbolic {
    text: String,
    precedence: u8,
    unknown: bool,
}

/// Binds tighter than any operator.
const ATOM: u8 = u8::MAX;

impl Symbolic {
    /// A symbol.
    pub(crate) fn symbol(name: &str) -> Self {
        Symbolic { text: name.to_string(), precedence: ATOM, unknown: false }
    }

    /// An extent that is not known and has no name: the flat graph cannot speak of it.
    pub(crate) fn unknown() -> Self {
        Symbolic { text: "?".to_string(), precedence: ATOM, unknown: true }
    }

    /// Whether an extent without a name occurs in it.
    pub(crate) fn is_unknown(&self) -> bool {
        self.unknown
    }

    /// An integer beside a symbol.
    pub(crate) fn integer(value: i64) -> Self {
        Symbolic { text: value.to_string(), precedence: ATOM, unknown: false }
    }

    /// The text, in the syntax of NNEF.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// `a op b`; none for what is no arithmetic, and for expressions that grow too long.
    pub(crate) fn binary(op: BinaryOp, a: &Symbolic, b: &Symbolic) -> Option<Self> {
        let info = op.info();
        if info.class != Class::Arithmetic || a.text.len() + b.text.len() > MAX_TEXT {
            return None;
        }
        // Operators associate to the left, so the right side needs to bind tighter.
        let left = a.within(a.precedence < info.precedence);
        let right = b.within(b.precedence <= info.precedence);
        let text = format!("{left} {} {right}", info.text);
        Some(Symbolic { text, precedence: info.precedence, unknown: a.unknown || b.unknown })
    }

    /// `-a`
    pub(crate) fn negated(&self) -> Option<Self> {
        let text = format!("-{}", self.within(self.precedence != ATOM));
        (text.len() <= MAX_TEXT).then_some(Symbolic { text, precedence: ATOM - 1, unknown: self.unknown })
    }

    fn within(&self, parentheses: bool) -> String {
        if parentheses { format!("({})", self.text) } else { self.text.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_stand_where_they_are_needed() {
        let (s, two) = (Symbolic::symbol("S"), Symbolic::integer(2));
        let sum = Symbolic::binary(BinaryOp::Add, &s, &two).unwrap();
        let product = Symbolic::binary(BinaryOp::Mul, &two, &sum).unwrap();
        assert_eq!(product.text(), "2 * (S + 2)");
        let difference = Symbolic::binary(BinaryOp::Sub, &product, &sum).unwrap();
        assert_eq!(difference.text(), "2 * (S + 2) - (S + 2)");
        assert_eq!(sum.negated().unwrap().text(), "-(S + 2)");
        assert!(Symbolic::binary(BinaryOp::Lt, &s, &two).is_none());
    }
}
