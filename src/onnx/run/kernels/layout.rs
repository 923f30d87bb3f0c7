//! Operators that change the shape of a tensor, and leave its items.

use crate::onnx::run::call::{KernelResult, NodeCall, one};

/// The operand itself.
pub(in crate::onnx::run) fn identity(call: &NodeCall) -> KernelResult {
    Ok(vec![call.value(0)?.clone()])
}

/// The items with another shape.
pub(in crate::onnx::run) fn reshape(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let wanted = match call.version {
        ..5 => call.ints("shape")?.unwrap_or_default(),
        _ => call.list(1)?,
    };
    let keeps_zero = call.flag("allowzero", false)?;
    let mut shape = Vec::new();
    for (i, &extent) in wanted.iter().enumerate() {
        shape.push(match extent {
            0 if !keeps_zero => *x.shape().get(i).ok_or_else(|| call.misfit("an extent of 0 has no axis to copy"))?,
            -1 => usize::MAX,
            extent => usize::try_from(extent).map_err(|_| call.misfit(format!("an extent is {extent}")))?,
        });
    }
    let known = shape.iter().filter(|&&extent| extent != usize::MAX).try_fold(1usize, |all, &n| all.checked_mul(n));
    let known = known.ok_or_else(|| call.misfit("the shape is too large"))?;
    match shape.iter().filter(|&&extent| extent == usize::MAX).count() {
        0 => {}
        1 => {
            let rest = if known == 0 { 0 } else { x.len() / known };
            shape.iter_mut().filter(|extent| **extent == usize::MAX).for_each(|extent| *extent = rest);
        }
        _ => return Err(call.misfit("two extents are -1")),
    }
    call.budget.room(&shape)?;
    one(x.reshaped(&shape)?)
}
