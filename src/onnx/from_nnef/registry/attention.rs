//! Attention: rotary embeddings, masked softmax, scaled dot products.

use super::super::emit::raw;
use super::super::lists::known_at;
use super::super::translated_call::{Refused, TranslatedCall, Translation};
use super::super::value::{ModelValue, NnefElement, open};
use crate::graph::{Operand, Value};
use crate::onnx::model::{AttributeValue, TensorProto};

fn axis(axis: i64) -> Vec<(&'static str, AttributeValue)> {
    vec![("axis", AttributeValue::Int(axis))]
}

/// `input * cos + rotated * sin`, where `rotated` has the negated second half of the last axis, then the first half.
pub(in crate::onnx::from_nnef) fn apply_rope(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let operands = [call.value("input")?, call.value_at("cos", 1)?, call.value_at("sin", 2)?];
    let [input, cos, sin] = operands.map(|value| call.out.cast(&value, NnefElement::Float));
    let last = input.dims.as_ref().and_then(|dims| *dims.last()?);
    let half = match last.ok_or_else(|| call.open_extents())? {
        extent if extent.rem_euclid(2) == 0 => extent.div_euclid(2),
        extent => return Err(Refused::meaning(format!("`{}` of rows of {extent} items", call.name()))),
    };
    let sizes = call.out.list("split", &[half, half]);
    let mut halves = call.out.nodes("Split", &[&input, &sizes], axis(-1), 2);
    let (Some(second), Some(first)) = (halves.pop(), halves.pop()) else { return Err(call.missing("input")) };
    let negated = call.node("Neg", &[&second], Vec::new());
    let rotated = call.node("Concat", &[&negated, &first], axis(-1));
    let straight = call.node("Mul", &[&input, &cos], Vec::new());
    let turned = call.node("Mul", &[&rotated, &sin], Vec::new());
    Ok(vec![call.node("Add", &[&straight, &turned], Vec::new())])
}

/// The operand of a mask: none if it is `false`.
fn mask(call: &mut TranslatedCall, position: usize) -> Translation<Option<ModelValue>> {
    match call.attribute("mask", position) {
        None | Some(Operand::Value(Value::Logical(false))) => Ok(None),
        Some(_) => Ok(Some(call.value_at("mask", position)?)),
    }
}

fn infinity(call: &mut TranslatedCall) -> ModelValue {
    call.out.number(NnefElement::Float, f64::NEG_INFINITY)
}

/// The softmax of scaled scores, to which the mask is added; where a logical mask is false, the weight is 0.
pub(in crate::onnx::from_nnef) fn masked_softmax(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let (input, mask) = (call.value("input")?, call.value_at("mask", 1)?);
    let input = call.out.cast(&input, NnefElement::Float);
    let scale = call.literal_at("scale", 2)?.ok_or_else(|| call.missing("scale"))?;
    let scale = call.out.number(NnefElement::Float, scale);
    let scaled = call.node("Mul", &[&input, &scale], Vec::new());
    let scores = if mask.element == NnefElement::Bool {
        let least = infinity(call);
        call.node("Where", &[&mask, &scaled, &least], Vec::new())
    } else {
        let mask = call.out.cast(&mask, NnefElement::Float);
        call.node("Add", &[&scaled, &mask], Vec::new())
    };
    let weights = call.node("Softmax", &[&scores], axis(-1));
    if !call.flag_or_false("post_softmax_mask")? {
        return Ok(vec![weights]);
    }
    let kept = call.out.cast(&mask, NnefElement::Bool);
    let zero = call.out.number(NnefElement::Float, 0.0);
    Ok(vec![call.node("Where", &[&kept, &weights, &zero], Vec::new())])
}

