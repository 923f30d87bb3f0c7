//! Discrete Fourier transforms: products with matrices of cosines and sines, of real and imaginary parts.

use std::f64::consts::TAU;

use super::LoweringRule::By;
use super::complex::ComplexParts;
use super::{Line, Lowered, LoweringRow, Refusal, extent_of};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;

/// Transforms to as many complex numbers.
pub(super) const WHOLE: &[LoweringRow] = &[
    (&["torch.fft.fft"], By(|line| transformed(line, TransformAxes::One, false, false))),
    (&["torch.fft.fft2"], By(|line| transformed(line, TransformAxes::Two, false, false))),
    (&["torch.fft.fftn"], By(|line| transformed(line, TransformAxes::Any, false, false))),
    (&["torch.fft.ifft"], By(|line| transformed(line, TransformAxes::One, true, false))),
    (&["torch.fft.ifft2"], By(|line| transformed(line, TransformAxes::Two, true, false))),
    (&["torch.fft.ifftn"], By(|line| transformed(line, TransformAxes::Any, true, false))),
];

/// Transforms of real numbers, of which only half is needed.
pub(super) const HALVES: &[LoweringRow] = &[
    (&["torch.fft.rfft"], By(|line| transformed(line, TransformAxes::One, false, true))),
    (&["torch.fft.rfft2"], By(|line| transformed(line, TransformAxes::Two, false, true))),
    (&["torch.fft.rfftn"], By(|line| transformed(line, TransformAxes::Any, false, true))),
    (&["torch.fft.ihfft"], By(|line| transformed(line, TransformAxes::One, true, true))),
    (&["torch.fft.ihfft2"], By(|line| transformed(line, TransformAxes::Two, true, true))),
    (&["torch.fft.ihfftn"], By(|line| transformed(line, TransformAxes::Any, true, true))),
];

/// Transforms to real numbers.
pub(super) const REAL: &[LoweringRow] = &[
    (&["torch.fft.irfft"], By(|line| real(line, TransformAxes::One, false))),
    (&["torch.fft.irfft2"], By(|line| real(line, TransformAxes::Two, false))),
    (&["torch.fft.irfftn"], By(|line| real(line, TransformAxes::Any, false))),
    (&["torch.fft.hfft"], By(|line| real(line, TransformAxes::One, true))),
    (&["torch.fft.hfft2"], By(|line| real(line, TransformAxes::Two, true))),
    (&["torch.fft.hfftn"], By(|line| real(line, TransformAxes::Any, true))),
];

/// TransformAxes which axes a transform is, unless a setting says it.
#[derive(Clone, Copy, PartialEq)]
enum TransformAxes {
    /// The last one.
    One,
    /// The last two.
    Two,
    /// All.
    Any,
}

/// A transform along an axis: the number of items before, with zeros behind those of the operand, and after.
#[derive(Clone, Copy)]
pub(super) struct AxisTransform {
    pub(super) axis: i64,
    pub(super) count: i64,
    pub(super) columns: i64,
    /// Whether angles are positive.
    pub(super) inverse: bool,
}

/// The axes of a transform, and the number of items of the result along each, as far as it is given.
fn axes_of(line: &Line, axes: TransformAxes, rank: i64) -> Lowered<Vec<(i64, Option<i64>)>> {
    if axes == TransformAxes::One {
        return Ok(vec![(line.axis("dim", rank, Some(-1))?, line.optional("n")?)]);
    }
    let sizes = line.optional::<Vec<i64>>("s")?;
    let all: Vec<i64> = match (line.axes("dim", rank)?, axes, &sizes) {
        (Some(given), ..) => given,
        (None, TransformAxes::Two, _) => vec![rank.saturating_sub(2), rank.saturating_sub(1)],
        (None, _, Some(sizes)) => (rank.saturating_sub(sizes.len() as i64)..rank).collect(),
        (None, _, None) => (0..rank).collect(),
    };
    let fits = !all.is_empty() && all.iter().all(|axis| *axis >= 0);
    line.require("dim", fits, "a list of axes")?;
    let sizes = match sizes {
        None => vec![None; all.len()],
        // -1 is the extent of the operand.
        Some(sizes) => sizes.into_iter().map(|size| Some(size).filter(|size| *size != -1)).collect(),
    };
    line.require("s", sizes.len() == all.len(), "a number of items for each axis")?;
    Ok(all.into_iter().zip(sizes).collect())
}

/// The power of the number of items by which results are multiplied.
fn power(line: &Line, inverse: bool) -> Lowered<f64> {
    let norms = [("backward", 0.0), ("forward", -1.0), ("ortho", -0.5)];
    let norm = line.optional::<String>("norm")?;
    let power = if norm.is_some() { line.choice("norm", &norms, None)? } else { 0.0 };
    Ok(if inverse { -1.0 - power } else { power })
}

/// The operand: real numbers, or the parts of complex ones.
fn operand(line: &mut Line) -> Lowered<ComplexParts> {
    let parts = line.parts("input")?;
    match parts.im {
        Some(_) => Ok(parts),
        None => Ok(ComplexParts { re: line.cast(parts.re, Primitive::Scalar)?, im: None }),
    }
}

