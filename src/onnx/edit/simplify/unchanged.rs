//! Nodes that hand on their first operand as it is.

use super::row::RuleChange;
use super::step::{SimplifyStep, given};
use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::onnx::model::NodeProto;

/// The first version of `Dropout` whose third operand says whether it is in training, and the first one that is never.
const DROPOUT_WITH_MODE: i64 = 12;
const DROPOUT_OUTSIDE: i64 = 7;

/// The first operand.
pub(super) fn first(step: &SimplifyStep) -> Option<RuleChange> {
    step.operand(0).map(RuleChange::Value)
}

/// The first operand, if the result has its shape for all inputs.
fn first_if_same_shape(step: &SimplifyStep) -> Option<RuleChange> {
    step.same_shape(step.operand(0)?, step.result()?).then(|| first(step)).flatten()
}

/// `Dropout`
pub(super) fn dropout(step: &SimplifyStep) -> Option<RuleChange> {
    let is_outside = match step.version {
        DROPOUT_WITH_MODE.. => match step.operand(2) {
            Some(_) => !step.uniform(2)?.truth()?,
            None => true,
        },
        DROPOUT_OUTSIDE.. => true,
        _ => step.int(step.node, "is_test", 0)? != 0,
    };
    (is_outside && step.has_one_result()).then(|| first(step)).flatten()
}

/// Operators whose result has all items of the first operand in their order.
pub(super) fn same_shape(step: &SimplifyStep) -> Option<RuleChange> {
    first_if_same_shape(step)
}

/// `Slice` with steps of 1
pub(super) fn slice(step: &SimplifyStep) -> Option<RuleChange> {
    let forward = match step.operand(4) {
        Some(steps) => step.integers(steps)?.iter().all(|step| *step == 1),
        None => true,
    };
    forward.then(|| first_if_same_shape(step)).flatten()
}

/// `Pad` by nothing
pub(super) fn pad(step: &SimplifyStep) -> Option<RuleChange> {
    let name = if step.version < 2 { "paddings" } else { "pads" };
    let is_none = match step.version {
        11.. => step.integers(step.operand(1)?)?.iter().all(|pad| *pad == 0),
        _ => step.ints(step.node, name)?.iter().all(|pad| *pad == 0),
    };
    is_none.then(|| first(step)).flatten()
}

/// `Transpose` that keeps the order of the axes with more than one place
pub(super) fn transpose(step: &SimplifyStep) -> Option<RuleChange> {
    let order = super::moves::order(step, step.node)?;
    if order.is_sorted() {
        return first(step);
    }
    let shape = step.shape(step.operand(0)?)?;
    let moved: Vec<usize> =
        order.into_iter().filter(|axis| shape.get(*axis).is_none_or(|extent| *extent != Dim::Int(1))).collect();
    moved.is_sorted().then(|| first_if_same_shape(step)).flatten()
}

/// `Concat` without the operands that have nothing along its axis
pub(super) fn concat(step: &SimplifyStep) -> Option<RuleChange> {
    let axis = step.int(step.node, "axis", 1)?;
    let is_empty = |at: usize| {
        let shape = step.shape(step.operand(at)?)?;
        let place = usize::try_from(if axis < 0 { axis + shape.len() as i64 } else { axis }).ok()?;
        Some(shape.get(place)? == &Dim::Int(0))
    };
    let kept: Vec<_> = (0..step.node.inputs.len())
        .filter(|at| is_empty(*at) != Some(true))
        .filter_map(|at| step.node.inputs.get(at).copied())
        .collect();
    match kept[..] {
        [] => None,
        _ if kept.len() == step.node.inputs.len() => None,
        _ => RuleChange::node(step.with_inputs(&kept)),
    }
}

/// `Split` into one part
pub(super) fn split(step: &SimplifyStep) -> Option<RuleChange> {
    (step.node.outputs.len() == 1).then(|| first_if_same_shape(step)).flatten()
}

/// Operators of any number of operands, with one.
pub(super) fn single(step: &SimplifyStep) -> Option<RuleChange> {
    (step.node.inputs.len() == 1).then(|| first(step)).flatten()
}

/// `Clip` without bounds
pub(super) fn clip(step: &SimplifyStep) -> Option<RuleChange> {
    let is_open = step.version >= 11 && step.operand(1).is_none() && step.operand(2).is_none();
    is_open.then(|| first(step)).flatten()
}

