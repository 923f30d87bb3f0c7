//! Tensors that come from outside, variables that are overwritten, and copies (H14).

use super::call::{Call, Extents, Role};
use super::shape::{Extent, Shape};
use super::{Inferred, Outcome, ShapeError, known};
use crate::diagnostics::Code;

/// A tensor whose shape is written down. An extent that is not positive is unknown: 0 is so in
/// inputs of the draft, and others are reported by another rule.
pub(crate) fn source(call: &Call) -> Outcome {
    let Some(items) = call.ints(Role::Shape) else { return Ok(Inferred::UNKNOWN) };
    let extents: Extents = items.iter().map(|item| item.filter(|&extent| extent > 0).into()).collect();
    known(&extents)
}

/// The new value of a variable, which has the shape of the old one.
pub(crate) fn update(call: &Call) -> Outcome {
    let (Some(variable), Some(value)) = (call.extents(0), call.extents(1)) else {
        return Ok(Inferred::Same(call.shape(0).or(call.shape(1)).cloned()));
    };
    let rank = variable.len().max(value.len());
    let (mut a, mut b): (Extents, Extents) = (variable.into(), value.into());
    call.lengthen(&mut a, rank);
    call.lengthen(&mut b, rank);
    let unified: Option<Extents> = if a.len() == b.len() {
        a.iter().zip(&b).map(|(a, b): (&Extent, &Extent)| a.unify(*b)).collect()
    } else {
        None
    };
    match unified {
        Some(extents) => known(&extents),
        None => {
            let message = format!("the variable has shape {variable:?}, its new value {value:?}");
            Err(ShapeError::new(Code::UpdateShape, message))
        }
    }
}

/// The same tensor several times.
pub(crate) fn copies(call: &Call) -> Outcome {
    let count = call.outputs();
    if let Some(times) = call.int(Role::Times).known()
        && usize::try_from(times) != Ok(count)
    {
        let message = format!("`{}` makes {times} copies, the left side has {count} names", call.name());
        return Err(ShapeError::new(Code::LengthMismatch, message));
    }
    let literal = call.extents(0).map(Shape::new);
    Ok(Inferred::Same(call.shape(0).cloned().or(literal)))
}
