//! Normalizations and activations that ONNX has only for some operands.

use super::formula::{combine, evaluate};
use super::translated_call::{Refused, TranslatedCall, Translation, checked_axis};
use super::value::{ModelValue, NnefElement};
use crate::dictionary::Operands;
use crate::onnx::model::AttributeValue;

/// `batch_normalization`: the operator if the statistics are one number for each channel, otherwise its formula.
pub(super) fn batch_normalization(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let input = call.scalars("input")?;
    let channels = input.dims.as_ref().and_then(|dims| dims.get(1).copied()).flatten();
    let names = ["scale", "offset", "mean", "variance"];
    let mut statistics = Vec::new();
    for name in names {
        statistics.push(call.scalars(name)?);
    }
    let by_channel = |value: &ModelValue| {
        let Some(extents) = value.known() else { return false };
        extents.get(1).copied().is_some_and(|extent| Some(extent) == channels)
            && extents.iter().enumerate().all(|(axis, extent)| axis == 1 || *extent == 1)
    };
    match (call.literal("epsilon"), channels) {
        (Some(epsilon), Some(channels)) if statistics.iter().all(by_channel) => {
            let statistics: Vec<ModelValue> =
                statistics.iter().map(|value| call.out.reshape(value, &[channels])).collect();
            let inputs: Vec<&ModelValue> = std::iter::once(&input).chain(&statistics).collect();
            let attributes = vec![("epsilon", AttributeValue::Float(epsilon as f32))];
            Ok(vec![call.node("BatchNormalization", &inputs, attributes)])
        }
        _ => {
            let formula = "Add(offset, Div(Mul(scale, Sub(input, mean)), Sqrt(Add(variance, epsilon))))";
            Ok(vec![evaluate(call, Operands::Real, formula)?])
        }
    }
}

/// `local_response_normalization`: the operator for windows over channels, otherwise its formula.
pub(super) fn local_response(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let input = call.scalars("input")?;
    let size = call.ints("size")?;
    let [alpha, beta, bias] = ["alpha", "beta", "bias"].map(|name| call.literal(name));
    let (Some(alpha), Some(beta), Some(bias)) = (alpha, beta, bias) else {
        return Err(Refused::unknown("`local_response_normalization` needs numbers for `alpha`, `beta` and `bias`"));
    };
    // onnxruntime supports the operator only for four axes and windows of odd extent.
    if let [1, channels, 1, 1] = size[..]
        && channels > 0
        && channels.rem_euclid(2) == 1
    {
        let attributes = vec![
            ("alpha", AttributeValue::Float(alpha as f32)),
            ("beta", AttributeValue::Float(beta as f32)),
            ("bias", AttributeValue::Float(bias as f32)),
            ("size", AttributeValue::Int(channels)),
        ];
        return Ok(vec![call.node("LRN", &[&input], attributes)]);
    }
    let squares = call.node("Mul", &[&input, &input], Vec::new());
    let squares = ModelValue { dims: input.dims.clone(), ..squares };
    let means = super::pool::local_means(call, squares, &size)?;
    let [alpha, beta, bias] = [alpha, beta, bias].map(|number| call.out.number(input.element, number));
    let operands = [("x", &input), ("m", &means), ("alpha", &alpha), ("beta", &beta), ("bias", &bias)];
    Ok(vec![combine(call, "Div(x, Pow(Add(bias, Mul(alpha, m)), beta))", &operands)?])
}

/// `prelu`: the operator if the result has the shape of the operand, otherwise its formula.
pub(super) fn prelu(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let x = call.scalars("x")?;
    let same = x.known().is_some_and(|extents| {
        let result = call.result_dims().and_then(|dims| dims.iter().copied().collect::<Option<Vec<i64>>>());
        result.as_ref() == Some(&extents)
    });
    let formula = if same { "PRelu(x, alpha)" } else { "Where(Less(x, 0.0), Mul(alpha, x), x)" };
    Ok(vec![evaluate(call, Operands::Real, formula)?])
}

/// A softmax or its logarithm, whose axes are the argument at a position: the operator along one axis, exponentials and sums
/// along several.
pub(super) fn along(call: &mut TranslatedCall, op: &str, position: usize) -> Translation<Vec<ModelValue>> {
    let names = ["x", "input"].map(|name| call.bound(name, 0).is_ok());
    let x = call.value_at(if names[0] || !names[1] { "x" } else { "input" }, 0)?;
    let x = call.out.cast(&x, NnefElement::Float);
    let axes = call.ints_at("axes", position)?;
    for axis in &axes {
        checked_axis(call, *axis, x.rank())?;
    }
    if let [axis] = axes[..] {
        return Ok(vec![call.node(op, &[&x], vec![("axis", AttributeValue::Int(axis))])]);
    }
    let noop = || vec![("noop_with_empty_axes", AttributeValue::Int(1))];
    let axes = call.out.list("axes", &axes);
    let most = call.node("ReduceMax", &[&x, &axes], noop());
    let below = call.node("Sub", &[&x, &most], Vec::new());
    let weight = call.node("Exp", &[&below], Vec::new());
    let total = call.node("ReduceSum", &[&weight, &axes], noop());
    if op == "Softmax" {
        return Ok(vec![call.node("Div", &[&weight, &total], Vec::new())]);
    }
    let total = call.node("Log", &[&total], Vec::new());
    Ok(vec![call.node("Sub", &[&below, &total], Vec::new())])
}

/// `mean_variance_normalization` of Khronos' converters.
pub(super) fn mean_variance(call: &mut TranslatedCall) -> Translation<Vec<ModelValue>> {
    let mut operands = Vec::new();
    for (position, name) in ["input", "scale", "offset"].into_iter().enumerate() {
        let value = call.value_at(name, position)?;
        operands.push(call.out.cast(&value, NnefElement::Float));
    }
    let [x, scale, offset] = &operands[..] else { return Err(Refused::meaning("operands are missing")) };
    let epsilon = call.literal_at("epsilon", 4)?.unwrap_or(1e-5);
    let axes = call.ints_at("axes", 3)?;
    let axes = call.out.list("axes", &axes);
    let mean = call.node("ReduceMean", &[x, &axes], Vec::new());
    let centered = call.node("Sub", &[x, &mean], Vec::new());
    let squares = call.node("Mul", &[&centered, &centered], Vec::new());
    let variance = call.node("ReduceMean", &[&squares, &axes], Vec::new());
    let epsilon = call.out.number(x.element, epsilon);
    let shifted = call.node("Add", &[&variance, &epsilon], Vec::new());
    let deviation = call.node("Sqrt", &[&shifted], Vec::new());
    let normal = call.node("Div", &[&centered, &deviation], Vec::new());
    let normal = ModelValue { dims: x.dims.clone(), ..normal };
    let operands = [("x", &normal), ("scale", scale), ("offset", offset)];
    Ok(vec![combine(call, "Add(Mul(x, scale), offset)", &operands)?])
}
