//! Element-wise operations, and normalizations along axes.

use crate::eval::broadcast::repeated;
use crate::eval::error::EvalError;
use crate::eval::eval_call::{Call, KernelResult};
use crate::eval::kernels::LocalResponse;
use crate::eval::reduce;
use crate::graph::{Primitive, Value};
use crate::tensor::{DType, Element, Tensor, kernels};

use super::{natural, number_or};

/// Converts to a named type. Without a name, the type is a quantized one, and the items are not changed.
pub(in crate::eval) fn cast(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let wanted = match call.attribute("to") {
        Some(Value::String(name)) if !name.is_empty() => Primitive::of_datum_type(name),
        _ => return Ok(vec![Tensor::clone(&input)]),
    };
    let wanted = match wanted {
        Some(Primitive::Integer) => DType::Int64,
        Some(Primitive::Logical) => DType::Bool,
        Some(Primitive::Scalar) => DType::Float64,
        _ => return Err(EvalError::argument("the type to cast to is not known")),
    };
    Ok(vec![call.converted(&input, wanted)?])
}

fn each(call: &Call, name: &str, f: impl Fn(f64) -> f64) -> KernelResult {
    Ok(vec![call.mapped(&*call.numbers(name)?, f)?])
}

/// The approximation of `gelu` by `tanh`; the fast variant uses a square instead of a cube.
pub(in crate::eval) fn gelu_approx(call: &Call) -> KernelResult {
    let power = if call.flag("fast_impl")? { 2 } else { 3 };
    let factor = (2.0 / std::f64::consts::PI).sqrt();
    each(call, "input", |x| 0.5 * x * (1.0 + (factor * (x + 0.044715 * x.powi(power))).tanh()))
}

pub(in crate::eval) fn pow_const(call: &Call) -> KernelResult {
    let exponent = call.number("exponent")?;
    each(call, "input", |x| x.powf(exponent))
}

pub(in crate::eval) fn tested(call: &Call, name: &str, f: impl Fn(f64) -> bool) -> KernelResult {
    let x = call.numbers(name)?;
    call.budget().room(x.shape())?;
    let items = x.items().unwrap_or_default().iter().map(|item: &f64| f(*item)).collect();
    Ok(vec![Tensor::logicals(x.shape(), items)?])
}

pub(in crate::eval) fn is_inf(call: &Call) -> KernelResult {
    // Files of PNNX leave out what has its default.
    let detects = |name: &str| if call.value(name).is_some() { call.flag(name) } else { Ok(true) };
    let (positive, negative) = (detects("detect_positive")?, detects("detect_negative")?);
    tested(call, "input", |x| (positive && x == f64::INFINITY) || (negative && x == f64::NEG_INFINITY))
}

pub(in crate::eval) fn bitnot(call: &Call) -> KernelResult {
    let x = call.tensor("x")?;
    if let Some(items) = x.items::<bool>() {
        return Ok(vec![Tensor::logicals(x.shape(), items.iter().map(|item| !item).collect())?]);
    }
    let x = call.integers("x")?;
    Ok(vec![Tensor::integers(x.shape(), x.iter().map(|item| !item).collect())?])
}

/// The index of the last of the best items along axes.
pub(in crate::eval) fn last_extreme(
    call: &Call,
    scalar: fn(f64, f64) -> bool,
    integer: fn(i64, i64) -> bool,
) -> KernelResult {
    fn picked<T: Element>(call: &Call, input: &Tensor, as_good: fn(T, T) -> bool) -> KernelResult {
        let axes = call.ints("axes")?.into_iter().map(|axis| call.check_axis(axis, input.rank()));
        let axes = axes.collect::<Result<Vec<_>, _>>()?;
        let none = || EvalError::value("the maximum or minimum of an empty tensor is not defined");
        let best = |items: &[T]| Ok(kernels::best(items, as_good).ok_or_else(none)? as i64);
        Ok(vec![reduce::reduce(call, input, &axes, best)?])
    }
    let input = call.tensor("input")?;
    match input.dtype() {
        DType::Int64 => picked(call, &input, integer),
        _ => picked(call, &*call.numbers("input")?, scalar),
    }
}

pub(in crate::eval) fn product_reduce(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let axes = call.ints("axes")?.into_iter().map(|axis| call.check_axis(axis, input.rank()));
    let axes = axes.collect::<Result<Vec<_>, _>>()?;
    if input.dtype() == DType::Int64 {
        let product = |items: &[i64]| {
            let product = items.iter().try_fold(1i64, |product, item| product.checked_mul(*item));
            product.ok_or_else(|| EvalError::value("a product of integers leaves the range of 64 bits"))
        };
        return Ok(vec![reduce::reduce(call, &input, &axes, product)?]);
    }
    let input = call.numbers("input")?;
    Ok(vec![reduce::reduce(call, &input, &axes, |items: &[f64]| Ok(items.iter().product::<f64>()))?])
}

/// The input divided by the root mean square along an axis.
pub(in crate::eval) fn rms_norm(call: &Call) -> KernelResult {
    let input = call.numbers("input")?;
    let axis = call.axis("axis", input.rank())?;
    let eps = number_or(call, "eps", 1e-6)?;
    let squares = |items: &[f64]| Ok(items.iter().map(|item| item * item).sum::<f64>() / items.len().max(1) as f64);
    let squares = reduce::reduce(call, &input, &[axis], squares)?;
    Ok(vec![repeated(call, &input, &squares, |x: f64, mean: f64| Ok(x / (mean + eps).sqrt()))?])
}

/// Local response normalization: each channel is normalized by its neighbouring channels.
pub(in crate::eval) fn lrn(call: &Call) -> KernelResult {
    let input = call.numbers("input")?;
    let &[_, channels, ref space @ ..] = input.shape() else { return Err(super::unfit(call, &[input.shape()])) };
    let response = LocalResponse {
        size: natural(call, "size")?.max(1),
        alpha: number_or(call, "alpha", 0.0001)?,
        beta: number_or(call, "beta", 0.75)?,
        bias: number_or(call, "bias", 1.0)?,
    };
    call.budget().product(input.len(), response.size.min(channels))?;
    let items = response.result(input.items().unwrap_or_default(), channels, space.iter().product());
    Ok(vec![Tensor::scalars(input.shape(), items)?])
}
