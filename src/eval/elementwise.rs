//! Element-wise operations (4.2) and casts (4.5.8).
//!
//! The result of arithmetic on integers is an integer; with a scalar and an integer, the integer is converted.

use std::sync::Arc;

use super::broadcast::{common, repeated};
use super::error::EvalError;
use super::eval_call::{Call, KernelResult, as_scalars};
use crate::dictionary::{Arith, Kernel, Order};
use crate::extents::Align;
use crate::graph::Value;
use crate::tensor::kernels::Repeat;
use crate::tensor::{DType, Tensor};

/// A function of one real number.
type Unary = fn(f64) -> f64;

/// Evaluates an operation by the kernel of its meaning.
pub(crate) fn elementwise(call: &Call) -> KernelResult {
    let row = call.graph().meaning(call.graph().kind(call.operation));
    match row.and_then(|row| row.kernel) {
        Some(Kernel::Float(..)) if keeps_integers(call) => copy(call),
        Some(Kernel::Float(_, f)) => apply(call, f),
        Some(Kernel::Number(_, f, whole)) => number(call, f, whole),
        Some(Kernel::Floats(f)) => {
            let [x, y] = [call.numbers("x")?, call.numbers("y")?];
            Ok(vec![repeated(call, &x, &y, |x, y| Ok(f(x, y)))?])
        }
        Some(Kernel::Arithmetic(op)) => arithmetic(call, op),
        Some(kernel @ Kernel::Compare(order)) => {
            let logicals = ["x", "y"].map(|name| Ok(call.tensor(name)?.dtype() == DType::Bool));
            let [x, y] = match (order, logicals) {
                (Order::Equal | Order::NotEqual, [Ok(true), Ok(true)]) => [call.tensor("x")?, call.tensor("y")?],
                (_, [Err(fault), _] | [_, Err(fault)]) => return Err(fault),
                _ => numbers(call)?,
            };
            computed(call, kernel, &[&x, &y])
        }
        Some(kernel @ Kernel::Logic(_)) => computed(call, kernel, &[&*call.logicals("x")?, &*call.logicals("y")?]),
        Some(kernel @ Kernel::Not) => computed(call, kernel, &[&*call.logicals("x")?]),
        Some(Kernel::Bits(f)) => bits(call, f),
        Some(Kernel::Select) => select(call),
        None => Err(EvalError::argument(format!("`{}` is not computed item by item", call.name()))),
    }
}

/// A function of two integers or logicals.
fn bits(call: &Call, f: fn(i64, i64) -> Option<i64>) -> KernelResult {
    let (x, y) = (call.tensor("x")?, call.tensor("y")?);
    let wide = |tensor: &Tensor| tensor.clone().into_type(DType::Int64).map_err(|error| EvalError::value(error.0));
    let out_of_range = || EvalError::value(format!("`{}` is not defined for these integers", call.name()));
    let result = repeated(call, &wide(&x)?, &wide(&y)?, |x: i64, y: i64| f(x, y).ok_or_else(out_of_range))?;
    if x.dtype() != DType::Bool {
        return Ok(vec![result]);
    }
    Ok(vec![result.into_type(DType::Bool).map_err(|error| EvalError::value(error.0))?])
}

/// Whether the operation leaves its operand unchanged by the conventions of registries: integers are not rounded.
fn keeps_integers(call: &Call) -> bool {
    let rounds = ["floor", "ceil", "round"].contains(&call.name());
    rounds && call.graph().conventions.follows && call.tensor("x").is_ok_and(|x| x.dtype() == DType::Int64)
}

/// Evaluates an operation by a shared kernel.
fn computed(call: &Call, kernel: Kernel, operands: &[&Tensor]) -> KernelResult {
    let shapes = operands.iter().map(|operand| operand.shape());
    let shape = shapes.skip(1).try_fold(operands[0].shape().to_vec(), |a, b| common(call.name(), &a, b))?;
    call.budget().room(&shape)?;
    let data = kernel.compute(operands, Repeat { shape: &shape, align: Align::First }).map_err(EvalError::argument)?;
    Tensor::new(&shape, data).map(|tensor| vec![tensor]).ok_or_else(|| EvalError::shapes("a tensor is too large"))
}

/// The only operand of an operation. Exporters write operations of tract without declarations, so that it has no name;
/// other operations without one can mean anything.
fn only(call: &Call) -> Result<Arc<Tensor>, EvalError> {
    match call.value_at(0, "x").filter(|_| call.name().starts_with("tract_")) {
        Some(value) => call.tensor_of(&value),
        None => call.tensor("x"),
    }
}

