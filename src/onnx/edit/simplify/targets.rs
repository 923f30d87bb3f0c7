//! Shapes and ends that are computed when a model runs, as constants.

use super::moves::SHAPE_AS_OPERAND;
use super::row::RuleChange;
use super::step::{SimplifyStep, StepExtents, constant_of};
use crate::graph::dims::Dim;
use crate::graph::names::NameId;
use crate::onnx::model::NodeProto;

/// The shape by which a `Reshape` of a value has the result of a node: extents, 0 for that of the value, and one -1. None
/// if it cannot be said.
pub(super) fn target_of(step: &SimplifyStep, value: NameId) -> Option<Vec<i64>> {
    target(step.shape(value).as_deref(), &step.shape(step.result()?)?, &[])
}

/// [`target_of`] of a shape; what is written as -1 in the model is not compared.
fn target(source: Option<&[Dim]>, result: &[Dim], written: &[Dim]) -> Option<Vec<i64>> {
    let of_source = |at: usize| source.and_then(|source| source.get(at));
    let mut open = None;
    let mut items = Vec::with_capacity(result.len());
    for (at, extent) in result.iter().enumerate() {
        items.push(match extent {
            _ if written.get(at) == Some(&Dim::Int(-1)) => -1,
            Dim::Int(extent @ 1..) => *extent,
            // A 0 means the extent of the source.
            _ if *extent != Dim::Unknown && of_source(at) == Some(extent) => 0,
            _ if open.is_none() => {
                open = Some(at);
                -1
            }
            _ => return None,
        });
    }
    if items.iter().filter(|item| **item == -1).count() > 1 {
        return None;
    }
    // Beside an extent of 0 any extent would do.
    let is_determined = |open: usize| (result.iter().enumerate()).all(|(at, dim)| at == open || dim.is_at_least(1));
    open.is_none_or(is_determined).then_some(items)
}

/// Whether a value is a constant already.
fn is_constant(step: &SimplifyStep, at: usize) -> bool {
    step.operand(at).is_none_or(|name| step.scope.constant(name).is_some())
}

/// The node with constants as some operands.
fn with_constants(step: &SimplifyStep, constants: Vec<(usize, Vec<i64>)>) -> Option<RuleChange> {
    let constants = constants.into_iter().map(|(at, items)| Some((at, constant_of(&items)?))).collect::<Option<_>>()?;
    RuleChange::new(step.node.clone(), None, constants)
}

/// `Reshape` to a shape that is computed
pub(super) fn reshape(step: &SimplifyStep) -> Option<RuleChange> {
    if step.version < SHAPE_AS_OPERAND || is_constant(step, 1) {
        return None;
    }
    let written = step.items(step.operand(1)?).unwrap_or_default();
    let source = step.shape(step.operand(0)?);
    let zeros_are_extents = step.int(step.node, "allowzero", 0)? != 0;
    let target = target(source.as_deref(), &step.shape(step.result()?)?, &written)?;
    let mut node = step.node.clone();
    if zeros_are_extents {
        let is = |name| step.names.texts.text(name) == "allowzero";
        node.attributes.retain(|attribute| !attribute.name.is_some_and(is));
    }
    RuleChange::new(node, None, vec![(1, constant_of(&target)?)])
}

/// `Expand` to a shape that is computed
pub(super) fn expand(step: &SimplifyStep) -> Option<RuleChange> {
    if is_constant(step, 1) {
        return None;
    }
    let (source, result) = (step.shape(step.operand(0)?)?, step.shape(step.result()?)?);
    let lead = result.len().checked_sub(source.len())?;
    let item = |(at, extent): (usize, &Dim)| match extent {
        Dim::Int(extent @ 0..) => Some(*extent),
        // The extent of the source stays.
        extent if *extent != Dim::Unknown && source.get(at.checked_sub(lead)?) == Some(extent) => Some(1),
        _ => None,
    };
    with_constants(step, vec![(1, result.iter().enumerate().map(item).collect::<Option<_>>()?)])
}

/// `Slice` up to an extent that is computed
pub(super) fn slice(step: &SimplifyStep) -> Option<RuleChange> {
    if step.version < 10 || is_constant(step, 2) || step.element(step.operand(2)?)? != crate::graph::Element::Int64 {
        return None;
    }
    let ends = step.items(step.operand(2)?)?;
    let shape = step.shape(step.operand(0)?)?;
    let axes = match step.operand(3) {
        Some(axes) => step.integers(axes)?,
        None => (0..ends.len() as i64).collect(),
    };
    let steps = match step.operand(4) {
        Some(steps) => step.integers(steps)?,
        None => vec![1; ends.len()],
    };
    if axes.len() != ends.len() || steps.len() != ends.len() {
        return None;
    }
    let end = |((end, axis), forward): ((&Dim, &i64), &i64)| match end {
        Dim::Int(end) => Some(*end),
        end => is_whole(&shape, *axis, end).filter(|is_whole| *is_whole && *forward > 0).map(|_| i64::MAX),
    };
    with_constants(step, vec![(2, ends.iter().zip(&axes).zip(&steps).map(end).collect::<Option<_>>()?)])
}

/// Whether an end is at least the extent of an axis.
fn is_whole(shape: &StepExtents, axis: i64, end: &Dim) -> Option<bool> {
    let extent = shape.get(crate::onnx::infer::rules::axes::axis(axis, shape.len())?)?;
    let holds = extent != &Dim::Unknown && (extent == end || end.clone().minus(extent.clone()).is_at_least(0));
    Some(holds)
}

/// The operators that compute each item of one operand.
const UNARY: &[&str] = &["Cast", "Identity", "Relu", "Sigmoid", "Tanh", "Neg", "Exp", "Log", "Sqrt", "Abs", "Not"];

/// The value whose shape the result of a node has, if the node computes items one by one. It is that of its operand, so that
/// a chain of nodes takes one step and not one for each.
pub(super) fn shape_source(step: &SimplifyStep) -> Option<NameId> {
    let source = step.operand(0).filter(|_| UNARY.contains(&step.operator(step.node)))?;
    let first = step.scope.shape_source(source).unwrap_or(source);
    (step.scope.is_plain(first) && step.same_shape(source, step.result()?)).then_some(first)
}

/// `Shape` of a value whose items other operators compute one by one, in their place
pub(super) fn shape(step: &SimplifyStep) -> Option<RuleChange> {
    let source = step.scope.shape_source(step.operand(0)?)?;
    let mut inputs = step.node.inputs.clone();
    *inputs.first_mut()? = source;
    RuleChange::node(NodeProto { inputs, ..step.node.clone() })
}
