//! Element-wise operations that mean something else than the operations of NNEF with their names, for halves, -0,
//! infinities, NaN, or where these overflow.

use super::{Lower, splat};
use crate::graph::{Primitive, Value};
use crate::loops::site::Computed;
use crate::loops::symbols::Sym;
use crate::tensor::{DType, Dims};

/// The only operand, which is a scalar tensor.
fn operand(call: &mut Lower) -> Computed<Value> {
    call.only(Primitive::Scalar)?;
    call.first()
}

/// To even: twice the rounded half for numbers in the middle between two integers, since halves of these are not in the
/// middle.
pub(super) fn round(call: &mut Lower) -> Computed<Sym> {
    let x = operand(call)?;
    let floor = call.step("floor", [x.clone()], "floor")?;
    let rest = call.step("sub", [x.clone(), floor], "rest")?;
    let middle = call.test("eq", [rest, Value::Scalar(0.5)], "middle")?;
    let half = call.step("mul", [x.clone(), Value::Scalar(0.5)], "half")?;
    let half = call.step("round", [half], "rounded")?;
    let even = call.step("mul", [half, Value::Scalar(2.0)], "even")?;
    let nearest = call.step("round", [x], "nearest")?;
    call.give("select", [middle, even, nearest])
}

/// `max(0, x) + log1p(exp(-|x|))`, where `log1p(t)` is `2 atanh(t / (t + 2))`: nothing overflows.
pub(super) fn softplus(call: &mut Lower) -> Computed<Sym> {
    let x = operand(call)?;
    let size = call.step("abs", [x.clone()], "abs")?;
    let minus = call.step("neg", [size], "neg")?;
    let power = call.step("exp", [minus], "exp")?;
    let sum = call.step("add", [power.clone(), Value::Scalar(2.0)], "sum")?;
    let quotient = call.step("div", [power, sum], "quotient")?;
    let half = call.step("atanh", [quotient], "half")?;
    let log = call.step("mul", [half, Value::Scalar(2.0)], "log")?;
    let positive = call.step("max", [Value::Scalar(0.0), x], "positive")?;
    call.give("add", [positive, log])
}

/// As the second operand, NaN stays.
pub(super) fn relu(call: &mut Lower) -> Computed<Sym> {
    let x = operand(call)?;
    call.give("max", [Value::Scalar(0.0), x])
}

/// The operand where NNEF's power has a root or reciprocal root: the negative infinity becomes a number without one.
/// Also returns whether it is 0.
fn radicand(call: &mut Lower) -> Computed<(Value, Value, Value)> {
    let x = operand(call)?;
    let zero = call.test("eq", [x.clone(), Value::Scalar(0.0)], "zero")?;
    let finite = call.step("max", [Value::Scalar(-1.0), x.clone()], "finite")?;
    Ok((x, zero, finite))
}

/// The root where it is that of NNEF: the operand is never negative or -0.
fn plain(call: &mut Lower, name: &'static str) -> Computed<Option<Sym>> {
    match call.input(0)? {
        Sym::Flat(flat) if call.symbols.never_negative(flat) => {
            let x = operand(call)?;
            call.give(name, [x]).map(Some)
        }
        _ => Ok(None),
    }
}

/// Zeros keep their sign.
pub(super) fn sqrt(call: &mut Lower) -> Computed<Sym> {
    if let Some(root) = plain(call, "sqrt")? {
        return Ok(root);
    }
    let (x, zero, finite) = radicand(call)?;
    let root = call.step("sqrt", [finite], "root")?;
    call.give("select", [zero, x, root])
}

/// The result for a zero is the infinity of its sign.
pub(super) fn rsqrt(call: &mut Lower) -> Computed<Sym> {
    if let Some(root) = plain(call, "rsqrt")? {
        return Ok(root);
    }
    let (x, zero, finite) = radicand(call)?;
    let infinity = call.step("rcp", [x], "infinity")?;
    let root = call.step("rsqrt", [finite], "root")?;
    call.give("select", [zero, infinity, root])
}

/// The larger or the smaller operand, or the one that is NaN: in NNEF, only the second one stays then.
pub(super) fn extreme(call: &mut Lower, name: &'static str) -> Computed<Sym> {
    call.only(Primitive::Scalar)?;
    let (a, b) = (call.input(0)?, call.input(1)?);
    let rank = call.shape.len();
    let is_number = |value: &Sym| value.known().and_then(|known| splat(known)).is_some();
    if is_number(a) || is_number(b) {
        let (number, other) = if is_number(a) { (a, b) } else { (b, a) };
        let literals = call.shapes_result(other);
        let arguments = [call.operand(number, rank, literals)?, call.operand(other, rank, literals)?];
        return call.give(name, arguments);
    }
    let mut shape = Dims::from_elem(1, rank.saturating_sub(a.shape().len()));
    shape.extend_from_slice(a.shape());
    let [a, b] = call.pair()?;
    let broken = call.symbols.emit(call.site, "ne", [a.clone(), a.clone()], (DType::Bool, &shape), "nan")?;
    let broken = Value::from(&broken);
    let chosen = call.step(name, [a.clone(), b], "chosen")?;
    call.give("select", [broken, a, chosen])
}
