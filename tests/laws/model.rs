//! A naive model of the meaning of expressions: plain vectors, no laziness except for that of Rust, and
//! no code of the crate.

use std::collections::HashMap;

use crate::expr::Expr;
use nnef_flatten::graph;

/// A value.
#[derive(Clone, Debug)]
pub enum Value {
    Int(i64),
    Scalar(f64),
    Logical(bool),
    Text(String),
    Array(Vec<Value>),
    Tuple(Vec<Value>),
}

/// Why evaluation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Division,
    Range,
    NegativeRepeat,
    Index,
    Cast,
    UnequalLengths,
    /// Longer than the program allows.
    TooLong,
    /// Longer than a test should be.
    Unwieldy,
}

impl Fault {
    /// The codes that the program may give for it.
    pub fn codes(self) -> &'static [&'static str] {
        match self {
            Fault::Division => &["E0802"],
            Fault::Range => &["E0803"],
            Fault::NegativeRepeat => &["E0804"],
            Fault::Index => &["E0715"],
            Fault::Cast => &["E0714"],
            Fault::UnequalLengths => &["E0712"],
            Fault::TooLong => &["E0812", "E0813"],
            Fault::Unwieldy => &[],
        }
    }
}

type Outcome = Result<Value, Fault>;

/// The limit of the program on items of an array.
const MAX_LENGTH: i128 = 10_000_000;
/// The limit of this model on items of an array.
const WIELDY: i128 = 20_000;

/// The definitions of names: values, or expressions that are evaluated where they are used.
#[derive(Clone, Default)]
pub struct Scope {
    pub values: HashMap<String, Value>,
    pub locals: HashMap<String, Expr>,
}

fn int(value: &Value) -> i64 {
    match value {
        Value::Int(i) => *i,
        other => panic!("{other:?} is not an integer"),
    }
}

fn holds(value: &Value) -> bool {
    match value {
        Value::Logical(b) => *b,
        other => panic!("{other:?} is not a logical"),
    }
}

fn items(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) | Value::Tuple(items) => items,
        Value::Text(text) => text.chars().map(|c| Value::Text(c.to_string())).collect(),
        other => panic!("{other:?} has no items"),
    }
}

/// Items as a value of the type that they were taken from.
fn like(original: &Value, items: Vec<Value>) -> Value {
    let Value::Text(_) = original else { return Value::Array(items) };
    let text = |item: &Value| match item {
        Value::Text(text) => text.clone(),
        other => panic!("{other:?} is not a character"),
    };
    Value::Text(items.iter().map(text).collect())
}

fn to_int(wide: i128) -> Outcome {
    i64::try_from(wide).map(Value::Int).map_err(|_| Fault::Range)
}

/// Evaluates an expression.
pub fn evaluate(expr: &Expr, scope: &Scope) -> Outcome {
    let eval = |expr: &Expr| evaluate(expr, scope);
    let all = |exprs: &[Expr]| exprs.iter().map(eval).collect::<Result<Vec<Value>, Fault>>();
    match expr {
        Expr::Int(i) => Ok(Value::Int(*i)),
        Expr::Scalar(s) => Ok(Value::Scalar(*s)),
        Expr::Logical(b) => Ok(Value::Logical(*b)),
        Expr::Text(text) => Ok(Value::Text(text.clone())),
        Expr::Array(items) => all(items).map(Value::Array),
        Expr::Tuple(items) => all(items).map(Value::Tuple),
        Expr::Var(name) => match (scope.values.get(name), scope.locals.get(name)) {
            (Some(value), _) => Ok(value.clone()),
            (None, Some(local)) => eval(local),
            _ => panic!("{name} is not in scope"),
        },
        Expr::Unary(op, operand) => unary(op, eval(operand)?),
        Expr::Binary("&&", a, b) => {
            if holds(&eval(a)?) {
                eval(b)
            } else {
                Ok(Value::Logical(false))
            }
        }
        Expr::Binary("||", a, b) => {
            if holds(&eval(a)?) {
                Ok(Value::Logical(true))
            } else {
                eval(b)
            }
        }
        Expr::Binary(op, a, b) => binary(op, eval(a)?, eval(b)?),
        Expr::Select(yes, condition, no) => {
            if holds(&eval(condition)?) {
                eval(yes)
            } else {
                eval(no)
            }
        }
        Expr::Index(base, index) => {
            let (base, index) = (items(eval(base)?), int(&eval(index)?));
            usize::try_from(index).ok().and_then(|i| base.get(i).cloned()).ok_or(Fault::Index)
        }
        Expr::Slice(base, begin, end) => {
            let base = eval(base)?;
            let all = items(base.clone());
            let begin = begin.as_ref().map_or(Ok(0), |bound| eval(bound).map(|value| int(&value)))?;
            let end = end.as_ref().map_or(Ok(all.len() as i64), |bound| eval(bound).map(|value| int(&value)))?;
            let range = 0..=all.len() as i64;
            if !range.contains(&begin) || !range.contains(&end) {
                return Err(Fault::Index);
            }
            let part = if begin < end { all[begin as usize..end as usize].to_vec() } else { Vec::new() };
            Ok(like(&base, part))
        }
        Expr::Comprehension(iterators, filter, item) => comprehension(iterators, filter.as_deref(), item, scope),
        Expr::Builtin(name, argument) => builtin(name, eval(argument)?),
    }
}

