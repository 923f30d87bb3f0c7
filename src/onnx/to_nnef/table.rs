//! The table of rules: one row for each operator.

use super::line::{NodeLine, Results};
use super::rules::*;

/// Adds the counterpart of a node.
pub(super) type Rule = fn(&mut NodeLine) -> Results;

/// The rule of an operator.
pub(super) struct RuleRow {
    domain: &'static str,
    name: &'static str,
    pub(super) rule: Rule,
}

const fn row(name: &'static str, rule: Rule) -> RuleRow {
    RuleRow { domain: "", name, rule }
}

/// All rules.
pub(super) static RULES: &[RuleRow] = &[
    // Item by item, as the dictionary has it.
    row("Abs", elementwise::meaning),
    row("Acos", elementwise::meaning),
    row("Acosh", elementwise::meaning),
    row("Add", elementwise::meaning),
    row("And", elementwise::meaning),
    row("Asin", elementwise::meaning),
    row("Asinh", elementwise::meaning),
    row("Atan", elementwise::meaning),
    row("Atanh", elementwise::meaning),
    row("BitwiseAnd", elementwise::meaning),
    row("BitwiseNot", elementwise::meaning),
    row("BitwiseOr", elementwise::meaning),
    row("BitwiseXor", elementwise::meaning),
    row("Ceil", elementwise::meaning),
    row("Cos", elementwise::meaning),
    row("Cosh", elementwise::meaning),
    row("Div", elementwise::meaning),
    row("Equal", elementwise::equal),
    row("Erf", elementwise::meaning),
    row("Exp", elementwise::meaning),
    row("Floor", elementwise::meaning),
    row("Greater", elementwise::meaning),
    row("GreaterOrEqual", elementwise::meaning),
    row("Less", elementwise::meaning),
    row("LessOrEqual", elementwise::meaning),
    row("Log", elementwise::meaning),
    row("Mish", elementwise::meaning),
    row("Mul", elementwise::meaning),
    row("Neg", elementwise::meaning),
    row("Not", elementwise::meaning),
    row("Or", elementwise::meaning),
    row("Reciprocal", elementwise::meaning),
    row("Relu", elementwise::meaning),
    row("Round", elementwise::meaning),
    row("Sigmoid", elementwise::meaning),
    row("Sign", elementwise::meaning),
    row("Sin", elementwise::meaning),
    row("Sinh", elementwise::meaning),
    row("Softplus", elementwise::meaning),
    row("Softsign", elementwise::meaning),
    row("Sqrt", elementwise::meaning),
    row("Sub", elementwise::meaning),
    row("Tan", elementwise::meaning),
    row("Tanh", elementwise::meaning),
    row("Where", elementwise::meaning),
    row("Xor", elementwise::meaning),
    // Item by item, with attributes or any number of operands.
    row("BitShift", elementwise::bit_shift),
    row("Cast", elementwise::cast),
    row("CastLike", elementwise::cast_like),
    row("Celu", elementwise::celu),
    row("Clip", elementwise::clip),
    row("Dropout", elementwise::dropout),
    row("Elu", elementwise::elu),
    row("Gelu", elementwise::gelu),
    row("HardSigmoid", elementwise::hard_sigmoid),
    row("HardSwish", elementwise::hard_swish),
    row("Identity", elementwise::identity),
    row("IsInf", elementwise::is_inf),
    row("IsNaN", elementwise::is_nan),
    row("LeakyRelu", elementwise::leaky_relu),
    row("Max", elementwise::max),
    row("Mean", elementwise::mean),
    row("Min", elementwise::min),
    row("Mod", elementwise::modulo),
    row("Pow", elementwise::pow),
    row("PRelu", elementwise::prelu),
    row("Selu", elementwise::selu),
    row("Shrink", elementwise::shrink),
    row("Sum", elementwise::sum),
    row("Swish", elementwise::swish),
    row("ThresholdedRelu", elementwise::thresholded_relu),
];

/// The row of an operator.
pub(super) fn find(domain: &str, name: &str) -> Option<&'static RuleRow> {
    RULES.iter().find(|row| (row.domain, row.name) == (domain, name))
}

/// The operators that have bodies, and no rule.
pub(super) fn compounds() -> Vec<String> {
    let without = |(domain, name): &(&str, &str)| find(domain, name).is_none();
    crate::onnx::standard::with_bodies().filter(without).map(|(_, name)| name.to_owned()).collect()
}
