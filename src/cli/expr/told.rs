//! What is told about an expression.

use crate::pnnx::evaluate::ExpressionValue;
use crate::pnnx::parse::ParsedExpression;
use crate::pnnx::tree::Expression;

/// The description of an expression.
pub(super) struct Told {
    pub(super) parsed: ParsedExpression,
    pub(super) folded: Option<Expression>,
    /// The value for each set of operands, and whether the operands are a batch of sets.
    pub(super) values: Option<(Vec<ExpressionValue>, bool)>,
}
