//! Layers of networks for texts and sounds: recurrent ones, attention, embeddings, rotations, sums of products.

use super::quantized;
use super::shaping::axis;
use super::{LayerLine, LayerRuleRow};
use crate::graph::{TensorId, Value};
use crate::library::assembly::recurrent::{Direction, projected, stacked};
use crate::library::assembly::{Assembly, integers};
use crate::library::recurrent::RecurrentKind;
use crate::ncnn::model::ParameterValue;
use crate::pnnx::lower::{Lowered, Refusal, torch};

pub(super) const ROWS: &[LayerRuleRow] = &[
    (&["Noop"], |line| Ok(line.operands.clone())),
    (&["GLU"], |line| along(line, "F.glu")),
    (&["CumulativeSum"], |line| along(line, "torch.cumsum")),
    (&["Flip"], flip),
    (&["Einsum"], einsum),
    (&["Embed"], embed),
    (&["Normalize"], normalize),
    (&["RotaryEmbed"], rotate),
    (&["SDPA"], attend),
    (&["MultiHeadAttention"], multihead),
    (&["LSTM"], |line| recurrent(line, RecurrentKind::Lstm)),
    (&["GRU"], |line| recurrent(line, RecurrentKind::Gru)),
    (&["RNN"], |line| recurrent(line, RecurrentKind::Rnn)),
];

/// A function of torch along an axis.
fn along(line: &mut LayerLine, kind: &str) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    let axis = axis(line, "axis", line.integer("axis")?, line.to.extents(x)?.len())?;
    Ok(vec![torch(&mut line.to, kind, &[("input", x)], &[("dim", axis.to_string())])?])
}

fn flip(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    let rank = line.to.extents(x)?.len();
    let numbers = line.integers("axes")?;
    let axes = numbers.into_iter().map(|number| axis(line, "axes", number, rank).map(|axis| axis.to_string()));
    let axes = axes.collect::<Lowered<Vec<String>>>()?;
    line.require("axes", !axes.is_empty(), "axes")?;
    Ok(vec![torch(&mut line.to, "torch.flip", &[("input", x)], &[("dims", format!("({})", axes.join(",")))])?])
}

/// Sums of products by an equation, which is a text, or an array of its characters.
fn einsum(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let letters = |items: &[i64]| {
        let letter = |item: &i64| u8::try_from(*item).ok().filter(u8::is_ascii).map(char::from);
        items.iter().map(letter).collect::<Option<String>>()
    };
    let equation = match line.given("equation") {
        Some(ParameterValue::Text(text)) => Some(text.clone()),
        Some(ParameterValue::Integers(items)) => letters(items),
        _ => None,
    };
    let equation = equation.ok_or_else(|| line.unsupported("equation", "an equation"))?;
    let operands: Vec<(&str, TensorId)> = line.operands.iter().map(|operand| ("operands", *operand)).collect();
    Ok(vec![torch(&mut line.to, "torch.einsum", &operands, &[("equation", equation)])?])
}

/// The rows of a table, plus a bias.
fn embed(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    ["num_output", "input_dim", "weight_data_size", "bias_term"].iter().for_each(|name| line.note(name));
    let (x, weight) = (line.only()?, line.weight("weight_data")?);
    let weight = quantized::table(line, weight)?;
    let places = torch(&mut line.to, "Tensor.long", &[("input", x)], &[])?;
    let mut y = torch(&mut line.to, "F.embedding", &[("input", places), ("weight", weight)], &[])?;
    if let Some(bias) = line.weight_if("bias_data") {
        let rank = line.to.rank(y)?;
        let bias = line.to.with_axes(bias, 0..rank.saturating_sub(1))?;
        y = line.to.on("add", y, [Value::Tensor(bias)])?;
    }
    Ok(vec![y])
}

