//! Floating-point formats of fewer than 32 bits, and integers of fewer.
//!
//! Items of a narrow format are stored as the 32-bit floats that they are equal to, so that kernels compute with them
//! as with other floats and only their results are rounded.

/// A floating-point format of fewer than 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NarrowFloat {
    /// 16 bits, 5 of them exponent.
    Float16,
    /// 16 bits, 8 of them exponent.
    BFloat16,
    /// 8 bits, 4 of them exponent; no infinities.
    Float8E4M3Fn,
    /// 8 bits, 4 of them exponent; neither infinities nor a negative zero.
    Float8E4M3Fnuz,
    /// 8 bits, 5 of them exponent.
    Float8E5M2,
    /// 8 bits, 5 of them exponent; neither infinities nor a negative zero.
    Float8E5M2Fnuz,
    /// 8 bits of exponent: powers of two.
    Float8E8M0,
    /// 6 bits, 2 of them exponent; all values are finite.
    Float6E2M3,
    /// 6 bits, 3 of them exponent; all values are finite.
    Float6E3M2,
    /// 4 bits, 2 of them exponent; all values are finite.
    Float4E2M1,
}

/// The values of a format that are not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpecialValues {
    /// Infinities and NaNs have the highest exponent.
    Ieee,
    /// The only NaN has all bits of exponent and fraction.
    Full,
    /// The only NaN has the bits of a negative zero.
    NegativeZero,
    /// There are none.
    Finite,
    /// There is neither a sign nor a fraction, nor zero; all bits are the NaN.
    Powers,
}

/// A row of the table of formats.
struct FloatFormat {
    of: NarrowFloat,
    name: &'static str,
    exponent: u32,
    fraction: u32,
    bias: i32,
    special: SpecialValues,
}

const fn row(
    of: NarrowFloat,
    name: &'static str,
    [exponent, fraction]: [u32; 2],
    bias: i32,
    special: SpecialValues,
) -> FloatFormat {
    FloatFormat { of, name, exponent, fraction, bias, special }
}

/// The formats, in the order of their declaration.
const FORMATS: &[FloatFormat] = &[
    row(NarrowFloat::Float16, "float16", [5, 10], 15, SpecialValues::Ieee),
    row(NarrowFloat::BFloat16, "bfloat16", [8, 7], 127, SpecialValues::Ieee),
    row(NarrowFloat::Float8E4M3Fn, "float8e4m3fn", [4, 3], 7, SpecialValues::Full),
    row(NarrowFloat::Float8E4M3Fnuz, "float8e4m3fnuz", [4, 3], 8, SpecialValues::NegativeZero),
    row(NarrowFloat::Float8E5M2, "float8e5m2", [5, 2], 15, SpecialValues::Ieee),
    row(NarrowFloat::Float8E5M2Fnuz, "float8e5m2fnuz", [5, 2], 16, SpecialValues::NegativeZero),
    row(NarrowFloat::Float8E8M0, "float8e8m0", [8, 0], 127, SpecialValues::Powers),
    row(NarrowFloat::Float6E2M3, "float6e2m3", [2, 3], 1, SpecialValues::Finite),
    row(NarrowFloat::Float6E3M2, "float6e3m2", [3, 2], 3, SpecialValues::Finite),
    row(NarrowFloat::Float4E2M1, "float4e2m1", [2, 1], 1, SpecialValues::Finite),
];

/// The bias of floats of 32 bits.
const F32_BIAS: i32 = 127;

fn power(of: i32) -> f64 {
    2f64.powi(of)
}

/// The exponent of a number, unless it is subnormal.
fn exponent_of(value: f64) -> i32 {
    (value.abs().to_bits() >> 52) as i32 - 1023
}

impl NarrowFloat {
    /// All formats.
    pub(crate) fn all() -> impl Iterator<Item = NarrowFloat> {
        FORMATS.iter().map(|format| format.of)
    }

