//! Quantization: integers that stand for scalars.

use crate::graph::Value;
use crate::onnx::run::dtype_of;
use crate::onnx::to_nnef::formula::Term;
use crate::onnx::to_nnef::item::Flat;
use crate::onnx::to_nnef::line::{NodeLine, Results, one};
use crate::onnx::to_nnef::refusal::{Lowered, Refusal};
use crate::tensor::DType;

/// A scale or a zero point beside the operand: one number, or one along an axis.
fn beside(line: &mut NodeLine, i: usize) -> Lowered<Flat> {
    let rank = line.rank(0)?;
    if line.flag("block_size", false)? {
        return Err(Refusal::because("it has blocks"));
    }
    let flat = line.flat(i)?;
    let flat = line.emit.cast(flat, DType::Float32)?;
    let extents = line.shape(i)?;
    match extents[..] {
        [] => Ok(flat),
        [1] => line.emit.reshape(flat, &vec![1; rank.max(1)]),
        [count] => {
            let axis = line.axis(1, rank)?;
            let mut shape = vec![1; rank];
            shape[axis] = count;
            line.emit.reshape(flat, &shape)
        }
        _ => Err(Refusal::RANK),
    }
}

pub(in crate::onnx::to_nnef) fn dequantize(line: &mut NodeLine) -> Results {
    let x = line.flat(0)?;
    let of = line.dtype(1)?;
    let x = line.emit.cast(x, of)?;
    let scale = beside(line, 1)?;
    let x = if line.has(2) {
        let zero = beside(line, 2)?;
        line.emit.formula("sub(@0,@1)", &[Term::Flat(x), Term::Flat(zero)])?
    } else {
        x
    };
    one(line.emit.formula("mul(@0,@1)", &[Term::Flat(x), Term::Flat(scale)])?)
}

/// Halves are rounded to even integers, and numbers beyond the range of the type become its bounds.
pub(in crate::onnx::to_nnef) fn quantize(line: &mut NodeLine) -> Results {
    let to = match line.has(2) {
        true => line.dtype(2)?,
        false => i32::try_from(line.int("output_dtype", 0)?).ok().and_then(dtype_of).unwrap_or(DType::UINT8),
    };
    let (low, high) = to.range().ok_or(Refusal::because("it quantizes to floats"))?;
    let (x, scale) = (line.flat(0)?, beside(line, 1)?);
    let mut y = line.emit.formula("round_even(div(@0,@1))", &[Term::Flat(x), Term::Flat(scale)])?;
    if line.has(2) {
        let zero = beside(line, 2)?;
        y = line.emit.formula("add(@0,@1)", &[Term::Flat(y), Term::Flat(zero)])?;
    }
    let y = line.emit.on("clamp", y, [Value::Scalar(low as f64), Value::Scalar(high as f64)])?;
    one(line.emit.cast(y, to)?)
}
