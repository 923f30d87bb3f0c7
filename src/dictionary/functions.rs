//! Functions of numbers that the standard library of Rust lacks.

use std::sync::LazyLock;

/// Rounds a number, and halves up. The sum of the number and 0.5 might be rounded to another integer.
pub(crate) fn half_up(x: f64) -> f64 {
    if x - x.floor() < 0.5 { x.floor() } else { x.ceil() }
}

/// The logistic function.
pub(crate) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The logarithm of the sum of two exponentials, which themselves may overflow.
pub(crate) fn logaddexp(x: f64, y: f64) -> f64 {
    if x == y {
        // This includes infinities of equal sign.
        return x + std::f64::consts::LN_2;
    }
    let larger = super::Arith::Max.float(x, y);
    larger + (-(x - y).abs()).exp().ln_1p()
}

/// A left shift; none if bits would be lost.
pub(super) fn shift_left(x: i64, by: i64) -> Option<i64> {
    let by = u32::try_from(by).ok().filter(|by| *by < 64)?;
    let shifted = x.wrapping_shl(by);
    (shifted >> by == x).then_some(shifted)
}

/// An arithmetic right shift; none for a negative distance.
pub(super) fn shift_right(x: i64, by: i64) -> Option<i64> {
    u32::try_from(by).ok().map(|by| x >> by.min(63))
}

/// The error function, by its Taylor series around the nearest place of a table.
pub(crate) fn erf(x: f64) -> f64 {
    let size = x.abs();
    if x.is_nan() || size >= LAST_PLACE as f64 / PLACES_OF_ONE {
        return if x.is_nan() { x } else { 1f64.copysign(x) };
    }
    let place = (size * PLACES_OF_ONE + 0.5) as usize;
    let distance = size - place as f64 / PLACES_OF_ONE;
    let series = &ERROR_SERIES[place];
    series.iter().rev().fold(0.0, |sum, factor| sum * distance + factor).copysign(x)
}

/// How many places a unit has in the table of the error function. What [`FACTORS`] leave out of a series is then less than
/// a float can express.
const PLACES_OF_ONE: f64 = 16.0;

/// The number of factors of a series.
const FACTORS: usize = 10;

/// The last place: from 6 on, the difference from 1 is less than a float can express.
const LAST_PLACE: usize = 96;

/// The factors of the powers of the distance in the Taylor series of the error function around each place.
static ERROR_SERIES: LazyLock<[[f64; FACTORS]; LAST_PLACE + 1]> = LazyLock::new(|| {
    std::array::from_fn(|place| {
        let place = place as f64 / PLACES_OF_ONE;
        let mut series = [0.0; FACTORS];
        series[0] = error_at(place);
        series[1] = std::f64::consts::FRAC_2_SQRT_PI * (-place * place).exp();
        // The second derivative is the first one times -2x; each further one follows from the two before it.
        for n in 2..FACTORS {
            let order = n as f64;
            series[n] = -2.0 / order * (place * series[n - 1] + (order - 2.0) / (order - 1.0) * series[n - 2]);
        }
        series
    })
});

/// The error function of a number from 0 to 6.
///
/// Below 2 by the series `2x/√π · e^(-x²) · Σ (2x²)ⁿ / (1·3·…·(2n+1))`, whose terms are all positive, so that there
/// is no cancellation; from 2 on by the continued fraction of the complement.
fn error_at(x: f64) -> f64 {
    use std::f64::consts::FRAC_2_SQRT_PI;
    let square = x * x;
    if x < 2.0 {
        let (mut term, mut sum, mut n) = (1.0, 1.0, 1.0);
        while term > sum * f64::EPSILON / 4.0 {
            term *= 2.0 * square / (2.0 * n + 1.0);
            sum += term;
            n += 1.0;
        }
        return FRAC_2_SQRT_PI * x * (-square).exp() * sum;
    }
    // erfc(x) = e^(-x²)/√π · 1/(x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …)))), evaluated from the inside.
    let fraction = (1..=60).rev().fold(x, |inner, n| x + f64::from(n) / 2.0 / inner);
    1.0 - (-square).exp() * FRAC_2_SQRT_PI / 2.0 / fraction
}

/// The slope of cubic resampling that PyTorch has, and ONNX if it is not given.
pub(crate) const CUBIC_SLOPE: f64 = -0.75;

