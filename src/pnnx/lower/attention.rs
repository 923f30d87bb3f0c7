//! Attention: the values, weighted by the softmax of the scaled products of queries and keys.

use super::{Line, Lowered, Refusal, exact_quotient, extent_of, integers};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;

/// What the scores of items that a mask excludes get: the logarithm of 0, and of 1 for others.
const EXCLUDED: &str = "log(select(@0,0.0,1.0))";
/// The same for masks that say which items take part.
pub(super) const INCLUDED: &str = "log(select(@0,1.0,0.0))";

/// What is added to scores for a mask, by the formula for truth values.
pub(super) fn added(line: &mut Line, mask: TensorId, formula: &str) -> Lowered<TensorId> {
    match line.builder.graph.dtype(mask) {
        Some(Primitive::Scalar) => Ok(mask),
        Some(Primitive::Logical) => line.formula_of(formula, &[mask]),
        _ => Err(Refusal::Because("its mask is not known to be one of scalars or truth values".into())),
    }
}

/// Scores plus what a mask adds to them.
pub(super) fn masked(line: &mut Line, scores: TensorId, mask: TensorId) -> Lowered<TensorId> {
    line.add("add", vec![Value::Tensor(scores), Value::Tensor(mask)])
}

/// Which keys come no later than a query, as truth values.
fn causal(line: &mut Line, rank: i64, [queries, keys]: [i64; 2]) -> Lowered<TensorId> {
    let (rows, columns) = (line.numbers(&[queries, 1], |i| i as f64)?, line.numbers(&[1, keys], |i| i as f64)?);
    let mask = line.add("ge", vec![Value::Tensor(rows), Value::Tensor(columns)])?;
    line.with_rank(mask, rank)
}

/// Keys or values for more heads of queries: each of their heads is repeated.
fn repeated(line: &mut Line, x: TensorId, heads: i64) -> Lowered<TensorId> {
    let extents = line.extents(x)?;
    let [outer @ .., own, items, width] = &extents[..] else { return Err(Refusal::UNFIT) };
    let times = exact_quotient(heads, *own).ok_or_else(|| line.refuse("enable_gqa", "a divisor of the heads"))?;
    if times == 1 {
        return Ok(x);
    }
    let axis = outer.len() as i64;
    let x = line.with_axes(x, [axis.saturating_add(1)])?;
    let repeats = (0..=extents.len() as i64).map(|at| if at == axis.saturating_add(1) { times } else { 1 });
    let x = line.add("tile", vec![Value::Tensor(x), integers(repeats)])?;
    line.reshaped(x, &[outer, &[heads, *items, *width]].concat())
}

/// `F.scaled_dot_product_attention`.
pub(super) fn scaled(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let (query, mut key, mut value) = (line.tensor("query")?, line.tensor("key")?, line.tensor("value")?);
    let extents = line.extents(query)?;
    let &[.., queries, width] = &extents[..] else { return Err(Refusal::UNFIT) };
    let rank = extents.len() as i64;
    if line.rank(key)? > rank || line.rank(value)? > rank {
        return Err(Refusal::UNFIT);
    }
    let dropped: f64 = line.setting_or("dropout_p", 0.0)?;
    line.require("dropout_p", dropped == 0.0, "0")?;
    if line.flag("enable_gqa")? {
        let heads = extent_of(&extents, rank.saturating_sub(3))?;
        (key, value) = (repeated(line, key, heads)?, repeated(line, value, heads)?);
    }
    let (key, value) = (line.with_rank(key, rank)?, line.with_rank(value, rank)?);
    let keys = extent_of(&line.extents(key)?, rank.saturating_sub(2))?;
    let default = 1.0 / (width as f64).sqrt();
    let scale = line.optional("scale")?.unwrap_or(default);
    let scores = line.multiplied(query, key, [false, true])?;
    let mut scores = line.add("mul", vec![Value::Tensor(scores), Value::Scalar(scale)])?;
    let mut logical = None;
    if let Ok(mask) = line.tensor("attn_mask") {
        let mask = line.with_rank(mask, rank)?;
        logical = Some(mask).filter(|mask| line.builder.graph.dtype(*mask) == Some(Primitive::Logical));
        let mask = added(line, mask, INCLUDED)?;
        scores = masked(line, scores, mask)?;
    }
    let causal_only = line.flag("is_causal")?;
    if causal_only {
        line.require("is_causal", line.operand("attn_mask").is_none(), "`False` beside a mask")?;
        let mask = causal(line, rank, [queries, keys])?;
        let mask = added(line, mask, INCLUDED)?;
        scores = masked(line, scores, mask)?;
    }
    let mut weights = line.add("softmax", vec![Value::Tensor(scores), integers([rank.saturating_sub(1)])])?;
    if let Some(mask) = logical {
        // A query that may see no key gets zeros.
        weights = line.formula_of("select(@0,@1,0.0)", &[mask, weights])?;
    }
    Ok(vec![line.multiplied(weights, value, [false, false])?])
}

/// The extents of a module of attention.
#[derive(Clone, Copy)]
struct HeadExtents {
    batch: i64,
    queries: i64,
    keys: i64,
    width: i64,
    heads: i64,
}

