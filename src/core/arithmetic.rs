//! Operators on compile-time values. Failures get their locations from the machine.

use std::cmp::Ordering;

use super::budget::{Budget, Failure, Outcome};
use super::list::List;
use super::symbolic::Symbolic;
use super::value::Value;
use crate::diagnostics::Code;
use crate::graph::operators::Class;
use crate::graph::operators::{BinaryOp, UnaryOp, integer_quotient};

fn mistyped(text: &str, values: &[&Value]) -> Box<Failure> {
    if let Some(Value::Symbol(_) | Value::Tensor(_)) =
        values.iter().find(|v| matches!(v, Value::Symbol(_) | Value::Tensor(_)))
    {
        return Failure::new(Code::NotCompileTime, format!("`{text}` requires a value that is known at expansion"));
    }
    let kinds: Vec<&str> = values.iter().map(|value| value.kind()).collect();
    let operands = kinds.join(" and ");
    let label = format!("the operands are {operands}");
    Failure::new(Code::DynamicType, format!("`{text}` is not defined for {operands}")).label(label)
}

fn range_failure(text: &str) -> Box<Failure> {
    Failure::new(Code::IntegerRange, format!("the result of `{text}` does not fit into 64 bits"))
}

fn division_by_zero() -> Box<Failure> {
    Failure::new(Code::DivisionByZero, "division by zero")
}

/// Applies a unary operator.
pub(crate) fn unary(op: UnaryOp, value: &Value) -> Outcome<Value> {
    let text = op.info().text;
    Ok(match (op, value) {
        (UnaryOp::Plus, Value::Int(_) | Value::Scalar(_) | Value::Symbol(_)) => value.clone(),
        (UnaryOp::Minus, Value::Int(i)) => Value::Int(i.checked_neg().ok_or_else(|| range_failure(text))?),
        (UnaryOp::Minus, Value::Scalar(s)) => Value::Scalar(-s),
        (UnaryOp::Not, Value::Logical(b)) => Value::Logical(!b),
        (UnaryOp::Minus, Value::Symbol(symbolic)) => match symbolic.negated() {
            Some(negated) => Value::Symbol(negated.into()),
            None => return Err(mistyped(text, &[value])),
        },
        _ => return Err(mistyped(text, &[value])),
    })
}

/// Applies a binary operator; the short-circuit evaluation of `&&` and `||` is compiled to jumps instead.
pub(crate) fn binary(op: BinaryOp, a: &Value, b: &Value, budget: &Budget) -> Outcome<Value> {
    if let Some(value) = of_numbers(op, a, b) {
        return Ok(value);
    }
    match (a, b) {
        (Value::Int(_), Value::Int(right)) => match op {
            BinaryOp::Div if *right == 0 => Err(division_by_zero()),
            BinaryOp::Pow if *right < 0 => {
                let message = format!("the exponent {right} is negative; the result is not an integer");
                Err(Failure::new(Code::IntegerRange, message).help("convert to scalars first"))
            }
            _ if op.info().class == Class::Arithmetic => Err(range_failure(op.info().text)),
            _ => Err(mistyped(op.info().text, &[a, b])),
        },
        (Value::Scalar(_), Value::Scalar(_)) if op == BinaryOp::Div => Err(division_by_zero()),
        (Value::Scalar(_), Value::Scalar(_)) => Err(mistyped(op.info().text, &[a, b])),
        (Value::Symbol(_), Value::Symbol(_) | Value::Int(_)) | (Value::Int(_), Value::Symbol(_))
            if op.info().class == Class::Arithmetic =>
        {
            symbols(op, a, b, budget)
        }
        _ => match op {
            BinaryOp::Add => concat(a, b, budget),
            BinaryOp::Mul => repeat(a, b, budget),
            BinaryOp::Eq | BinaryOp::Ne => {
                let same = equal(a, b, budget)?.ok_or_else(|| mistyped(op.info().text, &[a, b]))?;
                Ok(Value::Logical(same == (op == BinaryOp::Eq)))
            }
            BinaryOp::In => member(a, b, budget),
            BinaryOp::And | BinaryOp::Or => match (a, b) {
                (Value::Logical(a), Value::Logical(b)) => {
                    Ok(Value::Logical(if op == BinaryOp::And { *a && *b } else { *a || *b }))
                }
                _ => Err(mistyped(op.info().text, &[a, b])),
            },
            _ => Err(mistyped(op.info().text, &[a, b])),
        },
    }
}