    fn format(self) -> &'static FloatFormat {
        &FORMATS[self as usize]
    }

    /// The name in ONNX, except that 16-bit floats have those of numpy.
    pub fn name(self) -> &'static str {
        self.format().name
    }

    /// The number of bits.
    pub fn bits(self) -> u32 {
        let FloatFormat { exponent, fraction, special, .. } = self.format();
        exponent + fraction + u32::from(*special != SpecialValues::Powers)
    }

    /// The distance from 1 to the next number above it.
    pub(crate) fn unit(self) -> f64 {
        power(-(self.format().fraction as i32))
    }

    /// The highest exponent, that of infinities and NaNs in the formats of IEEE.
    fn top(self) -> i32 {
        let FloatFormat { exponent, bias, .. } = *self.format();
        (1 << exponent) - 1 - bias
    }

    /// The greatest finite value.
    pub(crate) fn greatest(self) -> f64 {
        let FloatFormat { fraction, special, .. } = *self.format();
        let top = self.top();
        match special {
            SpecialValues::Ieee => (2.0 - power(-(fraction as i32))) * power(top - 1),
            SpecialValues::Full => (2.0 - power(1 - fraction as i32)) * power(top),
            SpecialValues::NegativeZero | SpecialValues::Finite => (2.0 - power(-(fraction as i32))) * power(top),
            SpecialValues::Powers => power(top - 1),
        }
    }

    /// The nearest value, of two equally near ones the even one. Beyond the greatest value it is infinity, else NaN, else
    /// the greatest value; NaN is negative zero in formats without it. A power of two is nearest to the logarithm's nearest number.
    pub fn round(self, value: f64) -> f32 {
        let FloatFormat { fraction, bias, special, .. } = *self.format();
        if value.is_nan() {
            // A format without NaN has the bits of its sign.
            return if special == SpecialValues::Finite { -0.0 } else { f32::NAN };
        }
        if special == SpecialValues::Powers {
            return self.nearest_power(value);
        }
        // Exponents of subnormal numbers of 64 bits are below those of all formats.
        let exponent = exponent_of(value).max(1 - bias);
        let unit = power(exponent - fraction as i32);
        let rounded = (value / unit).round_ties_even() * unit;
        if rounded.abs() <= self.greatest() {
            // There is no negative zero beside that NaN.
            let zero = rounded == 0.0 && special == SpecialValues::NegativeZero;
            return if zero { 0.0 } else { rounded as f32 };
        }
        match special {
            SpecialValues::Ieee => f32::INFINITY.copysign(value as f32),
            SpecialValues::Finite => self.greatest().copysign(value) as f32,
            SpecialValues::Full | SpecialValues::NegativeZero | SpecialValues::Powers => f32::NAN,
        }
    }

    /// The nearest values of numbers, as [`Self::round`] has them, at the end of others.
    pub(crate) fn append_rounded(self, values: &[f64], to: &mut Vec<f32>) {
        let FloatFormat { fraction, bias, special, .. } = *self.format();
        // Between subnormal numbers and the highest exponent all fractions are numbers: the bits of the fraction are rounded
        // where they are.
        let (lost, plain) = (52 - fraction, 1 - bias..self.top() - 1);
        let has_fraction = special != SpecialValues::Powers;
        to.extend(values.iter().map(|value| match has_fraction && plain.contains(&exponent_of(*value)) {
            true => {
                let bits = value.to_bits();
                let half = (1u64 << (lost - 1)) - 1 + (bits >> lost & 1);
                f64::from_bits((bits + half) >> lost << lost) as f32
            }
            false => self.round(*value),
        }));
    }

    fn nearest_power(self, value: f64) -> f32 {
        if value < 0.0 || value.is_infinite() {
            return f32::NAN;
        }
        let nearest = if value == 0.0 { -127.0 } else { (value / 1.5).log2().ceil().max(-127.0) };
        if nearest > 127.0 { f32::NAN } else { power(nearest as i32) as f32 }
    }

    /// The value with these bits.
    pub(crate) fn decode(self, bits: u32) -> f32 {
        let FloatFormat { exponent, fraction, bias, special, .. } = *self.format();
        let (below, highest) = (bits & ((1 << fraction) - 1), (1u32 << exponent) - 1);
        let above = bits >> fraction & highest;
        if special == SpecialValues::Powers {
            return if above == highest { f32::NAN } else { power(above as i32 - bias) as f32 };
        }
        let is_negative = bits >> (exponent + fraction) & 1 == 1;
        // The bits of most numbers are those of a float of 32 bits in other places.
        let shifted = above as i32 - bias + F32_BIAS;
        if above > 0 && above < highest && shifted > 0 {
            return f32::from_bits(u32::from(is_negative) << 31 | (shifted as u32) << 23 | below << (23 - fraction));
        }
        let nan = match special {
            SpecialValues::Ieee if above == highest && below == 0 => {
                return if is_negative { f32::NEG_INFINITY } else { f32::INFINITY };
            }
            SpecialValues::Ieee => above == highest,
            SpecialValues::Full => above == highest && below == (1 << fraction) - 1,
            SpecialValues::NegativeZero => is_negative && above == 0 && below == 0,
            SpecialValues::Finite | SpecialValues::Powers => false,
        };
        let part = f64::from(below) * power(-(fraction as i32));
        let magnitude = match above {
            _ if nan => f64::NAN,
            0 => part * power(1 - bias),
            _ => (1.0 + part) * power(above as i32 - bias),
        };
        (if is_negative { -magnitude } else { magnitude }) as f32
    }

    /// The bits of a value of this format.
    pub(crate) fn encode(self, value: f32) -> u32 {
        let FloatFormat { exponent, fraction, bias, special, .. } = *self.format();
        let highest = (1u32 << exponent) - 1;
        let sign = u32::from(value.is_sign_negative() && special != SpecialValues::Powers) << (exponent + fraction);
        if value.is_nan() {
            return match special {
                SpecialValues::Ieee => sign | highest << fraction | 1 << (fraction - 1),
                SpecialValues::Full => sign | ((1 << (exponent + fraction)) - 1),
                SpecialValues::NegativeZero => 1 << (exponent + fraction),
                SpecialValues::Powers => highest,
                SpecialValues::Finite => self.encode(-0.0),
            };
        }
        if value.is_infinite() {
            return sign | highest << fraction;
        }
        let magnitude = f64::from(value.abs());
        let found = (magnitude.to_bits() >> 52) as i32 - 1023;
        if special == SpecialValues::Powers {
            return (found + bias).clamp(0, highest as i32 - 1) as u32;
        }
        if found < 1 - bias {
            return sign | (magnitude * power(fraction as i32 + bias - 1)) as u32;
        }
        let part = ((magnitude * power(-found) - 1.0) * power(fraction as i32)) as u32;
        sign | ((found + bias) as u32) << fraction | part
    }
}

