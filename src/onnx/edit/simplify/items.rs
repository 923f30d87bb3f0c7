//! Arithmetic, item by item, that changes no item.

use super::row::RuleChange;
use super::step::{SimplifyStep, given, is_same};
use super::uniform::Uniform;
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::graph::names::NameId;
use crate::onnx::model::NodeProto;

/// The first version whose operands are broadcast as those of numpy are.
const BROADCAST: i64 = 7;

/// The operators of whose floats none is a negative zero: they end with a sum or a quotient that has no such result, or
/// with what is never negative.
const POSITIVE: &[&str] = &["Abs", "Exp", "Sigmoid", "Softmax", "ReduceSumSquare", "ReduceL2"];

/// The operators that move items, or leave some out.
const MOVES: &[&str] = &[
    "Identity",
    "Reshape",
    "Transpose",
    "Squeeze",
    "Unsqueeze",
    "Flatten",
    "Slice",
    "Expand",
    "Tile",
    "Split",
    "Gather",
];

/// Operand `kept`, if operand `other` is a constant of these items, and does not change the shape.
pub(super) fn without(
    step: &SimplifyStep,
    kept: usize,
    other: usize,
    is: impl Fn(Uniform) -> bool,
) -> Option<RuleChange> {
    let value = step.operand(kept)?;
    let fits = step.version >= BROADCAST && is(step.uniform(other)?) && keeps_shape(step, value, step.operand(other)?);
    fits.then_some(RuleChange::Value(value))
}

/// Whether the result of a node whose operands are broadcast has the shape of one operand, given the other one.
fn keeps_shape(step: &SimplifyStep, value: NameId, other: NameId) -> bool {
    let Some(extents) = step.shape(other) else { return false };
    let is_small = extents.iter().all(|extent| *extent == Dim::Int(1));
    if is_small && (extents.is_empty() || step.rank(value).is_some_and(|rank| rank >= extents.len())) {
        return true;
    }
    step.result().is_some_and(|result| step.same_shape(value, result))
}

/// An operand, if the other one has these items.
pub(super) fn without_either(step: &SimplifyStep, is: impl Fn(Uniform) -> bool) -> Option<RuleChange> {
    without(step, 0, 1, &is).or_else(|| without(step, 1, 0, &is))
}

/// `Pow` of floats to the power of 1; that of large integers may go through floats
pub(super) fn pow(step: &SimplifyStep) -> Option<RuleChange> {
    const FLOATS: &[Element] = &[Element::Float16, Element::Float32, Element::Float64, Element::Bfloat16];
    let is_float = FLOATS.contains(&step.element(step.operand(0)?)?);
    is_float.then(|| by_one(step)).flatten()
}

/// `Div` by 1
pub(super) fn by_one(step: &SimplifyStep) -> Option<RuleChange> {
    without(step, 0, 1, Uniform::is_one)
}

/// `Add` of 0 to what is no negative zero, and of a negative zero to anything
pub(super) fn add(step: &SimplifyStep) -> Option<RuleChange> {
    let exact = |value: usize| {
        let is_positive = step.operand(value).is_some_and(|value| step.scope.is_positive(value));
        move |zero: Uniform| zero.is_negative_zero() || zero.is_zero() && (zero.is_integer() || is_positive)
    };
    without(step, 0, 1, exact(0)).or_else(|| without(step, 1, 0, exact(1)))
}

/// `Add` of any zero, and `Sub` of one
pub(super) fn zero(step: &SimplifyStep) -> Option<RuleChange> {
    let is = |zero: Uniform| zero.is_zero() || zero.is_negative_zero();
    if step.operator(step.node) == "Sub" { without(step, 0, 1, is) } else { without_either(step, is) }
}

/// `And` and `Or` of one value with itself, `Max` and `Min`, too
pub(super) fn twice(step: &SimplifyStep) -> Option<RuleChange> {
    let [a, b] = step.node.inputs[..] else { return None };
    (a == b && step.version >= BROADCAST).then(|| step.operand(0).map(RuleChange::Value)).flatten()
}

/// An operator that undoes itself
pub(super) fn undone(step: &SimplifyStep) -> Option<RuleChange> {
    let inner = step.maker(step.operand(0)?, step.operator(step.node))?;
    given(inner, 0).map(RuleChange::Value)
}

/// An operator that changes nothing of its own result
pub(super) fn repeated(step: &SimplifyStep) -> Option<RuleChange> {
    let operand = step.operand(0)?;
    step.maker(operand, step.operator(step.node)).map(|_| RuleChange::Value(operand))
}

/// `Where` with a condition that is known
pub(super) fn known_where(step: &SimplifyStep) -> Option<RuleChange> {
    let chosen = step.operand(if step.uniform(0)?.truth()? { 1 } else { 2 })?;
    step.same_shape(chosen, step.result()?).then_some(RuleChange::Value(chosen))
}

/// `Where` between a value and itself
pub(super) fn equal_where(step: &SimplifyStep) -> Option<RuleChange> {
    let (value, other) = (step.operand(1)?, step.operand(2)?);
    (value == other && step.same_shape(value, step.result()?)).then_some(RuleChange::Value(value))
}

/// `Expand` of a value behind which an item by item operator broadcasts it all the same
pub(super) fn broadcast(step: &SimplifyStep) -> Option<RuleChange> {
    if step.version < BROADCAST || step.node.inputs.len() > 8 {
        return None;
    }
    let result = step.shape(step.result()?)?;
    for (at, name) in step.node.inputs.iter().enumerate() {
        let Some(source) = step.maker(*name, "Expand").and_then(|node| given(node, 0)) else { continue };
        let mut inputs = step.node.inputs.clone();
        *inputs.get_mut(at)? = source;
        let shapes: Option<Vec<_>> = inputs.iter().map(|name| step.shape(*name)).collect();
        let mut common: Vec<Dim> = Vec::new();
        for shape in shapes? {
            common = crate::onnx::infer::rules::axes::broadcast(&common, &shape)?;
        }
        if is_same(&common, &result) {
            return RuleChange::node(NodeProto { inputs, ..step.node.clone() });
        }
    }
    None
}

/// Whether no float of the results of a node is a negative zero.
pub(super) fn is_positive(step: &SimplifyStep) -> bool {
    let operand = |at: usize| step.operand(at);
    match step.operator(step.node) {
        operator if POSITIVE.contains(&operator) => true,
        // Two numbers add up to a negative zero only if both are one.
        "Add" => (0..2).any(|at| {
            let is_known = |name| step.scope.is_positive(name) || step.scope.items(name).is_positive;
            operand(at).is_some_and(is_known)
        }),
        "Cast" => operand(0).and_then(|name| step.element(name)).is_some_and(|element| element.is_whole()),
        operator if MOVES.contains(&operator) => operand(0).is_some_and(|name| step.scope.is_positive(name)),
        _ => false,
    }
}
