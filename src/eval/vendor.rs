//! Vendor operations that exporters write without declarations: those of tract, and those of Khronos' converters,
//! whose names are an ONNX operation and a variant number: `erf_v1`.

use std::sync::Arc;

use super::broadcast::map2;
use super::call::{Call, KernelResult, as_scalars};
use super::error::EvalError;
use super::table::Function;
use super::{reduce, registry, scan};
use crate::graph::shapes::without_variant;
use crate::graph::{Key, Operand, Value};
use crate::tensor::Tensor;

/// The kernels of vendor operations.
const VENDOR: &[(&str, Function)] = &[
    ("tract_core_erf", erf),
    ("tract_core_softmax", softmax),
    ("tract_core_log_softmax", log_softmax),
    ("tract_core_scan", scan::scan),
    ("erf", erf),
    ("HardSigmoid", hard_sigmoid),
    ("mean_variance_normalization", mean_variance_normalization),
];

/// The kernel of a vendor operation, if there is one.
pub(crate) fn operation(name: &str) -> Option<Function> {
    let name = without_variant(name);
    VENDOR.iter().chain(registry::TABLE).find(|(known, _)| *known == name).map(|(_, function)| *function)
}

/// The operand at a position, regardless of its name.
fn operand(call: &Call, position: usize, name: &str) -> Result<Arc<Tensor>, EvalError> {
    let value = call.value_at(position, name);
    let value = value.ok_or_else(|| EvalError::argument(format!("`{}` has no argument `{name}`", call.name())))?;
    as_scalars(call.tensor_of(&value)?)
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
fn erf(call: &Call) -> KernelResult {
    let x = operand(call, 0, "input").or_else(|_| operand(call, 0, "x"))?;
    Ok(vec![call.mapped(&x, error_function)?])
}

/// The error function in double precision: by its series near 0, and elsewhere by the continued fraction of its
/// complement.
fn error_function(x: f64) -> f64 {
    let t = x.abs();
    if x.is_nan() {
        return x;
    }
    let value = if t < 2.5 {
        // The series x - x^3 / 3 + x^5 / 10 - …, in a form with positive terms only.
        let mut term = t;
        let mut sum = t;
        for n in 1..80 {
            term *= 2.0 * t * t / f64::from(2 * n + 1);
            sum += term;
        }
        2.0 / std::f64::consts::PI.sqrt() * (-t * t).exp() * sum
    } else if t < 6.0 {
        let fraction = (1..=60).rev().fold(t, |below, n| t + f64::from(n) / 2.0 / below);
        1.0 - (-t * t).exp() / (std::f64::consts::PI.sqrt() * fraction)
    } else {
        1.0
    };
    value.copysign(x)
}

fn along(call: &Call, log: bool) -> KernelResult {
    let x = operand(call, 0, "input").or_else(|_| operand(call, 0, "x"))?;
    reduce::softmax_along(call, &x, &axes(call, 1, x.rank())?, log)
}

/// The axes of an operation, which are within a rank.
fn axes(call: &Call, position: usize, rank: usize) -> Result<Vec<usize>, EvalError> {
    let axes = attribute(call, position, "axes");
    let axes = axes.ok_or_else(|| EvalError::argument(format!("`{}` has no axes", call.name())))?;
    call.ints_of("axes", &axes)?.into_iter().map(|axis| call.check_axis(axis, rank)).collect()
}

fn softmax(call: &Call) -> KernelResult {
    along(call, false)
}

fn log_softmax(call: &Call) -> KernelResult {
    along(call, true)
}

/// `HardSigmoid` of ONNX; `alpha` and `beta` are optional.
fn hard_sigmoid(call: &Call) -> KernelResult {
    let x = operand(call, 0, "x")?;
    let alpha = number(call, 1, "alpha", 0.2)?;
    let beta = number(call, 2, "beta", 0.5)?;
    Ok(vec![call.mapped(&x, |x| (alpha * x + beta).clamp(0.0, 1.0))?])
}

/// `scale * (x - mean) / sqrt(variance + epsilon) + offset`, as the converters define it.
fn mean_variance_normalization(call: &Call) -> KernelResult {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_is_precise() {
        for (x, wanted) in [
            (0.0, 0.0),
            (0.1, 0.112_462_916_018_284_89),
            (1.0, 0.842_700_792_949_714_9),
            (2.4, 0.999_311_486_103_354_9),
            (2.6, 0.999_763_965_583_470_7),
            (4.0, 0.999_999_984_582_742_1),
            (-1.0, -0.842_700_792_949_714_9),
            (f64::INFINITY, 1.0),
        ] {
            assert!((error_function(x) - wanted).abs() < 1e-15, "{x}: {}", error_function(x));
        }
        assert!(error_function(f64::NAN).is_nan());
    }

    #[test]
    fn variants_have_numbers() {
        assert!(operation("erf_v12").is_some() && operation("erf").is_some());
        assert!(operation("erf_v").is_none() && operation("erf_v1x").is_none() && operation("x_v1").is_none());
    }
}
