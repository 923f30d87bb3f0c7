//! Activations with settings of their own.

use super::{Line, Lowered};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;

/// GELU by `tanh`.
const BY_TANH: &str =
    "mul(mul(@0,0.5),add(tanh(mul(mul(@0,add(mul(mul(@0,@0),0.044715),1.0)),0.7978845608028654)),1.0))";

/// What the polynomial of the error function gets: `1 / (1 + p |x|)` with `x` divided by the root of 2.
const PLACE: &str = "reciprocal(add(mul(abs(@0),0.231641888),1.0))";
/// GELU of `@0` by the polynomial of Abramowitz and Stegun, 7.1.26, of `@1`, the place. It differs from the error
/// function by at most 1.5e-7. For negative numbers `1 + erf` is what the polynomial gives, without a difference of
/// nearly equal numbers.
const TAIL: &str = "mul(mul(mul(add(mul(add(mul(add(mul(add(mul(@1,1.061405429),-1.453152027),@1),1.421413741),@1),\
    -0.284496736),@1),0.254829592),@1),exp(mul(mul(@0,@0),-0.5))),0.5)";

/// GELU: exact up to 1.5e-7 times the operand, unless the approximation by `tanh` is asked for.
pub(super) fn gelu(line: &mut Line) -> Lowered<Vec<TensorId>> {
    if line.choice("approximate", &[("none", false), ("tanh", true)], Some(false))? {
        return Ok(vec![line.text_of(BY_TANH)?]);
    }
    let x = line.tensor("input")?;
    let place = line.formula_of(PLACE, &[x])?;
    let tail = line.formula_of(TAIL, &[x, place])?;
    // `tail` is the probability beyond |x|: that of numbers below a negative x.
    Ok(vec![line.formula_of("mul(@0,select(lt(@0,0.0),@1,sub(1.0,@1)))", &[x, tail])?])
}

/// In evaluation, the slope below 0 is the middle of the two bounds.
pub(super) fn randomized(line: &mut Line) -> Lowered<Vec<TensorId>> {
    line.off("training")?;
    let (lower, upper): (f64, f64) = (line.setting_or("lower", 0.125)?, line.setting_or("upper", 1.0 / 3.0)?);
    let x = line.tensor("input")?;
    Ok(vec![line.add("leaky_relu", vec![Value::Tensor(x), Value::Scalar((lower + upper) / 2.0)])?])
}
