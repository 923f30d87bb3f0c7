//! Attention.

use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall, element_numbered};
use crate::onnx::standard::template::TemplateSettings;
use crate::onnx::types::ElementType;

/// The places of operands in a call.
const MASK: usize = 3;
const PAST: usize = 4;
const VALID: usize = 6;

/// The first version in which a mask may have fewer keys than there are.
const SHORT_MASKS: i64 = 24;

pub(in crate::onnx::standard) fn attention(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let own = call.element(0)?;
    let flat = match call.rank(0)? {
        3 => true,
        4 => false,
        _ => return Err(NotKnown),
    };
    let (query_heads, key_heads) = (call.int("q_num_heads", 0)?, call.int("kv_num_heads", 0)?);
    if flat && (query_heads <= 0 || key_heads <= 0) {
        return Err(NotKnown);
    }
    settings.flag("flat", flat).set("qheads", query_heads).set("kvheads", key_heads);
    let named = |settings: &mut TemplateSettings, key, is_new: bool, new: &'static str, old: &'static str| {
        settings.set(key, if is_new { new } else { old });
    };
    named(settings, "queries", flat, "queries", "Q");
    named(settings, "newkeys", flat, "new_keys", "K");
    named(settings, "newvalues", flat, "new_values", "V");
    let past = call.has_input(PAST);
    let (keys, values) = if flat { ("new_keys", "new_values") } else { ("K", "V") };
    let (keys, values) = if past { ("present_key", "present_value") } else { (keys, values) };
    settings.flag("past", past).flag("keys", call.has_output(1)).flag("values", call.has_output(2));
    settings.set("keys", keys).set("values", values);
    let heads = |i: usize, given: i64| if given > 0 { Ok(given) } else { call.extent(i, 1) };
    repetition(settings, (heads(0, query_heads), heads(1, key_heads)), keys, values);
    let size = if flat { call.extent(0, 2).map(|size| size / query_heads) } else { call.extent(0, 3) };
    scale(call, settings, size)?;
    let cap = call.float("softcap")?.unwrap_or(0.0);
    let capped = if cap > 0.0 { "capped" } else { "product" };
    settings.flag("cap", cap > 0.0).set("cap", number(cap)).set("capped", capped);
    let biased = bias(call, settings, own)?;
    let precision = call.has_attribute("softmax_precision").then(|| call.int("softmax_precision", 1)).transpose()?;
    let visible = if biased { "visible" } else { "softmax" };
    settings.set("visible", visible);
    precise(settings, own, precision, if biased { "biased" } else { capped }, visible)?;
    let shown = match call.int("qk_matmul_output_mode", 0)? {
        0 => "product",
        1 => capped,
        2 if biased => "biased",
        2 => capped,
        _ => "",
    };
    let probabilities = settings.value("probabilities");
    settings.flag("qk", call.has_output(3)).set("qk", if shown.is_empty() { probabilities } else { shown.into() });
    let other = call.element(2)?.number != own.number;
    let values = settings.value("allvalues");
    settings.flag("other", other).set("lastvalues", if other { "converted_values".into() } else { values });
    Ok(())
}

/// The graphs in its attributes are applied to scores and to weights.
pub(in crate::onnx::standard) fn flexible(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let own = call.element(0)?;
    repetition(settings, (call.extent(0, 1), call.extent(1, 1)), "K", "V");
    scale(call, settings, call.extent(0, 3))?;
    let default = if own.name == "double" { own } else { ElementType::named("float").ok_or(NotKnown)? };
    let (scores, weights) = (call.has_attribute("score_mod"), call.has_attribute("prob_mod"));
    let weighted = if weights { "weights" } else { "softmax" };
    let precision = call.int("softmax_precision", default.number.into())?;
    precise(settings, own, Some(precision), "product", weighted)?;
    let precise = settings.value("precise");
    settings.flag("scoremod", scores).set("scores", if scores { "scores".into() } else { precise });
    settings.flag("probmod", weights).set("weights", weighted);
    let given: Vec<&str> =
        [(scores, "score_mod"), (weights, "prob_mod")].iter().filter(|row| row.0).map(|row| row.1).collect();
    settings.set("mods", if given.is_empty() { String::new() } else { format!("<{}> ", given.join(", ")) });
    Ok(())
}

/// Keys and values of a head are those of several heads of queries.
fn repetition(
    settings: &mut TemplateSettings,
    heads: (Build<i64>, Build<i64>),
    keys: &'static str,
    values: &'static str,
) {
    let group = match heads {
        (Ok(queries), Ok(keys)) if keys > 0 && queries % keys == 0 => Some(queries / keys),
        _ => None,
    };
    let repeat = group != Some(1);
    settings.flag("repeat", repeat).flag("group", repeat && group.is_some()).flag("heads", group.is_none());
    settings.set("group", group.unwrap_or(1));
    settings.set("allkeys", if repeat { "all_keys" } else { keys });
    settings.set("allvalues", if repeat { "all_values" } else { values });
}

