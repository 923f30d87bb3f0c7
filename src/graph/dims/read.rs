//! A parser of expressions.

use super::{Dim, text};
use crate::room::with_stack;

/// Parses an expression; unknown if the text is not one.
pub(super) fn read(text: &str) -> Dim {
    let mut reader = DimParser { text: text.as_bytes(), at: 0, depth: 0 };
    let dim = reader.sum();
    reader.blanks();
    if reader.at == text.len() { dim.unwrap_or(Dim::Unknown) } else { Dim::Unknown }
}

/// The maximum nesting of factors.
const MAX_DEPTH: u32 = 1000;

struct DimParser<'t> {
    text: &'t [u8],
    at: usize,
    depth: u32,
}

impl DimParser<'_> {
    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Consumes the next character, if it is one of `any`.
    fn take(&mut self, any: &[u8]) -> Option<u8> {
        self.blanks();
        let found = self.text.get(self.at).copied().filter(|byte| any.contains(byte))?;
        self.at += 1;
        Some(found)
    }

    fn sum(&mut self) -> Option<Dim> {
        let mut sum = self.product()?;
        while let Some(sign) = self.take(b"+-") {
            let term = self.product()?;
            sum = if sign == b'+' { sum.plus(term) } else { sum.minus(term) };
        }
        Some(sum)
    }

    fn product(&mut self) -> Option<Dim> {
        let mut product = self.factor()?;
        while let Some(operator) = self.take(b"*/") {
            let factor = self.factor()?;
            product = if operator == b'*' { product.times(factor) } else { product.divided_by(factor) };
        }
        Some(product)
    }

    fn factor(&mut self) -> Option<Dim> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let dim = with_stack(|| self.nested());
        self.depth -= 1;
        dim
    }

    fn nested(&mut self) -> Option<Dim> {
        match self.take(b"-+(") {
            Some(b'-') => return Some(self.factor()?.negated()),
            Some(b'+') => return self.factor(),
            Some(_) => {
                let dim = self.sum()?;
                return self.take(b")").map(|_| dim);
            }
            None => {}
        }
        let start = self.at;
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            self.at += 1;
        }
        let word = std::str::from_utf8(&self.text[start..self.at]).ok().filter(|word| !word.is_empty())?;
        if word.as_bytes()[0].is_ascii_digit() {
            return Some(Dim::from(word.parse::<i64>().ok()));
        }
        let combine = match word {
            text::ROUNDED_DOWN => Dim::over,
            "min" => Dim::min,
            "max" => Dim::max,
            "broadcast" => |a: Dim, b: Dim| a.broadcast(b).unwrap_or(Dim::Unknown),
            _ => return Some(Dim::symbol(word)),
        };
        if self.take(b"(").is_none() {
            return Some(Dim::symbol(word));
        }
        let mut dim = self.sum()?;
        while self.take(b",").is_some() {
            dim = combine(dim, self.sum()?);
        }
        self.take(b")").map(|_| dim)
    }
}
