//! Operators on sequences.

use super::axes::{axis, place};
use crate::graph::dims::Dim;
use crate::onnx::infer::InferCall;
use crate::onnx::infer::facts::ValueType;
use crate::onnx::infer::merge::joined;

/// The type of the items of a sequence operand.
fn item(call: &InferCall, operand: usize) -> Option<ValueType> {
    match call.operand(operand)? {
        ValueType::Sequence(item) => Some((**item).clone()),
        _ => None,
    }
}

/// The type of a tensor as an item of a sequence.
fn as_item(ty: &ValueType) -> ValueType {
    match ty {
        ValueType::Tensor(facts) => ValueType::tensor(facts.element, facts.shape.clone()),
        other => other.clone(),
    }
}

/// `SequenceEmpty`
pub(crate) fn empty(call: &mut InferCall) -> Option<()> {
    let element = crate::graph::Element::numbered(call.int_or("dtype", 1));
    call.give_type(0, ValueType::Sequence(Box::new(ValueType::tensor(element, None))));
    Some(())
}

/// `SequenceConstruct`
pub(crate) fn construct(call: &mut InferCall) -> Option<()> {
    let types = (0..call.operand_count()).map(|operand| call.operand(operand).map(as_item));
    let types: Vec<ValueType> = types.collect::<Option<_>>()?;
    let item = types.into_iter().reduce(|a, b| joined(&a, &b))?;
    call.give_type(0, ValueType::Sequence(Box::new(item)));
    Some(())
}

/// `SequenceInsert`
pub(crate) fn insert(call: &mut InferCall) -> Option<()> {
    let new = as_item(call.operand(1)?);
    let item = joined(&item(call, 0)?, &new);
    call.give_type(0, ValueType::Sequence(Box::new(item)));
    Some(())
}

/// `SequenceAt`
pub(crate) fn at(call: &mut InferCall) -> Option<()> {
    let ty = item(call, 0)?;
    call.give_type(0, ty);
    Some(())
}

/// A result without axes: `SequenceLength`, `OptionalHasElement`, `Size`.
pub(crate) fn scalar(call: &mut InferCall) -> Option<()> {
    call.give(0, []);
    Some(())
}

/// `ConcatFromSequence`
pub(crate) fn concat(call: &mut InferCall) -> Option<()> {
    let item = item(call, 0)?;
    if let Some(element) = item.element() {
        call.give_element(0, element);
    }
    let mut shape = item.shape()?.to_vec();
    let number = call.int("axis")?;
    if call.int_or("new_axis", 0) == 0 {
        let at = axis(number, shape.len())?;
        shape[at] = Dim::Unknown;
    } else {
        shape.insert(place(number, shape.len())?, Dim::Unknown);
    }
    call.give(0, shape);
    Some(())
}

/// `SplitToSequence`: without `split`, the items have the extent 1 along the axis, or do not have the axis.
pub(crate) fn split(call: &mut InferCall) -> Option<()> {
    let element = call.element(0);
    let shape = split_shape(call);
    call.give_type(0, ValueType::Sequence(Box::new(ValueType::tensor(element, shape.map(Into::into)))));
    Some(())
}

fn split_shape(call: &InferCall) -> Option<Vec<Dim>> {
    let mut shape = call.extents(0)?.to_vec();
    let at = axis(call.int_or("axis", 0), shape.len())?;
    if !call.has(1) {
        match call.int_or("keepdims", 1) {
            0 => drop(shape.remove(at)),
            _ => shape[at] = Dim::Int(1),
        }
        return Some(shape);
    }
    let sizes = call.integers(1);
    shape[at] = match (sizes.as_deref(), call.rank(1), &shape[at]) {
        (Some([size]), Some(0), Dim::Int(extent)) if *size > 0 && extent % size == 0 => Dim::Int(*size),
        (Some([first, rest @ ..]), Some(1), _) if rest.iter().all(|size| size == first) => Dim::Int(*first),
        _ => Dim::Unknown,
    };
    Some(shape)
}
