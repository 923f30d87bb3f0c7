//! The tokens of the operators.

use super::lexer::Kind;
use crate::graph::operators::{BINARY, BinaryInfo, UNARY, UnaryInfo};

/// The tokens of the binary operators, in the order of [`BINARY`].
const BINARY_TOKENS: [Kind; BINARY.len()] = [
    Kind::In,
    Kind::And,
    Kind::Or,
    Kind::Lt,
    Kind::Le,
    Kind::Gt,
    Kind::Ge,
    Kind::EqEq,
    Kind::NotEq,
    Kind::Plus,
    Kind::Minus,
    Kind::Star,
    Kind::Slash,
    Kind::Caret,
];

/// The tokens of the unary operators, in the order of [`UNARY`].
const UNARY_TOKENS: [Kind; UNARY.len()] = [Kind::Plus, Kind::Minus, Kind::Bang];

/// Rows of [`BINARY`] by token; its length where the token is no operator.
static BY_TOKEN: [u8; 256] = {
    let mut rows = [BINARY.len() as u8; 256];
    let mut i = 0;
    while i < BINARY.len() {
        rows[BINARY_TOKENS[i] as usize] = i as u8;
        i += 1;
    }
    rows
};

impl BinaryInfo {
    /// The binary operator of a token.
    pub(crate) fn of_token(token: Kind) -> Option<&'static BinaryInfo> {
        BINARY.get(BY_TOKEN[token as usize] as usize)
    }
}

impl UnaryInfo {
    /// The unary operator of a token.
    pub(crate) fn of_token(token: Kind) -> Option<&'static UnaryInfo> {
        UNARY.iter().zip(UNARY_TOKENS).find(|(_, known)| *known == token).map(|(row, _)| row)
    }
}