/// The operands of a module of attention: query, key and value. Equal ones may be left out.
fn operands(line: &Line) -> Lowered<[TensorId; 3]> {
    const MASKS: [&str; 2] = ["attn_mask", "key_padding_mask"];
    if line.operand("query").is_some() {
        let or = |name: &str, other: TensorId| if line.operand(name).is_some() { line.tensor(name) } else { Ok(other) };
        let query = line.tensor("query")?;
        let key = or("key", query)?;
        return Ok([query, key, or("value", key)?]);
    }
    let mut found = Vec::new();
    for operand in line.operands.iter().filter(|operand| !MASKS.contains(&operand.name.as_str())) {
        let ExpandedItem::Tensor(tensor) = operand.item else { continue };
        operand.used.set(true);
        found.push(tensor);
    }
    match found[..] {
        [all] => Ok([all; 3]),
        [query, rest] => Ok([query, rest, rest]),
        [query, key, value] => Ok([query, key, value]),
        _ => Err(Refusal::UNFIT),
    }
}

/// The weights of the projections of query, key and value, with their biases.
fn projections(line: &mut Line, width: i64) -> Lowered<[(TensorId, Option<TensorId>); 3]> {
    let third = |at: i64| Some(width.checked_mul(at)?..width.checked_mul(at.checked_add(1)?)?);
    let ranges = [third(0), third(1), third(2)].map(|range| range.ok_or(Refusal::UNFIT));
    let bias = line.weights("in_proj_bias")?;
    let packed = line.weights("in_proj_weight")?;
    let mut found = Vec::with_capacity(3);
    for (range, key) in ranges.into_iter().zip(["q_proj_weight", "k_proj_weight", "v_proj_weight"]) {
        let range = range?;
        let weight = match packed {
            Some(packed) => line.part_of(packed, 0, range.clone())?,
            None => line.data(key)?,
        };
        let bias = match bias {
            Some(bias) => Some(line.part_of(bias, 0, range)?),
            None => None,
        };
        found.push((weight, bias));
    }
    <[_; 3]>::try_from(found).map_err(|_| Refusal::UNFIT)
}

/// The products of all vectors with the transposed weights, plus the bias.
pub(super) fn projected(line: &mut Line, x: TensorId, weight: TensorId, bias: Option<TensorId>) -> Lowered<TensorId> {
    let weight = line.with_rank(weight, 3)?;
    let y = line.multiplied(x, weight, [false, true])?;
    match bias {
        Some(bias) => {
            let bias = line.with_rank(bias, 3)?;
            line.add("add", vec![Value::Tensor(y), Value::Tensor(bias)])
        }
        None => Ok(y),
    }
}

/// An operand with the axes (batch, items, width).
fn batch_first(line: &mut Line, x: TensorId, first: bool) -> Lowered<TensorId> {
    match (line.rank(x)?, first) {
        (2, _) => line.with_axes(x, [0]),
        (3, true) => Ok(x),
        (3, false) => line.transposed(x, &[1, 0, 2]),
        _ => Err(Refusal::UNFIT),
    }
}

/// Keys or values with one more item, which is stored.
fn extended(line: &mut Line, x: TensorId, key: &str, of: HeadExtents) -> Lowered<TensorId> {
    let more = line.data(key)?;
    let more = line.reshaped(more, &[1, 1, of.width])?;
    let more =
        if of.batch == 1 { more } else { line.add("tile", vec![Value::Tensor(more), integers([of.batch, 1, 1])])? };
    line.concatenated(&[x, more], 1)
}

/// A tensor of (batch, items, width) as (batch, heads, items, width of a head).
fn apart(line: &mut Line, x: TensorId, of: HeadExtents) -> Lowered<TensorId> {
    let each = exact_quotient(of.width, of.heads).ok_or(Refusal::UNFIT)?;
    let items = extent_of(&line.extents(x)?, 1)?;
    let x = line.reshaped(x, &[of.batch, items, of.heads, each])?;
    line.transposed(x, &[0, 2, 1, 3])
}

/// What the masks add to the scores, with `more` keys that no mask excludes.
fn masks(line: &mut Line, of: HeadExtents, more: i64) -> Lowered<Option<TensorId>> {
    let mut all = None;
    if let Ok(mask) = line.tensor("attn_mask") {
        let mask = added(line, mask, EXCLUDED)?;
        let shape = match line.rank(mask)? {
            2 => [1, 1, of.queries, of.keys],
            _ => [of.batch, of.heads, of.queries, of.keys],
        };
        all = Some(line.reshaped(mask, &shape)?);
        // It is only a hint about the mask.
        line.ignore("is_causal");
    } else {
        line.off("is_causal")?;
    }
    if let Ok(mask) = line.tensor("key_padding_mask") {
        let mask = added(line, mask, EXCLUDED)?;
        let mask = line.reshaped(mask, &[of.batch, 1, 1, of.keys])?;
        all = Some(match all {
            Some(other) => masked(line, other, mask)?,
            None => mask,
        });
    }
    match all {
        Some(mask) if more > 0 => {
            let padding = crate::library::assembly::pairs([(0, 0), (0, 0), (0, 0), (0, more)]);
            let border = [Value::String("constant".into()), Value::Scalar(0.0)];
            Ok(Some(line.on("pad", mask, std::iter::once(padding).chain(border))?))
        }
        all => Ok(all),
    }
}

