//! Normalization by running means: `Scan`, whose state is the mean.

use super::super::body::{enclosed, local};
use super::super::formula::combine;
use super::super::lists::{before, from};
use super::super::translated_call::{Refused, TranslatedCall, Translation, checked_axis};
use super::super::value::{ModelValue, NnefElement, ints};
use crate::onnx::model::AttributeValue;

/// A number of an attribute as a value.
fn number(call: &mut TranslatedCall, value: f64) -> ModelValue {
    call.out.number(NnefElement::Float, value)
}

/// Normalizes slices along an axis. `sizes` gives what the mean is of, `normalized` the result, from the slice and the
/// mean.
fn running(
    call: &mut TranslatedCall,
    sizes: impl Fn(&mut TranslatedCall, &ModelValue) -> Translation<ModelValue>,
    normalized: impl Fn(&mut TranslatedCall, &ModelValue, &ModelValue) -> Translation<ModelValue>,
) -> Translation<Vec<ModelValue>> {
    let (input, state) = (call.scalars("input")?, call.value_at("state", 1)?);
    let state = call.out.cast(&state, NnefElement::Float);
    let rank = call.rank(&input)?;
    let axis = checked_axis(call, call.int("axis")?, Some(rank))?;
    let alpha = call.literal("alpha").ok_or_else(|| call.missing("alpha"))?;
    let skip = call.literal("skip").unwrap_or(0.0);
    let dims = input.dims.clone().unwrap_or_default();
    let slice = before(&dims, axis).iter().chain(from(&dims, axis.saturating_add(1))).copied().collect();
    let own = local(call, "s", state.element, state.dims.clone());
    let count = local(call, "i", NnefElement::Int, Some([].into()));
    let item = local(call, "x", NnefElement::Float, Some(slice));
    let counted = skip > 0.0;
    let mut inputs = vec![own.clone(), item.clone()];
    let mut operands = vec![state, input];
    if counted {
        inputs.insert(1, count.clone());
        operands.insert(1, call.out.integer(0));
    }
    let body = enclosed(call, "step", &inputs, |call| {
        let size = sizes(call, &item)?;
        let (kept, new) = (number(call, alpha), number(call, 1.0 - alpha));
        let formula = "Add(Mul(z, n), Mul(s, k))";
        let mut mean = combine(call, formula, &[("z", &size), ("n", &new), ("s", &own), ("k", &kept)])?;
        let mut results = Vec::new();
        if counted {
            let limit = call.out.integer(skip as i64);
            let is_early = call.node("Less", &[&count, &limit], Vec::new());
            let dims = mean.dims.clone();
            mean = ModelValue { dims, ..call.node("Where", &[&is_early, &own, &mean], Vec::new()) };
            let one = call.out.integer(1);
            results.push(call.node("Add", &[&count, &one], Vec::new()));
        }
        results.push(normalized(call, &item, &mean)?);
        results.insert(0, mean);
        Ok(results)
    })?;
    let attributes = vec![
        ("body", AttributeValue::Graph(Box::new(body.graph))),
        ("num_scan_inputs", AttributeValue::Int(1)),
        ("scan_input_axes", ints([axis as i64])),
        ("scan_output_axes", ints([axis as i64])),
    ];
    let results = call.out.nodes("Scan", &operands.iter().collect::<Vec<_>>(), attributes, operands.len());
    let made = results.into_iter().next_back().ok_or_else(|| call.missing("input"))?;
    Ok(vec![ModelValue { element: NnefElement::Float, ..made.shaped(dims) }])
}

/// Divides items by the square root of a running mean of their absolute values.
pub(in crate::onnx::from_nnef) fn unit_norm(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let least = call.literal("epsilon").unwrap_or(1e-14);
    let complex = call.flag_or_false("complex")?;
    if complex {
        let input = call.value("input")?;
        let rank = call.rank(&input)?;
        if checked_axis(call, call.int("axis")?, Some(rank))?.checked_add(1) == Some(rank) {
            return Err(Refused::meaning(format!("`{}` along the axis of complex numbers", call.name())));
        }
    }
    let sizes = |call: &mut TranslatedCall, item: &ModelValue| {
        let bound = number(call, least);
        if !complex {
            return combine(call, "Max(Abs(x), b)", &[("x", item), ("b", &bound)]);
        }
        let squares = combine(call, "Mul(x, x)", &[("x", item)])?;
        let axes = call.out.list("axes", &[-1]);
        let keep = vec![("keepdims", AttributeValue::Int(0))];
        let sum = call.node("ReduceSum", &[&squares, &axes], keep);
        let dims = item.dims.as_ref().map(|dims| before(dims, dims.len().saturating_sub(1)).into());
        let sum = ModelValue { dims, ..sum };
        combine(call, "Max(Sqrt(x), b)", &[("x", &sum), ("b", &bound)])
    };
    running(call, sizes, |call, item, mean| {
        let rank = call.rank(mean)?;
        let mean = if complex { call.out.unsqueeze(mean, &[rank as i64]) } else { mean.clone() };
        combine(call, "Div(x, Sqrt(s))", &[("x", item), ("s", &mean)])
    })
}

/// Subtracts a running mean from items.
pub(in crate::onnx::from_nnef) fn mean_norm(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let factor = call.literal("scaling_factor").unwrap_or(1.0);
    running(
        call,
        |_, item| Ok(item.clone()),
        |call, item, mean| {
            let factor = number(call, factor);
            combine(call, "Div(Sub(x, s), f)", &[("x", item), ("s", mean), ("f", &factor)])
        },
    )
}
