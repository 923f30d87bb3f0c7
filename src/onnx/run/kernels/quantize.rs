//! Quantized numbers: integers, or narrow floats, with scales and zero points.

use super::reals::{Reals, around, matrices, saturated};
use crate::eval::EvalError;
use crate::eval::kernels::{MAX, MIN};
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::tensor::DType;

/// The scale and the zero point of a whole tensor.
pub(super) struct Quantization {
    pub(super) scale: f64,
    pub(super) zero: f64,
    pub(super) dtype: DType,
}

impl Quantization {
    /// The quantization by two operands with one item each.
    pub(super) fn single(call: &NodeCall, scale: usize, zero: usize) -> Result<Self, EvalError> {
        let found = call.single_float(scale)?.ok_or_else(|| call.refused("a scale is left out"))?;
        let dtype = call.tensor(zero)?.dtype();
        Ok(Quantization { scale: found, zero: call.single_float(zero)?.unwrap_or(0.0), dtype })
    }
}

/// A sum of products of integers times a scale, as the nearest integer.
pub(super) fn rescaled(value: f64, scale: f32) -> f64 {
    f64::from((value as f32 * scale).round_ties_even())
}

/// A number in the precision of a type.
pub(super) fn rounded(dtype: DType, value: f64) -> f64 {
    match dtype {
        DType::Float32 => f64::from(value as f32),
        DType::Narrow(format) => f64::from(format.round(value)),
        _ => value,
    }
}

/// The nearest integer, of two equally near ones the even one. Sums with a number in which the lowest bit is 1 are rounded
/// to it, which takes less time than a call of a function.
fn whole(value: f64) -> f64 {
    const UNIT: f64 = 1.5 * (1u64 << 52) as f64;
    if value.abs() < (1u64 << 51) as f64 { (value + UNIT) - UNIT } else { value.round_ties_even() }
}

/// Which item of a scale belongs to each item of a tensor.
struct Granularity {
    /// The items of the tensor from one item of the scale along the axis to the next, and the axis of both.
    inner: usize,
    extent: usize,
    block: usize,
    parts: usize,
}

impl Granularity {
    fn read(call: &NodeCall, x: &[usize], scale: &[usize]) -> Result<Self, EvalError> {
        let count: usize = scale.iter().product();
        let misfit = || call.misfit(format!("a scale of shape {scale:?} does not fit an operand of shape {x:?}"));
        let block = usize::try_from(call.int_or("block_size", 0)?).map_err(|_| misfit())?;
        if count == 1 && (scale.len() < 2 || block == 0 || x.is_empty()) {
            return Ok(Granularity { inner: 1, extent: 1, block: 1, parts: 1 });
        }
        let axis = if x.len() == 1 { 0 } else { call.axis(call.int_or("axis", 1)?, x.len())? };
        let (_, extent, inner) = around(x, axis);
        if block == 0 {
            return match scale {
                [count] if *count == extent => Ok(Granularity { inner, extent, block: 1, parts: extent }),
                _ => Err(misfit()),
            };
        }
        let alike = |i: usize| if i == axis { scale[i] == extent.div_ceil(block) } else { scale[i] == x[i] };
        match scale.len() == x.len() && (0..x.len()).all(alike) {
            true => Ok(Granularity { inner, extent, block, parts: extent.div_ceil(block) }),
            false => Err(misfit()),
        }
    }

    /// The item of the scale for an item, among those of all blocks.
    fn blocked(&self, i: usize) -> usize {
        let (outer, along, inside) = (i / self.inner / self.extent, i / self.inner % self.extent, i % self.inner);
        (outer * self.parts + along / self.block) * self.inner + inside
    }

    /// The item of a scale with a number of items.
    fn of(&self, i: usize, count: usize) -> usize {
        match count {
            0 | 1 => 0,
            count if count == self.parts && self.block == 1 => i / self.inner % self.extent,
            count => self.blocked(i).min(count - 1),
        }
    }
}

