//! Element-wise functions of numbers.
//!
//! Floats are computed in 64 bits and rounded once to their type, integers in 128 bits and wrapped to theirs.

use std::cell::Cell;

use crate::dictionary::{Arith, Float, Kernel, erf, sigmoid};
use crate::eval::EvalError;
use crate::onnx::run::broadcast::{common, to};
use crate::onnx::run::node_call::{KernelResult, NodeCall, floats, logicals, one};
use crate::tensor::kernels::Repeat;
use crate::tensor::{Data, Tensor};

/// What the dictionary says about each item.
pub(in crate::onnx) fn meaning(call: &NodeCall, kernel: Kernel) -> KernelResult {
    match kernel {
        Kernel::Float(_, f) => float(call, f),
        Kernel::Number(_, f, whole) => number(call, f, whole),
        Kernel::Floats(f) => one(both(call, call.tensor(0)?, call.tensor(1)?, f, |_, _| None)?),
        Kernel::Arithmetic(op) => arithmetic(call, op),
        Kernel::Compare(order) => compare(call, |ordering| order.holds(ordering)),
        Kernel::Not => not(call),
        Kernel::Logic(f) => logic(call, f),
        Kernel::Bits(f) => bits(call, f),
        Kernel::Select => choose(call),
    }
}

/// A function of the items of the only operand, which are floats.
pub(in crate::onnx) fn float(call: &NodeCall, f: impl Fn(f64) -> f64) -> KernelResult {
    let x = call.tensor(0)?;
    call.room(x.shape())?;
    let data = match x.data() {
        // Without a detour, since most tensors have this type.
        Data::Float32(items) => Data::Float32(items.iter().map(|&item| f(f64::from(item)) as f32).collect()),
        _ => Data::from_floats(x.dtype(), floats(x)?.iter().map(|&item| f(item))),
    };
    one(Tensor::with(x.shape(), data)?)
}

/// A function of the items of the only operand, which are floats or integers.
pub(in crate::onnx) fn number(
    call: &NodeCall,
    of_float: impl Fn(f64) -> f64,
    of_integer: impl Fn(i128) -> i128,
) -> KernelResult {
    let x = call.tensor(0)?;
    match x.dtype().is_integer() {
        true => one(call.wrapped(x.dtype(), x.shape(), wide(x).map(of_integer))?),
        false => float(call, of_float),
    }
}

/// The integers of a tensor.
pub(in crate::onnx) fn wide(x: &Tensor) -> impl Iterator<Item = i128> + '_ {
    (0..x.len()).map(|at| x.data().wide(at))
}

fn mixed(call: &NodeCall, a: &Tensor, b: &Tensor) -> EvalError {
    call.refused(format!("the operands have types {} and {}", a.dtype(), b.dtype()))
}

/// A function of the items of two tensors of equal type.
pub(in crate::onnx) fn both(
    call: &NodeCall,
    a: &Tensor,
    b: &Tensor,
    of_floats: impl Fn(f64, f64) -> f64,
    of_integers: impl Fn(i128, i128) -> Option<i128>,
) -> Result<Tensor, EvalError> {
    match a.dtype() == b.dtype() {
        true => combine(call, a, b, of_floats, of_integers),
        false => Err(mixed(call, a, b)),
    }
}

/// A function of the items of two tensors, with results of the type of the first one: of integers if both are integers,
/// else of floats.
fn combine(
    call: &NodeCall,
    a: &Tensor,
    b: &Tensor,
    of_floats: impl Fn(f64, f64) -> f64,
    of_integers: impl Fn(i128, i128) -> Option<i128>,
) -> Result<Tensor, EvalError> {
    let shape = common(&[a.shape(), b.shape()])?;
    call.room(&shape)?;
    Ok(Tensor::with(&shape, items(call, a, b, to(&shape), of_floats, of_integers)?)?)
}

