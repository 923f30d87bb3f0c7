//! Broadcasting of operands to a common shape: the last axes are aligned.

use std::borrow::Cow;
use std::sync::Arc;

use super::node_call::NodeCall;
use crate::eval::EvalError;
use crate::extents::{Align, broadcast};
use crate::tensor::kernels::Repeat;
use crate::tensor::{Data, Tensor, spread};

/// The shape that operands are broadcast to.
///
/// # Errors
///
/// Two extents differ, and neither is 1.
pub(in crate::onnx::run) fn common(shapes: &[&[usize]]) -> Result<Vec<usize>, EvalError> {
    common_or(shapes, |known, extent| {
        EvalError::shapes(format!("operands of shapes {shapes:?} have extents {known} and {extent} on an axis"))
    })
}

/// The shape that operands are broadcast to, or the error of two extents that differ.
///
/// # Errors
///
/// Two extents differ, and neither is 1.
pub(in crate::onnx::run) fn common_or(
    shapes: &[&[usize]],
    misfit: impl Fn(usize, usize) -> EvalError,
) -> Result<Vec<usize>, EvalError> {
    shapes.iter().try_fold(Vec::new(), |all, shape| {
        broadcast(&all, shape, Align::Last).map_err(|found| misfit(found.extents[0], found.extents[1]))
    })
}

/// The repetition of operands to a shape.
pub(in crate::onnx::run) fn to(shape: &[usize]) -> Repeat<'_> {
    Repeat { shape, align: Align::Last }
}

/// The places of an operand's items in a shape that it is broadcast to.
pub(in crate::onnx::run) fn places(from: &[usize], shape: &[usize]) -> Vec<usize> {
    spread(shape.iter().copied().zip(to(shape).steps(from)))
}

/// A tensor broadcast to a shape that it fits.
pub(in crate::onnx::run) fn repeated<'t>(
    call: &NodeCall,
    tensor: &'t Tensor,
    shape: &[usize],
) -> Result<Cow<'t, Tensor>, EvalError> {
    if tensor.shape() == shape {
        return Ok(Cow::Borrowed(tensor));
    }
    call.room(shape)?;
    let data: Data = tensor.data().pick(places(tensor.shape(), shape).into_iter());
    Ok(Cow::Owned(Tensor::with(shape, data)?))
}

impl NodeCall<'_, '_> {
    /// Two operands whose last axes are aligned: the first versions of operators have attributes for that.
    pub(crate) fn aligned(&self) -> Result<(Arc<Tensor>, Arc<Tensor>), EvalError> {
        let (a, b) = (self.tensor(0)?.clone(), self.tensor(1)?.clone());
        let axis = self.int("axis")?.filter(|_| self.version < 7);
        let Some(axis) = axis.filter(|_| b.rank() < a.rank()) else { return Ok((a, b)) };
        let first = self.axis(axis, a.rank())?;
        let rest = (a.rank() - first).checked_sub(b.rank());
        let rest = rest.ok_or_else(|| self.misfit("the second operand has more axes than there are from `axis` on"))?;
        let shape: Vec<usize> = b.shape().iter().copied().chain(std::iter::repeat_n(1, rest)).collect();
        Ok((a, Arc::new(b.reshaped(&shape)?)))
    }
}
