//! Operators of sequences of tokens: rotary positions, causal convolutions and linear attention.

use crate::onnx::standard::standard_call::{Build, NotKnown, StandardCall};
use crate::onnx::standard::template::TemplateSettings;

pub(in crate::onnx::standard) fn rotary_embedding(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    call.element(0)?;
    let flat = call.rank(0)? == 3;
    let (heads, dim) = (call.int("num_heads", 0)?, call.int("rotary_embedding_dim", 0)?);
    if (flat && heads <= 0) || dim < 0 {
        return Err(NotKnown);
    }
    let part = dim > 0;
    let pairs = call.int("interleaved", 0)? != 0;
    let ids = call.has_input(3);
    settings.flag("flat", flat).flag("part", part).flag("pairs", pairs).flag("ids", ids);
    settings.set("heads", heads).set("dim", dim);
    settings.set("rotated", if part { "rotated" } else { "tokens" });
    settings.set("whole", if part { "whole" } else { "turned" });
    settings.set("cosines", if ids { "cosines" } else { "cos_cache" });
    settings.set("sines", if ids { "sines" } else { "sin_cache" });
    Ok(())
}

pub(in crate::onnx::standard) fn causal_convolution(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    call.element(0)?;
    let gate = match call.text("activation", "none")?.as_str() {
        "none" => false,
        "silu" | "swish" => true,
        _ => return Err(NotKnown),
    };
    let past = call.has_input(3);
    settings.flag("past", past).set("padding", if past { "past_state" } else { "padding" });
    settings.flag("bias", call.has_input(2)).flag("gate", gate).flag("state", call.has_output(1));
    settings.set("channels", call.extent(1, 0).or_else(|_| call.extent(0, 1))?);
    Ok(())
}

/// The recurrence is a scan over the tokens.
pub(in crate::onnx::standard) fn attention(call: &StandardCall, settings: &mut TemplateSettings) -> Build<()> {
    let own = call.element(0)?;
    let (query_heads, key_heads) = (call.int("q_num_heads", 0)?, call.int("kv_num_heads", 0)?);
    if key_heads <= 0 || query_heads <= 0 || query_heads % key_heads != 0 {
        return Err(NotKnown);
    }
    let rule = call.text("update_rule", "gated_delta")?;
    let (gated, delta) = match rule.as_str() {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        _ => return Err(NotKnown),
    };
    if gated != call.has_input(4) || delta != call.has_input(5) {
        return Err(NotKnown);
    }
    let cast = own.name != "float";
    settings.flag("cast", cast).flag("gated", gated).flag("delta", delta);
    settings.set("kvheads", key_heads).set("group", query_heads / key_heads);
    settings.set("decays", if cast { "decays" } else { "separate_decays" });
    let past = call.has_input(3);
    let of_state = if past { call.element(3)? } else { own };
    let narrow = of_state.name != "float";
    settings.flag("past", past).flag("statecast", narrow).flag("narrow", narrow).set("s", of_state.number);
    settings.flag("state", call.has_output(1));
    let scale = call.float("scale")?.filter(|scale| *scale != 0.0);
    settings.flag("scale", scale.is_some()).set("scale", format!("{:e}", f64::from(scale.unwrap_or(1.0))));
    let first = if past && !narrow { "past_state" } else { "first_state" };
    let last = if narrow || !call.has_output(1) { "last_state" } else { "present_state" };
    recurrence(settings, gated, delta, cast, first, last);
    Ok(())
}

/// The scan. Its body keeps the state of a head in a matrix of keys by values.
fn recurrence(settings: &mut TemplateSettings, gated: bool, delta: bool, cast: bool, first: &str, last: &str) {
    let input = |name: &str| if cast { name.to_owned() } else { format!("separate_{name}") };
    let mut formals = vec!["state", "q", "k", "v"];
    let mut actuals = vec![first.to_owned(), input("queries"), input("keys"), input("values")];
    if gated {
        formals.push("g");
        actuals.push("factors".to_owned());
    }
    if delta {
        formals.push("b");
        actuals.push(input("rates"));
    }
    let scanned = formals.len() - 1;
    let axes = vec!["1"; scanned].join(", ");
    let declared: Vec<String> = formals.iter().map(|formal| format!("float[] {formal}")).collect();
    let mut body = vec!["key_column = Unsqueeze (k, last_axis)".to_owned()];
    let mut state = "state";
    if gated {
        body.push("factor = Unsqueeze (g, last_axis)".to_owned());
        body.push("faded = Mul (state, factor)".to_owned());
        state = "faded";
    }
    let mut written = "v";
    if delta {
        body.push("key_row = Unsqueeze (k, row_axis)".to_owned());
        body.push(format!("stored_row = MatMul (key_row, {state})"));
        body.push("stored = Squeeze (stored_row, row_axis)".to_owned());
        body.push("error = Sub (v, stored)".to_owned());
        body.push("correction = Mul (b, error)".to_owned());
        written = "correction";
    }
    body.push(format!("value_row = Unsqueeze ({written}, row_axis)"));
    body.push("added = Mul (key_column, value_row)".to_owned());
    body.push(format!("next = Add ({state}, added)"));
    body.push("result = MatMul (q, next)".to_owned());
    settings.line(format!(
        "{last}, results = Scan <num_scan_inputs: int = {scanned}, scan_input_axes: ints = [{axes}], scan_output_axes: ints = [1], body: graph = step ({}) => (float[] next, float[] result) {{ {} }}> ({})",
        declared.join(", "),
        body.join(" "),
        actuals.join(", ")
    ));
}