/// `DepthToSpace` and `SpaceToDepth` with blocks of one place
pub(super) fn blocks(step: &SimplifyStep) -> Option<RuleChange> {
    (step.int(step.node, "blocksize", 0)? == 1).then(|| first(step)).flatten()
}

/// Reductions of nothing
pub(super) fn reduce(step: &SimplifyStep) -> Option<RuleChange> {
    let keeps_all = step.int(step.node, "noop_with_empty_axes", 0)? == 1;
    let has_none = match step.operand(1) {
        Some(axes) => step.integers(axes)?.is_empty(),
        None => true,
    };
    (keeps_all && step.version >= 13 && has_none).then(|| first(step)).flatten()
}

/// `Cast` and `CastLike` to the type that the operand has
pub(super) fn cast(step: &SimplifyStep) -> Option<RuleChange> {
    let operand = step.operand(0)?;
    let element = step.element(operand)?;
    (element == cast_to(step, step.node)?).then_some(RuleChange::Value(operand))
}

/// The type to which a node casts.
fn cast_to(step: &SimplifyStep, node: &NodeProto) -> Option<Element> {
    match step.operator(node) {
        "Cast" if step.version >= 6 => Element::numbered(step.int(node, "to", 0)?),
        "CastLike" => step.element(given(node, 1)?),
        _ => None,
    }
}

/// A cast of what another one cast without a loss
pub(super) fn casts(step: &SimplifyStep) -> Option<RuleChange> {
    let inner = step.scope.producer(step.operand(0)?).filter(|node| cast_to(step, node).is_some())?;
    let source = given(inner, 0)?;
    let (from, by, to) = (step.element(source)?, cast_to(step, inner)?, cast_to(step, step.node)?);
    if !holds(by, from) || !is_defined(from, to) {
        return None;
    }
    let mut inputs = step.node.inputs.clone();
    *inputs.first_mut()? = source;
    RuleChange::node(NodeProto { inputs, ..step.node.clone() })
}

/// Whether each number of one type, `Bool` included, is one of another type.
fn holds(wide: Element, narrow: Element) -> bool {
    let (Some(wide), Some(narrow)) = (range(wide), range(narrow)) else { return false };
    let fits = wide.digits >= narrow.digits && (wide.is_signed || !narrow.is_signed);
    fits && (wide.least_power <= narrow.least_power) && wide.largest_power >= narrow.largest_power
}

/// Whether a cast between types means the same by whatever way: no number is rounded twice, and none is beyond a range, for
/// which programs have different results.
fn is_defined(from: Element, to: Element) -> bool {
    let (Some(own), Some(other)) = (range(from), range(to)) else { return false };
    let (is_whole, becomes_whole) = (own.least_power == 0, other.least_power == 0);
    is_whole == becomes_whole || holds(to, from)
}

/// The numbers of a type.
struct CastNumbers {
    /// The bits between the first and the last one that are set.
    digits: i32,
    /// The power of two of the last bit, of the smallest number.
    least_power: i32,
    /// A power of two that no number reaches.
    largest_power: i32,
    is_signed: bool,
}

/// The numbers of the types whose casts are the same everywhere.
fn range(element: Element) -> Option<CastNumbers> {
    let whole = |bits: i32, is_signed: bool| CastNumbers {
        digits: bits - i32::from(is_signed),
        least_power: 0,
        largest_power: bits - i32::from(is_signed),
        is_signed,
    };
    let float = |digits: i32, least_power: i32, largest_power: i32| CastNumbers {
        digits,
        least_power,
        largest_power,
        is_signed: true,
    };
    Some(match element {
        Element::Bool => whole(1, false),
        Element::Uint8 => whole(8, false),
        Element::Uint16 => whole(16, false),
        Element::Uint32 => whole(32, false),
        Element::Uint64 => whole(64, false),
        Element::Int8 => whole(8, true),
        Element::Int16 => whole(16, true),
        Element::Int32 => whole(32, true),
        Element::Int64 => whole(64, true),
        Element::Float16 => float(11, -24, 16),
        Element::Bfloat16 => float(8, -133, 128),
        Element::Float32 => float(24, -149, 128),
        Element::Float64 => float(53, -1074, 1024),
        _ => return None,
    })
}
