//! Single steps of recurrent networks.

use ndarray::{ArrayD, Axis};

use crate::eval::array::scalars;
use crate::eval::error::EvalError;
use crate::eval::eval_call::{Call, KernelResult};

use super::{like, natural, number_or, unfit};

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The items of operands with these row widths, and the number of rows, which is that of the last operand, the state.
fn rows(call: &Call, names: &[(&str, usize)]) -> Result<(Vec<Vec<f64>>, usize), EvalError> {
    let tensors: Vec<_> = names.iter().map(|(name, _)| call.numbers(name)).collect::<Result<_, _>>()?;
    let shapes: Vec<&[usize]> = tensors.iter().map(|tensor| tensor.shape()).collect();
    let state = tensors.last().map_or(0, |tensor| tensor.len());
    let width = names.last().map_or(0, |(_, width)| *width);
    if width == 0 || tensors.iter().zip(names).any(|(tensor, (_, own))| tensor.len() * width != state * own) {
        return Err(unfit(call, &shapes));
    }
    Ok((tensors.iter().map(|tensor| tensor.to_scalars()).collect(), state / width))
}

/// A step of a GRU. The gates are update, reset and candidate.
pub(in crate::eval) fn gru(call: &Call) -> KernelResult {
    let h = natural(call, "hidden")?;
    let (operands, count) = rows(call, &[("xh", 3 * h), ("rh", 3 * h), ("h_prev", h)])?;
    let [x, r, before] = &operands[..] else { return Ok(Vec::new()) };
    let mut output = scalars(&*call.numbers("h_prev")?);
    let items: Vec<f64> = (0..count)
        .flat_map(|row| (0..h).map(move |j| (row * 3 * h, row * h + j, j)))
        .map(|(gates, at, j)| {
            let update = sigmoid(x[gates + j] + r[gates + j]);
            let reset = sigmoid(x[gates + h + j] + r[gates + h + j]);
            let candidate = (x[gates + 2 * h + j] + reset * r[gates + 2 * h + j]).tanh();
            candidate + update * (before[at] - candidate)
        })
        .collect();
    output.iter_mut().zip(items).for_each(|(item, new)| *item = new);
    super::one(output)
}

/// A step of an LSTM. The gates are input, output, forget and candidate.
pub(in crate::eval) fn lstm(call: &Call) -> KernelResult {
    let h = natural(call, "hidden")?;
    let (operands, count) = rows(call, &[("preact", 4 * h), ("c_prev", h)])?;
    let [x, before] = &operands[..] else { return Ok(Vec::new()) };
    let c_prev = call.numbers("c_prev")?;
    let (mut state, mut cell) = (scalars(&c_prev), scalars(&c_prev));
    let mut results = state.iter_mut().zip(cell.iter_mut());
    for (gates, at, j) in (0..count).flat_map(|row| (0..h).map(move |j| (row * 4 * h, row * h + j, j))) {
        let candidate = sigmoid(x[gates + j]) * x[gates + 3 * h + j].tanh();
        let new = sigmoid(x[gates + 2 * h + j]) * before[at] + candidate;
        if let Some((state, cell)) = results.next() {
            (*state, *cell) = (sigmoid(x[gates + h + j]) * new.tanh(), new);
        }
    }
    Ok(vec![like(state, c_prev.dtype())?, like(cell, c_prev.dtype())?])
}

/// A step of a depthwise causal convolution with SiLU. The state has the latest items of each channel.
pub(in crate::eval) fn causal_conv(call: &Call) -> KernelResult {
    let (input, weight, state) = (call.numbers("input")?, call.numbers("weight")?, call.numbers("initial_state")?);
    let wrong = || unfit(call, &[input.shape(), weight.shape(), state.shape()]);
    let width = *weight.shape().last().filter(|width| **width > 0).ok_or_else(wrong)?;
    if weight.len() != input.len() * width || state.len() != weight.len() {
        return Err(wrong());
    }
    let (x, w, before) = (input.to_scalars(), weight.to_scalars(), state.to_scalars());
    let (mut output, mut after) = (scalars(&input), scalars(&state));
    let channels = output.iter_mut().zip(x.iter().zip(w.chunks(width).zip(before.chunks(width))));
    let mut states = after.iter_mut();
    for (item, (new, (weight, before))) in channels {
        let now: Vec<f64> = before[1..].iter().copied().chain([*new]).collect();
        let sum: f64 = now.iter().zip(weight).map(|(a, b)| a * b).sum();
        *item = sum * sigmoid(sum);
        now.into_iter().zip(&mut states).for_each(|(new, item)| *item = new);
    }
    Ok(vec![like(output, input.dtype())?, like(after, state.dtype())?])
}