/// The items of [`combine`].
fn items(
    call: &NodeCall,
    a: &Tensor,
    b: &Tensor,
    to: Repeat,
    of_floats: impl Fn(f64, f64) -> f64,
    of_integers: impl Fn(i128, i128) -> Option<i128>,
) -> Result<Data, EvalError> {
    let failed = Cell::new((0, 0));
    let of_integers = |a, b| {
        let result = of_integers(a, b);
        if result.is_none() {
            failed.set((a, b));
        }
        result
    };
    let undefined = || {
        let (a, b) = failed.get();
        EvalError::value(format!("`{}` of the integers {a} and {b} is not defined", call.name()))
    };
    Ok(match (a.data(), b.data()) {
        // Without a detour, since most tensors have these types.
        (Data::Float32(x), Data::Float32(y)) => {
            let of_items = |x: f32, y: f32| of_floats(x.into(), y.into()) as f32;
            Data::Float32(to.zip((x, a.shape()), (y, b.shape()), of_items))
        }
        (Data::Int64(x), Data::Int64(y)) => {
            let of_items = |x: i64, y: i64| of_integers(x.into(), y.into()).map(|result| result as i64);
            let items: Option<Vec<i64>> = to.zip((x, a.shape()), (y, b.shape()), of_items);
            Data::Int64(items.ok_or_else(undefined)?)
        }
        _ if a.dtype().is_integer() && b.dtype().is_integer() => {
            let (x, y): (Vec<i128>, Vec<i128>) = (wide(a).collect(), wide(b).collect());
            let items: Option<Vec<i128>> = to.zip((&x, a.shape()), (&y, b.shape()), of_integers);
            Data::from_wide(a.dtype(), items.ok_or_else(undefined)?.into_iter())
        }
        _ => {
            let (x, y) = (floats(a)?, floats(b)?);
            let items: Vec<f64> = to.zip((&x, a.shape()), (&y, b.shape()), of_floats);
            Data::from_floats(a.dtype(), items.into_iter())
        }
    })
}

/// Arithmetic of integers of any width; none where it is not defined.
fn exact(op: Arith, a: i128, b: i128) -> Option<i128> {
    match op {
        // A product of unsigned integers may exceed 127 bits; only its lowest bits count.
        Arith::Mul => Some(a.wrapping_mul(b)),
        Arith::Min => Some(a.min(b)),
        Arith::Max => Some(a.max(b)),
        _ => op.exact(a, b).map(|(result, _)| result),
    }
}

/// Arithmetic of two operands.
fn arithmetic(call: &NodeCall, op: Arith) -> KernelResult {
    let (a, b) = call.aligned()?;
    one(combined(call, &a, &b, op)?)
}

fn combined(call: &NodeCall, a: &Tensor, b: &Tensor, op: Arith) -> Result<Tensor, EvalError> {
    if a.dtype() != b.dtype() {
        return Err(mixed(call, a, b));
    }
    let shape = common(&[a.shape(), b.shape()])?;
    call.room(&shape)?;
    // What is computed in the width of the items is, for these, what is computed in a greater one and then rounded, or cut
    // to the lowest bits.
    let is_exact = match op {
        Arith::Add | Arith::Sub | Arith::Mul => true,
        Arith::Div => a.dtype().is_float(),
        // Of floats they may be NaNs that signal.
        Arith::Min | Arith::Max => a.dtype().is_integer(),
        _ => false,
    };
    let narrow = is_exact.then(|| Kernel::Arithmetic(op).compute(&[a, b], to(&shape)).ok()).flatten();
    let data = match narrow {
        Some(data) => data,
        None => items(call, a, b, to(&shape), |a, b| f64::calculate(op, a, b), |a, b| exact(op, a, b))?,
    };
    Ok(Tensor::with(&shape, data)?)
}

/// Arithmetic of all operands, the first two first.
pub(in crate::onnx) fn variadic(call: &NodeCall, op: Arith) -> KernelResult {
    one(folded(call, op)?)
}

fn folded(call: &NodeCall, op: Arith) -> Result<Tensor, EvalError> {
    let operands = call.tensors()?;
    let (first, rest) = operands.split_first().ok_or_else(|| call.refused("there are no operands"))?;
    let mut result = Tensor::clone(first);
    for operand in rest {
        result = combined(call, &result, operand, op)?;
    }
    Ok(result)
}

/// The mean of all operands.
pub(in crate::onnx) fn mean(call: &NodeCall) -> KernelResult {
    let (sum, count) = (folded(call, Arith::Add)?, call.count() as f64);
    one(call.rounded(sum.dtype(), sum.shape(), floats(&sum)?.iter().map(|item| item / count))?)
}

/// The remainder, with the sign of the divisor or of the dividend.
pub(in crate::onnx) fn modulo(call: &NodeCall) -> KernelResult {
    if call.flag("fmod", false)? {
        return arithmetic(call, Arith::Fmod);
    }
    let (a, b) = call.aligned()?;
    let of_floats = |a: f64, b: f64| match f64::calculate(Arith::Remainder, a, b) {
        0.0 => 0f64.copysign(b),
        // The remainder of a finite number by an infinite one of the other sign.
        rest if b.is_infinite() && a.is_finite() && a != 0.0 && (a < 0.0) != (b < 0.0) => {
            if rest.is_nan() {
                b
            } else {
                rest
            }
        }
        rest => rest,
    };
    one(both(call, &a, &b, of_floats, |a, b| exact(Arith::Remainder, a, b))?)
}

