//! Casts from strings and scalars.
#![allow(clippy::unwrap_used)]

use super::*;

fn refused(outcome: Outcome<Value>) -> Option<Code> {
    outcome.err().map(|failure| failure.code)
}

#[test]
fn numbers_are_literals_of_the_language() {
    for good in ["1", "1.5", "-2.0", "1e5", "1.5e-7", "0.1E+3"] {
        assert!(is_number(good), "{good}");
    }
    for bad in ["", "inf", "0x10", "1.5abc", ".5", "1.", " 7", "+1", "1e", "--1"] {
        assert!(!is_number(bad), "{bad}");
    }
}

#[test]
fn integers_truncate_towards_zero() {
    for (from, to) in [(-1.5, -1), (1.9, 1), (-0.5, 0)] {
        assert_eq!(integer(&Value::Scalar(from)).unwrap().as_int(), Some(to));
    }
    for none in [1e30, -1e30, 9_223_372_036_854_775_808.0, f64::NAN, f64::NEG_INFINITY] {
        assert_eq!(refused(integer(&Value::Scalar(none))), Some(Code::IntegerRange), "{none}");
    }
}

#[test]
fn integers_are_read_from_digits() {
    let of_text = |text: &str| integer(&Value::String(List::from_text(text, None)));
    for (text, wanted) in [("12", 12), ("-3", -3), ("0", 0), ("007", 7), ("-9223372036854775808", i64::MIN)] {
        assert_eq!(of_text(text).unwrap().as_int(), Some(wanted), "{text}");
    }
    for text in ["", "-", "+1", "1.5", "1e3", "--1", " 1"] {
        assert_eq!(refused(of_text(text)), Some(Code::BadCast), "{text}");
    }
    for text in ["9223372036854775808", "-9223372036854775809"] {
        assert_eq!(refused(of_text(text)), Some(Code::IntegerRange), "{text}");
    }
}