/// A step of the gated delta rule for each head.
pub(in crate::eval) fn gated_delta(call: &Call) -> KernelResult {
    let [query, key, value] = [call.numbers("query")?, call.numbers("key")?, call.numbers("value")?];
    let (decay, beta, state) = (call.numbers("log_decay")?, call.numbers("beta")?, call.numbers("initial_state")?);
    let wrong = || unfit(call, &[query.shape(), key.shape(), value.shape(), state.shape()]);
    let width = *query.shape().last().filter(|width| **width > 0).ok_or_else(wrong)?;
    let heads = query.len() / width;
    let fits = query.shape() == key.shape() && query.shape() == value.shape();
    if !fits || decay.len() != heads || beta.len() != heads || state.len() != heads * width * width {
        return Err(wrong());
    }
    call.budget().product(state.len(), 4)?;
    let [q, k, v, g, b, old] = [&query, &key, &value, &decay, &beta, &state].map(|tensor| tensor.to_scalars());
    let (mut output, mut new) = (vec![0.0; q.len()], vec![0.0; old.len()]);
    let unit = |items: &[f64]| 1.0 / (items.iter().map(|item| item * item).sum::<f64>() + 1e-6).sqrt();
    for head in 0..heads {
        let (row, matrix) = (head * width, head * width * width);
        let (q, k) = (&q[row..row + width], &k[row..row + width]);
        let (by_q, by_k, decay) = (unit(q), unit(k), g[head].exp());
        for column in 0..width {
            let at = |i: usize| matrix + i * width + column;
            let predicted: f64 = (0..width).map(|i| k[i] * by_k * old[at(i)] * decay).sum();
            let rest = (v[row + column] - predicted) * b[head];
            let mut sum = 0.0;
            for i in 0..width {
                let next = old[at(i)] * decay + k[i] * by_k * rest;
                new[at(i)] = next;
                sum += q[i] * by_q * next;
            }
            output[row + column] = sum / (width as f64).sqrt();
        }
    }
    let array = |shape: &[usize], items| crate::eval::array::array(shape, items);
    Ok(vec![like(array(query.shape(), output)?, query.dtype())?, like(array(state.shape(), new)?, state.dtype())?])
}

/// Normalizes slices along an axis by a running mean; `step` gets it, a slice and whether to update the mean.
fn running(call: &Call, step: impl Fn(&mut ArrayD<f64>, &ArrayD<f64>, bool) -> ArrayD<f64>) -> KernelResult {
    let input = call.numbers("input")?;
    let (mut items, mut state) = (scalars(&input), call.scalars("state")?);
    let (axis, skip) = (call.axis("axis", items.ndim())?, natural(call, "skip")?);
    let complex = call.value("complex").is_some() && call.flag("complex")?;
    let mut shape = input.shape().to_vec();
    shape.remove(axis);
    if complex {
        shape.pop();
    }
    if state.shape() != shape {
        return Err(unfit(call, &[input.shape(), state.shape()]));
    }
    for (i, mut slice) in items.axis_iter_mut(Axis(axis)).enumerate() {
        let result = step(&mut state, &slice.to_owned(), i >= skip);
        slice.assign(&result);
    }
    super::one(items)
}

/// Divides items by the square root of a running mean of their absolute values.
pub(in crate::eval) fn unit_norm(call: &Call) -> KernelResult {
    let (alpha, epsilon) = (call.number("alpha")?, number_or(call, "epsilon", 1e-14)?);
    let complex = call.flag("complex")?;
    running(call, |state, items, counts| {
        let sizes = match complex {
            true => items.mapv(|x| x * x).sum_axis(Axis(items.ndim() - 1)).mapv(f64::sqrt),
            false => items.mapv(f64::abs),
        };
        if counts {
            state.zip_mut_with(&sizes, |state, x| *state = x.max(epsilon) * (1.0 - alpha) + *state * alpha);
        }
        let roots = state.mapv(f64::sqrt);
        if complex { items / &roots.insert_axis(Axis(items.ndim() - 1)) } else { items / &roots }
    })
}

/// Subtracts a running mean from items.
pub(in crate::eval) fn mean_norm(call: &Call) -> KernelResult {
    let (alpha, factor) = (call.number("alpha")?, number_or(call, "scaling_factor", 1.0)?);
    running(call, |state, items, counts| {
        if counts {
            state.zip_mut_with(items, |state, x| *state = x * (1.0 - alpha) + *state * alpha);
        }
        (items - &*state) / factor
    })
}
