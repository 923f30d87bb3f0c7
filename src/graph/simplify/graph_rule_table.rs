//! The rules: operations, and which of their operands is their result.

use super::step::GraphStep;
use crate::graph::{TensorId, Value};

/// A rule.
pub(crate) struct GraphRule {
    /// The name of the rule for models of ONNX that does the same; its row tells why no result changes.
    pub(crate) name: &'static str,
    /// The operations of the standard that it looks at.
    pub(super) operations: &'static [&'static str],
    /// The operand that is the result, if it is one.
    pub(super) applies: fn(&GraphStep) -> Option<TensorId>,
}

const fn rule(
    name: &'static str,
    operations: &'static [&'static str],
    applies: fn(&GraphStep) -> Option<TensorId>,
) -> GraphRule {
    GraphRule { name, operations, applies }
}

/// All rules. Of those for one operation, the first one that fits is applied.
pub(crate) static RULES: &[GraphRule] = &[
    rule("identity", &["copy"], |step| step.tensor("x")),
    rule("mul-1", &["mul"], |step| beside(step, 1.0)),
    rule("div-1", &["div"], |step| left_of(step, 1.0)),
    rule("pow-1", &["pow"], |step| left_of(step, 1.0)),
    rule("sub-0", &["sub"], |step| left_of(step, 0.0)),
    rule("add-0", &["add"], |step| beside(step, -0.0)),
    rule("and-true", &["and"], |step| beside_truth(step, true)),
    rule("or-false", &["or"], |step| beside_truth(step, false)),
    rule("same-operands", &["and", "max", "min", "or"], same_operands),
    rule("undone", &["neg", "not"], undone),
    rule("repeated", &["abs", "ceil", "floor", "relu", "round", "sign"], repeated),
    rule("single-operand", &["concat"], single),
    rule("where-known", &["select"], known_choice),
    rule("where-equal", &["select"], equal_choice),
    rule("slice-all", &["slice"], slice),
    rule("pad-nothing", &["pad"], pad),
    rule("tile", &["tile"], |step| all_are(step, "repeats", 1)),
    rule("split", &["split"], |step| step.of_same_shape(step.tensor("value")?)),
    rule("transpose", &["transpose"], transpose),
    rule("reshape", &["reshape"], |step| step.of_same_shape(step.tensor("input")?)),
    rule("squeeze", &["squeeze"], without_axes),
    rule("unsqueeze", &["unsqueeze"], without_axes),
];

/// The operand on the left of a number, bit by bit.
fn left_of(step: &GraphStep, number: f64) -> Option<TensorId> {
    is(step.number("y"), number).then(|| step.of_same_shape(step.tensor("x")?)).flatten()
}

/// The operand on the left or on the right of a number.
fn beside(step: &GraphStep, number: f64) -> Option<TensorId> {
    let right = || is(step.number("x"), number).then(|| step.of_same_shape(step.tensor("y")?)).flatten();
    left_of(step, number).or_else(right)
}

fn is(given: Option<f64>, number: f64) -> bool {
    given.is_some_and(|given| given.to_bits() == number.to_bits())
}

fn beside_truth(step: &GraphStep, truth: bool) -> Option<TensorId> {
    let [x, y] = ["x", "y"].map(|name| (step.truth(name), step.tensor(name)));
    match (x, y) {
        ((Some(given), _), (_, Some(other))) | ((_, Some(other)), (Some(given), _)) if given == truth => {
            step.of_same_shape(other)
        }
        _ => None,
    }
}

fn same_operands(step: &GraphStep) -> Option<TensorId> {
    let (x, y) = (step.tensor("x")?, step.tensor("y")?);
    (x == y).then_some(x)
}

fn undone(step: &GraphStep) -> Option<TensorId> {
    let inner = step.maker(step.tensor("x")?, step.name(step.operation))?;
    step.tensor_of(inner, "x")
}

fn repeated(step: &GraphStep) -> Option<TensorId> {
    let operand = step.tensor("x")?;
    step.maker(operand, step.name(step.operation)).map(|_| operand)
}

fn single(step: &GraphStep) -> Option<TensorId> {
    match step.tensors("values")?[..] {
        [only] => step.of_same_shape(only),
        _ => None,
    }
}

fn known_choice(step: &GraphStep) -> Option<TensorId> {
    let chosen = if step.truth("condition")? { "true_value" } else { "false_value" };
    step.of_same_shape(step.tensor(chosen)?)
}

fn equal_choice(step: &GraphStep) -> Option<TensorId> {
    let (a, b) = (step.tensor("true_value")?, step.tensor("false_value")?);
    (a == b).then(|| step.of_same_shape(a)).flatten()
}

fn slice(step: &GraphStep) -> Option<TensorId> {
    let strides = step.integers("stride")?;
    strides.iter().all(|stride| *stride == 1).then(|| step.of_same_shape(step.tensor("input")?)).flatten()
}

fn pad(step: &GraphStep) -> Option<TensorId> {
    let Value::Array(padding) = step.value("padding")? else { return None };
    let is_none = |pair: &Value| match pair {
        Value::Tuple(ends) => ends.iter().all(|end| *end == Value::Int(0)),
        _ => false,
    };
    padding.iter().all(is_none).then(|| step.of_same_shape(step.tensor("input")?)).flatten()
}

fn all_are(step: &GraphStep, name: &str, number: i64) -> Option<TensorId> {
    step.integers(name)?.iter().all(|item| *item == number).then(|| step.of_same_shape(step.tensor("input")?)).flatten()
}

fn transpose(step: &GraphStep) -> Option<TensorId> {
    step.integers("axes")?.is_sorted().then(|| step.of_same_shape(step.tensor("input")?)).flatten()
}

fn without_axes(step: &GraphStep) -> Option<TensorId> {
    step.integers("axes")?.is_empty().then(|| step.of_same_shape(step.tensor("input")?)).flatten()
}
