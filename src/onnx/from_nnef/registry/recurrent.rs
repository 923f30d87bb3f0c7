//! Single steps of recurrent networks.

use super::super::call::{Refused, TranslatedCall, Translation};
use super::super::emit::{ModelValue, NnefElement, open};
use super::super::formula::combine;
use crate::onnx::model::AttributeValue;

/// An operand whose last axis has the gates, each as wide as the state.
fn gates(call: &mut TranslatedCall, (name, position): (&str, usize), count: usize) -> Translation<Vec<ModelValue>> {
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
    let (inputs, before) = (gates(call, ("xh", 0), 3)?, gates(call, ("rh", 1), 3)?);
    let state = state(call, "h_prev", 2)?;
    let ([xu, xr, xc], [ru, rr, rc]) = (&inputs[..], &before[..]) else { return Err(call.missing("xh")) };
    let candidate = "Tanh(Add(xc, Mul(Sigmoid(Add(xr, rr)), rc)))";
    let candidate = step(call, candidate, &[("xc", xc), ("xr", xr), ("rr", rr), ("rc", rc)])?;
    let formula = "Add(c, Mul(Sigmoid(Add(xu, ru)), Sub(h, c)))";
    Ok(vec![step(call, formula, &[("c", &candidate), ("xu", xu), ("ru", ru), ("h", &state)])?])
}

/// A step of an LSTM. The gates are input, output, forget and candidate.
pub(in crate::onnx::from_nnef) fn lstm(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let gates = gates(call, ("preact", 0), 4)?;
    let state = state(call, "c_prev", 1)?;
    let [input, output, forget, candidate] = &gates[..] else { return Err(call.missing("preact")) };
    let formula = "Add(Mul(Sigmoid(f), c), Mul(Sigmoid(i), Tanh(g)))";
    let cell = step(call, formula, &[("f", forget), ("c", &state), ("i", input), ("g", candidate)])?;
    let hidden = step(call, "Mul(Sigmoid(o), Tanh(c))", &[("o", output), ("c", &cell)])?;
    Ok(vec![hidden, cell])
}
