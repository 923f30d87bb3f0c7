//! The tokens of the operators: those that are spelled as the rows of the tables say.

use super::lexer::{Kind, SPELLED};
use crate::graph::operators::{BINARY, BinaryInfo, UNARY, UnaryInfo};

/// Rows of [`BINARY`] by token; its length where the token is no binary operator.
static BINARY_BY_TOKEN: [u8; 256] = {
    let mut rows = [BINARY.len() as u8; 256];
    let mut i = 0;
    while i < BINARY.len() {
        rows[token(BINARY[i].text) as usize] = i as u8;
        i += 1;
    }
    rows
};

/// The same of [`UNARY`].
static UNARY_BY_TOKEN: [u8; 256] = {
    let mut rows = [UNARY.len() as u8; 256];
    let mut i = 0;
    while i < UNARY.len() {
        rows[token(UNARY[i].text) as usize] = i as u8;
        i += 1;
    }
    rows
};

/// The token of a spelling, which there is: this runs while compiling, where an index out of range
/// is an error.
const fn token(text: &str) -> Kind {
    let mut i = 0;
    while !is_same(SPELLED[i].0.as_bytes(), text.as_bytes()) {
        i += 1;
    }
    SPELLED[i].1
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

impl Kind {
    /// Whether it is an operator.
    pub(crate) fn is_operator(self) -> bool {
        BinaryInfo::of_token(self).is_some() || UnaryInfo::of_token(self).is_some()
    }
}

impl BinaryInfo {
    /// The binary operator of a token.
    pub(crate) fn of_token(token: Kind) -> Option<&'static BinaryInfo> {
        BINARY.get(BINARY_BY_TOKEN[token as usize] as usize)
    }
}

impl UnaryInfo {
    /// The unary operator of a token.
    pub(crate) fn of_token(token: Kind) -> Option<&'static UnaryInfo> {
        UNARY.get(UNARY_BY_TOKEN[token as usize] as usize)
    }
}
