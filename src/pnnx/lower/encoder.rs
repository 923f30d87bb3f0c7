//! A layer of an encoder with attention, which torch computes as one operator: `nn.TransformerEncoderLayer`.

use super::LoweringRule::By;
use super::{Line, Lowered, LoweringRow, Refusal, activations, attention, exact_quotient, integers, norms};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;

pub(super) const ROWS: &[LoweringRow] = &[(&["aten::_transformer_encoder_layer_fwd"], By(layer))];

/// Linear functions of the last axis, with the weights and the bias of two operands.
fn linear(line: &mut Line, x: TensorId, [weight, bias]: [&str; 2]) -> Lowered<TensorId> {
    let (weight, bias) = (line.data(weight)?, line.data(bias)?);
    attention::projected(line, x, weight, Some(bias))
}

/// The last axis with mean 0 and variance 1, times a weight, plus a bias.
fn normalized(line: &mut Line, x: TensorId, [weight, bias]: [&str; 2]) -> Lowered<TensorId> {
    let mut y = norms::standardized(line, x, &[2])?;
    for (key, nnef) in [(weight, "mul"), (bias, "add")] {
        let of_last = line.data(key)?;
        let of_last = line.with_rank(of_last, 3)?;
        y = line.add(nnef, vec![Value::Tensor(y), Value::Tensor(of_last)])?;
    }
    Ok(y)
}

/// Which items take part: torch takes all that is not 0 in a mask for what is excluded, numbers, too.
fn mask(line: &mut Line, [batch, queries]: [i64; 2]) -> Lowered<Option<TensorId>> {
    if !line.has_tensor("mask") {
        line.ignore("mask");
        line.ignore("mask_type");
        return Ok(None);
    }
    let mask = line.tensor("mask")?;
    let mask = match line.primitive(mask)? {
        Primitive::Logical => line.formula_of("not(@0)", &[mask])?,
        _ => line.formula_of("eq(@0,0.0)", &[mask])?,
    };
    // 0: of queries and keys, 1: of the items of a batch, 2: of everything.
    let shape = match (line.optional::<i64>("mask_type")?, line.rank(mask)?) {
        (Some(0), 2) => [1, 1, queries, queries],
        (Some(1), 2) => [batch, 1, 1, queries],
        (_, 4) => return Ok(Some(mask)),
        _ => return Err(line.refuse("mask_type", "0 or 1 with a matrix")),
    };
    Ok(Some(line.reshaped(mask, &shape)?))
}

/// Attention of the items of a batch to each other.
fn attended(line: &mut Line, x: TensorId, heads: i64) -> Lowered<TensorId> {
    let shape = line.extents(x)?;
    let &[batch, items, width] = &shape[..] else { return Err(Refusal::UNFIT) };
    let each = exact_quotient(width, heads).ok_or_else(|| line.refuse("num_heads", "a divisor of the width"))?;
    let all = linear(line, x, ["qkv_weight", "qkv_bias"])?;
    let mut parts = Vec::with_capacity(3);
    for at in 0..3i64 {
        let begin = at.checked_mul(width).ok_or(Refusal::UNFIT)?;
        let part = line.part_of(all, 2, begin..begin.saturating_add(width))?;
        let part = line.reshaped(part, &[batch, items, heads, each])?;
        parts.push(line.transposed(part, &[0, 2, 1, 3])?);
    }
    let &[query, key, value] = &parts[..] else { return Err(Refusal::UNFIT) };
    let scores = line.multiplied(query, key, [false, true])?;
    let scale = Value::Scalar(1.0 / (each as f64).sqrt());
    let mut scores = line.add("mul", vec![Value::Tensor(scores), scale])?;
    if let Some(mask) = mask(line, [batch, items])? {
        let mask = attention::added(line, mask, attention::INCLUDED)?;
        scores = attention::masked(line, scores, mask)?;
    }
    let weights = line.add("softmax", vec![Value::Tensor(scores), integers([3])])?;
    let y = line.multiplied(weights, value, [false, false])?;
    let y = line.transposed(y, &[0, 2, 1, 3])?;
    let y = line.reshaped(y, &shape)?;
    linear(line, y, ["proj_weight", "proj_bias"])
}

/// Two linear layers with an activation between them.
fn forward(line: &mut Line, x: TensorId) -> Lowered<TensorId> {
    let y = linear(line, x, ["ffn_weight_1", "ffn_bias_1"])?;
    let y = match line.flag("use_gelu")? {
        true => activations::by_error_function(line, y)?,
        false => line.add("relu", vec![Value::Tensor(y)])?,
    };
    linear(line, y, ["ffn_weight_2", "ffn_bias_2"])
}

/// The layer: attention and linear layers, each with a sum around it and a normalization before or behind.
fn layer(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let mut x = line.tensor("input")?;
    let &[_, _, width] = &line.extents(x)?[..] else { return Err(Refusal::UNFIT) };
    line.agrees("embed_dim", &[Some(width)])?;
    let heads = line.at_least("num_heads", 1, None)?;
    let is_before = line.flag("norm_first")?;
    for (at, norm) in [["norm_weight_1", "norm_bias_1"], ["norm_weight_2", "norm_bias_2"]].into_iter().enumerate() {
        let inner = if is_before { normalized(line, x, norm)? } else { x };
        let y = if at == 0 { attended(line, inner, heads)? } else { forward(line, inner)? };
        x = line.add("add", vec![Value::Tensor(x), Value::Tensor(y)])?;
        if !is_before {
            x = normalized(line, x, norm)?;
        }
    }
    Ok(vec![x])
}
