//! Casts from strings and scalars.
#![allow(clippy::unwrap_used)]

use super::*;

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
    assert!(integer(&Value::Scalar(1e30)).is_err());
    assert!(integer(&Value::Scalar(f64::NAN)).is_err());
}
