//! Discrete Fourier transforms from real numbers to real numbers: products with matrices of cosines and sines.
//!
//! Those from or to complex numbers have no form in NNEF. In between, real and imaginary parts are two tensors.

use std::f64::consts::TAU;

use super::LoweringRule::By;
use super::{Line, Lowered, LoweringRow, Refusal, extent_of};
use crate::graph::{Primitive, TensorId, Value};

pub(super) const ROWS: &[LoweringRow] = &[
    (&["torch.fft.irfft"], By(|line| inverse(line, TransformAxes::One, false))),
    (&["torch.fft.irfft2"], By(|line| inverse(line, TransformAxes::Two, false))),
    (&["torch.fft.irfftn"], By(|line| inverse(line, TransformAxes::Any, false))),
    (&["torch.fft.hfft"], By(|line| inverse(line, TransformAxes::One, true))),
    (&["torch.fft.hfft2"], By(|line| inverse(line, TransformAxes::Two, true))),
    (&["torch.fft.hfftn"], By(|line| inverse(line, TransformAxes::Any, true))),
];

/// Along which axes a transform is, unless a setting says it.
#[derive(Clone, Copy, PartialEq)]
enum TransformAxes {
    /// The last one.
    One,
    /// The last two.
    Two,
    /// All.
    Any,
}

/// The axes of a transform, and the number of items of the result along each, as far as it is given.
fn along(line: &Line, axes: TransformAxes, rank: i64) -> Lowered<Vec<(i64, Option<i64>)>> {
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

/// The real inverse transform; the Hermitian one of real numbers is the same with the other normalization, since real
/// numbers are their conjugates.
fn inverse(line: &mut Line, axes: TransformAxes, hermitian: bool) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let mut re = line.cast(x, Primitive::Scalar)?;
    let extents = line.extents(x)?;
    let rank = extents.len() as i64;
    let mut along = along(line, axes, rank)?;
    let norms = [("backward", -1.0), ("forward", 0.0), ("ortho", -0.5)];
    let norm = line.optional::<String>("norm")?;
    let power = if norm.is_some() { line.choice("norm", &norms, None)? } else { -1.0 };
    let power = if hermitian { -1.0 - power } else { power };
    let (last, size) = along.pop().ok_or(Refusal::UNFIT)?;
    let mut im: Option<TensorId> = None;
    let mut items = 1.0f64;
    for (axis, size) in along {
        let count = size.unwrap_or(extent_of(&extents, axis)?);
        (re, im) = step(line, (re, im), axis, count)?;
        items *= count as f64;
    }
    let own = extent_of(&extents, last)?;
    let count = size.unwrap_or(own.saturating_sub(1).saturating_mul(2));
    if count < 1 {
        return Err(Refusal::Because("the number of items of the result is not positive".into()));
    }
    items *= count as f64;
    let half = (count / 2).saturating_add(1).min(own);
    let [cosines, sines] = waves(line, half, count, count)?;
    // All but the first row, and the one in the middle, stand for two.
    let scale = items.powf(power);
    let is_single = |row: i64| row == 0 || row.checked_mul(2) == Some(count);
    let weights = line.items(half, |row| Some(if is_single(row) { scale } else { 2.0 * scale }))?;
    let weights = line.constant(&[half, 1], Value::Scalars(weights.into()))?;
    let part = |line: &mut Line, x: TensorId, waves: TensorId| {
        let matrix = line.add("mul", vec![Value::Tensor(waves), Value::Tensor(weights)])?;
        let x = line.section(x, last, (0, half))?;
        line.product_along(x, last, matrix)
    };
    let mut y = part(line, re, cosines)?;
    if let Some(im) = im {
        let less = part(line, im, sines)?;
        y = line.add("sub", vec![Value::Tensor(y), Value::Tensor(less)])?;
    }
    Ok(vec![y])
}

/// The inverse transform of complex numbers along an axis, without normalization.
fn step(
    line: &mut Line,
    (re, im): (TensorId, Option<TensorId>),
    axis: i64,
    count: i64,
) -> Lowered<(TensorId, Option<TensorId>)> {
    let own = extent_of(&line.extents(re)?, axis)?;
    let used = own.min(count);
    if used < 1 {
        return Err(Refusal::UNFIT);
    }
    let [cosines, sines] = waves(line, used, count, count)?;
    let re = line.section(re, axis, (0, used))?;
    let (own, turned) = (line.product_along(re, axis, cosines)?, line.product_along(re, axis, sines)?);
    let Some(im) = im else { return Ok((own, Some(turned))) };
    let im = line.section(im, axis, (0, used))?;
    let (less, more) = (line.product_along(im, axis, sines)?, line.product_along(im, axis, cosines)?);
    let re = line.add("sub", vec![Value::Tensor(own), Value::Tensor(less)])?;
    let im = line.add("add", vec![Value::Tensor(turned), Value::Tensor(more)])?;
    Ok((re, Some(im)))
}
