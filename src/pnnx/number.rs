//! Operations on numbers with the semantics of torch, with 64-bit integers and 64-bit floats.

use crate::dictionary::{Arith, Order};

/// An operand or result of an operation on numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// An integer.
    Int(i64),
    /// A float, which may be infinite or NaN.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

impl Number {
    /// The value as a float.
    pub(crate) fn float(self) -> f64 {
        match self {
            Number::Int(int) => int as f64,
            Number::Float(float) => float,
            Number::Bool(truth) => f64::from(u8::from(truth)),
        }
    }

    /// The value of an integer or a truth value.
    pub(crate) fn whole(self) -> Option<i128> {
        match self {
            Number::Int(int) => Some(int.into()),
            Number::Bool(truth) => Some(truth.into()),
            Number::Float(_) => None,
        }
    }

    /// An integer, if it fits into 64 bits.
    fn of_whole(whole: i128) -> Option<Number> {
        i64::try_from(whole).ok().map(Number::Int)
    }
}

/// The semantics of an operation on numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Meaning {
    /// The result is always a float.
    Float(fn(f64) -> f64),
    /// The result has the type of the operand.
    Signed(fn(f64) -> f64, fn(i128) -> i128),
    /// A float without its fraction; on single numbers, the result is an integer.
    Rounded(fn(f64) -> f64),
    /// Truncates to an integer; not defined for infinities and NaN.
    Whole,
    /// The operand as a float.
    ToFloat,
    /// Whether the operand is not zero.
    Truth,
    /// The result of two operands is always a float.
    Floats(fn(f64, f64) -> f64),
    /// The result is a float if an operand is, otherwise an integer, if it is defined.
    Arithmetic(Arith),
    /// A power. Of integers it is an integer if the exponent is not negative, else a float; a negative power of 0 is not
    /// defined.
    Power,
    /// An operation on integers.
    Bits(fn(i64, i64) -> Option<i64>),
    /// The negation of a truth value, which only formulas may use.
    Not,
    /// An operation on truth values, which only formulas may use.
    Logic(fn(bool, bool) -> bool),
    /// A comparison, which only formulas may use.
    Compare(Order),
    /// A selection, which only formulas may use.
    Select,
    /// Extents of an operand.
    Size,
}

/// The result of an operation on numbers; none if it is not defined or does not fit into 64 bits.
pub(crate) fn apply(meaning: Meaning, operands: &[Number]) -> Option<Number> {
    match (meaning, operands) {
        (Meaning::Float(f), [x]) => Some(Number::Float(f(x.float()))),
        (Meaning::Signed(f, g), [x]) => match x.whole() {
            Some(whole) => Number::of_whole(g(whole)),
            None => Some(Number::Float(f(x.float()))),
        },
        (Meaning::Rounded(_) | Meaning::Whole, [x]) if x.whole().is_some() => x.whole().and_then(Number::of_whole),
        (Meaning::Rounded(f), [x]) => rounded(f(x.float()), true),
        (Meaning::Whole, [x]) => rounded(x.float().trunc(), false),
        (Meaning::ToFloat, [x]) => Some(Number::Float(x.float())),
        (Meaning::Truth, [x]) => Some(Number::Bool(x.float() != 0.0)),
        (Meaning::Floats(f), [x, y]) => Some(Number::Float(f(x.float(), y.float()))),
        (Meaning::Arithmetic(op), [x, y]) => match (x.whole(), y.whole()) {
            (Some(x), Some(y)) => op.whole(x, y).and_then(Number::of_whole),
            _ => Some(Number::Float(op.float(x.float(), y.float()))),
        },
        (Meaning::Power, [x, y]) => match (x.whole(), y.whole()) {
            (Some(a), Some(b)) if a == 0 || b >= 0 => whole_power(a, b).and_then(Number::of_whole),
            _ => Some(Number::Float(x.float().powf(y.float()))),
        },
        (Meaning::Bits(f), [Number::Bool(x), Number::Bool(y)]) => {
            let bits = f(i64::from(*x), i64::from(*y))?;
            Some(if bits > 1 { Number::Int(bits) } else { Number::Bool(bits == 1) })
        }
        (Meaning::Bits(f), [x, y]) => {
            let side = |number: &Number| number.whole().and_then(|whole| i64::try_from(whole).ok());
            f(side(x)?, side(y)?).map(Number::Int)
        }
        (Meaning::Logic(f), [x, y]) => Some(Number::Bool(f(x.float() != 0.0, y.float() != 0.0))),
        (Meaning::Not, [x]) => Some(Number::Bool(x.float() == 0.0)),
        (Meaning::Compare(order), [x, y]) => Some(Number::Bool(order.function()(x.float(), y.float()))),
        (Meaning::Select, [condition, x, y]) => Some(if condition.float() != 0.0 { *x } else { *y }),
        _ => None,
    }
}

