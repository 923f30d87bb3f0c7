//! Vendor operations that exporters write without declarations: those of tract, and those of Khronos' converters,
//! whose names are an ONNX operation and a variant number: `erf_v1`.

use std::sync::Arc;

use super::broadcast::map2;
use super::error::EvalError;
use super::eval_call::{Call, KernelResult, as_scalars};
use super::reduce;
use crate::dictionary::functions;
use crate::graph::{Key, Operand, Value};
use crate::tensor::Tensor;

/// The operand at a position, regardless of its name.
fn operand(call: &Call, position: usize, name: &str) -> Result<Arc<Tensor>, EvalError> {
    let value = call.value_at(position, name);
    let value = value.ok_or_else(|| EvalError::argument(format!("`{}` has no argument `{name}`", call.name())))?;
    as_scalars(call.tensor_of(&value)?)
}

/// The only operand, whose name differs between exporters and notations.
fn sole(call: &Call) -> Result<Arc<Tensor>, EvalError> {
    operand(call, 0, "input").or_else(|_| operand(call, 0, "x"))
}

/// The attribute with a name, or else the argument without a name at a position.
fn attribute(call: &Call, position: usize, name: &str) -> Option<Value> {
    let unnamed = |(key, _): &(Key, Operand)| *key == Key::Positional;
    let unnamed = || call.graph().arguments(call.operation).filter(unnamed).nth(position);
    call.value(name).or_else(|| unnamed().map(|(_, operand)| operand.to_value()))
}

/// An optional number.
fn number(call: &Call, position: usize, name: &str, default: f64) -> Result<f64, EvalError> {
    attribute(call, position, name).map_or(Ok(default), |value| call.number_of(name, &value))
}

/// The error function.
pub(super) fn erf(call: &Call) -> KernelResult {
    let x = sole(call)?;
    Ok(vec![call.mapped(&x, functions::erf)?])
}

/// A softmax along the axes of an argument, or its logarithm.
pub(super) fn along(call: &Call, log: bool) -> KernelResult {
    let x = sole(call)?;
    reduce::softmax_along(call, &x, &axes(call, 1, x.rank())?, log)
}

/// The axes of an operation, which are within a rank.
fn axes(call: &Call, position: usize, rank: usize) -> Result<Vec<usize>, EvalError> {
    let axes = attribute(call, position, "axes");
    let axes = axes.ok_or_else(|| EvalError::argument(format!("`{}` has no axes", call.name())))?;
    call.ints_of("axes", &axes)?.into_iter().map(|axis| call.check_axis(axis, rank)).collect()
}

/// `HardSigmoid` of ONNX; `alpha` and `beta` are optional.
pub(super) fn hard_sigmoid(call: &Call) -> KernelResult {
    let x = sole(call)?;
    let alpha = number(call, 1, "alpha", 0.2)?;
    let beta = number(call, 2, "beta", 0.5)?;
    Ok(vec![call.mapped(&x, |x| (alpha * x + beta).clamp(0.0, 1.0))?])
}

/// `scale * (x - mean) / sqrt(variance + epsilon) + offset`, as the converters define it.
pub(super) fn mean_variance_normalization(call: &Call) -> KernelResult {
    let (x, scale, offset) = (operand(call, 0, "input")?, operand(call, 1, "scale")?, operand(call, 2, "offset")?);
    let axes = axes(call, 3, x.rank())?;
    let epsilon = number(call, 4, "epsilon", 1e-5)?;
    let mean = |items: &[f64]| Ok(items.iter().sum::<f64>() / items.len().max(1) as f64);
    let centered = map2(call, &x, &reduce::reduce(call, &x, &axes, mean)?, |x, mean| x - mean)?;
    let variance = reduce::reduce(call, &call.mapped(&centered, |x| x * x)?, &axes, mean)?;
    let normal = map2(call, &centered, &variance, |x, variance| x / (variance + epsilon).sqrt())?;
    let scaled = map2(call, &normal, &scale, |x, scale| x * scale)?;
    Ok(vec![map2(call, &scaled, &offset, |x, offset| x + offset)?])
}
