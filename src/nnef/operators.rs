//! The operators as one table: spelling, precedence, operand class, and the operation that an
//! operator on tensors stands for (3.3.3, Table 1). The parser, the printer, the checker and the
//! interpreter all read it.

use super::ast::{BinaryOp, Builtin, UnaryOp};
use super::lexer::Kind;
use crate::graph::Primitive;

/// What operands a binary operator takes when none is a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Two integers or two scalars; `+` and `*` also join and repeat arrays and strings.
    Arithmetic,
    /// Two integers or two scalars, giving a logical.
    Order,
    /// Two values of one primitive type, giving a logical.
    Equality,
    /// Two logicals.
    Logic,
    /// An item and an array, giving a logical.
    Membership,
}

/// A row of the table of binary operators.
#[derive(Debug)]
pub struct BinaryInfo {
    /// The operator.
    pub op: BinaryOp,
    /// Its token.
    pub token: Kind,
    /// Its spelling.
    pub text: &'static str,
    /// Binding strength; all operators associate to the left.
    pub precedence: u8,
    /// Its operands.
    pub class: Class,
    /// The operation on tensors, if there is one.
    pub tensor: Option<&'static str>,
}

/// A row of the table of unary operators.
#[derive(Debug)]
pub struct UnaryInfo {
    /// The operator.
    pub op: UnaryOp,
    /// Its token.
    pub token: Kind,
    /// Its spelling.
    pub text: &'static str,
    /// The operation on tensors.
    pub tensor: &'static str,
}

/// A row of the table of built-in functions.
#[derive(Debug)]
pub struct BuiltinInfo {
    /// The function.
    pub function: Builtin,
    /// Its name in NNEF 1.0.
    pub text: &'static str,
    /// The type of its value; none for the functions that give integer arrays.
    pub result: Option<Primitive>,
}

/// The binding strength of the unary operators: tighter than every binary one.
pub const UNARY_PRECEDENCE: u8 = 7;

const fn binary(
    op: BinaryOp,
    token: Kind,
    text: &'static str,
    precedence: u8,
    class: Class,
    tensor: Option<&'static str>,
) -> BinaryInfo {
    BinaryInfo { op, token, text, precedence, class, tensor }
}

/// The binary operators, loosest first.
pub static BINARY: [BinaryInfo; 14] = [
    binary(BinaryOp::In, Kind::In, "in", 1, Class::Membership, None),
    binary(BinaryOp::And, Kind::And, "&&", 2, Class::Logic, Some("and")),
    binary(BinaryOp::Or, Kind::Or, "||", 2, Class::Logic, Some("or")),
    binary(BinaryOp::Lt, Kind::Lt, "<", 3, Class::Order, Some("lt")),
    binary(BinaryOp::Le, Kind::Le, "<=", 3, Class::Order, Some("le")),
    binary(BinaryOp::Gt, Kind::Gt, ">", 3, Class::Order, Some("gt")),
    binary(BinaryOp::Ge, Kind::Ge, ">=", 3, Class::Order, Some("ge")),
    binary(BinaryOp::Eq, Kind::EqEq, "==", 3, Class::Equality, Some("eq")),
    binary(BinaryOp::Ne, Kind::NotEq, "!=", 3, Class::Equality, Some("ne")),
    binary(BinaryOp::Add, Kind::Plus, "+", 4, Class::Arithmetic, Some("add")),
    binary(BinaryOp::Sub, Kind::Minus, "-", 4, Class::Arithmetic, Some("sub")),
    binary(BinaryOp::Mul, Kind::Star, "*", 5, Class::Arithmetic, Some("mul")),
    binary(BinaryOp::Div, Kind::Slash, "/", 5, Class::Arithmetic, Some("div")),
    binary(BinaryOp::Pow, Kind::Caret, "^", 6, Class::Arithmetic, Some("pow")),
];

/// The unary operators; they bind tighter than every binary one.
pub static UNARY: [UnaryInfo; 3] = [
    UnaryInfo { op: UnaryOp::Plus, token: Kind::Plus, text: "+", tensor: "copy" },
    UnaryInfo { op: UnaryOp::Minus, token: Kind::Minus, text: "-", tensor: "neg" },
    UnaryInfo { op: UnaryOp::Not, token: Kind::Bang, text: "!", tensor: "not" },
];

/// The built-in functions.
pub static BUILTINS: [BuiltinInfo; 7] = [
    BuiltinInfo { function: Builtin::ShapeOf, text: "shape_of", result: None },
    BuiltinInfo { function: Builtin::LengthOf, text: "length_of", result: Some(Primitive::Integer) },
    BuiltinInfo { function: Builtin::RangeOf, text: "range_of", result: None },
    BuiltinInfo { function: Builtin::Integer, text: "integer", result: Some(Primitive::Integer) },
    BuiltinInfo { function: Builtin::Scalar, text: "scalar", result: Some(Primitive::Scalar) },
    BuiltinInfo { function: Builtin::Logical, text: "logical", result: Some(Primitive::Logical) },
    BuiltinInfo { function: Builtin::String, text: "string", result: Some(Primitive::String) },
];

/// Rows of [`BINARY`] by token; its length where the token is no operator.
static BY_TOKEN: [u8; 256] = {
    let mut rows = [BINARY.len() as u8; 256];
    let mut i = 0;
    while i < BINARY.len() {
        rows[BINARY[i].token as usize] = i as u8;
        i += 1;
    }
    rows
};

impl BinaryInfo {
    /// The binary operator of a token.
    pub fn of_token(token: Kind) -> Option<&'static BinaryInfo> {
        BINARY.get(BY_TOKEN[token as usize] as usize)
    }
}

impl BinaryOp {
    /// The row of this operator.
    pub fn info(self) -> &'static BinaryInfo {
        &BINARY[self as usize]
    }
}

impl UnaryOp {
    /// The row of this operator.
    pub fn info(self) -> &'static UnaryInfo {
        &UNARY[self as usize]
    }
}

impl Builtin {
    /// The row of this function.
    pub fn info(self) -> &'static BuiltinInfo {
        &BUILTINS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_operators() {
        assert!(BINARY.iter().enumerate().all(|(i, row)| row.op as usize == i));
        assert!(UNARY.iter().enumerate().all(|(i, row)| row.op as usize == i));
        assert!(BUILTINS.iter().enumerate().all(|(i, row)| row.function as usize == i));
    }
}