/// Scaled dot product attention. Several heads of queries may share a head of keys.
pub(in crate::onnx::from_nnef) fn sdpa(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let operands = [call.value_at("q", 0)?, call.value_at("k", 1)?, call.value_at("v", 2)?];
    let [query, key, value] = operands.map(|value| call.out.cast(&value, NnefElement::Float));
    let rank = call.rank(&query)?;
    let ranks = [call.rank(&key)?, call.rank(&value)?];
    if !(3..=4).contains(&rank) || ranks != [rank; 2] {
        return Err(Refused::meaning(format!("`{}` of operands of {rank} and {ranks:?} axes", call.name())));
    }
    let (key, value) = match rank {
        4 => (repeated(call, &query, key)?, repeated(call, &query, value)?),
        _ => (key, value),
    };
    let scale = scale(call, &query)?;
    let order: Vec<usize> = if rank == 4 { vec![0, 1, 3, 2] } else { vec![0, 2, 1] };
    let turned = call.out.transpose(&key, &order);
    let products = call.node("MatMul", &[&query, &turned], Vec::new());
    let scores = call.node("Mul", &[&products, &scale], Vec::new());
    let mut scores = ModelValue { dims: Some(open(rank)), ..scores };
    if let Some(mask) = mask(call, 3)? {
        // A logical mask becomes 0 and 1, and is added like any other mask.
        let mask = call.out.cast(&mask, NnefElement::Float);
        if call.rank(&mask)? > rank {
            return Err(Refused::meaning(format!("the mask of `{}` has more axes than its queries", call.name())));
        }
        scores = call.node("Add", &[&scores, &mask], Vec::new());
    }
    if call.flag_or_false("is_causal")? {
        let rows = call.extent_of(&query, rank.saturating_sub(2));
        let columns = call.extent_of(&key, rank.saturating_sub(2));
        scores = causal(call, &scores, [rows, columns]);
    }
    let weights = call.node("Softmax", &[&scores], axis(-1));
    Ok(vec![call.node("MatMul", &[&weights, &value], Vec::new())])
}

/// The factor of the scores: a literal, unless it is 0; else the reciprocal root of the extent of the heads.
fn scale(call: &mut TranslatedCall, query: &ModelValue) -> Translation<ModelValue> {
    let given = match call.attribute("scale", 4) {
        Some(Operand::Value(Value::Logical(false))) => None,
        _ => call.literal_at("scale", 4)?.filter(|scale| *scale != 0.0),
    };
    let width = query.dims.as_ref().and_then(|dims| *dims.last()?);
    let scale = match (given, width) {
        (Some(scale), _) => scale,
        (None, Some(width)) => 1.0 / (width as f64).sqrt(),
        (None, None) => return Err(call.open_extents()),
    };
    Ok(call.out.number(NnefElement::Float, scale))
}

/// Keys or values with as many heads as the queries: each is repeated for the queries that share it.
fn repeated(call: &mut TranslatedCall, query: &ModelValue, value: ModelValue) -> Translation<ModelValue> {
    let at = |value: &ModelValue, axis| value.dims.as_ref().and_then(|dims| known_at(dims, axis));
    let (Some(heads), Some(groups)) = (at(query, 1), at(&value, 1)) else { return Err(call.open_extents()) };
    if heads == groups {
        return Ok(value);
    }
    let times = heads.checked_div(groups).filter(|times| times.checked_mul(groups) == Some(heads));
    let wrong = || Refused::meaning(format!("`{}` of {heads} heads of queries and {groups} of keys", call.name()));
    let times = times.ok_or_else(wrong)?;
    let width = at(&value, 3).ok_or_else(|| call.open_extents())?;
    let apart = call.out.unsqueeze(&value, &[2]);
    let shape = call.out.list("shape", &[1, 1, times, 1, 1]);
    let apart = call.node("Expand", &[&apart, &shape], Vec::new());
    let apart = ModelValue { dims: Some(open(5)), ..apart };
    let made = call.out.reshape(&apart, &[0, heads, -1, width]);
    Ok(made.with([at(&value, 0), Some(heads), at(&value, 2), Some(width)]))
}

/// Scores without those of keys behind a query. The last query attends to all keys.
fn causal(call: &mut TranslatedCall, scores: &ModelValue, [rows, columns]: [ModelValue; 2]) -> ModelValue {
    let shape = call.joined(vec![rows.clone(), columns.clone()]);
    let one = TensorProto {
        dims: [1].into_iter().collect(),
        data_type: Some(NnefElement::Int.number()),
        rest: Some(Box::new(vec![raw(NnefElement::Int.bytes(&[1.0]).into())])),
        ..TensorProto::default()
    };
    let ones = call.node("ConstantOfShape", &[&shape], vec![("value", AttributeValue::Tensor(Box::new(one)))]);
    let diagonal = call.node("Sub", &[&columns, &rows], Vec::new());
    let diagonal = call.out.reshape(&diagonal, &[]);
    let kept = call.node("Trilu", &[&ones, &diagonal], vec![("upper", AttributeValue::Int(0))]);
    let kept = call.out.cast(&kept, NnefElement::Bool);
    let least = infinity(call);
    call.node("Where", &[&kept, scores, &least], Vec::new())
}
