//! What the operators of the language give for known values, at the edges of their domains too.
#![allow(clippy::unwrap_used)]

use super::*;

fn array(items: &[Value]) -> Value {
    Value::Array(List::from_values(items.to_vec(), None))
}

fn string(text: &str) -> Value {
    Value::String(List::from_text(text, None))
}

/// A value as it is written in a document.
fn written(value: &Value) -> String {
    let items = |list: &List| list.to_values().iter().map(written).collect::<Vec<_>>().join(",");
    match value {
        Value::Int(item) => item.to_string(),
        Value::Scalar(item) => format!("{item:?}"),
        Value::Logical(item) => item.to_string(),
        Value::String(list) => format!("'{}'", list.text()),
        Value::Array(list) => format!("[{}]", items(list)),
        Value::Tuple(list) => format!("({})", items(list)),
        Value::Symbol(symbolic) => symbolic.text().to_string(),
        Value::Tensor(_) => "a tensor".to_owned(),
    }
}

/// A result as it is written in a document, or the code of the failure.
fn told(result: Outcome<Value>) -> String {
    result.map_or_else(|failure| failure.code.as_str().to_owned(), |value| written(&value))
}

fn applied(op: BinaryOp, a: &Value, b: &Value) -> String {
    told(binary(op, a, b, &Budget::unlimited()))
}

#[test]
fn integers_stay_integers_of_64_bits() {
    use BinaryOp::{Add, Div, Mul, Pow, Sub};
    let range = Code::IntegerRange.as_str();
    let by_zero = Code::DivisionByZero.as_str();
    for (op, a, b, wanted) in [
        (Add, 2, 3, "5"),
        (Add, i64::MAX, 1, range),
        (Sub, 2, 3, "-1"),
        (Sub, i64::MIN, 1, range),
        (Mul, -4, 3, "-12"),
        (Mul, i64::MAX, 2, range),
        (Div, 7, 2, "3"),
        (Div, -7, 2, "-3"),
        (Div, 7, -2, "-3"),
        (Div, 1, 0, by_zero),
        (Div, i64::MIN, -1, range),
        (Pow, 2, 10, "1024"),
        (Pow, 5, 0, "1"),
        (Pow, 0, 0, "1"),
        (Pow, 0, 7, "0"),
        (Pow, 1, i64::MAX, "1"),
        (Pow, -1, i64::MAX, "-1"),
        (Pow, -1, i64::MAX - 1, "1"),
        (Pow, -1, 0, "1"),
        (Pow, -2, 3, "-8"),
        (Pow, 2, 62, "4611686018427387904"),
        (Pow, 2, 63, range),
        (Pow, 2, i64::MAX, range),
        (Pow, 2, -1, range),
        (Pow, 1, -1, range),
    ] {
        assert_eq!(applied(op, &Value::Int(a), &Value::Int(b)), wanted, "{a} {} {b}", op.info().text);
    }
}

#[test]
fn scalars_are_floats_and_have_no_quotient_by_zero() {
    use BinaryOp::{Add, Div, Eq, Ge, In, Le, Lt, Mul, Ne, Pow, Sub};
    let by_zero = Code::DivisionByZero.as_str();
    for (op, a, b, wanted) in [
        (Add, 0.5, 0.25, "0.75"),
        (Sub, 0.5, 2.0, "-1.5"),
        (Mul, 0.5, 3.0, "1.5"),
        (Div, 1.0, 4.0, "0.25"),
        (Div, 1.0, 0.0, by_zero),
        (Pow, 2.0, -1.0, "0.5"),
        (Lt, 1.0, 2.0, "true"),
        (Lt, 2.0, 2.0, "false"),
        (Le, 2.0, 2.0, "true"),
        (Ge, 1.0, 2.0, "false"),
        (Eq, 0.0, -0.0, "true"),
        (Ne, 1.0, 2.0, "true"),
        (Eq, f64::NAN, f64::NAN, "false"),
        (Ne, f64::NAN, f64::NAN, "true"),
        (Le, f64::NAN, 1.0, "false"),
        (In, 1.0, 1.0, Code::DynamicType.as_str()),
    ] {
        assert_eq!(applied(op, &Value::Scalar(a), &Value::Scalar(b)), wanted, "{a} {} {b}", op.info().text);
    }
}

#[test]
fn comparisons_of_integers_are_exact() {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    // Neighbours that are one float.
    let (a, b) = ((1 << 53) + 1, 1 << 53);
    for (op, wanted) in [(Lt, false), (Le, false), (Gt, true), (Ge, true), (Eq, false), (Ne, true)] {
        assert_eq!(applied(op, &Value::Int(a), &Value::Int(b)), wanted.to_string(), "{}", op.info().text);
        let same = matches!(op, Le | Ge | Eq);
        assert_eq!(applied(op, &Value::Int(a), &Value::Int(a)), same.to_string(), "{}", op.info().text);
    }
}

