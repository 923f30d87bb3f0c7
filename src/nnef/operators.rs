//! The tokens of operators and built-in functions, found by the spellings in their tables.

use super::lexer::{SPELLED, TokenKind};
use crate::graph::operators::{BINARY, BUILTINS, BinaryInfo, BuiltinInfo, UNARY, UnaryInfo};

macro_rules! by_token {
    ($row:ident, $table:ident) => {
        impl $row {
            /// The row of a token, if it has one.
            pub(crate) fn of_token(token: TokenKind) -> Option<&'static $row> {
                /// The position in the table by token; its length for tokens without a row.
                static POSITIONS: [u8; 256] = {
                    let mut positions = [$table.len() as u8; 256];
                    let mut i = 0;
                    while i < $table.len() {
                        positions[spelled($table[i].text) as usize] = i as u8;
                        i += 1;
                    }
                    positions
                };
                $table.get(POSITIONS[token as usize] as usize)
            }
        }
    };
}

by_token!(BinaryInfo, BINARY);
by_token!(UnaryInfo, UNARY);
by_token!(BuiltinInfo, BUILTINS);

/// The token of a spelling. This runs at compile time, where an unknown spelling is an error, as an
/// index out of range.
const fn spelled(text: &str) -> TokenKind {
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

impl TokenKind {
    /// Whether it is an operator.
    pub(crate) fn is_operator(self) -> bool {
        BinaryInfo::of_token(self).is_some() || UnaryInfo::of_token(self).is_some()
    }

    /// Whether it is a built-in function or a type name that serves as a cast.
    pub(crate) fn is_builtin(self) -> bool {
        BuiltinInfo::of_token(self).is_some()
    }
}