/// Applies a function to the only operand of an operation.
fn apply(call: &Call, f: impl Fn(f64) -> f64) -> KernelResult {
    let x = only(call)?;
    if x.dtype() != DType::Float64 {
        call.budget().room(x.shape())?;
    }
    Ok(vec![call.mapped(&*as_scalars(x)?, f)?])
}

/// Copies the operand.
pub(crate) fn copy(call: &Call) -> KernelResult {
    let x = call.tensor("x")?;
    call.budget().room(x.shape())?;
    Ok(vec![Tensor::clone(&x)])
}

/// Applies a function of one number; the result for an integer is an integer.
fn number(call: &Call, scalar: Unary, integer: fn(i128) -> i128) -> KernelResult {
    let x = only(call)?;
    let Some(items) = x.items::<i64>() else { return apply(call, scalar) };
    call.budget().room(x.shape())?;
    let items: Result<Vec<i64>, _> = items.iter().map(|&item| integer(item.into()).try_into()).collect();
    let overflow = |_| EvalError::value(format!("`{}` on integers leaves the range of 64 bits", call.name()));
    Ok(vec![Tensor::integers(x.shape(), items.map_err(overflow)?)?])
}

/// Both operands, as scalars unless both are integers.
fn numbers(call: &Call) -> Result<[Arc<Tensor>; 2], EvalError> {
    let (x, y) = beside(call, "x", "y")?;
    let integers = x.dtype() == DType::Int64 && y.dtype() == DType::Int64;
    if integers { Ok([x, y]) } else { Ok([call.numbers("x")?, call.numbers("y")?]) }
}

/// Two operands; by the conventions of registries, a number is converted to the type of the other operand, a tensor.
fn beside(call: &Call, x: &str, y: &str) -> Result<(Arc<Tensor>, Arc<Tensor>), EvalError> {
    let (a, b) = (call.tensor(x)?, call.tensor(y)?);
    let is_tensor = |name: &str| matches!(call.value(name), Some(Value::Tensor(_)));
    if !call.graph().conventions.follows || a.dtype() == b.dtype() {
        return Ok((a, b));
    }
    let fitted = |number: &Tensor, to: DType| call.converted(number, to).map(Arc::new);
    Ok(match (is_tensor(x), is_tensor(y)) {
        (true, false) if a.dtype() != DType::Bool => (Arc::clone(&a), fitted(&b, a.dtype())?),
        (false, true) if b.dtype() != DType::Bool => (fitted(&a, b.dtype())?, b),
        _ => (a, b),
    })
}

/// Arithmetic on scalars, or on integers, where the result must fit into 64 bits.
fn arithmetic(call: &Call, op: Arith) -> KernelResult {
    let [x, y] = numbers(call)?;
    if x.dtype() == DType::Int64 {
        let checked = |x: i64, y: i64| {
            let exact = op.exact(x.into(), y.into()).filter(|(_, overflows)| !overflows);
            exact.and_then(|(exact, _)| i64::try_from(exact).ok()).ok_or_else(|| {
                EvalError::value(format!("`{}` of the integers {x} and {y} does not fit into 64 bits", call.name()))
            })
        };
        return Ok(vec![repeated(call, &x, &y, checked)?]);
    }
    computed(call, Kernel::Arithmetic(op), &[&x, &y])
}

/// Selects between the items of two operands (4.2.3). Operands of different types, which checks allow (E0721), become
/// scalars.
pub(crate) fn select(call: &Call) -> KernelResult {
    let (condition, mut a, mut b) =
        (call.logicals("condition")?, call.tensor("true_value")?, call.tensor("false_value")?);
    let shape = common(call.name(), &common(call.name(), condition.shape(), a.shape())?, b.shape())?;
    call.budget().room(&shape)?;
    if a.dtype() != b.dtype() {
        (a, b) = (call.numbers("true_value")?, call.numbers("false_value")?);
    }
    let chosen = Repeat { shape: &shape, align: Align::First }.select(&condition, &a, &b);
    let chosen = chosen.and_then(|data| Tensor::new(&shape, data));
    chosen.map(|tensor| vec![tensor]).ok_or_else(|| EvalError::shapes("a tensor is too large"))
}

/// Converts to another type: scalars are truncated to integers, logicals become 0 and 1, and all numbers except 0
/// become true (4.5.8 and 3.3.7).
pub(crate) fn cast(call: &Call) -> KernelResult {
    let input = call.tensor("input")?;
    let wanted = call.element_type();
    let wanted = wanted.ok_or_else(|| EvalError::argument("the type to cast to is not known".to_string()))?;
    call.converted(&input, wanted).map(|tensor| vec![tensor])
}
