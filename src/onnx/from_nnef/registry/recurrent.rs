//! Single steps of recurrent networks.

use super::super::formula::combine;
use super::super::translated_call::{Refused, TranslatedCall, Translation};
use super::super::value::{ModelValue, NnefElement, open};
use crate::onnx::model::AttributeValue;

/// An operand whose last axis has the gates, each as wide as the state.
fn gates(call: &mut TranslatedCall, name: &str, position: usize, count: usize) -> Translation<Vec<ModelValue>> {
    let value = call.value_at(name, position)?;
    let value = call.out.cast(&value, NnefElement::Float);
    let hidden = call.int("hidden")?;
    let width = value.dims.as_ref().and_then(|dims| *dims.last()?);
    if width != hidden.checked_mul(count as i64) {
        return Err(Refused::meaning(format!("`{name}` of `{}` does not have {count} gates in a row", call.name())));
    }
    let sizes = call.out.list("split", &vec![hidden; count]);
    let parts = call.out.nodes("Split", &[&value, &sizes], vec![("axis", AttributeValue::Int(-1))], count);
    Ok(parts.into_iter().map(|part| ModelValue { dims: value.dims.clone(), ..part }).collect())
}

/// The state of the previous step.
fn state(call: &mut TranslatedCall, name: &str, position: usize) -> Translation<ModelValue> {
    let value = call.value_at(name, position)?;
    Ok(call.out.cast(&value, NnefElement::Float))
}

/// Evaluates a formula of gates and a state, which have the same number of axes.
fn step(call: &mut TranslatedCall, formula: &str, operands: &[(&str, &ModelValue)]) -> Translation<ModelValue> {
    let ranks = operands.iter().map(|(_, value)| call.rank(value)).collect::<Translation<Vec<_>>>()?;
    if ranks.windows(2).any(|pair| pair.first() != pair.last()) {
        return Err(Refused::meaning(format!("the operands of `{}` have {ranks:?} axes", call.name())));
    }
    // Extents of the whole row are not those of a gate.
    let open: Vec<(&str, ModelValue)> = operands
        .iter()
        .map(|(name, value)| (*name, ModelValue { dims: value.rank().map(open), ..(*value).clone() }))
        .collect();
    let open: Vec<(&str, &ModelValue)> = open.iter().map(|(name, value)| (*name, value)).collect();
    combine(call, formula, &open)
}

/// A step of a GRU. The gates are update, reset and candidate.
pub(in crate::onnx::from_nnef) fn gru(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (inputs, before) = (gates(call, "xh", 0, 3)?, gates(call, "rh", 1, 3)?);
    let state = state(call, "h_prev", 2)?;
    let ([xu, xr, xc], [ru, rr, rc]) = (&inputs[..], &before[..]) else { return Err(call.missing("xh")) };
    let candidate = "Tanh(Add(xc, Mul(Sigmoid(Add(xr, rr)), rc)))";
    let candidate = step(call, candidate, &[("xc", xc), ("xr", xr), ("rr", rr), ("rc", rc)])?;
    let formula = "Add(c, Mul(Sigmoid(Add(xu, ru)), Sub(h, c)))";
    Ok(vec![step(call, formula, &[("c", &candidate), ("xu", xu), ("ru", ru), ("h", &state)])?])
}

/// A step of an LSTM. The gates are input, output, forget and candidate.
pub(in crate::onnx::from_nnef) fn lstm(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let gates = gates(call, "preact", 0, 4)?;
    let state = state(call, "c_prev", 1)?;
    let [input, output, forget, candidate] = &gates[..] else { return Err(call.missing("preact")) };
    let formula = "Add(Mul(Sigmoid(f), c), Mul(Sigmoid(i), Tanh(g)))";
    let cell = step(call, formula, &[("f", forget), ("c", &state), ("i", input), ("g", candidate)])?;
    let hidden = step(call, "Mul(Sigmoid(o), Tanh(c))", &[("o", output), ("c", &cell)])?;
    Ok(vec![hidden, cell])
}

/// An operand as scalars with other extents, one of which may be -1.
fn shaped(call: &mut TranslatedCall, at: (&str, usize), dims: &[i64]) -> Translation<ModelValue> {
    let value = state(call, at.0, at.1)?;
    Ok(call.out.reshape(&value, dims))
}

