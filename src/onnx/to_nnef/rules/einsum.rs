//! Sums of products by a formula of axes.

use crate::library::assembly::einsum;
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};

pub(in crate::onnx::to_nnef) fn einsum(line: &mut NodeLine) -> NodeResults {
    let equation = line.text("equation", "")?;
    let operands = line.flats()?;
    one(einsum::einsum(line.emit, &equation, &operands)?)
}
