//! Attention: means of values, weighted by the products of queries and keys.

use super::heads::Heads;
use super::reals::Reals;
use crate::eval::EvalError;
use crate::eval::kernels::{exchanged, multiplied};
use crate::onnx::run::broadcast::to;
use crate::onnx::run::node_call::{KernelResult, NodeCall};
use crate::tensor::kernels::soften;
use crate::tensor::{DType, Tensor};

/// What keeps queries from keys.
struct Masks<'c> {
    mask: Option<(&'c Tensor, Reals<'c>)>,
    causal: bool,
    /// The greatest distances to the left and to the right.
    window: [Option<i64>; 2],
    /// The number of keys of each batch that are valid.
    valid: Option<Vec<i64>>,
    /// The number of keys before those of the queries.
    past: usize,
}

impl<'c> Masks<'c> {
    fn read(call: &'c NodeCall, batch: usize, past: usize) -> Result<Self, EvalError> {
        let mask = call.optional(3)?.map(|mask| Ok::<_, EvalError>((&**mask, Reals::new(call, mask)?))).transpose()?;
        let bound = |name: &str| Ok::<_, EvalError>(call.int(name)?.filter(|&bound| bound >= 0));
        let valid = call.optional_list(6)?;
        if valid.as_ref().is_some_and(|valid| valid.len() != batch) {
            return Err(call.misfit("the numbers of valid keys are not those of the batch"));
        }
        let window = [bound("left_window_size")?, bound("right_window_size")?];
        Ok(Masks { mask, causal: call.flag("is_causal", false)?, window, valid, past })
    }

    /// What is added to the products of all queries and keys of a head.
    fn bias(
        &self,
        call: &NodeCall,
        at: [usize; 2],
        [batch, heads, queries, keys]: [usize; 4],
    ) -> Result<Vec<f64>, EvalError> {
        let mut bias = vec![0.0; call.budget.room(&[queries, keys])?];
        if let Some((tensor, mask)) = &self.mask {
            let wide = mask.shape.last().copied().unwrap_or(1);
            let narrow = !mask.shape.is_empty() && wide < keys;
            let mut full = vec![batch, heads, queries, keys];
            full[3] = if narrow { wide } else { keys };
            let fits = |(i, extent): (usize, &usize)| *extent == 1 && (i > 0) || *extent == full[3 - i];
            if mask.shape.len() > 4 || !mask.shape.iter().rev().enumerate().all(fits) {
                return Err(call.misfit(format!("a mask of shape {:?} for {full:?}", mask.shape)));
            }
            let steps = to(&full).steps(mask.shape);
            let start = at[0] * steps[0] + at[1] * steps[1];
            for (place, bias) in bias.iter_mut().enumerate() {
                let (i, j) = (place / keys, place % keys);
                *bias = if j >= full[3] {
                    f64::NEG_INFINITY
                } else {
                    let item = mask.items[start + i * steps[2] + j * steps[3]];
                    match (tensor.dtype(), item) {
                        (DType::Bool, 0.0) => f64::NEG_INFINITY,
                        (DType::Bool, _) => 0.0,
                        _ => item,
                    }
                };
            }
        }
        let valid = self.valid.as_ref().map(|valid| valid[at[0]]);
        let offset = match valid {
            Some(valid) if self.past == 0 => valid.saturating_sub(queries as i64),
            _ => self.past as i64,
        };
        for (place, bias) in bias.iter_mut().enumerate() {
            let (i, j) = ((place / keys) as i64, (place % keys) as i64);
            let ahead = j.saturating_sub(i).saturating_sub(offset);
            let beyond = self.causal && ahead > 0
                || self.window[0].is_some_and(|left| ahead < -left)
                || self.window[1].is_some_and(|right| ahead > right)
                || valid.is_some_and(|valid| j >= valid);
            if beyond {
                *bias = f64::NEG_INFINITY;
            }
        }
        Ok(bias)
    }
}

/// Turns a row of products into weights; all are 0 if no key is allowed.
fn softmax(row: &mut [f64], bias: &[f64]) {
    match bias.iter().all(|&bias| bias == f64::NEG_INFINITY) {
        true => row.fill(0.0),
        false => soften(row),
    }
}

/// The stage of the products that is a result.
struct Stages {
    mode: i64,
    cap: f64,
    scale: f64,
}

impl Stages {
    /// Turns products into weights, and keeps them at one stage.
    fn run(&self, scores: &mut [f64], bias: &[f64], keys: usize, kept: &mut Vec<f64>) {
        scores.iter_mut().for_each(|x| *x *= self.scale);
        let mut keep = |stage: i64, scores: &[f64]| {
            if stage == self.mode {
                kept.extend_from_slice(scores);
            }
        };
        keep(0, scores);
        if self.cap > 0.0 {
            scores.iter_mut().for_each(|x| *x = self.cap * (*x / self.cap).tanh());
        }
        keep(1, scores);
        scores.iter_mut().zip(bias).for_each(|(x, bias)| *x += bias);
        keep(2, scores);
        let rows = scores.chunks_exact_mut(keys.max(1)).zip(bias.chunks_exact(keys.max(1)));
        rows.for_each(|(row, bias)| softmax(row, bias));
        keep(3, scores);
    }
}