fn comprehension(iterators: &[(String, Expr)], filter: Option<&Expr>, item: &Expr, scope: &Scope) -> Outcome {
    let mut lists = Vec::new();
    for (name, over) in iterators {
        lists.push((name, items(evaluate(over, scope)?)));
    }
    let length = lists[0].1.len();
    if lists.iter().any(|(_, list)| list.len() != length) {
        return Err(Fault::UnequalLengths);
    }
    let mut result = Vec::new();
    let mut inner = scope.clone();
    for i in 0..length {
        for (name, list) in &lists {
            inner.values.insert((*name).clone(), list[i].clone());
        }
        let wanted = match filter {
            Some(filter) => holds(&evaluate(filter, &inner)?),
            None => true,
        };
        if wanted {
            result.push(evaluate(item, &inner)?);
        }
    }
    Ok(Value::Array(result))
}

fn unary(op: &str, value: Value) -> Outcome {
    match (op, value) {
        ("-", Value::Int(i)) => to_int(-i128::from(i)),
        ("-", Value::Scalar(s)) => Ok(Value::Scalar(-s)),
        ("+", value) => Ok(value),
        ("!", Value::Logical(b)) => Ok(Value::Logical(!b)),
        (op, value) => panic!("{op}{value:?}"),
    }
}

fn binary(op: &str, a: Value, b: Value) -> Outcome {
    if op == "in" {
        return Ok(Value::Logical(items(b).iter().any(|item| same(&a, item))));
    }
    match (op, &a, &b) {
        ("==", ..) => Ok(Value::Logical(same(&a, &b))),
        ("!=", ..) => Ok(Value::Logical(!same(&a, &b))),
        (_, Value::Int(a), Value::Int(b)) => integers(op, i128::from(*a), i128::from(*b)),
        (_, Value::Scalar(a), Value::Scalar(b)) => scalars(op, *a, *b),
        ("+", ..) => {
            let mut joined = items(a.clone());
            joined.extend(items(b));
            if joined.len() as i128 > WIELDY { Err(Fault::Unwieldy) } else { Ok(like(&a, joined)) }
        }
        ("*", _, Value::Int(times)) => {
            let once = items(a.clone());
            let length = once.len() as i128 * i128::from(*times);
            match length {
                _ if *times < 0 => Err(Fault::NegativeRepeat),
                _ if length > MAX_LENGTH => Err(Fault::TooLong),
                _ if length > WIELDY => Err(Fault::Unwieldy),
                0 => Ok(like(&a, Vec::new())),
                _ => Ok(like(&a, (0..*times).flat_map(|_| once.clone()).collect())),
            }
        }
        _ => panic!("{a:?} {op} {b:?}"),
    }
}

fn integers(op: &str, a: i128, b: i128) -> Outcome {
    match op {
        "+" => to_int(a + b),
        "-" => to_int(a - b),
        "*" => to_int(a * b),
        "/" if b == 0 => Err(Fault::Division),
        "/" => to_int(a / b),
        "^" if b < 0 => Err(Fault::Range),
        "^" => {
            // More than 64 factors change no result of 0, 1 and -1 but by their parity, and
            // overflow for every other base.
            let factors = if b > 64 { 64 + b % 2 } else { b };
            (0..factors).try_fold(1i128, |power, _| power.checked_mul(a)).ok_or(Fault::Range).and_then(to_int)
        }
        _ => Ok(Value::Logical(match op {
            "<" => a < b,
            "<=" => a <= b,
            ">" => a > b,
            _ => a >= b,
        })),
    }
}

