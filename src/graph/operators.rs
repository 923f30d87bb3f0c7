//! Tables of operators and built-in functions: spelling, precedence, operand class, and the equivalent
//! operation on tensors (3.3.3, Table 1). Parsers, printers, checks and the evaluator use them.

use super::Primitive;

/// Defines an enumeration, and a table with a row for each variant, in the same order.
macro_rules! table {
    (
        $(#[$doc:meta])* enum $name:ident, $row:ident in $table:ident
        $($op:ident $text:literal { $($field:ident: $value:expr),* })*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum $name {
            $(#[doc = concat!("`", $text, "`")] $op,)*
        }

        $(#[$doc])*
        pub(crate) static $table: &[$row] = &[$($row { op: $name::$op, text: $text, $($field: $value),* }),*];

        impl $name {
            /// The row of the table.
            pub(crate) fn info(self) -> &'static $row {
                &$table[self as usize]
            }
        }
    };
}

/// The operands of a binary operator if none is a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Two integers or two scalars; `+` and `*` also concatenate and repeat arrays and strings.
    Arithmetic,
    /// Two integers or two scalars. The result is a logical.
    Order,
    /// Two values of one primitive type. The result is a logical.
    Equality,
    /// Two logicals.
    Logic,
    /// An item and an array. The result is a logical.
    Membership,
}

/// A row of the table of binary operators.
#[derive(Debug)]
pub(crate) struct BinaryInfo {
    /// The operator.
    pub(crate) op: BinaryOp,
    /// Its spelling.
    pub(crate) text: &'static str,
    /// Its precedence; all operators are left-associative.
    pub(crate) precedence: u8,
    /// Its operands.
    pub(crate) class: Class,
    /// The equivalent operation on tensors, if there is one.
    pub(crate) tensor: Option<&'static str>,
}

table! {
    /// Binary operators, lowest precedence first.
    enum BinaryOp, BinaryInfo in BINARY
    In "in" { precedence: 1, class: Class::Membership, tensor: None }
    And "&&" { precedence: 2, class: Class::Logic, tensor: Some("and") }
    Or "||" { precedence: 2, class: Class::Logic, tensor: Some("or") }
    Lt "<" { precedence: 3, class: Class::Order, tensor: Some("lt") }
    Le "<=" { precedence: 3, class: Class::Order, tensor: Some("le") }
    Gt ">" { precedence: 3, class: Class::Order, tensor: Some("gt") }
    Ge ">=" { precedence: 3, class: Class::Order, tensor: Some("ge") }
    Eq "==" { precedence: 3, class: Class::Equality, tensor: Some("eq") }
    Ne "!=" { precedence: 3, class: Class::Equality, tensor: Some("ne") }
    Add "+" { precedence: 4, class: Class::Arithmetic, tensor: Some("add") }
    Sub "-" { precedence: 4, class: Class::Arithmetic, tensor: Some("sub") }
    Mul "*" { precedence: 5, class: Class::Arithmetic, tensor: Some("mul") }
    Div "/" { precedence: 5, class: Class::Arithmetic, tensor: Some("div") }
    Pow "^" { precedence: 6, class: Class::Arithmetic, tensor: Some("pow") }
}

/// The quotient of two integers by the operator `/`, which rounds towards 0; none if the divisor is 0 or the quotient
/// does not fit into 64 bits. Expressions on dimension symbols and `div` of extents have the same rounding.
#[inline(always)]
pub(crate) fn integer_quotient(a: i64, b: i64) -> Option<i64> {
    a.checked_div(b)
}

/// The quotient of two integers without a remainder; none if there is one, or if the divisor is 0.
pub(crate) fn exact_quotient(a: i64, b: i64) -> Option<i64> {
    a.checked_rem(b).filter(|rest| *rest == 0).and_then(|_| a.checked_div(b))
}

/// The precedence of the unary operators, higher than that of all binary ones.
pub(crate) const UNARY_PRECEDENCE: u8 = 7;

/// A row of the table of unary operators.
#[derive(Debug)]
pub(crate) struct UnaryInfo {
    /// The operator.
    pub(crate) op: UnaryOp,
    /// Its spelling.
    pub(crate) text: &'static str,
    /// The equivalent operation on tensors.
    pub(crate) tensor: &'static str,
}

table! {
    /// Unary operators.
    enum UnaryOp, UnaryInfo in UNARY
    Plus "+" { tensor: "copy" }
    Minus "-" { tensor: "neg" }
    Not "!" { tensor: "not" }
}

/// A row of the table of built-in functions.
#[derive(Debug)]
pub(crate) struct BuiltinInfo {
    /// The function.
    pub(crate) op: Builtin,
    /// Its name in NNEF 1.0; the draft has `extent` for `integer`.
    pub(crate) text: &'static str,
    /// The type of its result; none if it is an array of integers.
    pub(crate) result: Option<Primitive>,
}

table! {
    /// Built-in functions (3.3.3); type names are casts.
    enum Builtin, BuiltinInfo in BUILTINS
    ShapeOf "shape_of" { result: None }
    LengthOf "length_of" { result: Some(Primitive::Integer) }
    RangeOf "range_of" { result: None }
    Integer "integer" { result: Some(Primitive::Integer) }
    Scalar "scalar" { result: Some(Primitive::Scalar) }
    Logical "logical" { result: Some(Primitive::Logical) }
    String "string" { result: Some(Primitive::String) }
}
