//! Chains of nodes that move items, or only change the shape: one node instead of two.

use super::row::RuleChange;
use super::step::{INTS, SimplifyStep, constant_of, given};
use super::targets::target_of;
use crate::extents::{axis, is_order};
use crate::graph::names::NameId;
use crate::onnx::infer::rules::axes::marked;
use crate::onnx::model::{AttributeProto, AttributeValue, NodeProto};

/// The first version of `Squeeze` and `Unsqueeze` whose axes are an operand, and of `Reshape` whose shape is one.
const AXES_AS_OPERAND: i64 = 13;
pub(super) const SHAPE_AS_OPERAND: i64 = 5;

/// The operators that only change the shape.
const RESHAPES: &[&str] = &["Reshape", "Flatten", "Squeeze", "Unsqueeze"];

/// For each axis of the result of a `Transpose` the axis of its operand; none if it is not known.
pub(super) fn order(step: &SimplifyStep, node: &NodeProto) -> Option<Vec<usize>> {
    if node.attribute(step.names, "perm").is_none() {
        return Some((0..step.rank(given(node, 0)?)?).rev().collect());
    }
    let numbers = step.ints(node, "perm")?;
    let places: Vec<usize> = numbers.iter().map(|number| axis(*number, numbers.len())).collect::<Option<_>>()?;
    is_order(&places, numbers.len()).then_some(places)
}

/// A `Transpose` of a `Transpose`
pub(super) fn transposes(step: &SimplifyStep) -> Option<RuleChange> {
    let inner = step.maker(step.operand(0)?, "Transpose")?;
    let source = given(inner, 0)?;
    let (outer, first) = (order(step, step.node)?, order(step, inner)?);
    let joined: Vec<i64> = outer.iter().map(|at| Some(*first.get(*at)? as i64)).collect::<Option<_>>()?;
    if first.len() != outer.len() {
        return None;
    }
    if joined.is_sorted() {
        return Some(RuleChange::Value(source));
    }
    // Both may have the order without an attribute; then the names of attributes are those of neither.
    let name = [step.node, inner].into_iter().flat_map(|node| &node.attributes).find_map(|attribute| attribute.name)?;
    let perm = AttributeProto {
        name: Some(name),
        kind: INTS,
        value: AttributeValue::Ints(joined),
        reference: None,
        rest: None,
    };
    let mut node = step.with_inputs(&[source]);
    node.attributes = vec![perm];
    RuleChange::node(node)
}

/// What two nodes in a row do to the axes of a value: for each axis of the result the axis of the value, or none for a new
/// one.
fn traced(step: &SimplifyStep, inner: &NodeProto) -> Option<(Vec<Option<usize>>, usize)> {
    let rank = step.rank(given(inner, 0)?)?;
    let mut places: Vec<Option<usize>> = (0..rank).map(Some).collect();
    for node in [inner, step.node] {
        let axes = step.axes(node, AXES_AS_OPERAND)?;
        // Programs do not agree on what a list without axes means.
        if axes.is_empty() {
            return None;
        }
        if step.operator(node) == "Squeeze" {
            let marks = marked(&axes, places.len())?;
            places = places.into_iter().zip(marks).filter(|(_, mark)| !mark).map(|(place, _)| place).collect();
        } else {
            let marks = marked(&axes, places.len().checked_add(axes.len())?)?;
            let mut old = places.into_iter();
            places = marks.into_iter().map(|mark| if mark { Some(None) } else { old.next() }).collect::<Option<_>>()?;
        }
    }
    Some((places, rank))
}

/// `Squeeze` and `Unsqueeze` in a row
pub(super) fn squeezes(step: &SimplifyStep) -> Option<RuleChange> {
    let inner = step.scope.producer(step.operand(0)?)?;
    if !["Squeeze", "Unsqueeze"].contains(&step.operator(inner)) {
        return None;
    }
    let source = given(inner, 0)?;
    let (places, rank) = traced(step, inner)?;
    let new: Vec<i64> = (0..).zip(&places).filter(|(_, place)| place.is_none()).map(|(at, _)| at).collect();
    let gone: Vec<i64> = (0..rank).filter(|axis| !places.contains(&Some(*axis))).map(|axis| axis as i64).collect();
    match (&new[..], &gone[..]) {
        ([], []) => Some(RuleChange::Value(source)),
        ([], axes) => with_axes(step, "Squeeze", source, axes),
        (axes, []) => with_axes(step, "Unsqueeze", source, axes),
        _ => None,
    }
}

/// A node with an operator, of a value and other axes.
fn with_axes(step: &SimplifyStep, operator: &'static str, source: NameId, axes: &[i64]) -> Option<RuleChange> {
    let mut node = step.with_inputs(&[source]);
    if step.version >= AXES_AS_OPERAND {
        node.attributes.clear();
        return RuleChange::new(node, Some(operator), vec![(1, constant_of(axes)?)]);
    }
    let value = AttributeValue::Ints(axes.to_vec());
    node.attributes = vec![AttributeProto { value, ..step.attribute(step.node, "axes")?.clone() }];
    RuleChange::new(node, Some(operator), Vec::new())
}

/// A node that only changes the shape, of what another one changed
pub(super) fn reshapes(step: &SimplifyStep) -> Option<RuleChange> {
    let inner = step.scope.producer(step.operand(0)?)?;
    if !RESHAPES.contains(&step.operator(inner)) || step.version < SHAPE_AS_OPERAND {
        return None;
    }
    let source = given(inner, 0)?;
    if step.same_shape(source, step.result()?) {
        return Some(RuleChange::Value(source));
    }
    let target = constant_of(&target_of(step, source)?)?;
    let mut node = step.with_inputs(&[source]);
    node.attributes.clear();
    RuleChange::new(node, Some("Reshape"), vec![(1, target)])
}

/// The most operands of a `Concat` that is made of several.
const MAX_JOINED: usize = 256;

/// A `Concat` of what a `Concat` along the same axis joined for it alone
pub(super) fn concats(step: &SimplifyStep) -> Option<RuleChange> {
    let place = |node: &NodeProto| {
        let axis_of = step.int(node, "axis", 1)?;
        axis(axis_of, step.rank(given(node, 0)?)?)
    };
    let own = place(step.node)?;
    let (at, inner) = (step.node.inputs.iter().enumerate()).find_map(|(at, name)| {
        let inner = step.maker(*name, "Concat").filter(|_| step.uses_of(*name) == 1)?;
        (place(inner) == Some(own)).then_some((at, inner))
    })?;
    if step.node.inputs.len() + inner.inputs.len() > MAX_JOINED {
        return None;
    }
    let mut inputs = step.node.inputs.to_vec();
    inputs.splice(at..=at, inner.inputs.iter().copied());
    RuleChange::node(step.with_inputs(&inputs))
}

/// `SequenceAt` of a sequence whose items are known
pub(super) fn item(step: &SimplifyStep) -> Option<RuleChange> {
    let items = step.maker(step.operand(0)?, "SequenceConstruct")?;
    let at = axis(*step.integers(step.operand(1)?)?.first()?, items.inputs.len())?;
    given(items, at).map(RuleChange::Value)
}