fn scalars(op: &str, a: f64, b: f64) -> Outcome {
    Ok(match op {
        "+" => Value::Scalar(a + b),
        "-" => Value::Scalar(a - b),
        "*" => Value::Scalar(a * b),
        "/" if b == 0.0 => return Err(Fault::Division),
        "/" => Value::Scalar(a / b),
        "^" => Value::Scalar(a.powf(b)),
        "<" => Value::Logical(a < b),
        "<=" => Value::Logical(a <= b),
        ">" => Value::Logical(a > b),
        _ => Value::Logical(a >= b),
    })
}

fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Scalar(a), Value::Scalar(b)) => a == b,
        (Value::Logical(a), Value::Logical(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => a == b,
        _ => panic!("{a:?} == {b:?}"),
    }
}

fn builtin(name: &str, value: Value) -> Outcome {
    Ok(match (name, value) {
        ("length_of", value) => Value::Int(items(value).len() as i64),
        ("range_of", value) => Value::Array((0..items(value).len() as i64).map(Value::Int).collect()),
        ("integer", value) => return integer(value),
        ("scalar", value) => match value {
            Value::Int(i) => Value::Scalar(i as f64),
            Value::Logical(b) => Value::Scalar(if b { 1.0 } else { 0.0 }),
            Value::Text(text) => Value::Scalar(number(&text).ok_or(Fault::Cast)?),
            value => value,
        },
        ("logical", value) => Value::Logical(match value {
            Value::Int(i) => i != 0,
            Value::Scalar(s) => s != 0.0,
            Value::Logical(b) => b,
            Value::Text(text) => !text.is_empty(),
            value => panic!("logical({value:?})"),
        }),
        ("string", value) => Value::Text(match value {
            Value::Int(i) => i.to_string(),
            Value::Scalar(s) if s.is_nan() => "nan".into(),
            Value::Scalar(s) => format!("{s:?}"),
            Value::Logical(b) => b.to_string(),
            Value::Text(text) => text,
            value => panic!("string({value:?})"),
        }),
        (name, value) => panic!("{name}({value:?})"),
    })
}

fn integer(value: Value) -> Outcome {
    match value {
        Value::Int(i) => Ok(Value::Int(i)),
        Value::Logical(b) => Ok(Value::Int(i64::from(b))),
        // The conversion to i128 saturates, far outside of 64 bits.
        Value::Scalar(s) if s.is_nan() => Err(Fault::Range),
        Value::Scalar(s) => to_int(s as i128),
        Value::Text(text) => {
            let digits = text.strip_prefix('-').unwrap_or(&text);
            if digits.is_empty() || !digits.chars().all(|c| c.is_ascii_digit()) {
                return Err(Fault::Cast);
            }
            to_int(text.parse().map_err(|_| Fault::Range)?)
        }
        value => panic!("integer({value:?})"),
    }
}

/// The value of a numeric literal, which may have a sign.
fn number(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let known =
        unsigned.starts_with(|c: char| c.is_ascii_digit()) && unsigned.chars().all(|c| "0123456789.eE+-".contains(c));
    let digits_after_point = unsigned.split('.').skip(1).all(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (known && digits_after_point).then(|| text.parse().ok())?
}

/// Whether a value of the program is this one.
pub fn agrees(model: &Value, found: &graph::Value) -> bool {
    let bits = |a: &f64, b: &f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    match (model, found) {
        (Value::Int(a), graph::Value::Int(b)) => a == b,
        (Value::Scalar(a), graph::Value::Scalar(b)) => bits(a, b),
        (Value::Logical(a), graph::Value::Logical(b)) => a == b,
        (Value::Text(a), graph::Value::String(b)) => **a == **b,
        (Value::Array(a), graph::Value::Integers(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| agrees(a, &graph::Value::Int(*b)))
        }
        (Value::Array(a), graph::Value::Scalars(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| agrees(a, &graph::Value::Scalar(*b)))
        }
        (Value::Array(a), graph::Value::Array(b)) | (Value::Tuple(a), graph::Value::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| agrees(a, b))
        }
        _ => false,
    }
}
