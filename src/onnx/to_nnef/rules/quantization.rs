//! Quantization: integers that stand for scalars.

use crate::graph::Value;
use crate::library::assembly::Assembly;
use crate::onnx::run::dtype_of;
use crate::onnx::to_nnef::item::FlatTensor;
use crate::onnx::to_nnef::line::{NodeLine, NodeResults, one};
use crate::onnx::to_nnef::refusal::{Lowered, NodeRefusal};
use crate::onnx::to_nnef::shape::for_axes;
use crate::tensor::DType;

/// A scale or a zero point beside the operand: one number, or one along an axis.
fn beside(line: &mut NodeLine, i: usize) -> Lowered<FlatTensor> {
    let rank = line.rank(0)?;
    if line.flag("block_size", false)? {
        return Err(NodeRefusal::because("it has blocks"));
    }
    let flat = scalars(line, i)?;
    let axis = match line.shape(i)?[..] {
        [] | [1] => 0,
        [_] => line.axis(1, rank)?,
        _ => return Err(NodeRefusal::RANK),
    };
    placed(line, flat, rank.max(1), axis)
}

/// An operand as scalars.
fn scalars(line: &mut NodeLine, i: usize) -> Lowered<FlatTensor> {
    let flat = line.flat(i)?;
    line.emit.cast(flat, DType::Float32)
}

pub(in crate::onnx::to_nnef) fn dequantize(line: &mut NodeLine) -> NodeResults {
    let x = line.flat(0)?;
    let of = line.dtype(1)?;
    let x = line.emit.cast(x, of)?;
    let scale = beside(line, 1)?;
    let x = if line.has(2) {
        let zero = beside(line, 2)?;
        line.emit.formula("sub(@0,@1)", &[x, zero])?
    } else {
        x
    };
    one(line.emit.formula("mul(@0,@1)", &[x, scale])?)
}

/// Halves are rounded to even integers, and numbers beyond the range of the type become its bounds.
pub(in crate::onnx::to_nnef) fn quantize(line: &mut NodeLine) -> NodeResults {
    let to = match line.has(2) {
        true => line.dtype(2)?,
        false => i32::try_from(line.int("output_dtype", 0)?).ok().and_then(dtype_of).unwrap_or(DType::UINT8),
    };
    let (x, scale) = (line.flat(0)?, beside(line, 1)?);
    let y = line.emit.formula("div(@0,@1)", &[x, scale])?;
    let zero = if line.has(2) { Some(beside(line, 2)?) } else { None };
    rounded(line, y, zero, to)
}

/// Adds a zero point, rounds, and limits numbers to the range of the type.
pub(super) fn rounded(line: &mut NodeLine, y: FlatTensor, zero: Option<FlatTensor>, to: DType) -> NodeResults {
    let (low, high) = to.range().ok_or(NodeRefusal::because("it quantizes to floats"))?;
    let mut y = line.emit.formula("round_even(@0)", &[y])?;
    if let Some(zero) = zero {
        y = line.emit.formula("add(@0,@1)", &[y, zero])?;
    }
    let y = line.emit.on("clamp", y, [Value::Scalar(low as f64), Value::Scalar(high as f64)])?;
    one(line.emit.cast(y, to)?)
}

/// An operand less its zero point, as scalars. The parameters of a filter or a row stand along an axis.
fn centred(line: &mut NodeLine, operand: usize, zero: usize, axis: usize) -> Lowered<FlatTensor> {
    let x = scalars(line, operand)?;
    match line.has(zero) {
        false => Ok(x),
        true => {
            let zero = parameter(line, zero, (line.rank(operand)?, axis))?;
            line.emit.formula("sub(@0,@1)", &[x, zero])
        }
    }
}

/// A parameter as scalars: one number, one along an axis, or of the rank of the operand.
fn parameter(line: &mut NodeLine, i: usize, place: (usize, usize)) -> Lowered<FlatTensor> {
    let flat = scalars(line, i)?;
    placed(line, flat, place.0, place.1)
}

/// A tensor of one axis along an axis within a rank, and others with leading axes.
fn placed(line: &mut NodeLine, flat: FlatTensor, rank: usize, axis: usize) -> Lowered<FlatTensor> {
    match line.emit.extents(flat)?[..] {
        [] => Ok(flat),
        [count] if axis < rank => {
            let mut shape = for_axes(rank, 1);
            shape[axis] = count;
            line.emit.reshaped(flat, &shape)
        }
        _ => line.emit.raised(flat, rank),
    }
}

/// A product of quantized matrices.
pub(in crate::onnx::to_nnef) fn qlinear_mat_mul(line: &mut NodeLine) -> NodeResults {
    let (left, right) = (line.rank(0)?, line.rank(3)?);
    if left < 2 || right < 2 {
        return Err(NodeRefusal::RANK);
    }
    let rank = left.max(right);
    let (a, b) = (centred(line, 0, 2, left - 2)?, centred(line, 3, 5, right - 1)?);
    let (a, b) = (line.emit.raised(a, rank)?, line.emit.raised(b, rank)?);
    let product = line.emit.multiplied(a, b, [false, false])?;
    let (a, b) = (parameter(line, 1, (rank, rank - 2))?, parameter(line, 4, (rank, rank - 1))?);
    let y = parameter(line, 6, (rank, rank - 2))?;
    let y = line.emit.formula("div(mul(mul(@0,@1),@2),@3)", &[product, a, b, y])?;
    let zero = parameter(line, 7, (rank, rank - 2))?;
    let to = line.dtype(7)?;
    rounded(line, y, Some(zero), to)
}

/// A convolution of integers, from which zero points are subtracted.
pub(in crate::onnx::to_nnef) fn conv_integer(line: &mut NodeLine) -> NodeResults {
    let (x, weight) = (centred(line, 0, 2, 1)?, centred(line, 1, 3, 0)?);
    let sums = super::windows::convolved(line, x, weight, 0, 1, Value::Scalar(0.0))?;
    one(line.emit.cast(sums, DType::Int32)?)
}

/// A convolution of quantized numbers.
pub(in crate::onnx::to_nnef) fn qlinear_conv(line: &mut NodeLine) -> NodeResults {
    let rank = line.rank(0)?;
    let (x, weight) = (centred(line, 0, 2, 1)?, centred(line, 3, 5, 0)?);
    let bias = match line.has(8) {
        true => {
            let bias = line.per_channel(8)?;
            Value::Tensor(line.emit.cast(bias, DType::Float32)?.id)
        }
        false => Value::Scalar(0.0),
    };
    let sums = super::windows::convolved(line, x, weight, 0, 3, bias)?;
    let [x, w, y] = [1, 4, 6].map(|i| parameter(line, i, (rank, 1)));
    let y = line.emit.formula("div(mul(@0,mul(@1,@2)),@3)", &[sums, x?, w?, y?])?;
    let zero = parameter(line, 7, (rank, 1))?;
    let to = line.dtype(7)?;
    rounded(line, y, Some(zero), to)
}