/// Arithmetic on dimension symbols builds an expression.
fn symbols(op: BinaryOp, a: &Value, b: &Value, budget: &Budget) -> Outcome<Value> {
    let side = |value: &Value| match value {
        Value::Symbol(symbolic) => Some(Symbolic::clone(symbolic)),
        Value::Int(i) => Some(Symbolic::integer(*i)),
        _ => None,
    };
    let result = side(a).zip(side(b)).and_then(|(a, b)| Symbolic::binary(op, &a, &b));
    let symbolic = result.ok_or_else(|| mistyped(op.info().text, &[a, b]))?;
    budget.keep_text(symbolic.text().len())?;
    Ok(Value::Symbol(symbolic.into()))
}

/// An operator on two integers; none if it is not arithmetic, or the result is not an integer of 64 bits.
#[inline(always)]
fn integer(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => integer_quotient(a, b),
        BinaryOp::Pow => integer_power(a, b),
        _ => None,
    }
}

/// An operator on two numbers of the same type; none if they are not, or there is no result.
#[inline]
pub(crate) fn of_numbers(op: BinaryOp, a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => match integer(op, *a, *b) {
            Some(result) => Some(Value::Int(result)),
            None => holds(op, a.cmp(b)).map(Value::Logical),
        },
        (Value::Scalar(a), Value::Scalar(b)) => match scalar(op, *a, *b) {
            Some(result) => Some(Value::Scalar(result)),
            None => {
                let ordering = a.partial_cmp(b);
                let holds = holds(op, ordering.unwrap_or(Ordering::Equal))?;
                // NaN differs from everything.
                Some(Value::Logical(if ordering.is_some() { holds } else { op == BinaryOp::Ne }))
            }
        },
        _ => None,
    }
}

fn integer_power(a: i64, b: i64) -> Option<i64> {
    match (a, u32::try_from(b)) {
        _ if b < 0 => None,
        (0 | 1, _) => Some(if b == 0 { 1 } else { a }),
        (-1, _) => Some(if b % 2 == 0 { 1 } else { -1 }),
        (_, Ok(b)) => a.checked_pow(b),
        (_, Err(_)) => None,
    }
}

/// An operator on two scalars; none if it is not arithmetic, or a division by zero.
#[inline(always)]
fn scalar(op: BinaryOp, a: f64, b: f64) -> Option<f64> {
    match op {
        BinaryOp::Add => Some(a + b),
        BinaryOp::Sub => Some(a - b),
        BinaryOp::Mul => Some(a * b),
        BinaryOp::Div => (b != 0.0).then(|| a / b),
        BinaryOp::Pow => Some(a.powf(b)),
        _ => None,
    }
}

/// Whether a comparison holds for operands in this order; none if the operator is not a comparison.
#[inline]
fn holds(op: BinaryOp, ordering: Ordering) -> Option<bool> {
    Some(match op {
        BinaryOp::Lt => ordering.is_lt(),
        BinaryOp::Le => ordering.is_le(),
        BinaryOp::Gt => ordering.is_gt(),
        BinaryOp::Ge => ordering.is_ge(),
        BinaryOp::Eq => ordering.is_eq(),
        BinaryOp::Ne => ordering.is_ne(),
        _ => return None,
    })
}

fn concat(a: &Value, b: &Value, budget: &Budget) -> Outcome<Value> {
    let join = |a: &List, b: &List| -> Outcome<List> {
        budget.allow(a.len() + b.len(), a.weight_of(a.len()) + b.weight_of(b.len()))?;
        Ok(a.concat(b, &budget.meter))
    };
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => Ok(Value::Array(join(a, b)?)),
        (Value::String(a), Value::String(b)) => Ok(Value::String(join(a, b)?)),
        _ => Err(mistyped("+", &[a, b])),
    }
}

fn repeat(a: &Value, b: &Value, budget: &Budget) -> Outcome<Value> {
    let (Value::Array(list) | Value::String(list), Value::Int(times)) = (a, b) else {
        return Err(mistyped("*", &[a, b]));
    };
    let Ok(times) = usize::try_from(*times) else {
        return Err(Failure::new(Code::NegativeRepeat, format!("an array or string cannot be repeated {times} times")));
    };
    let len = list.len().saturating_mul(times);
    budget.allow(len, list.weight_of(len))?;
    let list = if len == 0 { list.slice(0, 0) } else { list.repeat(times, &budget.meter) };
    Ok(if matches!(a, Value::Array(_)) { Value::Array(list) } else { Value::String(list) })
}

