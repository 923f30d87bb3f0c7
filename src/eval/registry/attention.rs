//! Attention: rotary embeddings, masked softmax, scaled dot products.

use ndarray::{Array4, ArrayD, ArrayView2, Axis, Ix4, IxDyn};

use crate::eval::array::scalars;
use crate::eval::error::EvalError;
use crate::eval::eval_call::{Call, KernelResult};
use crate::tensor::Tensor;

use super::arrange::{is_given, logical};
use super::{like, one, unfit};

/// `input * cos + rotated * sin`, where `rotated` has the negated second half of the last axis, then the first half.
pub(in crate::eval) fn apply_rope(call: &Call) -> KernelResult {
    let [input, cos, sin] = [call.scalars("input")?, call.scalars("cos")?, call.scalars("sin")?];
    let wrong = || unfit(call, &[input.shape(), cos.shape(), sin.shape()]);
    let last = input.ndim().checked_sub(1).ok_or_else(wrong)?;
    let width = input.shape()[last];
    if width % 2 != 0 {
        return Err(wrong());
    }
    let (first, second) = input.view().split_at(Axis(last), width / 2);
    let rotated = ndarray::concatenate(Axis(last), &[(-&second).view(), first]).map_err(|_| wrong())?;
    let (Some(cos), Some(sin)) = (cos.broadcast(input.raw_dim()), sin.broadcast(input.raw_dim())) else {
        return Err(wrong());
    };
    one(&input * &cos + &rotated * &sin)
}

/// Applies a mask to scores: it is added, or scores are set to minus infinity where a logical mask is false.
fn masked(scores: &mut ArrayD<f64>, mask: &ArrayD<f64>, logical: bool, wrong: EvalError) -> Result<(), EvalError> {
    let Some(mask) = mask.broadcast(scores.raw_dim()) else { return Err(wrong) };
    scores.zip_mut_with(&mask, |score, mask| match logical {
        true if *mask == 0.0 => *score = f64::NEG_INFINITY,
        true => {}
        false => *score += mask,
    });
    Ok(())
}

/// Softmax along the last axis.
fn softmax(scores: &mut ArrayD<f64>) {
    let Some(last) = scores.ndim().checked_sub(1) else { return };
    for mut row in scores.lanes_mut(Axis(last)) {
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        row.mapv_inplace(|score| (score - most).exp());
        let sum = row.sum();
        row.mapv_inplace(|weight| weight / sum);
    }
}

pub(in crate::eval) fn scaled_masked_softmax(call: &Call) -> KernelResult {
    let (input, mask) = (call.numbers("input")?, call.tensor("mask")?);
    let scale = call.number("scale")?;
    let (logical, values) = (logical(&mask), scalars(&mask));
    let wrong = || unfit(call, &[input.shape(), mask.shape()]);
    let mut scores = scalars(&input) * scale;
    masked(&mut scores, &values, logical, wrong())?;
    softmax(&mut scores);
    if call.flag("post_softmax_mask")? {
        let mask = values.broadcast(scores.raw_dim()).ok_or_else(wrong)?;
        scores.zip_mut_with(&mask, |weight, mask| *weight = if *mask == 0.0 { 0.0 } else { *weight });
    }
    Ok(vec![like(scores, input.dtype())?])
}

/// Heads of queries, keys or values: `[batch, head, item, feature]`.
fn heads(tensor: &Tensor) -> Option<Array4<f64>> {
    let array = scalars(tensor);
    let array = if array.ndim() == 3 { array.insert_axis(Axis(1)) } else { array };
    array.into_dimensionality::<Ix4>().ok()
}

/// The matrix of a head in a batch.
fn matrix(array: &Array4<f64>, batch: usize, head: usize) -> ArrayView2<'_, f64> {
    array.index_axis(Axis(0), batch).index_axis_move(Axis(0), head)
}

/// Scaled dot product attention. Several query heads may share a key head.
pub(in crate::eval) fn sdpa(call: &Call) -> KernelResult {
    let [query, key, value] = [call.numbers("q")?, call.numbers("k")?, call.numbers("v")?];
    let wrong = || unfit(call, &[query.shape(), key.shape(), value.shape()]);
    let (Some(q), Some(k), Some(v)) = (heads(&query), heads(&key), heads(&value)) else { return Err(wrong()) };
    let ((batch, count, rows, width), (_, groups, columns, _)) = (q.dim(), k.dim());
    let fits = k.dim() == (batch, groups, columns, width) && v.dim() == (batch, groups, columns, v.dim().3);
    if !fits || groups == 0 || count % groups != 0 {
        return Err(wrong());
    }
    let given = is_given(call, "scale").then(|| call.number("scale")).transpose()?.filter(|scale| *scale != 0.0);
    let scale = given.unwrap_or(1.0 / (width as f64).sqrt());
    call.budget().product(batch * count * rows * columns, width + v.dim().3)?;
    let mask = mask(call, query.rank(), wrong)?;
    let causal = call.flag("is_causal")?;
    let mut output = Array4::zeros((batch, count, rows, v.dim().3));
    let mut scores = Array4::zeros((batch, count, rows, columns));
    let shared = count / groups;
    for (b, h) in (0..batch).flat_map(|b| (0..count).map(move |h| (b, h))) {
        let products = matrix(&q, b, h).dot(&matrix(&k, b, h / shared).t()) * scale;
        scores.index_axis_mut(Axis(0), b).index_axis_mut(Axis(0), h).assign(&products);
    }
    let mut scores = scores.into_dyn();
    if let Some(mask) = mask {
        masked(&mut scores, &mask, false, wrong())?;
    }
    if causal {
        for (at, score) in scores.indexed_iter_mut() {
            // The last query attends to all keys.
            *score = if at[3] + rows > at[2] + columns { f64::NEG_INFINITY } else { *score };
        }
    }
    softmax(&mut scores);
    let weights = scores.into_dimensionality::<Ix4>().map_err(|_| wrong())?;
    for (b, h) in (0..batch).flat_map(|b| (0..count).map(move |h| (b, h))) {
        let sums = matrix(&weights, b, h).dot(&matrix(&v, b, h / shared));
        output.index_axis_mut(Axis(0), b).index_axis_mut(Axis(0), h).assign(&sums);
    }
    let output = output.into_dyn();
    let output = if query.rank() == 3 { output.index_axis_move(Axis(1), 0) } else { output };
    Ok(vec![like(output, query.dtype())?])
}

/// The mask, if there is one; for queries of rank 3, with an axis of heads.
fn mask(call: &Call, rank: usize, wrong: impl Fn() -> EvalError) -> Result<Option<ArrayD<f64>>, EvalError> {
    if !is_given(call, "mask") {
        return Ok(None);
    }
    let mask = call.tensor("mask")?;
    let mut array = scalars(&mask);
    // Missing leading axes have extent 1.
    let shape = [vec![1; rank.saturating_sub(array.ndim())], array.shape().to_vec()].concat();
    array = array.into_shape_with_order(IxDyn(&shape)).map_err(|_| wrong())?;
    if rank == 3 {
        array = array.insert_axis(Axis(1));
    }
    // A logical mask becomes 0 and 1, and is added like any other mask.
    Ok(Some(array))
}
