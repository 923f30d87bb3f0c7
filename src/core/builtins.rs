//! Built-in functions (3.3.3).

#[cfg(test)]
mod tests;

use super::budget::{Budget, Failure, Outcome};
use super::list::List;
use super::value::Value;
use crate::diagnostics::Code;
use crate::graph::operators::Builtin;
use crate::source::literals::scalar_text;

/// Applies a built-in function other than `shape_of`, which the machine evaluates.
pub(crate) fn apply(function: Builtin, value: &Value, budget: &Budget) -> Outcome<Value> {
    if let (Value::String(text), Builtin::Integer | Builtin::Scalar) = (value, function) {
        budget.spend(text.len())?;
    }
    match (function, value) {
        (Builtin::LengthOf, Value::Array(list) | Value::String(list)) => Ok(Value::Int(list.len() as i64)),
        (Builtin::RangeOf, Value::Array(list) | Value::String(list)) => {
            budget.allow(list.len(), list.len() as u64 * 8)?;
            Ok(Value::Array(List::from_ints(0..list.len() as i64, Some(&budget.meter))))
        }
        (_, Value::Tensor(_) | Value::Symbol(_)) => Err(unknown(function.info().text)),
        (Builtin::Integer, value) => integer(value),
        (Builtin::Scalar, value) => scalar(value),
        (Builtin::Logical, value) => logical(value),
        (Builtin::String, value) => string(value, budget),
        _ => Err(mistyped(function, value)),
    }
}

fn mistyped(function: Builtin, value: &Value) -> Box<Failure> {
    let (name, found) = (function.info().text, value.kind());
    Failure::new(Code::DynamicType, format!("`{name}` is not defined for {found}")).label(format!("this is {found}"))
}

/// The failure of a function that needs a value which is known only when the graph runs.
pub(crate) fn unknown(function: &str) -> Box<Failure> {
    Failure::new(Code::NotCompileTime, format!("`{function}` requires a value that is known at expansion"))
}

fn integer(value: &Value) -> Outcome<Value> {
    Ok(Value::Int(match value {
        Value::Int(i) => *i,
        Value::Logical(b) => i64::from(*b),
        Value::Scalar(s) => {
            let truncated = s.trunc();
            // 2^63 is exact in f64, so the comparison is exact.
            if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&truncated) {
                let message = format!("{} does not fit into a 64-bit integer", scalar_text(*s));
                return Err(Failure::new(Code::IntegerRange, message));
            }
            truncated as i64
        }
        Value::String(list) => {
            let text = list.text();
            let digits = text.strip_prefix('-').unwrap_or(&text);
            let literal = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            if !literal {
                return Err(bad_cast("integer", &text));
            }
            text.parse().map_err(|_| Failure::new(Code::IntegerRange, format!("'{text}' does not fit into 64 bits")))?
        }
        other => return Err(mistyped(Builtin::Integer, other)),
    }))
}

fn bad_cast(what: &str, text: &str) -> Box<Failure> {
    let shown: String = text.chars().take(40).collect();
    Failure::new(Code::BadCast, format!("'{shown}' is not a literal of type {what}"))
}

fn scalar(value: &Value) -> Outcome<Value> {
    Ok(Value::Scalar(match value {
        Value::Scalar(s) => *s,
        Value::Int(i) => *i as f64,
        Value::Logical(b) => f64::from(u8::from(*b)),
        Value::String(list) => {
            let text = list.text();
            match text.parse() {
                Ok(value) if is_number(&text) => value,
                _ => return Err(bad_cast("scalar", &text)),
            }
        }
        other => return Err(mistyped(Builtin::Scalar, other)),
    }))
}

/// Whether a text is a numeric literal of NNEF, with an optional sign.
fn is_number(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) =
        mantissa.split_once('.').map_or((mantissa, None), |(whole, fraction)| (whole, Some(fraction)));
    let signless = |text: &str| digits(text.strip_prefix(['+', '-']).unwrap_or(text));
    digits(whole) && fraction.is_none_or(digits) && exponent.is_none_or(signless)
}

fn logical(value: &Value) -> Outcome<Value> {
    Ok(Value::Logical(match value {
        Value::Logical(b) => *b,
        Value::Int(i) => *i != 0,
        Value::Scalar(s) => *s != 0.0,
        Value::String(list) => !list.is_empty(),
        other => return Err(mistyped(Builtin::Logical, other)),
    }))
}

fn string(value: &Value, budget: &Budget) -> Outcome<Value> {
    let text = match value {
        Value::String(list) => return Ok(Value::String(list.clone())),
        Value::Int(i) => i.to_string(),
        Value::Scalar(s) => scalar_text(*s),
        Value::Logical(b) => b.to_string(),
        other => return Err(mistyped(Builtin::String, other)),
    };
    Ok(Value::String(List::from_text(&text, Some(&budget.meter))))
}
