//! Reductions and normalizations along axes (H4). A reduced axis stays, with extent 1.

use super::call::{Call, MAX_RANK, Role};
use super::elementwise::elementwise;
use super::shape::{Extent, Shape};
use super::{Inferred, Outcome};
use crate::diagnostics::Code;

const CODE: Code = Code::ReduceAxes;

/// Reduces along axes.
pub fn reduce(call: &Call) -> Outcome {
    let axes = call.ints(Role::Axes);
    let rank = call.extents(0).map(<[Extent]>::len);
    call.check_axes(axes.as_deref().unwrap_or(&[]), rank, CODE)?;
    let (Some(mut extents), Some(axes)) = (call.extents_to(0, 0), axes) else { return Ok(Inferred::UNKNOWN) };
    for axis in &axes {
        match axis.and_then(|axis| usize::try_from(axis).ok()) {
            Some(axis) if axis < extents.len() => extents[axis] = Extent::ONE,
            Some(_) => {}
            // Any of them may be the one.
            None => extents.iter_mut().for_each(|extent| *extent = Extent::UNKNOWN),
        }
    }
    Ok(Inferred::Same(Some(Shape::new(&extents))))
}

/// Computes along axes, and keeps the shape.
pub fn along(call: &Call) -> Outcome {
    let axes = call.ints(Role::Axes).unwrap_or_default();
    call.check_axes(&axes, call.extents(0).map(<[Extent]>::len).filter(|&rank| rank < MAX_RANK), CODE)?;
    elementwise(call)
}