#[test]
fn unary_operators_are_for_their_types() {
    let mistyped = Code::DynamicType.as_str();
    for (op, value, wanted) in [
        (UnaryOp::Plus, Value::Int(3), "3"),
        (UnaryOp::Plus, Value::Scalar(0.5), "0.5"),
        (UnaryOp::Minus, Value::Int(3), "-3"),
        (UnaryOp::Minus, Value::Int(i64::MIN), Code::IntegerRange.as_str()),
        (UnaryOp::Minus, Value::Scalar(0.5), "-0.5"),
        (UnaryOp::Minus, Value::Logical(true), mistyped),
        (UnaryOp::Minus, Value::Symbol(Symbolic::integer(4).into()), "-4"),
        (UnaryOp::Not, Value::Logical(true), "false"),
        (UnaryOp::Not, Value::Int(1), mistyped),
        (UnaryOp::Plus, string("a"), mistyped),
    ] {
        assert_eq!(told(unary(op, &value)), wanted, "{}{}", op.info().text, written(&value));
    }
}

#[test]
fn lists_are_joined_repeated_and_searched() {
    use BinaryOp::{Add, And, Div, Eq, In, Mul, Ne, Or};
    let mistyped = Code::DynamicType.as_str();
    let (one, two) = (Value::Int(1), Value::Int(2));
    let pair = array(&[one.clone(), two.clone()]);
    let (yes, no) = (Value::Logical(true), Value::Logical(false));
    let (half, scalars) = (Value::Scalar(0.5), array(&[Value::Scalar(1.5), Value::Scalar(0.5)]));
    for (op, a, b, wanted) in [
        (In, &half, &scalars, "true"),
        (In, &Value::Scalar(2.5), &scalars, "false"),
        (Eq, &scalars, &scalars, "true"),
        (Add, &pair, &pair, "[1,2,1,2]"),
        (Add, &string("ab"), &string("c"), "'abc'"),
        (Add, &pair, &string("c"), mistyped),
        (Add, &pair, &one, mistyped),
        (Mul, &pair, &two, "[1,2,1,2]"),
        (Mul, &string("ab"), &Value::Int(0), "''"),
        (Mul, &pair, &Value::Int(0), "[]"),
        (Mul, &pair, &Value::Int(-1), Code::NegativeRepeat.as_str()),
        (Mul, &two, &pair, mistyped),
        (Div, &pair, &two, mistyped),
        (In, &two, &pair, "true"),
        (In, &Value::Int(3), &pair, "false"),
        (In, &string("a"), &string("ab"), mistyped),
        (Eq, &pair, &pair, "true"),
        (Ne, &pair, &pair, "false"),
        (Eq, &pair, &array(std::slice::from_ref(&one)), "false"),
        (Eq, &pair, &array(&[one.clone(), one.clone()]), "false"),
        (Eq, &array(&[]), &array(&[]), "true"),
        (Eq, &string("ab"), &string("ab"), "true"),
        (Eq, &string("ab"), &string("ac"), "false"),
        (Ne, &string("ab"), &string("a"), "true"),
        (Eq, &yes, &yes, "true"),
        (Eq, &yes, &no, "false"),
        (And, &yes, &no, "false"),
        (And, &yes, &yes, "true"),
        (Or, &no, &yes, "true"),
        (Or, &no, &no, "false"),
        (Or, &no, &one, mistyped),
    ] {
        assert_eq!(applied(op, a, b), wanted, "{} {} {}", written(a), op.info().text, written(b));
    }
}

#[test]
fn long_lists_are_searched_to_their_end() {
    let many = Value::Array(List::from_ints(0..200, None));
    for (item, wanted) in [(0, "true"), (63, "true"), (64, "true"), (199, "true"), (200, "false")] {
        assert_eq!(applied(BinaryOp::In, &Value::Int(item), &many), wanted, "{item}");
    }
}

#[test]
fn subscripts_are_within_the_items() {
    let range = Code::IndexOutOfRange.as_str();
    let items = array(&[Value::Int(7), Value::Int(8), Value::Int(9)]);
    for (base, at, wanted) in [
        (&items, 0, "7"),
        (&items, 2, "9"),
        (&items, 3, range),
        (&items, -1, range),
        (&string("abc"), 1, "'b'"),
        (&string(""), 0, range),
    ] {
        assert_eq!(told(index(base, &Value::Int(at))), wanted, "{}[{at}]", written(base));
    }
    assert_eq!(told(index(&items, &Value::Scalar(0.0))), Code::DynamicType.as_str());
    assert_eq!(told(index(&Value::Int(1), &Value::Int(0))), Code::DynamicType.as_str());
}

#[test]
fn slices_are_half_open() {
    let range = Code::IndexOutOfRange.as_str();
    let items = array(&[Value::Int(7), Value::Int(8), Value::Int(9)]);
    for (begin, end, wanted) in [
        (Some(0), Some(2), "[7,8]"),
        (Some(1), None, "[8,9]"),
        (None, Some(1), "[7]"),
        (None, None, "[7,8,9]"),
        (Some(3), None, "[]"),
        (Some(2), Some(1), "[]"),
        (Some(4), None, range),
        (Some(0), Some(4), range),
        (Some(-1), None, range),
    ] {
        let (mut value, bound) = (items.clone(), |at: Option<i64>| at.map(Value::Int));
        let result = slice(&mut value, bound(begin).as_ref(), bound(end).as_ref()).map(|()| value);
        assert_eq!(told(result), wanted, "{begin:?}:{end:?}");
    }
    let mut number = Value::Int(1);
    assert_eq!(slice(&mut number, None, None).unwrap_err().code, Code::DynamicType);
}