/// Reads what a module says about its extents, and settings without an effect here.
fn checked(line: &Line, [query, key, value]: [TensorId; 3]) -> Lowered<HeadExtents> {
    let (q, k, v) = (line.extents(query)?, line.extents(key)?, line.extents(value)?);
    let (&[batch, queries, width], &[others, keys, key_width], &[_, values, value_width]) = (&q[..], &k[..], &v[..])
    else {
        return Err(Refusal::UNFIT);
    };
    if others != batch || values != keys || v.first() != Some(&batch) {
        return Err(Refusal::UNFIT);
    }
    line.agrees("embed_dim", &[Some(width)])?;
    line.agrees("kdim", &[Some(key_width)])?;
    line.agrees("vdim", &[Some(value_width)])?;
    let heads = line.at_least("num_heads", 1, None)?;
    let fits = exact_quotient(width, heads).is_some();
    line.require("num_heads", fits, &format!("a divisor of {width}"))?;
    line.agrees_with("bias", line.weights("in_proj_bias")?.is_some())?;
    ["dropout", "need_weights"].iter().for_each(|key| line.ignore(key));
    Ok(HeadExtents { batch, queries, keys, width, heads })
}

/// `nn.MultiheadAttention`. The second result has the weights, which are the means over all heads.
pub(super) fn multihead(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let given = operands(line)?;
    let first = line.flag("batch_first")?;
    let single = line.rank(given[0])? == 2;
    let mut operands = Vec::with_capacity(3);
    for operand in given {
        // Equal operands stay equal.
        let known = given.iter().zip(&operands).find(|(other, _)| **other == operand).map(|(_, made)| *made);
        operands.push(match known {
            Some(known) => known,
            None => batch_first(line, operand, first)?,
        });
    }
    let &[query, key, value] = &operands[..] else { return Err(Refusal::UNFIT) };
    let of = checked(line, [query, key, value])?;
    let [q, k, v] = projections(line, of.width)?;
    let (query, mut key, mut value) =
        (projected(line, query, q.0, q.1)?, projected(line, key, k.0, k.1)?, projected(line, value, v.0, v.1)?);
    let more = i64::from(line.flag("add_bias_kv")?);
    if more > 0 {
        (key, value) = (extended(line, key, "bias_k", of)?, extended(line, value, "bias_v", of)?);
    }
    let (query, mut key, mut value) = (apart(line, query, of)?, apart(line, key, of)?, apart(line, value, of)?);
    let zeros = i64::from(line.flag("add_zero_attn")?);
    if zeros > 0 {
        let shape = [of.batch, of.heads, 1, exact_quotient(of.width, of.heads).ok_or(Refusal::UNFIT)?];
        let zero = line.numbers(&shape, |_| 0.0)?;
        (key, value) = (line.concatenated(&[key, zero], 2)?, line.concatenated(&[value, zero], 2)?);
    }
    let weights = weights(line, [query, key], of, more.saturating_add(zeros))?;
    let y = line.multiplied(weights, value, [false, false])?;
    let y = line.transposed(y, &[0, 2, 1, 3])?;
    let y = line.reshaped(y, &[of.batch, of.queries, of.width])?;
    let (weight, bias) = (line.data("out_proj.weight")?, line.weights("out_proj.bias")?);
    let y = projected(line, y, weight, bias)?;
    let y = match (single, first) {
        (true, _) => line.without_axes(y, &[0])?,
        (false, true) => y,
        (false, false) => line.transposed(y, &[1, 0, 2])?,
    };
    let averaged = line.optional("average_attn_weights")?.unwrap_or(true);
    if line.operator.outputs.len() < 2 {
        return Ok(vec![y]);
    }
    let shown = if averaged { line.on("mean_reduce", weights, [integers([1])])? } else { weights };
    let axes: Vec<i64> = [(single, 0), (averaged, 1)].iter().filter(|(drop, _)| *drop).map(|(_, axis)| *axis).collect();
    Ok(vec![y, line.without_axes(shown, &axes)?])
}

/// The weights of all keys for each query: (batch, heads, queries, keys).
fn weights(line: &mut Line, [query, key]: [TensorId; 2], of: HeadExtents, more: i64) -> Lowered<TensorId> {
    let each = exact_quotient(of.width, of.heads).ok_or(Refusal::UNFIT)?;
    let scale = Value::Scalar(1.0 / (each as f64).sqrt());
    let scores = line.multiplied(query, key, [false, true])?;
    let mut scores = line.add("mul", vec![Value::Tensor(scores), scale])?;
    if let Some(mask) = masks(line, of, more)? {
        scores = masked(line, scores, mask)?;
    }
    line.add("softmax", vec![Value::Tensor(scores), integers([3])])
}
