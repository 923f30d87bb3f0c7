use proptest::prelude::*;

use super::*;
use crate::tests::matching;

fn integer(text: &str) -> Option<i64> {
    match literal(text) {
        Some((Expr::Int(value), len)) if len == text.len() => Some(value),
        _ => None,
    }
}

fn real(text: &str) -> Option<f64> {
    match literal(text) {
        Some((Expr::Scalar(value), len)) if len == text.len() => Some(value),
        _ => None,
    }
}

fn packed(text: &str) -> Option<(Vec<i64>, Vec<f64>, usize)> {
    let mut ast = Ast::default();
    let (expr, len) = array(text, &mut ast)?;
    assert!(matches!(expr, Expr::IntArray(_) | Expr::ScalarArray(_)));
    Some((ast.ints, ast.scalars, len))
}

#[test]
fn arrays_end_at_their_bracket() {
    assert_eq!(packed("1, -2,- 3 ] x"), Some((vec![1, -2, -3], vec![], 11)));
    assert_eq!(packed(" \n0.5,\t-1e2]"), Some((vec![], vec![0.5, -100.0], 12)));
    let others =
        ["", "]", "1", "1,", "1,]", "1 2]", "1, 2.0]", "1.0, 2]", "1.]", "1.0e]", "1x]", "1_]", "1.5.2]", "1é]"];
    for text in others.iter().chain(&["a]", "--1]", "+1]", "9999999999999999999]", "1e999]", "1 # c\n]"]) {
        let mut ast = Ast::default();
        assert_eq!(array(text, &mut ast), None, "{text}");
        assert!(ast.ints.is_empty() && ast.scalars.is_empty(), "{text}");
    }
}

#[test]
fn long_arrays_are_read_as_short_ones_are() {
    for len in [MANY - 1, MANY, MANY + 1, 5 * MANY] {
        let items: Vec<i64> = (0..len as i64).map(|i| i * i * if i % 3 == 0 { -1 } else { 1 }).collect();
        let text = format!("{items:?}");
        let mut ast = Ast::default();
        let (expr, read) = array(&text[1..], &mut ast).expect("an array");
        assert_eq!(read, text.len() - 1);
        match expr {
            Expr::IntArray(range) => assert_eq!((&ast.ints[range.range()], len), (&items[..], MANY - 1)),
            expr => {
                assert!(matches!(expr, Expr::Numbers(_)) && ast.ints.is_empty());
                assert_eq!(ast.numbers[0], Numbers::Ints(items.into()));
            }
        }
    }
    let first = "1, ".repeat(MANY);
    for end in ["2, ]", "2", "2 3]", "2.0]", "2, # ]\n 3]", "x]", "2,, 3]", "", "2 # a, b\n ]"] {
        let mut ast = Ast::default();
        assert_eq!(array(&format!("{first}{end}"), &mut ast), None, "{end}");
        assert!(ast.ints.is_empty() && ast.numbers.is_empty());
    }
}

#[test]
fn numbers_to_be_remarked_on_are_left() {
    assert_eq!(integer("000000000000000000000012"), Some(12));
    assert_eq!(integer("9999999999999999999"), None);
    assert_eq!(real("1."), None);
    assert_eq!(real("1e400"), None);
    assert_eq!(real("0e99999999999999999999"), None);
    assert_eq!(real("-0.0"), None);
    assert_eq!(real("0.0").map(f64::to_bits), Some(0));
}

proptest! {
    #[test]
    fn scalars_are_those_of_the_standard_library(
        text in matching("(0{0,3}[0-9]{1,20}\\.[0-9]{1,20}|[0-9]{1,4}(\\.0{0,25}[0-9]{1,6})?[eE][+-]?[0-9]{1,3}|[0-9]{1,17}\\.[0-9]{1,3})"),
    ) {
        let wanted = Some(text.parse::<f64>().expect("a number")).filter(|v| v.is_finite()).map(f64::to_bits);
        prop_assert_eq!(real(&text).map(f64::to_bits), wanted);
        let longer = packed(&format!("{text} , -1.5]        "));
        prop_assert_eq!(longer.map(|(_, items, _)| items[0].to_bits()), wanted);
    }

    #[test]
    fn integers_are_those_of_the_standard_library(text in matching("0{0,9}[0-9]{1,21}"), behind in matching("[ ,x./:]{0,9}")) {
        let wanted = text.parse::<i64>().ok().filter(|value| *value < 1_000_000_000_000_000_000);
        prop_assert_eq!(integer(&text), wanted);
        let mut cursor = Cursor { text: &format!("{text}{behind}"), at: 0 };
        prop_assert_eq!(cursor.integer(), wanted);
        prop_assert!(wanted.is_none() || cursor.at == text.len());
    }

    #[test]
    fn printed_scalars_are_read_back(bits in any::<u64>()) {
        let value = f64::from_bits(bits).abs();
        if value.is_finite() {
            prop_assert_eq!(real(&format!("{value:?}")).map(f64::to_bits), Some(value.to_bits()));
        }
    }
}