/// The weight of an item at a distance in cubic resampling (Keys, "Cubic convolution interpolation for digital image
/// processing"). `a` is the slope at distance 1.
pub(crate) fn cubic(distance: f64, a: f64) -> f64 {
    let x = distance.abs();
    if x <= 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * a
    } else {
        0.0
    }
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
    fn the_table_of_the_error_function_has_what_the_series_has() {
        for i in 0..=60_000 {
            let x = f64::from(i) / 9_999.0;
            let (found, wanted) = (erf(x), error_at(x));
            assert!((found - wanted).abs() <= 2e-15 * wanted, "erf({x}) = {found:?}, {wanted:?}");
        }
        assert_eq!((erf(5.999_999), erf(6.0), erf(f64::NEG_INFINITY)), (1.0, 1.0, -1.0));
        assert_eq!(erf(-0.0).to_bits(), (-0f64).to_bits());
    }

    #[test]
    fn sums_of_exponentials_do_not_overflow() {
        assert!((logaddexp(1000.0, 1000.0) - 1_000.693_147_180_559_9).abs() < 1e-10);
        assert_eq!(logaddexp(f64::NEG_INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!(logaddexp(f64::INFINITY, 3.0), f64::INFINITY);
        assert!(logaddexp(f64::NAN, 1.0).is_nan());
    }

    #[test]
    fn halves_are_rounded_up() {
        for (x, wanted) in
            [(0.5, 1.0), (-0.5, 0.0), (2.5, 3.0), (-2.5, -2.0), (2.25, 2.0), (2.75, 3.0), (-2.75, -3.0), (4.0, 4.0)]
        {
            assert_eq!(half_up(x), wanted, "{x}");
        }
        // The next number below 0.5, whose sum with 0.5 is rounded to 1.
        assert_eq!(half_up(0.499_999_999_999_999_94), 0.0);
    }

    #[test]
    fn logistic_function() {
        assert_eq!((sigmoid(0.0), sigmoid(f64::INFINITY), sigmoid(f64::NEG_INFINITY)), (0.5, 1.0, 0.0));
        assert!((sigmoid(2.0) - 0.880_797_077_977_882_4).abs() < 1e-15);
        assert!((sigmoid(-2.0) - 0.119_202_922_022_117_6).abs() < 1e-15);
    }

    #[test]
    fn the_logarithm_of_a_sum_of_exponentials() {
        for (x, y, wanted) in [
            (0.0, 1.0, 1.313_261_687_518_222_8),
            (3.0, -2.0, 3.006_715_348_489_118),
            (-1.0, -1.5, -0.525_923_015_819_893_3),
        ] {
            assert!((logaddexp(x, y) - wanted).abs() < 1e-15 * 4.0, "{x} {y} {:?}", logaddexp(x, y));
            assert_eq!(logaddexp(y, x), logaddexp(x, y));
        }
    }

    #[test]
    fn shifts() {
        for (x, by, wanted) in [
            (1, 0, Some(1)),
            (3, 4, Some(48)),
            (-3, 4, Some(-48)),
            (1, 62, Some(1 << 62)),
            (1, 63, None),
            (-1, 63, Some(i64::MIN)),
            (1, 64, None),
            (0, 64, None),
            (1, -1, None),
        ] {
            assert_eq!(shift_left(x, by), wanted, "{x} << {by}");
        }
        for (x, by, wanted) in [
            (48, 4, Some(3)),
            (-1, 1, Some(-1)),
            (-48, 4, Some(-3)),
            (i64::MAX, 62, Some(1)),
            (i64::MAX, 63, Some(0)),
            (i64::MAX, 64, Some(0)),
            (i64::MIN, 200, Some(-1)),
            (1, -1, None),
        ] {
            assert_eq!(shift_right(x, by), wanted, "{x} >> {by}");
        }
    }

    /// Weights add up to 1 at each place between two items, are 1 at an item and 0 at all others; the slope at distance 1 is `a`.
    #[test]
    fn weights_of_cubic_resampling() {
        for a in [CUBIC_SLOPE, -0.5] {
            for (distance, wanted) in [(0.0, 1.0), (1.0, 0.0), (-1.0, 0.0), (2.0, 0.0), (2.5, 0.0), (-3.0, 0.0)] {
                assert_eq!(cubic(distance, a), wanted, "{distance}");
            }
            for place in [0.125, 0.25, 0.5, 0.75] {
                let all: f64 =
                    [1.0 + place, place, 1.0 - place, 2.0 - place].iter().map(|distance| cubic(*distance, a)).sum();
                assert!((all - 1.0).abs() < 1e-15, "{place}");
                assert_eq!(cubic(-place, a), cubic(place, a));
            }
            let step = 1.0 / 1024.0;
            for (from, to) in [(1.0 - step, 1.0), (1.0, 1.0 + step)] {
                assert!(((cubic(to, a) - cubic(from, a)) / step - a).abs() < 0.01);
            }
        }
        // (a + 2)/8 - (a + 3)/4 + 1, and (27/8 - 45/4 + 12 - 4) a.
        assert_eq!((cubic(0.5, -0.75), cubic(1.5, -0.75)), (0.59375, -0.09375));
    }
}