/// A power; the exponent may have another type than the base, which is that of the result.
pub(in crate::onnx) fn power(call: &NodeCall) -> KernelResult {
    let (a, b) = call.aligned()?;
    // The steps and the memory of a power count twice.
    call.room(&common(&[a.shape(), b.shape()])?)?;
    one(combine(call, &a, &b, f64::powf, |a, b| Some(whole_power(a, b)))?)
}

/// The lowest bits of a power; negative powers are truncated to integers.
fn whole_power(a: i128, b: i128) -> i128 {
    match (u128::try_from(b), a) {
        // The lowest 64 bits are periodic in the exponent only for odd bases, so it is halved.
        (Ok(mut exponent), _) => {
            let (mut result, mut base) = (1i128, a);
            while exponent > 0 {
                if exponent & 1 == 1 {
                    result = result.wrapping_mul(base);
                }
                base = base.wrapping_mul(base);
                exponent >>= 1;
            }
            result
        }
        (Err(_), 1) => 1,
        (Err(_), -1) => {
            if b % 2 == 0 {
                1
            } else {
                -1
            }
        }
        (Err(_), _) => 0,
    }
}

/// Limits a number to a range; the upper limit has precedence over the lower one.
pub(in crate::onnx) fn clip(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let bound = |i: usize, name: &str, none: f32| -> Result<Option<Tensor>, EvalError> {
        if call.version < 11 {
            // The first version has no limits without attributes; those after it have the ends of floats.
            let given = call.float(name)?.or((call.version >= 6).then_some(f64::from(none)));
            return given.map(|given| call.rounded(x.dtype(), &[], [given])).transpose();
        }
        let Some(bound) = call.optional(i)? else { return Ok(None) };
        if bound.len() != 1 {
            return Err(call.misfit("a limit is not a single number"));
        }
        Ok(Some(bound.reshaped(&[])?))
    };
    let mut result = Tensor::clone(x);
    if let Some(low) = bound(1, "min", f32::MIN)? {
        result = both(call, &result, &low, |x, low| if x < low { low } else { x }, |x, low| Some(x.max(low)))?;
    }
    if let Some(high) = bound(2, "max", f32::MAX)? {
        result = both(call, &result, &high, |x, high| if x > high { high } else { x }, |x, high| Some(x.min(high)))?;
    }
    one(result)
}

/// The number itself, or times a slope if it is negative.
pub(in crate::onnx) fn prelu(call: &NodeCall) -> KernelResult {
    let (x, slope) = (call.tensor(0)?, call.tensor(1)?);
    // In the first versions the slopes are those of channels.
    let channels = call.version < 7 && slope.rank() == 1 && slope.len() != 1 && x.rank() > 1;
    let slope = if channels {
        let shape: Vec<usize> = slope.shape().iter().copied().chain(std::iter::repeat_n(1, x.rank() - 2)).collect();
        slope.reshaped(&shape)?
    } else {
        Tensor::clone(slope)
    };
    let integer = |x: i128, slope: i128| Some(if x < 0 { x.wrapping_mul(slope) } else { x });
    one(both(call, x, &slope, |x, slope| if x < 0.0 { x * slope } else { x }, integer)?)
}

/// The operand itself, and that nothing of it was dropped.
pub(in crate::onnx) fn dropout(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let trains = match call.optional(2)? {
        Some(mode) => logicals(mode)?.first() == Some(&true),
        None => call.version < 7 && !call.flag("is_test", call.version >= 7)?,
    };
    if trains {
        return Err(EvalError::new(crate::diagnostics::Code::NotEvaluated, "dropout that trains is random"));
    }
    let mask = match call.version {
        ..10 => call.rounded(x.dtype(), x.shape(), std::iter::repeat_n(1.0, x.len()))?,
        _ => call.made(x.shape(), Data::Bool(vec![true; x.len()]))?,
    };
    Ok(vec![x.clone().into(), mask.into()])
}

/// A gate times a value.
pub(in crate::onnx) fn gated(call: &NodeCall) -> KernelResult {
    let alpha = call.float_or("alpha", 1.0)?;
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    if a.shape() != b.shape() {
        return Err(call.misfit(format!("the operands have shapes {:?} and {:?}", a.shape(), b.shape())));
    }
    one(both(call, a, b, |a, b| a * sigmoid(alpha * a) * b, |_, _| None)?)
}