/// An integer type of fewer than 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SmallInt {
    /// Signed, 2 bits.
    Int2,
    /// Signed, 4 bits.
    Int4,
    /// Signed, 8 bits.
    Int8,
    /// Signed, 16 bits.
    Int16,
    /// Unsigned, 2 bits.
    Uint2,
    /// Unsigned, 4 bits.
    Uint4,
    /// Unsigned, 8 bits.
    Uint8,
    /// Unsigned, 16 bits.
    Uint16,
}

/// The integer types with name, bits and sign, in the order of their declaration.
const INTEGERS: &[(SmallInt, &str, u32, bool)] = &[
    (SmallInt::Int2, "int2", 2, true),
    (SmallInt::Int4, "int4", 4, true),
    (SmallInt::Int8, "int8", 8, true),
    (SmallInt::Int16, "int16", 16, true),
    (SmallInt::Uint2, "uint2", 2, false),
    (SmallInt::Uint4, "uint4", 4, false),
    (SmallInt::Uint8, "uint8", 8, false),
    (SmallInt::Uint16, "uint16", 16, false),
];

impl SmallInt {
    /// All types.
    pub(crate) fn all() -> impl Iterator<Item = SmallInt> {
        INTEGERS.iter().map(|row| row.0)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        INTEGERS[self as usize].1
    }

    /// The number of bits.
    pub fn bits(self) -> u32 {
        INTEGERS[self as usize].2
    }

    /// Whether there are negative numbers.
    pub fn is_signed(self) -> bool {
        INTEGERS[self as usize].3
    }

    /// The least and the greatest value.
    pub(crate) fn range(self) -> (i32, i32) {
        match self.is_signed() {
            true => (-(1 << (self.bits() - 1)), (1 << (self.bits() - 1)) - 1),
            false => (0, (1 << self.bits()) - 1),
        }
    }

