//! Reductions and normalizations along axes (H4). A reduced axis stays, with extent 1.

use super::call::{Call, Role};
use super::shape::{Extent, Shape};
use super::{Inferred, Outcome, ShapeError};
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
    let rank = call.extents(0).map(<[Extent]>::len);
    let stays = |error: ShapeError| error.but(call.shape(0).cloned());
    call.check_axes(&axes, rank, CODE).map_err(stays)?;
    Ok(Inferred::Same(call.shape(0).cloned()))
}
