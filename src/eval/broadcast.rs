//! Broadcasting of operands to a common shape (4.2.2). The first axes are aligned; missing trailing axes have
//! extent 1.

use super::error::EvalError;
use super::eval_call::Call;
use crate::extents::{self, Align};
use crate::tensor::kernels::Repeat;
use crate::tensor::{Element, Tensor};

/// The shape that two operands are broadcast to.
///
/// # Errors
///
/// Two extents differ, and neither is 1.
pub(crate) fn common(name: &str, a: &[usize], b: &[usize]) -> Result<Vec<usize>, EvalError> {
    extents::broadcast(a, b, Align::First).map_err(|found| {
        let (axis, [one, other]) = (found.axis, found.extents);
        EvalError::shapes(format!(
            "the operands of `{name}` have shapes {a:?} and {b:?}: axis {axis} has extents {one} and {other}"
        ))
    })
}

/// Applies a function that may fail to each pair of items of two operands.
pub(crate) fn repeated<A: Element, B: Element, R: Element>(
    call: &Call,
    a: &Tensor,
    b: &Tensor,
    f: impl Fn(A, B) -> Result<R, EvalError>,
) -> Result<Tensor, EvalError> {
    let shape = common(call.name(), a.shape(), b.shape())?;
    call.budget().room(&shape)?;
    let (Some(x), Some(y)) = (a.items(), b.items()) else {
        return Err(EvalError::argument(format!("`{}` has operands of another type", call.name())));
    };
    let to = Repeat { shape: &shape, align: Align::First };
    let items: Result<Vec<R>, EvalError> = to.zip((x, a.shape()), (y, b.shape()), f);
    Ok(Tensor::of(&shape, items?)?)
}

/// Applies a function that cannot fail to each pair of items of two operands, which are scalars.
pub(crate) fn map2(call: &Call, a: &Tensor, b: &Tensor, f: impl Fn(f64, f64) -> f64) -> Result<Tensor, EvalError> {
    repeated(call, a, b, |x: f64, y: f64| Ok(f(x, y)))
}
