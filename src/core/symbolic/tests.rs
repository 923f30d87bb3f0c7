//! Tests of expressions on dimension symbols.

use super::*;
use crate::graph::operators::BinaryOp;

#[test]
fn parentheses_stand_where_they_are_needed() {
    let (s, two) = (Symbolic::symbol("S"), Symbolic::integer(2));
    let sum = Symbolic::binary(BinaryOp::Add, &s, &two).unwrap();
    let product = Symbolic::binary(BinaryOp::Mul, &two, &sum).unwrap();
    assert_eq!(&*product.text(), "2 * (S + 2)");
    let difference = Symbolic::binary(BinaryOp::Sub, &product, &sum).unwrap();
    assert_eq!(&*difference.text(), "2 * (S + 2) - (S + 2)");
    assert_eq!(&*sum.negated().unwrap().text(), "-(S + 2)");
    assert!(Symbolic::binary(BinaryOp::Lt, &s, &two).is_none());
}

#[test]
fn lengths_are_limited() {
    let of = |length| Symbolic::symbol(&"s".repeat(length));
    let sum = |a, b| Symbolic::binary(BinaryOp::Add, &of(a), &of(b));
    assert!(sum(MAX_TEXT / 2, MAX_TEXT / 2).is_some() && sum(MAX_TEXT / 2, MAX_TEXT / 2 + 1).is_none());
    assert!(of(MAX_TEXT - 1).negated().is_some() && of(MAX_TEXT).negated().is_none());
}