/// Items divided by a norm: of all items, of those of a channel, or of those at a place.
fn normalize(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let x = line.only()?;
    let &[channels, ..] = &line.to.extents(x)?[..] else { return Err(Refusal::UNFIT) };
    if line.to.rank(x)? != 3 {
        return Err(Refusal::UNFIT);
    }
    let axes: &[i64] = match (line.flag("across_spatial")?, line.flag("across_channel")?) {
        (true, true) => &[0, 1, 2],
        (true, false) => &[1, 2],
        (false, true) => &[0],
        (false, false) => return Err(line.unsupported("across_channel", "1, or `across_spatial`")),
    };
    let epsilon = line.scalar("eps")?;
    let formula = match line.integer("eps_mode")? {
        0 => format!("rsqrt(add(@0,{epsilon:?}))"),
        1 => format!("rcp(maximum(sqrt(@0),{epsilon:?}))"),
        2 => format!("rsqrt(maximum(@0,{epsilon:?}))"),
        _ => return Err(line.unsupported("eps_mode", "0, 1 or 2")),
    };
    let squares = line.to.on("sqr", x, [])?;
    let sums = line.to.on("sum_reduce", squares, [integers(axes.iter().copied())])?;
    let factors = line.to.formula_of(&formula, &[sums])?;
    let y = line.to.on("mul", x, [Value::Tensor(factors)])?;
    let count = if line.flag("channel_shared")? { 1 } else { channels };
    line.note("scale_data_size");
    let scale = line.weight("scale_data")?;
    let scale = line.to.reshaped(scale, &[count, 1, 1])?;
    Ok(vec![line.to.on("mul", y, [Value::Tensor(scale)])?])
}

/// Rotations of pairs of items by angles: neighbours, or items of the two halves.
fn rotate(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    let &[x, cos, sin] = &line.operands[..] else { return Err(Refusal::UNFIT) };
    let extents = line.to.extents(x)?;
    let &[heads, steps, width] = &extents[..] else { return Err(Refusal::UNFIT) };
    let half = width.checked_div_euclid(2).filter(|half| half.saturating_mul(2) == width).ok_or(Refusal::UNFIT)?;
    let interleaved = line.flag("interleaved")?;
    // Each half may have angles of its own.
    let own = line.to.count(&line.to.extents(cos)?)? == steps.saturating_mul(width) && !interleaved;
    let angles = if own { width } else { half };
    let (apart, axis) = if interleaved { (vec![heads, steps, half, 2], 3) } else { (extents.clone(), 2) };
    let angle_shape = if interleaved { vec![1, steps, half, 1] } else { vec![1, steps, angles] };
    let split = if interleaved { 1..2 } else { half..width };
    let x = line.to.reshaped(x, &apart)?;
    let (first, second) = (line.to.part_of(x, axis, 0..split.start)?, line.to.part_of(x, axis, split)?);
    let mut parts = [Vec::new(), Vec::new()];
    for table in [cos, sin] {
        let table = line.to.reshaped(table, &angle_shape)?;
        let [before, behind] = &mut parts;
        before.push(if own { line.to.part_of(table, 2, 0..half)? } else { table });
        behind.push(if own { line.to.part_of(table, 2, half..width)? } else { table });
    }
    let [before, behind] = parts;
    let turned = line.to.formula_of("sub(mul(@0,@2),mul(@1,@3))", &[&[first, second][..], &before].concat())?;
    let raised = line.to.formula_of("add(mul(@0,@3),mul(@1,@2))", &[&[first, second][..], &behind].concat())?;
    let y = line.to.concatenated(&[turned, raised], axis)?;
    Ok(vec![line.to.reshaped(y, &extents)?])
}