/// How many cells could be copied while an item is compared.
const MEMBER_WORK: usize = 8;

fn member(a: &Value, b: &Value, budget: &Budget) -> Outcome<Value> {
    let (Value::Array(list), false) = (b, matches!(a, Value::Tensor(_))) else { return Err(mistyped("in", &[a, b])) };
    for i in 0..list.len() {
        // Counted in portions, since most searches end early.
        if i % 64 == 0 {
            budget.spend(64 * MEMBER_WORK)?;
        }
        let Some(item) = list.get(i) else { break };
        if equal(a, &item, budget)?.ok_or_else(|| mistyped("in", &[a, b]))? {
            return Ok(Value::Logical(true));
        }
    }
    Ok(Value::Logical(false))
}

/// Whether two values are equal, item by item; none if that depends on tensors or symbols.
pub(crate) fn equal(a: &Value, b: &Value, budget: &Budget) -> Outcome<Option<bool>> {
    Ok(Some(match (a, b) {
        (Value::Tensor(_), _) | (_, Value::Tensor(_)) => return Ok(None),
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Scalar(a), Value::Scalar(b)) => a == b,
        (Value::Logical(a), Value::Logical(b)) => a == b,
        (Value::Symbol(a), Value::Symbol(b)) if a == b && !a.is_unknown() => true,
        // The value of a symbol is not known while expanding.
        (Value::Symbol(_), _) | (_, Value::Symbol(_)) => return Ok(None),
        (Value::String(a), Value::String(b)) => {
            budget.spend(a.len().min(b.len()))?;
            a.len() == b.len() && a.text() == b.text()
        }
        (Value::Array(a), Value::Array(b)) | (Value::Tuple(a), Value::Tuple(b)) => {
            budget.spend((a.len().min(b.len()) + 1) * 4)?;
            let mut same = a.len() == b.len();
            for (a, b) in (0..a.len()).map_while(|i| a.get(i).zip(b.get(i))) {
                match stacker::maybe_grow(64 * 1024, 1024 * 1024, || equal(&a, &b, budget))? {
                    Some(equal) => same &= equal,
                    None => return Ok(None),
                }
            }
            same
        }
        _ => false,
    }))
}

/// The item at an index of an array, a string or a tuple.
pub(crate) fn index(base: &Value, index: &Value) -> Outcome<Value> {
    let (Value::Array(list) | Value::String(list) | Value::Tuple(list)) = base else {
        return Err(mistyped("[..]", &[base, index]));
    };
    let Value::Int(i) = index else { return Err(mistyped("[..]", &[index])) };
    let item = usize::try_from(*i).ok().filter(|&i| i < list.len());
    match (item, base) {
        (Some(i), Value::String(_)) => Ok(Value::String(list.slice(i, i + 1))),
        (Some(item), _) => list.get(item).ok_or_else(|| out_of_range(*i, list.len())),
        (None, _) => Err(out_of_range(*i, list.len())),
    }
}

fn out_of_range(i: i64, len: usize) -> Box<Failure> {
    let message = match len {
        0 => format!("index {i} is out of range: there are no items"),
        _ => format!("index {i} is out of range: indices run from 0 to {}", len - 1),
    };
    Failure::new(Code::IndexOutOfRange, message)
}

/// Replaces a value by its items `begin..end`; omitted bounds are those of the value. If begin ≥ end, it is empty.
pub(crate) fn slice(base: &mut Value, begin: Option<&Value>, end: Option<&Value>) -> Outcome<()> {
    let (Value::Array(list) | Value::String(list)) = base else { return Err(mistyped("[..:..]", &[base])) };
    let bound = |value: Option<&Value>, otherwise: usize| match value {
        None => Ok(otherwise),
        Some(Value::Int(i)) => usize::try_from(*i).ok().filter(|&i| i <= list.len()).ok_or_else(|| {
            let message = format!("range end {i} is out of range: ends run from 0 to {}", list.len());
            Failure::new(Code::IndexOutOfRange, message)
        }),
        Some(other) => Err(mistyped("[..:..]", &[other])),
    };
    let (begin, end) = (bound(begin, 0)?, bound(end, list.len())?);
    list.narrow(begin.min(end), end);
    Ok(())
}

#[cfg(test)]
mod tests;
