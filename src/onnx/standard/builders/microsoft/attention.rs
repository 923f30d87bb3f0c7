//! Attention.

use super::heads::{FILTER, Heads};
use super::numbers::{bounded, extent};
use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

/// A part of each of several equal ones; none if it is not whole, or nothing.
fn share(whole: i64, parts: i64) -> Build<i64> {
    if parts > 0 && whole > 0 && whole % parts == 0 { Ok(whole / parts) } else { Err(NotKnown) }
}

/// The operands of attention with projections that differ between its operators.
struct Projected {
    weights: usize,
    mask: usize,
    past: usize,
    bias: Option<usize>,
}

pub(in crate::onnx::standard) fn attention(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    if call.has_input(6) {
        return Err(NotKnown);
    }
    settings.flag("bias", call.has_input(2));
    let from = if call.has_input(2) { "biased" } else { "projected" };
    projected(call, settings, from, &Projected { weights: 1, mask: 3, past: 4, bias: Some(5) })
}

pub(in crate::onnx::standard) fn quantized(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    settings.set("s", call.element(3)?.number).set("T", call.element_name(3));
    settings.set(
        "zeros",
        match (call.has_input(6), call.has_input(7)) {
            (false, false) => "",
            (true, false) => ", input_zero_point",
            (false, true) => ", , weight_zero_point",
            (true, true) => ", input_zero_point, weight_zero_point",
        },
    );
    projected(call, settings, "biased", &Projected { weights: 1, mask: 5, past: 8, bias: None })
}

fn projected(call: &StandardCall, settings: &mut TemplateSettings, from: &str, of: &Projected) -> Build<()> {
    if call.int("do_rotary", 0)? != 0 || call.int("past_present_share_buffer", 0)? != 0 {
        return Err(NotKnown);
    }
    let heads = bounded(call.int("num_heads", 0)?)?;
    let sizes = match call.ints("qkv_hidden_sizes")?.as_deref() {
        Some(&[q, k, v]) => [bounded(q)?, bounded(k)?, bounded(v)?],
        Some(&[]) | None => [share(extent(call, of.weights, 1)?, 3)?; 3],
        Some(_) => return Err(NotKnown),
    };
    let (size, value_size) = (share(sizes[0], heads)?, share(sizes[2], heads)?);
    let mut own = Heads::new(call, settings)?;
    own.split(from, 2, ["flat_queries", "flat_keys", "flat_values"], sizes);
    own.separate("flat_queries", "queries", heads, size);
    let (past, present) = (call.has_input(of.past), call.has_output(1));
    own.separate("flat_keys", if past { "new_keys" } else { "keys" }, heads, share(sizes[1], heads)?);
    own.separate("flat_values", if past { "new_values" } else { "values" }, heads, value_size);
    if past {
        for (i, name) in [(0, "keys"), (1, "values")] {
            own.line(format!("past_{name}_at = const int64 ({i})"));
            own.line(format!("past_{name} = Gather <axis: int = 0> (past, past_{name}_at)"));
            own.line(format!("{name} = Concat <axis: int = 2> (past_{name}, new_{name})"));
        }
    }
    if present {
        own.line("keys_of_present = along Unsqueeze (0) (keys)");
        own.line("values_of_present = along Unsqueeze (0) (values)");
        own.line("present = Concat <axis: int = 0> (keys_of_present, values_of_present)");
    }
    let bias = of.bias.filter(|i| call.has_input(*i)).map(|_| "attention_bias");
    masked(&mut own, of.mask, "mask_index", 0, bias)?;
    own.join("result", "output", sizes[2]);
    Ok(())
}

/// Writes the biases of masks, and the result of `queries`, `keys` and `values`. The size of heads is that of queries.
fn masked(own: &mut Heads, mask: usize, name: &str, batch: usize, bias: Option<&str>) -> Build<()> {
    let call = own.call;
    let causal = call.int("unidirectional", 0)? != 0;
    let mut biases = Vec::new();
    if causal || call.has_input(mask) {
        own.positions("queries", "keys");
    }
    if call.has_input(mask) {
        own.mask(mask, name, batch, call.float("mask_filter_value")?.unwrap_or(FILTER))?;
        biases.push("mask_bias");
    }
    if causal {
        own.causal();
        biases.push("causal_bias");
    }
    biases.extend(bias);
    let size = size_of_heads(call)?;
    let scale = own.scale(size)?;
    own.attend("queries", "keys", "values", scale, &biases);
    Ok(())
}

/// The size of a head of queries.
fn size_of_heads(call: &StandardCall) -> Build<i64> {
    let heads = bounded(call.int("num_heads", 0)?)?;
    if call.operator() == "MultiHeadAttention" {
        return match call.rank(0)? {
            5 => extent(call, 0, 4),
            _ => share(extent(call, 0, 2)?, heads),
        };
    }
    match call.ints("qkv_hidden_sizes")?.as_deref() {
        Some(&[q, _, _]) => share(q, heads),
        _ => share(share(extent(call, 1, 1)?, 3)?, heads),
    }
}