/// Attention of heads, of which several may have keys and values in common.
fn heads(line: &mut LayerLine, [query, key, value]: [TensorId; 3], mask: Option<TensorId>) -> Lowered<TensorId> {
    let count = |line: &LayerLine, x: TensorId| Ok(line.to.extents(x)?.first().copied());
    let scale = line.scalar("scale")?;
    let mut operands = vec![("query", query), ("key", key), ("value", value)];
    operands.extend(mask.map(|mask| ("attn_mask", mask)));
    let mut settings = Vec::new();
    if count(line, query)? != count(line, key)? {
        settings.push(("enable_gqa", "True".to_owned()));
    }
    if scale != 0.0 {
        settings.push(("scale", format!("{scale:?}")));
    }
    torch(&mut line.to, "F.scaled_dot_product_attention", &operands, &settings)
}

/// The operands of attention apart: those that are attended to, the mask, and the caches of keys and values.
struct AttentionOperands {
    data: Vec<TensorId>,
    mask: Option<TensorId>,
    caches: Option<[TensorId; 2]>,
}

impl AttentionOperands {
    /// The mask is behind the data, and caches are behind the mask.
    fn read(line: &LayerLine) -> Lowered<Self> {
        let mut data = line.operands.clone();
        let mut last = || data.pop().ok_or(Refusal::UNFIT);
        let caches = if line.flag("kv_cache")? {
            let (values, keys) = (last()?, last()?);
            Some([keys, values])
        } else {
            None
        };
        let mask = if line.flag("attn_mask")? { Some(last()?) } else { None };
        Ok(AttentionOperands { data, mask, caches })
    }
}

/// Attention of heads. With caches, keys and values are those that were before and the new ones, which are results, too.
fn attend(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    line.is("int8_scale_term", 0)?;
    let AttentionOperands { data, mask, caches } = AttentionOperands::read(line)?;
    let [query, mut key, mut value] = <[TensorId; 3]>::try_from(data).map_err(|_| Refusal::UNFIT)?;
    if line.to.rank(query)? != 3 {
        return Err(Refusal::UNFIT);
    }
    if let Some([keys, values]) = caches {
        key = line.to.concatenated(&[keys, key], 1)?;
        value = line.to.concatenated(&[values, value], 1)?;
    }
    let y = heads(line, [query, key, value], mask)?;
    Ok(if caches.is_some() { vec![y, key, value] } else { vec![y] })
}

/// Rows times weights, plus a bias.
fn affine(line: &mut LayerLine, x: TensorId, weight: &str, bias: &str) -> Lowered<TensorId> {
    let (weight, bias) = (line.weight(weight)?, line.weight(bias)?);
    torch(&mut line.to, "F.linear", &[("input", x), ("weight", weight), ("bias", bias)], &[])
}

/// How the columns of queries, keys and values are those of heads.
#[derive(Clone, Copy)]
struct HeadColumns {
    count: i64,
    each: i64,
}

impl HeadColumns {
    /// Rows of all heads, apart.
    fn apart(self, line: &mut LayerLine, y: TensorId) -> Lowered<TensorId> {
        let &[items, _] = &line.to.extents(y)?[..] else { return Err(Refusal::UNFIT) };
        let y = line.to.reshaped(y, &[items, self.count, self.each])?;
        line.to.transposed(y, &[1, 0, 2])
    }

    /// A cache with further rows behind its own, and the rows of its heads apart. They are so in the cache, or columns of a
    /// matrix, as in ncnn until July 2026.
    fn cached(self, line: &mut LayerLine, cache: TensorId, rows: Option<TensorId>) -> Lowered<[TensorId; 2]> {
        let is_matrix = line.to.rank(cache)? == 2;
        let all = match rows {
            Some(rows) if is_matrix => {
                let columns = line.to.transposed(rows, &[1, 0])?;
                line.to.concatenated(&[cache, columns], 1)?
            }
            Some(rows) => {
                let rows = self.apart(line, rows)?;
                line.to.concatenated(&[cache, rows], 1)?
            }
            None => cache,
        };
        if !is_matrix {
            return Ok([all, all]);
        }
        let &[_, items] = &line.to.extents(all)?[..] else { return Err(Refusal::UNFIT) };
        let heads = line.to.reshaped(all, &[self.count, self.each, items])?;
        Ok([all, line.to.transposed(heads, &[0, 2, 1])?])
    }
}

