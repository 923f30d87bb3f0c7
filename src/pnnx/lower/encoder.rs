//! A layer of an encoder with attention, which torch computes as one operator: `nn.TransformerEncoderLayer`.

use super::LoweringRule::By;
use super::{Line, Lowered, LoweringRow, Refusal, exact_quotient, torch};
use crate::graph::{Primitive, TensorId, Value};
use crate::library::assembly::Assembly;

pub(super) const ROWS: &[LoweringRow] = &[(&["aten::_transformer_encoder_layer_fwd"], By(layer))];

/// Weights and a bias, by the keys of the operands.
#[derive(Clone, Copy)]
struct LayerWeights {
    weight: TensorId,
    bias: TensorId,
}

impl LayerWeights {
    fn read(line: &Line, weight: &str, bias: &str) -> Lowered<LayerWeights> {
        Ok(LayerWeights { weight: line.data(weight)?, bias: line.data(bias)? })
    }

    /// An operator of torch with these weights.
    fn apply(self, line: &mut Line, kind: &str, x: TensorId, settings: &[(&str, String)]) -> Lowered<TensorId> {
        torch(line, kind, &[("input", x), ("weight", self.weight), ("bias", self.bias)], settings)
    }
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
fn attention(line: &mut Line, x: TensorId, heads: i64) -> Lowered<TensorId> {
    let shape = line.extents(x)?;
    let &[batch, items, width] = &shape[..] else { return Err(Refusal::UNFIT) };
    let each = exact_quotient(width, heads).ok_or_else(|| line.refuse("num_heads", "a divisor of the width"))?;
    let all = LayerWeights::read(line, "qkv_weight", "qkv_bias")?.apply(line, "F.linear", x, &[])?;
    let mut parts = Vec::with_capacity(3);
    for at in 0..3i64 {
        let begin = at.checked_mul(width).ok_or(Refusal::UNFIT)?;
        let part = line.part_of(all, 2, (begin, begin.saturating_add(width)))?;
        let part = line.reshaped(part, &[batch, items, heads, each])?;
        parts.push(line.transposed(part, &[0, 2, 1, 3])?);
    }
    let mask = mask(line, [batch, items])?;
    let mut operands: Vec<(&str, TensorId)> = ["query", "key", "value"].into_iter().zip(parts).collect();
    operands.extend(mask.map(|mask| ("attn_mask", mask)));
    let y = torch(line, "F.scaled_dot_product_attention", &operands, &[])?;
    let y = line.transposed(y, &[0, 2, 1, 3])?;
    let y = line.reshaped(y, &shape)?;
    LayerWeights::read(line, "proj_weight", "proj_bias")?.apply(line, "F.linear", y, &[])
}

/// Two linear layers with an activation between them.
fn forward(line: &mut Line, x: TensorId) -> Lowered<TensorId> {
    let (first, second) = (
        LayerWeights::read(line, "ffn_weight_1", "ffn_bias_1")?,
        LayerWeights::read(line, "ffn_weight_2", "ffn_bias_2")?,
    );
    let y = first.apply(line, "F.linear", x, &[])?;
    let activation = if line.flag("use_gelu")? { "F.gelu" } else { "F.relu" };
    let y = torch(line, activation, &[("input", y)], &[])?;
    second.apply(line, "F.linear", y, &[])
}

/// The layer: attention and linear layers, each with a sum around it and a normalization before or behind.
fn layer(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let mut x = line.tensor("input")?;
    let width = *line.extents(x)?.last().ok_or(Refusal::UNFIT)?;
    line.agrees("embed_dim", &[Some(width)])?;
    let heads = line.at_least("num_heads", 1, None)?;
    let settings = [("normalized_shape", format!("({width})")), ("eps", format!("{:?}", line.required::<f64>("eps")?))];
    let norms = [("norm_weight_1", "norm_bias_1"), ("norm_weight_2", "norm_bias_2")];
    let is_before = line.flag("norm_first")?;
    for (at, (weight, bias)) in norms.into_iter().enumerate() {
        let norm = LayerWeights::read(line, weight, bias)?;
        let inner = if is_before { norm.apply(line, "F.layer_norm", x, &settings)? } else { x };
        let y = if at == 0 { attention(line, inner, heads)? } else { forward(line, inner)? };
        x = line.add("add", vec![Value::Tensor(x), Value::Tensor(y)])?;
        if !is_before {
            x = norm.apply(line, "F.layer_norm", x, &settings)?;
        }
    }
    Ok(vec![x])
}