/// 2^63, the exclusive upper bound of floats that are 64-bit integers.
const LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// Converts a float without fraction to an integer; an infinity or NaN is kept if `stays` is set.
fn rounded(value: f64, stays: bool) -> Option<Number> {
    match value {
        value if (-LIMIT..LIMIT).contains(&value) => Some(Number::Int(value as i64)),
        value if stays && !value.is_finite() => Some(Number::Float(value)),
        _ => None,
    }
}

/// Whether the rounded quotient of two numbers has the integer part of the exact one, and a fraction if that has one.
#[cfg(test)]
pub(super) fn keeps_integer_part(x: f64, y: f64) -> bool {
    let (rest, quotient) = (x % y, x / y);
    quotient.abs() < 9_007_199_254_740_992.0
        && quotient.trunc() == ((x - rest) / y).round()
        && (rest == 0.0) == (quotient.fract() == 0.0)
}

/// An integer power; none if it is too large, or for a negative exponent of a base other than ±1.
pub(crate) fn whole_power(base: i128, exponent: i128) -> Option<i128> {
    match (base, u32::try_from(exponent)) {
        (0, _) if exponent < 0 => None,
        (0 | 1, _) => Some(if exponent == 0 { 1 } else { base }),
        (-1, _) => Some(if exponent % 2 == 0 { 1 } else { -1 }),
        (_, Ok(exponent)) => base.checked_pow(exponent),
        (_, Err(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotient_and_remainder_belong_together() {
        for (x, y, quotient, rest) in [
            (7.0, 2.0, 3.0, 1.0),
            (-7.0, 2.0, -4.0, 1.0),
            (7.0, -2.0, -4.0, -1.0),
            (1.0, 0.1, 9.0, 0.09999999999999995),
            (-6.0, 3.0, -2.0, 0.0),
        ] {
            let found = (Arith::FloorDivide.float(x, y), Arith::Remainder.float(x, y));
            assert_eq!(found, (quotient, rest), "{x}, {y}");
        }
        assert_eq!(Arith::FloorDivide.float(1.0, 0.0), f64::INFINITY);
        assert!(Arith::Remainder.float(1.0, 0.0).is_nan());
        assert_eq!(Arith::Remainder.float(1.0, f64::INFINITY), 1.0);
    }

    #[test]
    fn zero_has_no_negative_power() {
        assert_eq!(
            [(0, 0), (0, 3), (0, -1), (1, -1), (-1, -3), (2, -1)].map(|(x, y)| whole_power(x, y)),
            [Some(1), Some(0), None, Some(1), Some(-1), None]
        );
        let power = |x: Number| apply(Meaning::Power, &[x, Number::Int(-1)]);
        assert_eq!(power(Number::Int(0)), None);
        assert_eq!(power(Number::Bool(false)), None);
        assert_eq!(power(Number::Int(2)), Some(Number::Float(0.5)));
        assert_eq!(power(Number::Float(0.0)), Some(Number::Float(f64::INFINITY)));
    }
}