/// A value with the extents of an operand.
fn like(call: &mut TranslatedCall, value: &ModelValue, name: &str, position: usize) -> Translation<ModelValue> {
    let operand = call.value_at(name, position)?;
    let shape = call.extents_from(&operand, 0);
    Ok(ModelValue { dims: operand.dims, ..call.node("Reshape", &[value, &shape], Vec::new()) })
}

/// Sums along the last axis, which stays with extent 1.
fn row_sums(call: &mut TranslatedCall, value: &ModelValue) -> ModelValue {
    let axes = call.out.list("axes", &[-1]);
    let made = call.node("ReduceSum", &[value, &axes], Vec::new());
    ModelValue { dims: value.rank().map(open), ..made }
}

/// The extent of the last axis of an operand, which must be known.
fn width(call: &mut TranslatedCall, name: &str, position: usize) -> Translation<i64> {
    let value = call.value_at(name, position)?;
    let known = value.dims.as_ref().and_then(|dims| *dims.last()?);
    known.filter(|width| *width > 0).ok_or_else(|| call.open_extents())
}

/// A step of a depthwise causal convolution with SiLU: the state moves by one item.
pub(in crate::onnx::from_nnef) fn causal_conv(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let width = width(call, "weight", 1)?;
    let input = shaped(call, ("input", 0), &[-1, 1])?;
    let weight = shaped(call, ("weight", 1), &[-1, width])?;
    let before = shaped(call, ("initial_state", 2), &[-1, width])?;
    let bounds = [("starts", 1), ("ends", width), ("axes", 1)].map(|(name, item)| call.out.list(name, &[item]));
    let kept = call.node("Slice", &[&before, &bounds[0], &bounds[1], &bounds[2]], Vec::new());
    let now = call.node("Concat", &[&kept, &input], vec![("axis", AttributeValue::Int(1))]);
    let now = now.with([None, Some(width)]);
    let products = combine(call, "Mul(x, w)", &[("x", &now), ("w", &weight)])?;
    let sum = row_sums(call, &products);
    let made = combine(call, "Mul(x, Sigmoid(x))", &[("x", &sum)])?;
    Ok(vec![like(call, &made, "input", 0)?, like(call, &now, "initial_state", 2)?])
}

/// A step of the gated delta rule for each head, whose state is a matrix.
pub(in crate::onnx::from_nnef) fn gated_delta(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let width = width(call, "query", 0)?;
    let unit = |call: &mut TranslatedCall, at: (&str, usize)| {
        let value = shaped(call, at, &[-1, 1, width])?;
        let squares = combine(call, "Mul(x, x)", &[("x", &value)])?;
        let sum = row_sums(call, &squares);
        combine(call, "Div(x, Sqrt(Add(s, 0.000001)))", &[("x", &value), ("s", &sum)])
    };
    let (query, key) = (unit(call, ("query", 0))?, unit(call, ("key", 1))?);
    let value = shaped(call, ("value", 2), &[-1, 1, width])?;
    let decay = shaped(call, ("log_decay", 3), &[-1, 1, 1])?;
    let beta = shaped(call, ("beta", 4), &[-1, 1, 1])?;
    let before = shaped(call, ("initial_state", 5), &[-1, width, width])?;
    let before = combine(call, "Mul(s, Exp(g))", &[("s", &before), ("g", &decay)])?;
    let predicted = call.node("MatMul", &[&key, &before], Vec::new()).with([None, Some(1), Some(width)]);
    let rest = combine(call, "Mul(Sub(v, p), b)", &[("v", &value), ("p", &predicted), ("b", &beta)])?;
    let column = call.out.reshape(&key, &[-1, width, 1]);
    let after = combine(call, "Add(s, Mul(k, r))", &[("s", &before), ("k", &column), ("r", &rest)])?;
    let made = call.node("MatMul", &[&query, &after], Vec::new()).with([None, Some(1), Some(width)]);
    let root = call.out.number(NnefElement::Float, (width as f64).sqrt());
    let made = combine(call, "Div(x, r)", &[("x", &made), ("r", &root)])?;
    Ok(vec![like(call, &made, "query", 0)?, like(call, &after, "initial_state", 5)?])
}