    /// The value with the lowest bits of a number.
    pub(crate) fn wrap(self, value: i32) -> i32 {
        let unused = 32 - self.bits();
        if self.is_signed() { value << unused >> unused } else { value & ((1 << self.bits()) - 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_together_as_each() {
        let mut seed = 7u64;
        let mut values: Vec<f64> = vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e-300, 5e-324];
        for i in 0..20_000 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let near = f64::from(((seed >> 40) as i32 - (1 << 23)) >> (i % 20)) / f64::from(1u32 << (i % 31));
            values.extend([
                near,
                near * 1.000_000_1,
                f64::from_bits(seed),
                f64::from(f32::from_bits((seed >> 32) as u32)),
            ]);
        }
        for format in NarrowFloat::all() {
            let mut found = Vec::new();
            format.append_rounded(&values, &mut found);
            for (value, found) in values.iter().zip(found) {
                assert_eq!(found.to_bits(), format.round(*value).to_bits(), "{value:?} as {}", format.name());
            }
        }
    }

    #[test]
    fn rows_are_in_the_order_of_the_types() {
        assert!(FORMATS.iter().enumerate().all(|(i, format)| format.of as usize == i));
        assert!(INTEGERS.iter().enumerate().all(|(i, row)| row.0 as usize == i));
    }

    #[test]
    fn all_bits_come_back() {
        for of in NarrowFloat::all() {
            for bits in 0..1u32 << of.bits() {
                let value = of.decode(bits);
                if value.is_nan() {
                    assert!(of.decode(of.encode(value)).is_nan());
                    continue;
                }
                assert_eq!(of.encode(value), bits, "{of:?} {value}");
                assert_eq!(of.round(value.into()).to_bits(), value.to_bits(), "{of:?} {value}");
            }
            let found = (0..1u32 << of.bits()).filter(|bits| of.decode(*bits).is_nan()).count();
            // All codes with the highest exponent and a fraction, or those that the format names.
            let wanted = match of.name() {
                "float16" => 2 * 1023,
                "bfloat16" => 2 * 127,
                "float8e5m2" => 2 * 3,
                "float8e4m3fn" => 2,
                "float8e4m3fnuz" | "float8e5m2fnuz" | "float8e8m0" => 1,
                _ => 0,
            };
            assert_eq!(found, wanted, "{of:?}");
        }
    }

    #[test]
    fn greatest_values_and_those_beyond() {
        for (of, greatest, beyond) in [
            (NarrowFloat::Float16, 65504.0, f32::INFINITY),
            (NarrowFloat::Float8E4M3Fn, 448.0, f32::NAN),
            (NarrowFloat::Float8E4M3Fnuz, 240.0, f32::NAN),
            (NarrowFloat::Float8E5M2, 57344.0, f32::INFINITY),
            (NarrowFloat::Float8E5M2Fnuz, 57344.0, f32::NAN),
            (NarrowFloat::Float6E2M3, 7.5, 7.5),
            (NarrowFloat::Float6E3M2, 28.0, 28.0),
            (NarrowFloat::Float4E2M1, 6.0, 6.0),
        ] {
            assert_eq!(of.greatest(), greatest, "{of:?}");
            assert_eq!(of.round(greatest * 2.0).to_bits(), beyond.to_bits(), "{of:?}");
            assert_eq!(of.round(-greatest), -greatest as f32);
        }
    }

    #[test]
    fn ties_go_to_even_numbers() {
        for (value, rounded) in [(1.25, 1.0), (1.75, 2.0), (2.5, 2.0), (0.25, 0.0), (0.75, 1.0), (-5.0, -4.0)] {
            assert_eq!(NarrowFloat::Float4E2M1.round(value), rounded, "{value}");
        }
        assert_eq!(NarrowFloat::Float16.round(1.0 + 1.0 / 2048.0), 1.0);
        assert_eq!(NarrowFloat::Float16.round(2f64.powi(-25) * 1.1), 2f32.powi(-24));
    }

    #[test]
    fn integers_wrap() {
        for (of, value, wrapped) in [
            (SmallInt::Int4, 9, -7),
            (SmallInt::Uint4, -1, 15),
            (SmallInt::Int8, 128, -128),
            (SmallInt::Uint16, 65536, 0),
            (SmallInt::Int2, 3, -1),
        ] {
            assert_eq!(of.wrap(value), wrapped);
        }
        assert_eq!((SmallInt::Int2.range(), SmallInt::Uint8.range()), ((-2, 1), (0, 255)));
    }
}