/// `Attention`.
pub(in crate::onnx) fn attention(call: &NodeCall) -> KernelResult {
    let packed = call.tensor(0)?.rank() == 3;
    let q = Heads::read(call, 0, "q_num_heads")?;
    let (k, past) = Heads::read(call, 1, "kv_num_heads")?.after(call, 4)?;
    let (v, _) = Heads::read(call, 2, "kv_num_heads")?.after(call, 5)?;
    let alike = (k.batch, v.batch) == (q.batch, q.batch) && k.heads == v.heads && k.places == v.places;
    if !alike || q.size != k.size || k.heads == 0 || q.heads % k.heads != 0 {
        return Err(call.misfit("queries, keys and values do not fit"));
    }
    let scale = call.float("scale")?.unwrap_or(1.0 / (q.size as f64).sqrt());
    let (cap, mode) = (call.float_or("softcap", 0.0)?, call.int_or("qk_matmul_output_mode", 0)?);
    let (stages, masks) = (Stages { mode, cap, scale }, Masks::read(call, q.batch, past)?);
    let (queries, keys, each) = (q.places, k.places, q.heads / k.heads);
    let shape = [q.batch, q.heads, queries, keys];
    let count = call.budget.room(&[q.batch, q.heads, queries, v.size])?;
    let (mut items, mut kept) = (Vec::with_capacity(count), Vec::new());
    if call.wants(3) {
        call.budget.room(&shape)?;
    }
    for at in 0..q.batch * q.heads {
        let (batch, head) = (at / q.heads, at % q.heads);
        call.budget.operation(|| {
            call.budget.room(&[keys, k.size])?;
            let turned = exchanged(k.head(batch, head / each), [1, keys, k.size, 1]);
            let mut scores = multiplied(call.budget, q.head(batch, head), &turned, [queries, q.size, keys])?;
            let bias = masks.bias(call, [batch, head], shape)?;
            stages.run(&mut scores, &bias, keys, &mut kept);
            items.extend(multiplied(call.budget, &scores, v.head(batch, head / each), [queries, keys, v.size])?);
            Ok::<_, EvalError>(())
        })?;
        if !call.wants(3) {
            kept.clear();
        }
    }
    let y = Heads { items, places: queries, size: v.size, ..q };
    let mut results = vec![y.tensor(call, packed)?.into()];
    if call.results() > 1 {
        results.extend([k.tensor(call, false)?.into(), v.tensor(call, false)?.into()]);
    }
    if call.wants(3) {
        results.push(call.rounded(y.dtype, &shape, kept)?.into());
    }
    Ok(results)
}

/// `RotaryEmbedding`: rotates pairs of items by angles that depend on the place.
pub(in crate::onnx) fn rotary_embedding(call: &NodeCall) -> KernelResult {
    let packed = call.tensor(0)?.rank() == 3;
    let mut x = Heads::read(call, 0, "num_heads")?;
    let dimension = match usize::try_from(call.int_or("rotary_embedding_dim", 0)?) {
        Ok(0) => x.size,
        Ok(dimension) if dimension <= x.size => dimension,
        _ => return Err(call.refused("`rotary_embedding_dim` is not within a head")),
    };
    let (cosines, sines) = (Reals::of(call, 1)?, Reals::of(call, 2)?);
    let (half, places, batch) = (dimension / 2, x.places, x.batch);
    let rows = match (call.optional_list(3)?, cosines.shape) {
        (Some(rows), [count, width]) if *width == half => {
            let row = |&row: &i64| usize::try_from(row).ok().filter(|row| row < count);
            let rows: Option<Vec<usize>> = rows.iter().map(row).collect();
            rows.filter(|rows| rows.len() == batch * places)
        }
        (None, shape) if shape == [batch, places, half] => Some((0..batch * places).collect()),
        _ => None,
    };
    let rows = rows.filter(|_| sines.shape == cosines.shape && dimension % 2 == 0);
    let rows = rows.ok_or_else(|| call.misfit("the angles do not fit the places"))?;
    let interleaved = call.flag("interleaved", false)?;
    for at in 0..batch * x.heads * places {
        let (block, place) = (at / (x.heads * places), at % places);
        let row = rows[block * places + place] * half;
        let items = &mut x.items[at * x.size..][..dimension];
        for i in 0..half {
            let (first, second) = if interleaved { (2 * i, 2 * i + 1) } else { (i, i + half) };
            let (a, b, cosine, sine) = (items[first], items[second], cosines.items[row + i], sines.items[row + i]);
            items[first] = cosine * a - sine * b;
            items[second] = sine * a + cosine * b;
        }
    }
    Ok(vec![x.tensor(call, packed)?.into()])
}
