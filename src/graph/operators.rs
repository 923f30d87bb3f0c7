//! The operators as one table: spelling, precedence, operand class, and the operation that an
//! operator on tensors stands for (3.3.3, Table 1). Parsers, printers, checks and the evaluator
//! read it.

use super::Primitive;

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum UnaryOp {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `!`
    Not,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BinaryOp {
    /// `in`
    In,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `^`
    Pow,
}

/// Built-in functions (3.3.3), with the type names used as casts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Builtin {
    /// `shape_of`
    ShapeOf,
    /// `length_of`
    LengthOf,
    /// `range_of`
    RangeOf,
    /// `integer(..)` (draft: `extent(..)`)
    Integer,
    /// `scalar(..)`
    Scalar,
    /// `logical(..)`
    Logical,
    /// `string(..)`
    String,
}

/// What operands a binary operator takes when none is a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
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
pub(crate) struct BinaryInfo {
    /// The operator.
    pub(crate) op: BinaryOp,
    /// Its spelling.
    pub(crate) text: &'static str,
    /// Binding strength; all operators associate to the left.
    pub(crate) precedence: u8,
    /// Its operands.
    pub(crate) class: Class,
    /// The operation on tensors, if there is one.
    pub(crate) tensor: Option<&'static str>,
}

/// A row of the table of unary operators.
#[derive(Debug)]
pub(crate) struct UnaryInfo {
    /// The operator.
    pub(crate) op: UnaryOp,
    /// Its spelling.
    pub(crate) text: &'static str,
    /// The operation on tensors.
    pub(crate) tensor: &'static str,
}

/// A row of the table of built-in functions.
#[derive(Debug)]
pub(crate) struct BuiltinInfo {
    /// The function.
    pub(crate) function: Builtin,
    /// Its name in NNEF 1.0.
    pub(crate) text: &'static str,
    /// The type of its value; none for the functions that give integer arrays.
    pub(crate) result: Option<Primitive>,
}

/// The binding strength of the unary operators: tighter than every binary one.
pub(crate) const UNARY_PRECEDENCE: u8 = 7;

const fn binary(
    op: BinaryOp,
    text: &'static str,
    precedence: u8,
    class: Class,
    tensor: Option<&'static str>,
) -> BinaryInfo {
    BinaryInfo { op, text, precedence, class, tensor }
}

/// The binary operators, loosest first.
pub(crate) static BINARY: [BinaryInfo; 14] = [
    binary(BinaryOp::In, "in", 1, Class::Membership, None),
    binary(BinaryOp::And, "&&", 2, Class::Logic, Some("and")),
    binary(BinaryOp::Or, "||", 2, Class::Logic, Some("or")),
    binary(BinaryOp::Lt, "<", 3, Class::Order, Some("lt")),
    binary(BinaryOp::Le, "<=", 3, Class::Order, Some("le")),
    binary(BinaryOp::Gt, ">", 3, Class::Order, Some("gt")),
    binary(BinaryOp::Ge, ">=", 3, Class::Order, Some("ge")),
    binary(BinaryOp::Eq, "==", 3, Class::Equality, Some("eq")),
    binary(BinaryOp::Ne, "!=", 3, Class::Equality, Some("ne")),
    binary(BinaryOp::Add, "+", 4, Class::Arithmetic, Some("add")),
    binary(BinaryOp::Sub, "-", 4, Class::Arithmetic, Some("sub")),
    binary(BinaryOp::Mul, "*", 5, Class::Arithmetic, Some("mul")),
    binary(BinaryOp::Div, "/", 5, Class::Arithmetic, Some("div")),
    binary(BinaryOp::Pow, "^", 6, Class::Arithmetic, Some("pow")),
];

/// The unary operators; they bind tighter than every binary one.
pub(crate) static UNARY: [UnaryInfo; 3] = [
    UnaryInfo { op: UnaryOp::Plus, text: "+", tensor: "copy" },
    UnaryInfo { op: UnaryOp::Minus, text: "-", tensor: "neg" },
    UnaryInfo { op: UnaryOp::Not, text: "!", tensor: "not" },
];

/// The built-in functions, in the order of [`Builtin`].
pub(crate) static BUILTINS: [BuiltinInfo; 7] = [
    BuiltinInfo { function: Builtin::ShapeOf, text: "shape_of", result: None },
    BuiltinInfo { function: Builtin::LengthOf, text: "length_of", result: Some(Primitive::Integer) },
    BuiltinInfo { function: Builtin::RangeOf, text: "range_of", result: None },
    BuiltinInfo { function: Builtin::Integer, text: "integer", result: Some(Primitive::Integer) },
    BuiltinInfo { function: Builtin::Scalar, text: "scalar", result: Some(Primitive::Scalar) },
    BuiltinInfo { function: Builtin::Logical, text: "logical", result: Some(Primitive::Logical) },
    BuiltinInfo { function: Builtin::String, text: "string", result: Some(Primitive::String) },
];

impl BinaryOp {
    /// The row of this operator.
    pub(crate) fn info(self) -> &'static BinaryInfo {
        &BINARY[self as usize]
    }
}

impl UnaryOp {
    /// The row of this operator.
    pub(crate) fn info(self) -> &'static UnaryInfo {
        &UNARY[self as usize]
    }
}

impl Builtin {
    /// The row of this function.
    pub(crate) fn info(self) -> &'static BuiltinInfo {
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