fn multihead(line: &mut LayerLine) -> Lowered<Vec<TensorId>> {
    line.is("quantize_term", 0)?;
    ["weight_data_size", "kdim", "vdim"].iter().for_each(|name| line.note(name));
    let (width, count) = (line.integer("embed_dim")?, line.integer("num_heads")?);
    let each = width.checked_div(count).filter(|each| each.saturating_mul(count) == width);
    let each = each.ok_or_else(|| line.unsupported("num_heads", "a divisor of `embed_dim`"))?;
    let AttentionOperands { data, mask, caches } = AttentionOperands::read(line)?;
    let (is_own, [query, key, value]) = match data[..] {
        [all] => (true, [all; 3]),
        [query, rest] => (false, [query, rest, rest]),
        [query, key, value] => (false, [query, key, value]),
        _ => return Err(Refusal::UNFIT),
    };
    let names = [["q_weight_data", "q_bias_data"], ["k_weight_data", "k_bias_data"], ["v_weight_data", "v_bias_data"]];
    let caches = caches.map_or([None; 3], |[keys, values]| [None, Some(keys), Some(values)]);
    let (mut apart, mut kept) = (Vec::with_capacity(3), Vec::new());
    let columns = HeadColumns { count, each };
    for ((x, names), cache) in [query, key, value].into_iter().zip(names).zip(caches) {
        // Keys and values of another blob than the queries do not change from step to step: the cache has them all.
        let rows = if is_own || cache.is_none() { Some(affine(line, x, names[0], names[1])?) } else { None };
        apart.push(match (cache, rows) {
            (Some(cache), rows) => {
                let [all, heads] = columns.cached(line, cache, rows)?;
                kept.push(all);
                heads
            }
            (None, Some(rows)) => columns.apart(line, rows)?,
            (None, None) => return Err(Refusal::UNFIT),
        });
    }
    let apart = <[TensorId; 3]>::try_from(apart).map_err(|_| Refusal::UNFIT)?;
    let y = heads(line, apart, mask)?;
    let y = line.to.transposed(y, &[1, 0, 2])?;
    let &[items, ..] = &line.to.extents(y)?[..] else { return Err(Refusal::UNFIT) };
    let y = line.to.reshaped(y, &[items, width])?;
    let y = affine(line, y, "out_weight_data", "out_bias_data")?;
    Ok([vec![y], kept].concat())
}

/// Zeros.
fn zeros(line: &mut LayerLine, shape: [i64; 2]) -> Lowered<TensorId> {
    torch(&mut line.to, "torch.zeros", &[], &[("size", format!("({},{})", shape[0], shape[1]))])
}

/// Rows with those of gates in the order of torch: ncnn has the output gate of an LSTM before the cell.
fn gates(line: &mut LayerLine, x: TensorId, kind: RecurrentKind, rows: i64) -> Lowered<TensorId> {
    if kind != RecurrentKind::Lstm {
        return Ok(x);
    }
    let mut parts = Vec::with_capacity(4);
    for at in [0i64, 1, 3, 2] {
        let begin = rows.checked_mul(at).ok_or(Refusal::UNFIT)?;
        parts.push(line.to.part_of(x, 0, begin..begin.saturating_add(rows))?);
    }
    line.to.concatenated(&parts, 0)
}

/// The biases of a direction: of the products with the input, and of those with the state.
fn biases(
    line: &mut LayerLine,
    all: TensorId,
    kind: RecurrentKind,
    hidden: i64,
) -> Lowered<(TensorId, Option<TensorId>)> {
    let all = gates(line, all, kind, 1)?;
    let count = kind.gates();
    let width = hidden.checked_mul(count).ok_or(Refusal::UNFIT)?;
    let own = line.to.part_of(all, 0, 0..count)?;
    let own = line.to.reshaped(own, &[1, width])?;
    if kind != RecurrentKind::Gru {
        return Ok((own, None));
    }
    // The last bias is that of the product to which the reset gate applies.
    let last = line.to.item_of(all, 0, count)?;
    let none = zeros(line, [1, width.saturating_sub(hidden)])?;
    Ok((own, Some(line.to.concatenated(&[none, last], 1)?)))
}

