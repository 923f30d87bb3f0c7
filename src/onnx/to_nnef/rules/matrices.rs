//! Products of matrices.

use crate::graph::Value;
use crate::library::assembly::Assembly;
use crate::onnx::to_nnef::formula::FormulaTerm;
use crate::onnx::to_nnef::item::FlatTensor;
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::tensor::DType;

/// An operand as scalars: NNEF multiplies matrices of scalars only.
pub(super) fn scalars(line: &mut NodeLine, x: FlatTensor) -> Lowered<FlatTensor> {
    if x.dtype.is_integer() { line.emit.cast(x, DType::Float32) } else { Ok(x) }
}

/// The product of matrices, or of vectors, which get an axis for it.
pub(in crate::onnx::to_nnef) fn mat_mul(line: &mut NodeLine) -> NodeResults {
    let of = line.dtype(0)?;
    one(mat_mul_as(line, of)?)
}

fn mat_mul_as(line: &mut NodeLine, of: DType) -> Lowered<FlatTensor> {
    let (left, right) = (line.rank(0)?, line.rank(1)?);
    let rank = left.max(right).max(2);
    let a = line.raised(0, rank)?;
    let b = match right {
        1 => {
            let b = line.flat(1)?;
            let b = line.emit.with_axes(b, [1])?;
            line.emit.raised(b, rank)?
        }
        _ => line.raised(1, rank)?,
    };
    let (a, b) = (scalars(line, a)?, scalars(line, b)?);
    let result = line.emit.multiplied(a, b, [false, false])?;
    let mut dropped = Vec::new();
    if left == 1 {
        dropped.push(rank - 2);
    }
    if right == 1 {
        dropped.push(rank - 1);
    }
    let result = line.emit.squeeze(result, &dropped)?;
    line.emit.cast(result, of)
}

/// A product with integers, from which zero points are subtracted first.
pub(in crate::onnx::to_nnef) fn mat_mul_integer(line: &mut NodeLine) -> NodeResults {
    let shifted = |line: &mut NodeLine, operand: usize, zero: usize, column: bool| {
        let x = line.flat(operand)?;
        let x = line.emit.cast(x, DType::Float32)?;
        if !line.has(zero) {
            return Ok(x);
        }
        let mut zero = line.flat(zero)?;
        if column && line.emit.rank(zero)? == 1 {
            zero = line.emit.with_axes(zero, [1])?;
        }
        let zero = line.emit.cast(zero, DType::Float32)?;
        let rank = line.emit.rank(x)?;
        let zero = line.emit.raised(zero, rank)?;
        line.emit.formula("sub(@0,@1)", &[x, zero])
    };
    let (left, right) = (line.rank(0)?, line.rank(1)?);
    if left < 2 || right < 2 {
        return Err(NodeRefusal::RANK);
    }
    let (a, b) = (shifted(line, 0, 2, true)?, shifted(line, 1, 3, false)?);
    let rank = left.max(right);
    let (a, b) = (line.emit.raised(a, rank)?, line.emit.raised(b, rank)?);
    let result = line.emit.multiplied(a, b, [false, false])?;
    one(line.emit.cast(result, DType::Int32)?)
}

/// A product, scaled and added to an operand.
pub(in crate::onnx::to_nnef) fn gemm(line: &mut NodeLine) -> NodeResults {
    let transposed = [line.flag("transA", false)?, line.flag("transB", false)?];
    let (alpha, beta) = (line.float("alpha", 1.0)?, line.float("beta", 1.0)?);
    let of = line.dtype(0)?;
    let (a, b) = (line.flat(0)?, line.flat(1)?);
    let (a, b) = (scalars(line, a)?, scalars(line, b)?);
    let added = line.has(2) && beta != 0.0;
    if transposed == [false, true] && alpha == 1.0 && beta == 1.0 && added && line.rank(2)? == 1 && !of.is_integer() {
        let bias = line.raised(2, 2)?;
        return one(line.emit.add("linear", [a, b, bias].map(|flat| Value::Tensor(flat.id)), of)?);
    }
    let mut result = line.emit.multiplied(a, b, transposed)?;
    if alpha != 1.0 {
        result = line.emit.formula("mul(@0,@1)", &[result.into(), FormulaTerm::of(alpha)])?;
    }
    if added {
        let mut bias = line.raised(2, 2)?;
        bias = scalars(line, bias)?;
        if beta != 1.0 {
            bias = line.emit.formula("mul(@0,@1)", &[bias.into(), FormulaTerm::of(beta)])?;
        }
        result = line.emit.formula("add(@0,@1)", &[result, bias])?;
    }
    one(line.emit.cast(result, of)?)
}
