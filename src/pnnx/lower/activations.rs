//! Activations with settings of their own.

use super::{Line, Lowered};
use crate::graph::{TensorId, Value};
use crate::pnnx::item::ExpandedItem;

/// GELU by `tanh`.
const BY_TANH: &str =
    "mul(mul(@0,0.5),add(tanh(mul(mul(@0,add(mul(mul(@0,@0),0.044715),1.0)),0.7978845608028654)),1.0))";

/// GELU: by the error function, unless the approximation by `tanh` is asked for.
pub(super) fn gelu(line: &mut Line) -> Lowered<Vec<TensorId>> {
    if line.choice("approximate", &[("none", false), ("tanh", true)], Some(false))? {
        return Ok(vec![line.text_of(BY_TANH)?]);
    }
    let x = ExpandedItem::Tensor(line.tensor("input")?);
    Ok(vec![line.spelled("mul(mul(@0,0.5),add(erf(mul(@0,0.7071067811865476)),1.0))", &[x])?])
}

/// The error function, as expressions have it.
pub(super) fn erf(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = ExpandedItem::Tensor(line.tensor("input")?);
    Ok(vec![line.spelled("erf(@0)", &[x])?])
}

/// In evaluation, the slope below 0 is the middle of the two bounds.
pub(super) fn randomized(line: &mut Line) -> Lowered<Vec<TensorId>> {
    line.off("training")?;
    let (lower, upper): (f64, f64) = (line.setting_or("lower", 0.125)?, line.setting_or("upper", 1.0 / 3.0)?);
    let x = line.tensor("input")?;
    Ok(vec![line.add("leaky_relu", vec![Value::Tensor(x), Value::Scalar((lower + upper) / 2.0)])?])
}