/// The part for a direction of weights.
fn of_direction(line: &mut LayerLine, name: &str, at: i64) -> Lowered<TensorId> {
    let all = line.weight(name)?;
    let one = line.to.item_of(all, 0, at)?;
    line.to.without_axes(one, &[0])
}

/// The first state of a direction: zeros, unless an operand has it.
fn first(line: &mut LayerLine, operand: usize, at: i64, width: i64) -> Lowered<TensorId> {
    match line.operands.get(operand).copied() {
        Some(all) => line.to.item_of(all, 0, at),
        None => zeros(line, [1, width]),
    }
}

/// A layer of one or two directions over the rows of a matrix; also its last states, if these are results.
fn recurrent(line: &mut LayerLine, kind: RecurrentKind) -> Lowered<Vec<TensorId>> {
    line.is("int8_scale_term", 0)?;
    line.note("weight_data_size");
    let shown = line.integer("num_output")?;
    let hidden = if kind == RecurrentKind::Lstm { line.integer("hidden_size")? } else { shown };
    let way = line.integer("direction")?;
    line.require("direction", (0..=2).contains(&way), "0, 1 or 2")?;
    let states = if kind == RecurrentKind::Lstm { 3 } else { 2 };
    if ![1, states].contains(&line.operands.len()) || ![1, states].contains(&line.settings.layer.tops.len()) {
        return Err(Refusal::UNFIT);
    }
    let x = *line.operands.first().ok_or(Refusal::UNFIT)?;
    let &[steps, _] = &line.to.extents(x)?[..] else { return Err(Refusal::UNFIT) };
    let x = line.to.with_axes(x, [1])?;
    let activations: &[&str] =
        if kind == RecurrentKind::Rnn { &["tanh(@0)"] } else { &["sigmoid(@0)", "tanh(@0)", "tanh(@0)"] };
    let (mut sides, mut last, mut cells) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..if way == 2 { 2 } else { 1i64 } {
        let weights = of_direction(line, "weight_xc_data", at)?;
        let weights = gates(line, weights, kind, hidden)?;
        let recurrent = of_direction(line, "weight_hc_data", at)?;
        let recurrent = gates(line, recurrent, kind, hidden)?;
        let all = of_direction(line, "bias_c_data", at)?;
        let (own, bias) = biases(line, all, kind, hidden)?;
        let projection = match line.weight_if("weight_hr_data") {
            Some(_) => Some(of_direction(line, "weight_hr_data", at)?),
            None => None,
        };
        let direction = Direction {
            kind,
            steps,
            hidden,
            reverse: way == 1 || at == 1,
            projected: projected(&mut line.to, x, weights, Some(own))?,
            recurrent,
            bias,
            projection,
            activations: activations.iter().map(|formula| (*formula).to_owned()).collect(),
        };
        let state = first(line, 1, at, shown)?;
        let cell = if kind == RecurrentKind::Lstm { Some(first(line, 2, at, hidden)?) } else { None };
        let run = direction.unrolled(&mut line.to, (state, cell))?;
        sides.push(run.states);
        last.push(run.last);
        cells.extend(run.cell);
    }
    let y = line.to.concatenated(&sides, 2)?;
    let mut results = vec![line.to.without_axes(y, &[1])?];
    for states in [last, cells].into_iter().filter(|states| !states.is_empty()) {
        if results.len() < line.settings.layer.tops.len() {
            let all = stacked(&mut line.to, &states)?;
            results.push(line.to.without_axes(all, &[1])?);
        }
    }
    Ok(results)
}