/// Scale and zero point of quantization and its reverse, with the same shape.
fn scales<'c>(call: &'c NodeCall) -> Result<(Reals<'c>, Option<Reals<'c>>), EvalError> {
    let (scale, zero) = (Reals::of(call, 1)?, Reals::optional(call, 2)?);
    let differ = |zero: &Reals| zero.items.len() != scale.items.len();
    match zero.as_ref().is_some_and(differ) || scale.items.is_empty() && !call.tensor(0)?.is_empty() {
        true => Err(call.misfit("scales and zero points differ in number")),
        false => Ok((scale, zero)),
    }
}

/// The element type that an attribute names, if it is given and not 0.
fn stated(call: &NodeCall, name: &str) -> Result<Option<DType>, EvalError> {
    match call.int_or(name, 0)? {
        0 => Ok(None),
        _ => call.dtype_attribute(name),
    }
}

/// `QuantizeLinear`.
pub(in crate::onnx) fn quantize(call: &NodeCall) -> KernelResult {
    let (x, (scale, zero)) = (Reals::of(call, 0)?, scales(call)?);
    let granularity = Granularity::read(call, x.shape, scale.shape)?;
    let stated_type = stated(call, "output_dtype")?;
    let dtype = zero.as_ref().map(|zero| zero.dtype).or(stated_type).unwrap_or(DType::UINT8);
    let precision = stated(call, "precision")?.unwrap_or(scale.dtype);
    let saturates = call.flag("saturate", true)?;
    // Nearly all: the quotient of 32-bit floats is the rounded one of longer ones.
    if let (Some((least, greatest)), DType::Float32, &[scale]) = (dtype.range(), precision, &scale.items[..]) {
        let (least, greatest) = (least as f64, greatest as f64);
        let (scale, zero) = (scale as f32, zero.as_ref().map_or(0.0, |zero| zero.items[0]));
        let quantized = |item: &f64| (whole(f64::from(*item as f32 / scale)) + zero).clamp(least, greatest);
        return one(call.rounded(dtype, x.shape, x.items.iter().map(quantized))?);
    }
    let quantized = |(i, item): (usize, &f64)| {
        let at = granularity.of(i, scale.items.len());
        let zero = zero.as_ref().map_or(0.0, |zero| zero.items[at]);
        let ratio = rounded(precision, rounded(precision, *item) / rounded(precision, scale.items[at]));
        match dtype {
            DType::Narrow(format) if saturates => (ratio + zero).clamp(-format.greatest(), format.greatest()),
            DType::Narrow(_) => ratio + zero,
            _ => saturated(dtype, ratio.round_ties_even() + zero),
        }
    };
    one(call.rounded(dtype, x.shape, x.items.iter().enumerate().map(quantized).collect::<Vec<_>>())?)
}

/// `DequantizeLinear`.
pub(in crate::onnx) fn dequantize(call: &NodeCall) -> KernelResult {
    let (x, (scale, zero)) = (Reals::of(call, 0)?, scales(call)?);
    let granularity = Granularity::read(call, x.shape, scale.shape)?;
    let dtype = stated(call, "output_dtype")?.unwrap_or(scale.dtype);
    let number = |(i, item): (usize, &f64)| {
        let at = granularity.of(i, scale.items.len());
        (item - zero.as_ref().map_or(0.0, |zero| zero.items[at])) * scale.items[at]
    };
    one(call.rounded(dtype, x.shape, x.items.iter().enumerate().map(number).collect::<Vec<_>>())?)
}

