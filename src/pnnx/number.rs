//! Operations on numbers with the semantics of torch, with 64-bit integers and 64-bit floats.

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
#[derive(Clone, Copy)]
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
    Arithmetic(fn(f64, f64) -> f64, fn(i128, i128) -> Option<i128>),
    /// Like `Arithmetic`, but a negative power is a float; that of the integer 0 is not defined.
    Power(fn(f64, f64) -> f64, fn(i128, i128) -> Option<i128>),
    /// An operation on integers.
    Bits(fn(i64, i64) -> Option<i64>),
    /// The negation of a truth value, which only templates may use.
    Not,
    /// A comparison, which only templates may use.
    Compare(fn(f64, f64) -> bool),
    /// A selection, which only templates may use.
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
        (Meaning::Arithmetic(f, g), [x, y]) => match (x.whole(), y.whole()) {
            (Some(x), Some(y)) => g(x, y).and_then(Number::of_whole),
            _ => Some(Number::Float(f(x.float(), y.float()))),
        },
        (Meaning::Power(f, g), [x, y]) => match (x.whole(), y.whole()) {
            (Some(a), Some(b)) if a == 0 || b >= 0 => g(a, b).and_then(Number::of_whole),
            _ => Some(Number::Float(f(x.float(), y.float()))),
        },
        (Meaning::Bits(f), [Number::Bool(x), Number::Bool(y)]) => {
            let bits = f(i64::from(*x), i64::from(*y))?;
            Some(if bits > 1 { Number::Int(bits) } else { Number::Bool(bits == 1) })
        }
        (Meaning::Bits(f), [x, y]) => {
            let side = |number: &Number| number.whole().and_then(|whole| i64::try_from(whole).ok());
            f(side(x)?, side(y)?).map(Number::Int)
        }
        (Meaning::Not, [x]) => Some(Number::Bool(x.float() == 0.0)),
        (Meaning::Compare(f), [x, y]) => Some(Number::Bool(f(x.float(), y.float()))),
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

/// The quotient rounded down, consistent with the remainder: `x` is the quotient times `y` plus the remainder.
pub(crate) fn floor_divide(x: f64, y: f64) -> f64 {
    if y == 0.0 {
        return x / y;
    }
    let rest = x % y;
    let below = rest != 0.0 && (rest < 0.0) != (y < 0.0);
    let quotient = (x - rest) / y - if below { 1.0 } else { 0.0 };
    if quotient == 0.0 { 0f64.copysign(x / y) } else { quotient.round() }
}

/// Whether the rounded quotient of two numbers has the integer part of the exact one, and a fraction if that has one.
#[cfg(test)]
pub(super) fn keeps_integer_part(x: f64, y: f64) -> bool {
    let (rest, quotient) = (x % y, x / y);
    quotient.abs() < 9_007_199_254_740_992.0
        && quotient.trunc() == ((x - rest) / y).round()
        && (rest == 0.0) == (quotient.fract() == 0.0)
}

/// The remainder with the sign of the divisor.
pub(crate) fn remainder(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest }
}

/// The larger operand, the first of equal ones; NaN if an operand is NaN.
pub(crate) fn maximum(x: f64, y: f64) -> f64 {
    if y.is_nan() || y > x { y } else { x }
}

/// The smaller operand, the first of equal ones; NaN if an operand is NaN.
pub(crate) fn minimum(x: f64, y: f64) -> f64 {
    if y.is_nan() || y < x { y } else { x }
}

/// The logarithm of the sum of two exponentials, which themselves may overflow.
pub(crate) fn logaddexp(x: f64, y: f64) -> f64 {
    if x == y {
        // This includes infinities of equal sign.
        return x + std::f64::consts::LN_2;
    }
    let larger = maximum(x, y);
    larger + (-(x - y).abs()).exp().ln_1p()
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

/// The error function.
///
/// Below 3 by the series `2x/√π · e^(-x²) · Σ (2x²)ⁿ / (1·3·…·(2n+1))`, whose terms are all positive, so that there
/// is no cancellation; from 3 on by the continued fraction of the complement.
pub(crate) fn erf(x: f64) -> f64 {
    use std::f64::consts::FRAC_2_SQRT_PI;
    let size = x.abs();
    if x.is_nan() || size > 6.0 {
        return if x.is_nan() { x } else { 1f64.copysign(x) };
    }
    let square = x * x;
    if size < 3.0 {
        let (mut term, mut sum, mut n) = (1.0, 1.0, 1.0);
        while term > sum * f64::EPSILON / 4.0 {
            term *= 2.0 * square / (2.0 * n + 1.0);
            sum += term;
            n += 1.0;
        }
        return FRAC_2_SQRT_PI * x * (-square).exp() * sum;
    }
    // erfc(x) = e^(-x²)/√π · 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …)))), evaluated from the inside.
    let fraction = (1..=60).rev().fold(size, |inner, n| size + f64::from(n) / 2.0 / inner);
    (1.0 - (-square).exp() * FRAC_2_SQRT_PI / 2.0 / fraction).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_has_its_known_values() {
        // With more digits than a float has.
        let known = [
            (0.0, 0.0),
            (1e-10, 1.128_379_167_095_512_6e-10),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (2.999, 0.9999777698314002),
            (3.5, 0.999_999_256_901_627_7),
            (5.0, 0.999_999_999_998_462_5),
            (30.0, 1.0),
        ];
        for (x, wanted) in known {
            assert!((erf(x) - wanted).abs() <= 2e-15 * wanted, "erf({x}) = {:?}", erf(x));
            assert_eq!(erf(-x), -erf(x));
        }
        assert!(erf(f64::NAN).is_nan());
    }

    #[test]
    fn quotient_and_remainder_belong_together() {
        for (x, y, quotient, rest) in [
            (7.0, 2.0, 3.0, 1.0),
            (-7.0, 2.0, -4.0, 1.0),
            (7.0, -2.0, -4.0, -1.0),
            (1.0, 0.1, 9.0, 0.09999999999999995),
            (-6.0, 3.0, -2.0, 0.0),
        ] {
            assert_eq!((floor_divide(x, y), remainder(x, y)), (quotient, rest), "{x}, {y}");
        }
        assert_eq!(floor_divide(1.0, 0.0), f64::INFINITY);
        assert!(remainder(1.0, 0.0).is_nan());
        assert_eq!(remainder(1.0, f64::INFINITY), 1.0);
    }

    #[test]
    fn zero_has_no_negative_power() {
        assert_eq!(
            [(0, 0), (0, 3), (0, -1), (1, -1), (-1, -3), (2, -1)].map(|(x, y)| whole_power(x, y)),
            [Some(1), Some(0), None, Some(1), Some(-1), None]
        );
        let power = |x: Number| apply(Meaning::Power(f64::powf, whole_power), &[x, Number::Int(-1)]);
        assert_eq!(power(Number::Int(0)), None);
        assert_eq!(power(Number::Bool(false)), None);
        assert_eq!(power(Number::Int(2)), Some(Number::Float(0.5)));
        assert_eq!(power(Number::Float(0.0)), Some(Number::Float(f64::INFINITY)));
    }

    #[test]
    fn sums_of_exponentials_do_not_overflow() {
        assert!((logaddexp(1000.0, 1000.0) - 1_000.693_147_180_559_9).abs() < 1e-10);
        assert_eq!(logaddexp(f64::NEG_INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!(logaddexp(f64::INFINITY, 3.0), f64::INFINITY);
        assert!(logaddexp(f64::NAN, 1.0).is_nan());
    }
}
