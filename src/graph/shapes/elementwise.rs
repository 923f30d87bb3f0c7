//! Operations that compute item by item: their operands are repeated to a common shape (H1).

use super::call::{Call, Extents};
use super::shape::{Extent, Shape};
use super::{Inferred, Outcome, ShapeError};
use crate::diagnostics::Code;

/// Every tensor argument takes part.
pub(crate) fn elementwise(call: &Call) -> Outcome {
    let mut result: Option<Shape> = None;
    for i in 0..call.tensor_params() {
        let Some(extents) = call.extents(i) else { return check_rest(call, i, result) };
        result = match (result, call.shape(i)) {
            (None, Some(shape)) => Some(shape.clone()),
            (None, None) => Some(Shape::default()),
            (Some(so_far), shape) => Some(join(call, so_far, extents, shape)?),
        };
    }
    Ok(Inferred::Same(result))
}

/// Some operand is not known, so the result is not; the others must agree all the same.
fn check_rest(call: &Call, unknown: u32, mut so_far: Option<Shape>) -> Outcome {
    for i in unknown + 1..call.tensor_params() {
        if let Some(extents) = call.extents(i) {
            so_far = match so_far {
                None => call.shape(i).cloned(),
                Some(shape) => Some(join(call, shape, extents, call.shape(i))?),
            };
        }
    }
    Ok(Inferred::UNKNOWN)
}

/// The shape that two operands are repeated to: one of theirs, mostly.
fn join(call: &Call, a: Shape, extents: &[Extent], b: Option<&Shape>) -> Result<Shape, ShapeError> {
    if a.extents() == extents || extents.is_empty() {
        return Ok(a);
    }
    let joined = broadcast(call.name(), a.extents(), extents)?;
    match b {
        _ if joined[..] == *a.extents() => Ok(a),
        Some(b) if joined[..] == *b.extents() => Ok(b.clone()),
        _ => Ok(Shape::new(&joined)),
    }
}

/// The extents that two operands are repeated to. The first axes stand beside each other; missing
/// ones at the end have extent 1.
pub(crate) fn broadcast(operation: &str, a: &[Extent], b: &[Extent]) -> Result<Extents, ShapeError> {
    let rank = a.len().max(b.len());
    let at = |extents: &[Extent], i: usize| extents.get(i).copied().unwrap_or(Extent::ONE);
    (0..rank)
        .map(|i| {
            at(a, i).broadcast(at(b, i)).ok_or_else(|| {
                let message = format!(
                    "the operands of `{operation}` have shapes {a:?} and {b:?}: axis {i} has extents {:?} and {:?}",
                    at(a, i),
                    at(b, i)
                );
                ShapeError::new(Code::BroadcastShapes, message)
            })
        })
        .collect()
}

/// Every tensor argument takes part, and the result has the shape of the first one in any case.
pub(crate) fn normalization(call: &Call) -> Outcome {
    elementwise(call).map_err(|error| error.but(call.shape(0).cloned()))
}

/// The sum of an array of tensors.
pub(crate) fn sum(call: &Call) -> Outcome {
    let Some(items) = call.list(0) else { return Ok(Inferred::UNKNOWN) };
    let mut result: Option<Extents> = None;
    let mut known = true;
    for extents in items {
        let Some(extents) = extents else {
            known = false;
            continue;
        };
        result = Some(match result {
            None => extents.into(),
            Some(so_far) => broadcast(call.name(), &so_far, extents)?,
        });
    }
    Ok(Inferred::Same(result.filter(|_| known).map(|extents| Shape::new(&extents))))
}