/// The logarithm of 1 + eˣ, which does not overflow.
pub(in crate::onnx) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// The Gaussian error linear unit, exact or by a tangent.
pub(in crate::onnx) fn gelu(call: &NodeCall) -> KernelResult {
    match call.text_or("approximate", "none")?.as_str() {
        "none" => float(call, |x| 0.5 * x * (1.0 + erf(x / std::f64::consts::SQRT_2))),
        "tanh" => float(call, |x| {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        }),
        other => Err(call.refused(format!("`approximate` is `{other}`"))),
    }
}

/// Exponential linear units: scaled exponentials below 0.
pub(in crate::onnx) fn elu(call: &NodeCall) -> KernelResult {
    let alpha = call.float_or("alpha", 1.0)?;
    float(call, |x| if x < 0.0 { alpha * x.exp_m1() } else { x })
}

/// Exponential linear units whose slope is continuous. The definition adds two terms, so that -0 becomes 0.
pub(in crate::onnx) fn celu(call: &NodeCall) -> KernelResult {
    let alpha = call.float_or("alpha", 1.0)?;
    float(call, |x| if x < 0.0 { alpha * (x / alpha).exp_m1() } else { x + 0.0 })
}

/// Exponential linear units that keep mean and variance.
pub(in crate::onnx) fn selu(call: &NodeCall) -> KernelResult {
    // The defaults of the first version have fewer digits.
    let (alpha, gamma) = if call.version < 6 { (1.6732, 1.0507) } else { (1.673_263_2, 1.050_701) };
    let (alpha, gamma) = (call.float_or("alpha", alpha)?, call.float_or("gamma", gamma)?);
    float(call, |x| gamma * if x < 0.0 { alpha * x.exp_m1() } else { x })
}

pub(in crate::onnx) fn hard_sigmoid(call: &NodeCall) -> KernelResult {
    let (alpha, beta) = (call.float_or("alpha", 0.2)?, call.float_or("beta", 0.5)?);
    float(call, |x| hard_gate(x, alpha, beta))
}

fn hard_gate(x: f64, alpha: f64, beta: f64) -> f64 {
    (alpha * x + beta).clamp(0.0, 1.0)
}

/// The number times its hard sigmoid, whose slope is a float of 32 bits.
pub(in crate::onnx) fn hard_swish(call: &NodeCall) -> KernelResult {
    float(call, |x| x * hard_gate(x, f64::from(1.0f32 / 6.0), 0.5))
}

pub(in crate::onnx) fn leaky_relu(call: &NodeCall) -> KernelResult {
    let alpha = call.float_or("alpha", 0.01)?;
    float(call, |x| if x < 0.0 { alpha * x } else { x })
}

pub(in crate::onnx) fn thresholded_relu(call: &NodeCall) -> KernelResult {
    let alpha = call.float_or("alpha", 1.0)?;
    float(call, |x| if x > alpha { x } else { 0.0 })
}

/// The logistic function times the number.
pub(in crate::onnx) fn swish(call: &NodeCall) -> KernelResult {
    let alpha = call.float_or("alpha", 1.0)?;
    float(call, |x| x * sigmoid(alpha * x))
}

/// Numbers near 0 become 0, others come closer to it.
pub(in crate::onnx) fn shrink(call: &NodeCall) -> KernelResult {
    let (lambda, bias) = (call.float_or("lambd", 0.5)?, call.float_or("bias", 0.0)?);
    let shrunk = |x: f64| {
        if x < -lambda {
            x + bias
        } else if x > lambda {
            x - bias
        } else {
            0.0
        }
    };
    let x = call.tensor(0)?;
    match x.dtype().is_integer() {
        true => one(call.wrapped(x.dtype(), x.shape(), floats(x)?.iter().map(|&item| shrunk(item) as i128))?),
        false => float(call, shrunk),
    }
}

/// Whether floats are infinite.
pub(in crate::onnx) fn is_infinite(call: &NodeCall) -> KernelResult {
    let (below, above) = (call.flag("detect_negative", true)?, call.flag("detect_positive", true)?);
    truths(call, |x| x == f64::INFINITY && above || x == f64::NEG_INFINITY && below)
}

/// Whether floats have a property.
pub(in crate::onnx) fn truths(call: &NodeCall, f: impl Fn(f64) -> bool) -> KernelResult {
    let x = call.tensor(0)?;
    one(call.made(x.shape(), Data::Bool(floats(x)?.iter().map(|&item| f(item)).collect()))?)
}