/// `DynamicQuantizeLinear`: the scale covers the range of the items and zero.
pub(in crate::onnx) fn dynamic_quantize(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?;
    let (greatest, least) = ((MAX.of_floats)(&x.items), (MIN.of_floats)(&x.items));
    let greatest = if greatest < 0.0 { 0.0 } else { greatest as f32 };
    let least = if least > 0.0 { 0.0 } else { least as f32 };
    let range = if greatest == least { 1.0 } else { greatest - least };
    let scale = range / 255.0;
    let zero = (-least / scale).clamp(0.0, 255.0).round_ties_even();
    let quantized = x.items.iter().map(|&item| {
        let level = (item as f32 / scale).round_ties_even() + zero;
        f64::from(level.clamp(0.0, 255.0))
    });
    let quantized = call.rounded(DType::UINT8, x.shape, quantized.collect::<Vec<_>>())?;
    let scale = call.rounded(DType::Float32, &[], [f64::from(scale)])?;
    Ok(vec![quantized.into(), scale.into(), call.rounded(DType::UINT8, &[], [f64::from(zero)])?.into()])
}

/// The items of a matrix without its zero point: one, or one for each row or column.
fn centred(call: &NodeCall, i: usize, zero: usize, rows: bool) -> Result<Vec<f64>, EvalError> {
    let (x, zero) = (Reals::of(call, i)?, Reals::optional(call, zero)?);
    let items = zero.as_ref().map_or(&[][..], |zero| &zero.items);
    if items.is_empty() {
        return Ok(x.items.into_owned());
    }
    let along = along(call, x.shape, items.len(), zero.as_ref().map_or(&[][..], |zero| zero.shape), rows)?;
    Ok(x.items.iter().enumerate().map(|(i, item)| item - items[along(i)]).collect())
}

/// Which of the scales or zero points of a matrix belongs to each of its items.
fn along(
    call: &NodeCall,
    shape: &[usize],
    count: usize,
    of: &[usize],
    rows: bool,
) -> Result<impl Fn(usize) -> usize, EvalError> {
    let (row, column) = match shape {
        [.., rows, columns] => (*rows, *columns),
        [items] => (1, *items),
        [] => (1, 1),
    };
    let matrices = shape.iter().rev().skip(2).product::<usize>();
    let each = if rows { row } else { column };
    let repeats = of.len() > 1 && count == each * matrices;
    if count != 1 && count != each && !repeats {
        return Err(call.misfit(format!("quantization parameters of shape {of:?} for a matrix of shape {shape:?}")));
    }
    Ok(move |i: usize| {
        let within = if rows { i / column.max(1) % row.max(1) } else { i % column.max(1) };
        match count {
            1 => 0,
            count if count == each => within,
            _ => i / (row * column).max(1) * each + within,
        }
    })
}

/// `MatMulInteger`.
pub(in crate::onnx) fn matmul_integer(call: &NodeCall) -> KernelResult {
    let (a, b) = (centred(call, 0, 2, true)?, centred(call, 1, 3, false)?);
    let (shape, items) = matrices(call, &a, call.tensor(0)?.shape(), &b, call.tensor(1)?.shape())?;
    one(call.wrapped(DType::Int32, &shape, items.into_iter().map(|item| item as i128))?)
}

/// `QLinearMatMul`.
pub(in crate::onnx) fn qlinear_matmul(call: &NodeCall) -> KernelResult {
    let (a, b) = (centred(call, 0, 2, true)?, centred(call, 3, 5, false)?);
    let of_y = Quantization::single(call, 6, 7)?;
    let (left, right) = (Reals::of(call, 1)?, Reals::of(call, 4)?);
    let (shape, items) = matrices(call, &a, call.tensor(0)?.shape(), &b, call.tensor(3)?.shape())?;
    let row = along(call, &shape, left.items.len(), left.shape, true)?;
    let column = along(call, &shape, right.items.len(), right.shape, false)?;
    let quantized = items.iter().enumerate().map(|(i, item)| {
        let scale = left.items[row(i)] as f32 * right.items[column(i)] as f32 / of_y.scale as f32;
        saturated(of_y.dtype, rescaled(*item, scale) + of_y.zero)
    });
    one(call.rounded(of_y.dtype, &shape, quantized.collect::<Vec<_>>())?)
}