/// A matrix of the cosines and one of the sines of `2π·row·column / count`. The products are reduced as integers, so
/// that the angles are small.
fn waves(line: &mut Line, rows: i64, count: i64, columns: i64) -> Lowered<[TensorId; 2]> {
    let (row, column) = (line.counting((2, 0), rows)?, line.counting((2, 1), columns)?);
    let products = line.add("mul", vec![Value::Tensor(row), Value::Tensor(column)])?;
    let turns = line.add("div", vec![Value::Tensor(products), Value::Int(count)])?;
    let turns = line.add("mul", vec![Value::Tensor(turns), Value::Int(count)])?;
    let rest = line.add("sub", vec![Value::Tensor(products), Value::Tensor(turns)])?;
    let rest = line.cast(rest, Primitive::Scalar)?;
    let angles = line.add("mul", vec![Value::Tensor(rest), Value::Scalar(TAU / count as f64)])?;
    Ok([line.add("cos", vec![Value::Tensor(angles)])?, line.add("sin", vec![Value::Tensor(angles)])?])
}

/// A transform to complex numbers. `halves` tells that it is of real ones, so that half of the numbers along the last axis are
/// enough; then `inverse` is the conjugate one.
fn transformed(line: &mut Line, axes: TransformAxes, inverse: bool, halves: bool) -> Lowered<Vec<TensorId>> {
    let mut parts = operand(line)?;
    let extents = line.extents(parts.re)?;
    let power = power(line, inverse)?;
    let mut items = 1.0f64;
    let mut along = axes_of(line, axes, extents.len() as i64)?;
    if halves {
        along.reverse();
    }
    for (at, (axis, size)) in along.into_iter().enumerate() {
        let count = size.unwrap_or(extent_of(&extents, axis)?);
        let columns = if halves && at == 0 { (count / 2).saturating_add(1) } else { count };
        parts = step(line, parts, AxisTransform { axis, count, columns, inverse })?;
        items *= count as f64;
    }
    let parts = line.scaled_parts(parts, items.powf(power))?;
    Ok(vec![line.joined(parts)?])
}

/// The inverse transform to real numbers; the Hermitian one is that of the conjugates, with the other normalization.
fn real(line: &mut Line, axes: TransformAxes, hermitian: bool) -> Lowered<Vec<TensorId>> {
    let mut parts = operand(line)?;
    if let (true, Some(im)) = (hermitian, parts.im) {
        parts.im = Some(line.add("neg", vec![Value::Tensor(im)])?);
    }
    let extents = line.extents(parts.re)?;
    let mut along = axes_of(line, axes, extents.len() as i64)?;
    let power = power(line, !hermitian)?;
    let (last, size) = along.pop().ok_or(Refusal::UNFIT)?;
    let mut items = 1.0f64;
    for (axis, size) in along {
        let count = size.unwrap_or(extent_of(&extents, axis)?);
        parts = step(line, parts, AxisTransform { axis, count, columns: count, inverse: true })?;
        items *= count as f64;
    }
    let count = size.unwrap_or(extent_of(&extents, last)?.saturating_sub(1).saturating_mul(2));
    items *= count as f64;
    to_real(line, parts, last, count, items.powf(power)).map(|y| vec![y])
}

/// The inverse transform of half of the numbers along an axis to real numbers, times a factor.
pub(super) fn to_real(
    line: &mut Line,
    ComplexParts { re, im }: ComplexParts,
    axis: i64,
    count: i64,
    scale: f64,
) -> Lowered<TensorId> {
    if count < 1 {
        return Err(Refusal::Because("the number of items of the result is not positive".into()));
    }
    let half = (count / 2).saturating_add(1).min(extent_of(&line.extents(re)?, axis)?);
    let [cosines, sines] = waves(line, half, count, count)?;
    // All but the first row, and the one in the middle, stand for two.
    let is_single = |row: i64| row == 0 || row.checked_mul(2) == Some(count);
    let weights = line.items(half, |row| Some(if is_single(row) { scale } else { 2.0 * scale }))?;
    let weights = line.constant(&[half, 1], Value::Scalars(weights.into()))?;
    let part = |line: &mut Line, x: TensorId, waves: TensorId| {
        let matrix = line.add("mul", vec![Value::Tensor(waves), Value::Tensor(weights)])?;
        let x = line.part_of(x, axis, 0..half)?;
        line.product_along(x, axis, matrix)
    };
    let y = part(line, re, cosines)?;
    let Some(im) = im else { return Ok(y) };
    let less = part(line, im, sines)?;
    line.add("sub", vec![Value::Tensor(y), Value::Tensor(less)])
}

/// The transform along an axis, without normalization.
pub(super) fn step(line: &mut Line, ComplexParts { re, im }: ComplexParts, of: AxisTransform) -> Lowered<ComplexParts> {
    let used = extent_of(&line.extents(re)?, of.axis)?.min(of.count);
    if used < 1 {
        return Err(Refusal::Because("the number of items of the result is not positive".into()));
    }
    let [cosines, sines] = waves(line, used, of.count, of.columns)?;
    let re = line.part_of(re, of.axis, 0..used)?;
    let (own, turned) = (line.product_along(re, of.axis, cosines)?, line.product_along(re, of.axis, sines)?);
    let Some(im) = im else {
        let im = if of.inverse { turned } else { line.add("neg", vec![Value::Tensor(turned)])? };
        return Ok(ComplexParts { re: own, im: Some(im) });
    };
    let im = line.part_of(im, of.axis, 0..used)?;
    let (other, along) = (line.product_along(im, of.axis, sines)?, line.product_along(im, of.axis, cosines)?);
    let (re, im) = match of.inverse {
        true => ("sub(@0,@1)", "add(@3,@2)"),
        false => ("add(@0,@1)", "sub(@3,@2)"),
    };
    let items = [own, other, turned, along];
    Ok(ComplexParts { re: line.formula_of(re, &items)?, im: Some(line.formula_of(im, &items)?) })
}