/// The second operand where the first is true, else the third.
fn choose(call: &NodeCall) -> KernelResult {
    let (condition, yes, no) = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    if yes.dtype() != no.dtype() {
        return Err(mixed(call, yes, no));
    }
    let shape = common(&[condition.shape(), yes.shape(), no.shape()])?;
    let count = call.room(&shape)?;
    call.budget.work(count as u64)?;
    let places = |of: &Tensor| crate::onnx::run::broadcast::places(of.shape(), &shape);
    let chosen = logicals(condition)?;
    let mut result = no.data().pick(places(no).into_iter());
    let (from, truths) = (places(yes), places(condition));
    let (taken, source): (Vec<usize>, Vec<usize>) =
        (0..truths.len()).filter(|&i| chosen[truths[i]]).map(|i| (i, from[i])).unzip();
    result.put(&taken, yes.data(), |i| source[i]);
    one(Tensor::with(&shape, result)?)
}

/// Shifts bits; those beyond the type are lost, and the sign fills from the left.
pub(in crate::onnx) fn shift(call: &NodeCall) -> KernelResult {
    let is_left = match call.text_or("direction", "")?.as_str() {
        "LEFT" => true,
        "RIGHT" => false,
        other => return Err(call.refused(format!("`direction` is `{other}`"))),
    };
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let width = a.dtype().range().map_or(64, |(least, greatest)| 128 - (greatest - least).leading_zeros());
    let shifted = |x: i128, by: i128| match u32::try_from(by).ok().filter(|&by| by < width) {
        Some(by) if is_left => x << by,
        Some(by) => x >> by,
        None if is_left || x >= 0 => 0,
        None => -1,
    };
    one(both(call, a, b, |_, _| f64::NAN, |x, by| Some(shifted(x, by)))?)
}

/// A function of the bits of two integers.
fn bits(call: &NodeCall, f: fn(i64, i64) -> Option<i64>) -> KernelResult {
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    if !a.dtype().is_integer() {
        return Err(call.refused(format!("an operand has items of type {}", a.dtype())));
    }
    // Of an unsigned integer the bits count, not the sign that they mean here.
    one(both(call, a, b, |a, _| a, |a, b| f(a as i64, b as i64).map(i128::from))?)
}

/// A function of two logicals.
fn logic(call: &NodeCall, f: fn(bool, bool) -> bool) -> KernelResult {
    let (a, b) = call.aligned()?;
    let shape = common(&[a.shape(), b.shape()])?;
    call.room(&shape)?;
    let items: Vec<bool> = to(&shape).zip((logicals(&a)?, a.shape()), (logicals(&b)?, b.shape()), f);
    one(Tensor::logicals(&shape, items)?)
}

/// The negation of logicals.
fn not(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    one(call.made(x.shape(), Data::Bool(logicals(x)?.iter().map(|item| !item).collect()))?)
}

/// Compares items of equal type by their order.
fn compare(call: &NodeCall, f: impl Fn(std::cmp::Ordering) -> bool) -> KernelResult {
    let (a, b) = call.aligned()?;
    if a.dtype() != b.dtype() {
        return Err(mixed(call, &a, &b));
    }
    let shape = common(&[a.shape(), b.shape()])?;
    call.room(&shape)?;
    let to = to(&shape);
    let items: Vec<bool> = match (a.data(), b.data()) {
        (Data::Text(x), Data::Text(y)) => {
            let (x, y): (Vec<&str>, Vec<&str>) = (x.iter().map(|x| &**x).collect(), y.iter().map(|y| &**y).collect());
            to.zip((&x, a.shape()), (&y, b.shape()), |x, y| f(x.cmp(y)))
        }
        (Data::Float32(x), Data::Float32(y)) => {
            to.zip((x, a.shape()), (y, b.shape()), |x: f32, y: f32| x.partial_cmp(&y).is_some_and(&f))
        }
        (Data::Int64(x), Data::Int64(y)) => to.zip((x, a.shape()), (y, b.shape()), |x: i64, y: i64| f(x.cmp(&y))),
        (Data::Complex64(_) | Data::Complex128(_), _) => return Err(call.refused("complex numbers have no order")),
        _ if a.dtype().is_float() => {
            let (x, y) = (floats(&a)?, floats(&b)?);
            to.zip((&x, a.shape()), (&y, b.shape()), |x, y| x.partial_cmp(&y).is_some_and(&f))
        }
        _ => {
            let (x, y): (Vec<i128>, Vec<i128>) = (wide(&a).collect(), wide(&b).collect());
            to.zip((&x, a.shape()), (&y, b.shape()), |x, y| f(x.cmp(&y)))
        }
    };
    one(Tensor::logicals(&shape, items)?)
}
