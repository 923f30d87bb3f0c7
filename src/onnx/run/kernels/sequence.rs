//! Sequences and optionals.

use super::layout::{joined, sections};
use crate::eval::EvalError;
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::Tensor;
use crate::tensor::value::{RunValue, SLOT};

/// A sequence of the operands.
pub(in crate::onnx) fn construct(call: &NodeCall) -> KernelResult {
    // The items of a sequence are tensors.
    let items = (0..call.count()).map(|i| Ok(call.tensor(i)?.clone().into())).collect::<Result<Vec<_>, EvalError>>()?;
    Ok(vec![RunValue::sequence(items)])
}

/// A sequence without items.
pub(in crate::onnx) fn empty(_: &NodeCall) -> KernelResult {
    Ok(vec![RunValue::sequence(Vec::new())])
}

/// A position in a sequence; `most` is the last one.
fn position(call: &NodeCall, at: i64, count: usize, most: i64) -> Result<usize, EvalError> {
    let counted = if at < 0 { at.saturating_add(count as i64) } else { at };
    let outside = || EvalError::value(format!("`{}`: position {at} of a sequence of {count}", call.name()));
    usize::try_from(counted).ok().filter(|_| counted <= most).ok_or_else(outside)
}

/// The item at a position.
pub(in crate::onnx) fn at(call: &NodeCall) -> KernelResult {
    let items = call.sequence(0)?;
    let at = position(call, call.single(1)?, items.len(), items.len() as i64 - 1)?;
    Ok(vec![items[at].clone()])
}

/// The items of a sequence, from which another one is made.
fn copied(call: &NodeCall) -> Result<Vec<RunValue>, EvalError> {
    let items = call.sequence(0)?;
    call.budget.memory(items.len().saturating_mul(SLOT), "the items of a sequence")?;
    Ok(items.to_vec())
}

/// The sequence without the item at a position, by default the last one.
pub(in crate::onnx) fn erase(call: &NodeCall) -> KernelResult {
    let mut items = copied(call)?;
    let at = call.optional_single(1)?.unwrap_or(-1);
    items.remove(position(call, at, items.len(), items.len() as i64 - 1)?);
    Ok(vec![RunValue::sequence(items)])
}

/// The sequence with a new item before a position, by default at the end.
pub(in crate::onnx) fn insert(call: &NodeCall) -> KernelResult {
    let mut items = copied(call)?;
    let count = items.len();
    let at = call.optional_single(2)?.unwrap_or(count as i64);
    items.insert(position(call, at, count, count as i64)?, call.tensor(1)?.clone().into());
    Ok(vec![RunValue::sequence(items)])
}

/// The number of items.
pub(in crate::onnx) fn length(call: &NodeCall) -> KernelResult {
    one(Tensor::integers(&[], vec![call.sequence(0)?.len() as i64])?)
}

/// The items one after another along an axis, or along a new one.
pub(in crate::onnx) fn concat(call: &NodeCall) -> KernelResult {
    let tensor = |item: &RunValue| match item {
        RunValue::Tensor(tensor) => Ok(tensor.clone()),
        other => Err(call.refused(format!("an item is {}", other.kind()))),
    };
    let items = call.sequence(0)?.iter().map(tensor).collect::<Result<Vec<_>, _>>()?;
    let axis = call.int_or("axis", 0)?;
    if !call.flag("new_axis", false)? {
        return one(joined(call, &items.iter().map(|item| &**item).collect::<Vec<_>>(), axis)?);
    }
    let rank = items.first().map_or(0, |item| item.rank()) + 1;
    let axis = call.axis(axis, rank)?;
    if let Some(item) = items.iter().find(|item| item.rank() + 1 != rank) {
        return Err(call.misfit(format!("an item has rank {}", item.rank())));
    }
    let items: Vec<Tensor> = items.iter().map(|item| item.unsqueezed(axis)).collect();
    one(joined(call, &items.iter().collect::<Vec<_>>(), axis as i64)?)
}

/// Parts of a tensor along an axis.
pub(in crate::onnx) fn split(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let axis = call.axis(call.int_or("axis", 0)?, x.rank())?;
    let extent = x.shape()[axis];
    let keeps = call.given(1).is_some() || call.flag("keepdims", true)?;
    let room = |parts: usize| call.budget.memory(parts.saturating_mul(SLOT), "the items of a sequence");
    let lengths = match call.optional(1)? {
        None => {
            room(extent)?;
            vec![1; extent]
        }
        Some(lengths) if lengths.rank() == 0 => {
            let size = usize::try_from(call.single(1)?).ok().filter(|size| *size > 0);
            let size = size.ok_or_else(|| call.misfit("the length of parts is not positive"))?;
            room(extent.div_ceil(size))?;
            (0..extent.div_ceil(size)).map(|i| size.min(extent - i * size)).collect()
        }
        Some(_) => {
            let lengths = super::layout::extents_of_parts(call, &call.list(1)?)?;
            room(lengths.len())?;
            lengths
        }
    };
    let part = |part: Tensor| match keeps {
        true => Ok(RunValue::from(part)),
        false => part.element(axis, 0).map(RunValue::from).ok_or_else(|| call.misfit("a part is empty")),
    };
    let items = sections(call, x, axis, &lengths)?.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
    Ok(vec![RunValue::sequence(items)])
}

/// An optional: the operand, or nothing.
pub(in crate::onnx) fn optional(call: &NodeCall) -> KernelResult {
    match call.given(0) {
        Some(RunValue::Optional(_)) => Err(call.refused("the operand is an optional")),
        given => Ok(vec![RunValue::Optional(given.cloned().map(Box::new))]),
    }
}

/// What is in an optional. Other values are themselves.
pub(in crate::onnx) fn element(call: &NodeCall) -> KernelResult {
    match call.value(0)? {
        RunValue::Optional(Some(value)) => Ok(vec![(**value).clone()]),
        RunValue::Optional(None) => Err(EvalError::value("`OptionalGetElement`: the optional is empty")),
        other => Ok(vec![other.clone()]),
    }
}

/// Whether something is in an optional.
pub(in crate::onnx) fn has_element(call: &NodeCall) -> KernelResult {
    let has = !matches!(call.given(0), None | Some(RunValue::Optional(None)));
    one(Tensor::logicals(&[], vec![has])?)
}