/// Queries and keys are multiplied by the root of the scale, so that products do not overflow.
fn scale(call: &StandardCall, settings: &mut TemplateSettings, head_size: Build<i64>) -> Build<()> {
    let given = call.float("scale")?.map(f64::from);
    let scale = given.or_else(|| head_size.ok().filter(|size| *size > 0).map(|size| 1.0 / (size as f64).sqrt()));
    settings.flag("scale", scale.is_some());
    let scale = scale.unwrap_or(1.0);
    let root = scale.abs().sqrt();
    settings.set("qscale", format!("{:e}", root.copysign(scale))).set("kscale", format!("{root:e}"));
    Ok(())
}

/// The type of softmax, and the conversions to it and back.
fn precise(
    settings: &mut TemplateSettings,
    own: &'static ElementType,
    precision: Option<i64>,
    from: &'static str,
    to: &'static str,
) -> Build<()> {
    let wanted = precision.map_or(Ok(own), element_numbered)?;
    let cast = wanted.number != own.number;
    settings.flag("precise", cast).set("P", wanted.name).set("p", wanted.number);
    settings.set("biased", from).set("precise", if cast { "precise" } else { from });
    settings.set("probabilities", if cast { "probabilities" } else { to });
    Ok(())
}

fn number(value: f32) -> String {
    format!("{value:e}")
}

/// The biases of scores, of the mask and of the positions of queries and keys. Returns whether there are any.
fn bias(call: &StandardCall, settings: &mut TemplateSettings, own: &ElementType) -> Build<bool> {
    let (causal, nonpad) = (call.int("is_causal", 0)? != 0, call.has_input(VALID));
    let (left, right) = (call.int("left_window_size", -1)?, call.int("right_window_size", -1)?);
    let positions = causal || left >= 0 || right >= 0;
    let hidden: Vec<&str> = [
        (causal, "hidden_future"),
        (left >= 0, "hidden_left"),
        (right >= 0, "hidden_right"),
        (nonpad, "hidden_padding"),
    ]
    .iter()
    .filter(|row| row.0)
    .map(|row| row.1)
    .collect();
    let mask = call.has_input(MASK);
    let pad = mask && call.version >= SHORT_MASKS && !has_all_keys(call);
    settings.flag("positions", positions).flag("causal", causal).flag("nonpad", nonpad).flag("pad", pad);
    settings.flag("left", left >= 0).set("left", left).flag("right", right >= 0).set("right", right);
    let offset = call.has_input(PAST) || nonpad;
    settings.flag("offset", offset).set("position", if offset { "query_position" } else { "query_column" });
    settings.flag("keyindex", !hidden.is_empty()).flag("keycount", !hidden.is_empty() || pad);
    settings.flag("hidden", !hidden.is_empty()).flag("mask", mask).flag("bias", mask || !hidden.is_empty());
    let mut all = hidden.first().copied().unwrap_or("").to_owned();
    for (i, other) in hidden.iter().enumerate().skip(1) {
        settings.line(format!("hidden_{i} = Or ({all}, {other})"));
        all = format!("hidden_{i}");
    }
    settings.set("hidden", all);
    let mut mask_bias = "attn_mask";
    if mask {
        let of_mask = call.element(MASK)?;
        let cast = of_mask.name != "bool" && of_mask.number != own.number;
        settings.flag("logical", of_mask.name == "bool").flag("maskcast", cast);
        if cast || of_mask.name == "bool" {
            mask_bias = "mask_bias";
        }
    }
    let padded = if pad { "padded_mask" } else { mask_bias };
    settings.set("mask", mask_bias).set("finalmask", padded);
    settings.set(
        "bias",
        match (mask, hidden.is_empty()) {
            (true, true) => padded,
            (true, false) => "bias",
            (false, _) => "position_bias",
        },
    );
    Ok(mask || !hidden.is_empty())
}

/// Whether a mask is known to have all keys.
fn has_all_keys(call: &StandardCall) -> bool {
    let axis = if call.rank(1) == Ok(3) { 1 } else { 2 };
    let past = if call.has_input(PAST) { call.extent(PAST, 2) } else { Ok(0) };
    let of_mask = call.rank(MASK).and_then(|rank| call.extent(MASK, usize::try_from(rank - 1).map_err(|_| NotKnown)?));
    match (call.extent(1, axis), past, of_mask) {
        (Ok(keys), Ok(past), Ok(of_mask)) => keys.checked_add(past) == Some(of_mask),
        _ => false,
    }
}
