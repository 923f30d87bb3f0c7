//! Operators that compute each item of the result from the items at the same place.

use super::axes::broadcast;
use crate::onnx::infer::InferCall;

/// The first result has the shape of the first operand.
pub(crate) fn same(call: &mut InferCall) -> Option<()> {
    let shape = call.shape(0)?;
    call.give(0, shape);
    Some(())
}

/// All results have the shape of the first operand.
pub(crate) fn all_same(call: &mut InferCall) -> Option<()> {
    let shape = call.shape(0)?;
    for result in 0..call.result_count() {
        call.give(result, shape.clone());
    }
    Some(())
}

/// The result has the shape that the operands are broadcast to. Before version 7, the second operand could be aligned
/// at another axis, and the result had the shape of the first.
pub(crate) fn broadcasting(call: &mut InferCall) -> Option<()> {
    if call.has_attribute("broadcast") {
        return same(call);
    }
    let mut shape = call.shape(0)?;
    for operand in 1..call.operand_count() {
        let other = call.extents(operand)?;
        if *shape != *other {
            shape = broadcast(&shape, other)?.into();
        }
    }
    call.give(0, shape);
    Some(())
}

/// The result is of the type of the first operand, known values included.
pub(crate) fn identity(call: &mut InferCall) -> Option<()> {
    let ty = call.operand(0)?.clone();
    call.give_type(0, ty);
    Some(())
}
