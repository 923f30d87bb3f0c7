//! Layers that carry a state from place to place: linear attention, causal convolution, and caches.

use super::heads::Heads;
use super::reals::Reals;
use crate::eval::EvalError;
use crate::onnx::run::node_call::{KernelResult, NodeCall};

/// The factors of a node that depend on the place.
struct Gates<'c> {
    /// Logarithms of the factors by which the state decays, for each head or each item of keys.
    decay: Option<Reals<'c>>,
    /// The rates at which the state is updated.
    rate: Option<Reals<'c>>,
    heads: usize,
}

impl<'c> Gates<'c> {
    fn read(call: &'c NodeCall, k: &Heads) -> Result<Self, EvalError> {
        let rule = call.text_or("update_rule", "gated_delta")?;
        let (decays, rated) = match &*rule {
            "linear" => (false, false),
            "gated" => (true, false),
            "delta" => (false, true),
            "gated_delta" => (true, true),
            other => return Err(call.refused(format!("`update_rule` is '{other}'"))),
        };
        let (decay, rate) = (Reals::optional(call, 4)?, Reals::optional(call, 5)?);
        let fits = |of: &Option<Reals>, wanted: bool, widths: [usize; 2]| match of {
            None => !wanted,
            Some(of) => wanted && widths.iter().any(|&width| of.shape == [k.batch, k.places, width]),
        };
        match fits(&decay, decays, [k.heads, k.heads * k.size]) && fits(&rate, rated, [k.heads, 1]) {
            true => Ok(Gates { decay, rate, heads: k.heads }),
            false => Err(call.misfit(format!("decay and rate do not fit the rule '{rule}'"))),
        }
    }

    /// The factor by which a row of the state decays.
    fn decay(&self, place: usize, head: usize, row: usize) -> f64 {
        let Some(decay) = &self.decay else { return 1.0 };
        let width = decay.shape[2];
        let at = if width == self.heads { head } else { head * (width / self.heads) + row };
        decay.items[place * width + at].exp()
    }

    /// The rate of an update.
    fn rate(&self, place: usize, head: usize) -> Option<f64> {
        let rate = self.rate.as_ref()?;
        Some(if rate.shape[2] == 1 { rate.items[place] } else { rate.items[place * rate.shape[2] + head] })
    }
}

/// `LinearAttention`.
pub(in crate::onnx) fn linear_attention(call: &NodeCall) -> KernelResult {
    let q = Heads::read(call, 0, "q_num_heads")?;
    let (k, v) = (Heads::read(call, 1, "kv_num_heads")?, Heads::read(call, 2, "kv_num_heads")?);
    let alike = [&k, &v].iter().all(|x| (x.batch, x.places) == (q.batch, q.places));
    if !alike || k.heads != v.heads || q.size != k.size || k.heads == 0 || q.heads % k.heads != 0 {
        return Err(call.misfit("queries, keys and values do not fit"));
    }
    let extents = [q.batch, k.heads, k.size, v.size];
    let past = Reals::optional_shaped(call, 3, &extents)?;
    let dtype = past.as_ref().map_or(q.dtype, |past| past.dtype);
    let count = call.budget.room(&extents)?;
    let mut state = past.map_or_else(|| vec![0.0; count], |past| past.items.into_owned());
    let gates = Gates::read(call, &k)?;
    let scale = call.float("scale")?.filter(|&scale| scale != 0.0).unwrap_or(1.0 / (q.size as f64).sqrt());
    let each = q.heads / k.heads;
    let mut items = vec![0.0; call.budget.room(&[q.batch, q.heads, q.places, v.size])?];
    call.budget.product(count.saturating_mul(q.places), 4 + each)?;
    for at in 0..q.batch * k.heads {
        let (batch, head) = (at / k.heads, at % k.heads);
        let state = &mut state[at * k.size * v.size..][..k.size * v.size];
        for place in 0..q.places {
            let gated = batch * q.places + place;
            let factors: Vec<f64> = (0..k.size).map(|row| gates.decay(gated, head, row)).collect();
            let (key, value) = (k.vector(batch, head, place), v.vector(batch, head, place));
            step(state, &factors, key, value, gates.rate(gated, head));
            for query in head * each..(head + 1) * each {
                let to = &mut items[((batch * q.heads + query) * q.places + place) * v.size..][..v.size];
                for (row, q) in state.chunks_exact(v.size.max(1)).zip(q.vector(batch, query, place)) {
                    to.iter_mut().zip(row).for_each(|(to, s)| *to += scale * q * s);
                }
            }
        }
    }
    let y = Heads { items, size: v.size, ..q };
    Ok(vec![y.tensor(call, true)?.into(), call.rounded(dtype, &extents, state)?.into()])
}

/// Updates a state, whose rows belong to the items of keys.
fn step(state: &mut [f64], factors: &[f64], key: &[f64], value: &[f64], rate: Option<f64>) {
    let width = value.len().max(1);
    for (row, factor) in state.chunks_exact_mut(width).zip(factors) {
        row.iter_mut().for_each(|s| *s *= factor);
    }
    let mut update = value.to_vec();
    if let Some(rate) = rate {
        for (row, k) in state.chunks_exact(width).zip(key) {
            update.iter_mut().zip(row).for_each(|(v, s)| *v -= s * k);
        }
        update.iter_mut().for_each(|v| *v *= rate);
    }
    for (row, k) in state.chunks_exact_mut(width).zip(key) {
        row.iter_mut().zip(&update).for_each(|(s, v)| *s += k * v);
    }
}

/// `CausalConvWithState`: a convolution of each channel with the items before.
pub(in crate::onnx) fn causal_conv(call: &NodeCall) -> KernelResult {
    let x = Reals::of(call, 0)?.ranked(call, 3)?;
    let [batch, channels, length] = [x.shape[0], x.shape[1], x.shape[2]];
    let w = Reals::of(call, 1)?.ranked(call, 3)?;
    let size = w.shape[2];
    if w.shape[..2] != [channels, 1] || size == 0 {
        return Err(call.misfit(format!("filters of shape {:?} for {channels} channels", w.shape)));
    }
    let bias = Reals::optional_shaped(call, 2, &[channels])?;
    let past = Reals::optional_shaped(call, 3, &[batch, channels, size - 1])?;
    let swish = match &*call.text_or("activation", "none")? {
        "none" => false,
        "silu" | "swish" => true,
        other => return Err(call.refused(format!("`activation` is '{other}'"))),
    };
    let (mut items, mut last) = (Vec::with_capacity(call.budget.room(x.shape)?), Vec::new());
    call.budget.product(x.items.len(), size)?;
    call.budget.room(&[batch, channels, size - 1])?;
    for row in 0..batch * channels {
        let mut line = match &past {
            Some(past) => past.items[row * (size - 1)..][..size - 1].to_vec(),
            None => vec![0.0; size - 1],
        };
        line.extend_from_slice(&x.items[row * length..][..length]);
        let (channel, weights) = (row % channels, &w.items[row % channels * size..][..size]);
        let first = bias.as_ref().map_or(0.0, |bias| bias.items[channel]);
        for at in 0..length {
            let sum = first + line[at..].iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
            items.push(if swish { sum / (1.0 + (-sum).exp()) } else { sum });
        }
        last.extend_from_slice(&line[length..]);
    }
    let state = call.rounded(x.dtype, &[batch, channels, size - 1], last)?;
    Ok(vec![call.rounded(x.dtype, x.shape, items)?.into(), state.into()])
}
