//! Activations with settings of their own.

use super::{Line, Lowered, Refusal};
use crate::graph::{TensorId, Value};
use crate::library::assembly::Assembly;
use crate::pnnx::item::ExpandedItem;

/// GELU by `tanh`.
const BY_TANH: &str =
    "mul(mul(@0,0.5),add(tanh(mul(mul(@0,add(mul(mul(@0,@0),0.044715),1.0)),0.7978845608028654)),1.0))";

/// GELU: by the error function, unless the approximation by `tanh` is asked for.
pub(super) fn gelu(line: &mut Line) -> Lowered<Vec<TensorId>> {
    if line.choice("approximate", &[("none", false), ("tanh", true)], Some(false))? {
        return Ok(vec![line.text_of(BY_TANH)?]);
    }
    let x = line.tensor("input")?;
    Ok(vec![by_error_function(line, x)?])
}

/// GELU of a tensor.
pub(super) fn by_error_function(line: &mut Line, x: TensorId) -> Lowered<TensorId> {
    line.spelled("mul(mul(@0,0.5),add(erf(mul(@0,0.7071067811865476)),1.0))", &[ExpandedItem::Tensor(x)])
}

/// The error function, as expressions have it.
pub(super) fn erf(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = ExpandedItem::Tensor(line.tensor("input")?);
    Ok(vec![line.spelled("erf(@0)", &[x])?])
}

/// ELU, without other factors than `alpha`.
pub(super) fn elu(line: &mut Line) -> Lowered<Vec<TensorId>> {
    for key in ["scale", "input_scale"] {
        line.require(key, line.setting_or(key, 1.0)? == 1.0, "1")?;
    }
    line.with_number("elu", "alpha", 1.0)
}

/// In evaluation, the slope below 0 is the middle of the two bounds.
pub(super) fn randomized(line: &mut Line) -> Lowered<Vec<TensorId>> {
    line.off("training")?;
    let (lower, upper): (f64, f64) = (line.setting_or("lower", 0.125)?, line.setting_or("upper", 1.0 / 3.0)?);
    let x = line.tensor("input")?;
    Ok(vec![line.add("leaky_relu", vec![Value::Tensor(x), Value::Scalar((lower + upper) / 2.0)])?])
}

/// The coefficients of Lanczos' sum with a shift of 7, by Godfrey.
const LANCZOS: [f64; 9] = [
    0.999_999_999_999_809_9,
    676.520_368_121_885_1,
    -1_259.139_216_722_402_8,
    771.323_428_777_653_1,
    -176.615_029_162_140_6,
    12.507_343_278_686_905,
    -0.138_571_095_265_720_12,
    9.984_369_578_019_572e-6,
    1.505_632_735_149_311_6e-7,
];

/// The logarithm of the absolute value of the gamma function: Lanczos' sum, which has a relative error of 1e-14 for
/// numbers from 0.5 on, and its reflection below. The sine of an angle within one period is 0 at the poles.
pub(super) fn log_gamma(line: &mut Line) -> Lowered<Vec<TensorId>> {
    let x = line.tensor("input")?;
    let z = line.formula_of("sub(select(lt(@0,0.5),sub(1.0,@0),@0),1.0)", &[x])?;
    let mut sum = None;
    for (coefficient, at) in LANCZOS.into_iter().skip(1).zip(1..) {
        let term = format!("mul({coefficient:?},rcp(add(@0,{at}.0)))");
        sum = Some(match sum {
            None => line.formula_of(&format!("add({:?},{term})", LANCZOS[0]), &[z])?,
            Some(sum) => line.formula_of(&format!("add({term},@1)"), &[z, sum])?,
        });
    }
    let sum = sum.ok_or(Refusal::UNFIT)?;
    // Half the logarithm of 2π, less the shift.
    let log = "add(add(-6.081061466795327,mul(add(@0,0.5),sub(log(add(@0,7.5)),1.0))),log(@1))";
    let above = line.formula_of(log, &[z, sum])?;
    let reflected = "sub(sub(1.1447298858494002,log(abs(sin(mul(3.141592653589793,sub(@0,floor(@0))))))),@1)";
    let below = line.formula_of(reflected, &[x, above])?;
    Ok(vec![line.formula_of("select(lt(@0,0.5),@1,@2)", &[x, below, above])?])
}