const BIAS: usize = 3;
const PAST_KEY: usize = 6;

pub(in crate::onnx::standard) fn multi_head(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    if call.has_input(8) || call.has_input(9) || call.has_output(3) {
        return Err(NotKnown);
    }
    let heads = bounded(call.int("num_heads", 0)?)?;
    let past = call.has_input(PAST_KEY) && call.has_input(PAST_KEY + 1);
    let mut own = Heads::new(call, settings)?;
    let (new_keys, new_values) = if past { ("new_keys", "new_values") } else { ("keys", "values") };
    let value_size = if call.rank(0)? == 5 {
        packed(&mut own, "query", &["queries", new_keys, new_values])?;
        extent(call, 0, 4)?
    } else {
        let size = share(extent(call, 0, 2)?, heads)?;
        let names = biased(&mut own, heads * size)?;
        own.separate(names[0], "queries", heads, size);
        match call.rank(1)? {
            5 => {
                packed(&mut own, "key", &[new_keys, new_values])?;
                extent(call, 1, 4)?
            }
            4 => {
                own.line(format!("{new_keys} = Identity (key)"));
                own.line(format!("{new_values} = Identity (value)"));
                extent(call, 2, 3)?
            }
            _ => {
                let value_size = share(extent(call, 2, 2)?, heads)?;
                own.separate(names[1], new_keys, heads, size);
                own.separate(names[2], new_values, heads, value_size);
                value_size
            }
        }
    };
    if past {
        own.line("keys = Concat <axis: int = 2> (past_key, new_keys)");
        own.line("values = Concat <axis: int = 2> (past_value, new_values)");
    }
    for (i, name, from) in [(1, "present_key", "keys"), (2, "present_value", "values")] {
        if call.has_output(i) {
            own.line(format!("{name} = Identity ({from})"));
        }
    }
    let bias = call.has_input(5).then_some("attention_bias");
    masked(&mut own, 4, "key_padding_mask", 0, bias)?;
    own.join("result", "output", heads.checked_mul(value_size).ok_or(NotKnown)?);
    Ok(())
}

/// Writes the heads of operands in one tensor with an axis for them behind that of heads.
fn packed(own: &mut Heads, x: &str, names: &[&str]) -> Build<()> {
    if own.call.has_input(BIAS) {
        return Err(NotKnown);
    }
    own.line(format!("packed = Transpose <perm: ints = [3, 0, 2, 1, 4]> ({x})"));
    for (i, name) in names.iter().enumerate() {
        own.line(format!("{name}_at = const int64 ({i})"));
        own.line(format!("{name} = Gather <axis: int = 0> (packed, {name}_at)"));
    }
    Ok(())
}

/// Writes queries, keys and values with their parts of the bias. Returns their names.
fn biased(own: &mut Heads, hidden: i64) -> Build<[&'static str; 3]> {
    let call = own.call;
    if !call.has_input(BIAS) {
        return Ok(["query", "key", "value"]);
    }
    if call.rank(1)? != 3 {
        return Err(NotKnown);
    }
    let of_values = extent(call, BIAS, 0)? - 2 * hidden;
    if of_values <= 0 {
        return Err(NotKnown);
    }
    own.split("bias", 0, ["query_bias", "key_bias", "value_bias"], [hidden, hidden, of_values]);
    own.line("biased_query = Add (query, query_bias)");
    own.line("biased_key = Add (key, key_bias)");
    own.line("biased_value = Add (value, value_bias)");
    Ok(["biased_query", "biased_key", "biased_value"])
}

pub(in crate::onnx::standard) fn rotary(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    if call.int("is_packed_batching", 0)? != 0 {
        return Err(NotKnown);
    }
    let (half, rank) = (extent(call, 2, 1)?, call.rank(0)?);
    let interleaved = call.int("interleaved", 0)? != 0;
    let mut own = Heads::new(call, settings)?;
    let (given, rotated) = (call.int("num_heads", 0)?, 2 * half);
    let hidden = if rank == 4 { extent(call, 0, 3)? } else { extent(call, 0, 2)? };
    let size = match (rank, given) {
        (4, _) => hidden,
        (_, 0) => rotated,
        (_, heads) => share(hidden, heads)?,
    };
    if rotated <= 0 || rotated > size || !(3..=4).contains(&rank) {
        return Err(NotKnown);
    }
    if rank == 3 {
        own.separate("input", "tokens", share(hidden, size)?, size);
    }
    let tokens = if rank == 4 { "input" } else { "tokens" };
    let positions = if call.rank(1)? == 1 {
        own.extent(tokens, "count", 2);
        own.line("first = const int64 (0)");
        own.line("one = const int64 (1)");
        own.line("index = Range (first, count, one)");
        own.line("row_positions = Add (index, position_ids)");
        own.line("positions = along Unsqueeze (0) (row_positions)");
        "positions"
    } else {
        "position_ids"
    };
    own.angles(positions);
    own.rotate(tokens, if rank == 4 { "output" } else { "rotated" }, size, rotated, interleaved);
    if rank == 3 {
        own.join("rotated", "output", hidden);
    }
    Ok(())
}
