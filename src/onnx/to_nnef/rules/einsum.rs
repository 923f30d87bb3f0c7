//! Sums of products by a formula of axes.

use super::matrices::scalars;
use crate::library::assembly::einsum;
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};
use crate::onnx::to_nnef::refusal::Lowered;

pub(in crate::onnx::to_nnef) fn einsum(line: &mut NodeLine) -> NodeResults {
    let equation = line.text("equation", "")?;
    let of = line.dtype(0)?;
    // Products of matrices are those of scalars.
    let operands = line.flats()?.into_iter().map(|x| scalars(line, x)).collect::<Lowered<Vec<_>>>()?;
    let result = einsum::einsum(line.emit, &equation, &operands)?;
    one(line.emit.cast(result, of)?)
}
