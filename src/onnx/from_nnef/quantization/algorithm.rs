//! What the algorithms of the standard compute (5.3 of the 1.0.5 text).

use super::parameter::ChannelNumbers;
use crate::graph::Value;

/// How the items of a tensor are rounded.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Algorithm {
    /// To the values of integers.
    Linear(Linear),
    /// To powers of two with their signs, whose exponents are within bounds.
    Logarithmic { lowest: ChannelNumbers, highest: ChannelNumbers },
}

/// Values at equal distances: `(code - zero) * scale + offset`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Linear {
    /// The distance of two values.
    pub(super) scale: ChannelNumbers,
    /// The code of `offset`.
    pub(super) zero: ChannelNumbers,
    /// What is added to all values; none if it is 0.
    pub(super) offset: Option<ChannelNumbers>,
    /// The smallest code.
    pub(super) lowest: f64,
    /// The largest code.
    pub(super) highest: f64,
}

/// The integers of ONNX that hold codes: number of the type, bits, least and greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CodeType {
    pub(super) number: i32,
    pub(super) bits: u32,
    pub(super) least: f64,
    pub(super) greatest: f64,
}

const CODE_TYPES: &[CodeType] = &[
    CodeType { number: 21, bits: 4, least: 0.0, greatest: 15.0 },
    CodeType { number: 22, bits: 4, least: -8.0, greatest: 7.0 },
    CodeType { number: 2, bits: 8, least: 0.0, greatest: 255.0 },
    CodeType { number: 3, bits: 8, least: -128.0, greatest: 127.0 },
    CodeType { number: 4, bits: 16, least: 0.0, greatest: 65535.0 },
    CodeType { number: 5, bits: 16, least: -32768.0, greatest: 32767.0 },
];

/// The signed integers for codes: bits and number of the type.
pub(super) const SIGNED: &[(u32, i32)] = &[(4, 22), (8, 3)];

/// The most bits of a code.
const MOST_BITS: i64 = 32;

impl Linear {
    /// The integers that have all codes and the zero points; none if the codes are too many, zero points are not
    /// integers, or parameters differ along several axes.
    pub(super) fn code_type(&self) -> Option<CodeType> {
        let axes = [self.scale.axis().ok()?, self.zero.axis().ok()?];
        if axes.iter().flatten().count() == 2 && self.scale.dims != self.zero.dims {
            return None;
        }
        let holds = |of: &&CodeType| {
            let within = |code: f64| (of.least..=of.greatest).contains(&code);
            within(self.lowest) && within(self.highest) && self.zero.all(|zero| zero.fract() == 0.0 && within(zero))
        };
        CODE_TYPES.iter().find(holds).copied()
    }
}

/// The arguments of a quantization.
struct AlgorithmArguments<'a>(&'a [(String, Value)]);

impl AlgorithmArguments<'_> {
    fn value(&self, name: &str) -> Result<&Value, String> {
        let found = self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        found.ok_or_else(|| format!("there is no argument `{name}`"))
    }

    fn numbers(&self, name: &str) -> Result<ChannelNumbers, String> {
        let found = ChannelNumbers::of(self.value(name)?).filter(|found| !found.items.is_empty());
        found.filter(|found| found.all(f64::is_finite)).ok_or_else(|| format!("`{name}` has to consist of numbers"))
    }

    fn flag(&self, name: &str) -> Result<bool, String> {
        match self.value(name)? {
            Value::Logical(flag) => Ok(*flag),
            _ => Err(format!("`{name}` has to be a logical")),
        }
    }

    fn bits(&self) -> Result<i32, String> {
        match self.value("bits")? {
            Value::Int(bits) if (1..=MOST_BITS).contains(bits) => Ok(*bits as i32),
            _ => Err(format!("`bits` has to be an integer from 1 to {MOST_BITS}")),
        }
    }
}

impl Algorithm {
    /// What an algorithm computes with its arguments.
    ///
    /// # Errors
    ///
    /// It is not one of the standard, or has no values to round to.
    pub(super) fn of(name: &str, arguments: &[(String, Value)]) -> Result<Algorithm, String> {
        let arguments = AlgorithmArguments(arguments);
        match name {
            "zero_point_linear_quantize" => zero_point(&arguments).map(Algorithm::Linear),
            "min_max_linear_quantize" => {
                let is_symmetric = arguments.flag("symmetric")?;
                between(&arguments, arguments.flag("signed")?, is_symmetric).map(Algorithm::Linear)
            }
            "linear_quantize" => between(&arguments, false, false).map(Algorithm::Linear),
            "logarithmic_quantize" => {
                let levels = 2_f64.powi(arguments.bits()?) - 1.0;
                let highest = arguments.numbers("max")?.map(|max| max.log2().ceil());
                if !highest.all(f64::is_finite) {
                    return Err("`max` has to be positive".to_owned());
                }
                Ok(Algorithm::Logarithmic { lowest: highest.map(|highest| highest - levels), highest })
            }
            _ => Err("only the algorithms of the standard are known".to_owned()),
        }
    }
}

/// Codes and scales are given.
fn zero_point(arguments: &AlgorithmArguments) -> Result<Linear, String> {
    let (bits, signed) = (arguments.bits()?, arguments.flag("signed")?);
    let highest = 2_f64.powi(bits) / if signed { 2.0 } else { 1.0 } - 1.0;
    let lowest = match (signed, arguments.flag("symmetric")?) {
        (false, _) => 0.0,
        (true, symmetric) => -highest - f64::from(u8::from(!symmetric)),
    };
    let (scale, zero) = (arguments.numbers("scale")?, arguments.numbers("zero_point")?);
    positive(Linear { scale, zero, offset: None, lowest, highest })
}

/// The smallest and the largest value are given.
fn between(arguments: &AlgorithmArguments, signed: bool, symmetric: bool) -> Result<Linear, String> {
    let bits = arguments.bits()?;
    let (min, max) = (arguments.numbers("min")?, arguments.numbers("max")?);
    let levels = 2_f64.powi(bits) - 1.0 - f64::from(u8::from(signed && symmetric));
    let least = if signed { f64::from(u8::from(symmetric)) - 2_f64.powi(bits) / 2.0 } else { 0.0 };
    let scale = max.with(&min, |max, min| (max - min) / levels);
    let scale = scale.ok_or("`min` and `max` differ along different axes")?;
    let (lowest, highest) = (least, least + levels);
    let zero = min.with(&scale, |min, scale| least - min / scale).map(|zero| zero.map(nearly_whole));
    let linear = match zero.filter(|zero| zero.all(|zero| zero.fract() == 0.0)) {
        Some(zero) => Linear { scale, zero, offset: None, lowest, highest },
        // The smallest value is not a multiple of the scale.
        None => {
            let zero = ChannelNumbers { dims: Vec::new(), items: vec![least] };
            Linear { scale, zero, offset: Some(min), lowest, highest }
        }
    };
    positive(linear)
}

fn positive(linear: Linear) -> Result<Linear, String> {
    let is_scale = |scale: f64| scale > 0.0 && (scale as f32).is_normal();
    if linear.scale.all(is_scale) { Ok(linear) } else { Err("the scale has to be positive".to_owned()) }
}

/// A number that differs from an integer only by the rounding of the 32-bit floats that it was computed from. Of large ones
/// that is more than the half that a range between two codes has.
fn nearly_whole(number: f64) -> f64 {
    let near = number.round();
    let rounding = (1e-6 * near.abs().max(1.0)).min(1.0 / 16.0);
    if (number - near).abs() <= rounding { near } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(name: &str, given: &[(&str, Value)]) -> Result<Linear, String> {
        let given: Vec<_> = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        match Algorithm::of(name, &given)? {
            Algorithm::Linear(linear) => Ok(linear),
            Algorithm::Logarithmic { .. } => Err("logarithmic".to_owned()),
        }
    }

    #[test]
    fn ranges_have_zero_points_where_they_are_integers() {
        for (min, max, bits, signed, symmetric, zero, offset, number) in [
            (0.0, 25.5, 8, false, false, 0.0, None, Some(2)),
            (-12.8, 12.7, 8, true, false, 0.0, None, Some(3)),
            (-12.7, 12.7, 8, true, true, 0.0, None, Some(3)),
            (-1.0, 24.5, 8, false, false, 10.0, None, Some(2)),
            (-1.0, 1.0, 8, false, false, 0.0, Some(-1.0), Some(2)),
            (-1.0, 1.0, 8, true, false, -128.0, Some(-1.0), Some(3)),
            (-1.0, 1.0, 20, false, false, 0.0, Some(-1.0), None),
        ] {
            let given = [
                ("min", Value::Scalar(min)),
                ("max", Value::Scalar(max)),
                ("bits", Value::Int(bits)),
                ("signed", Value::Logical(signed)),
                ("symmetric", Value::Logical(symmetric)),
            ];
            let found = linear("min_max_linear_quantize", &given).unwrap();
            let shift = found.offset.as_ref().and_then(ChannelNumbers::only);
            assert_eq!((found.zero.only(), shift), (Some(zero), offset), "{min} {max}");
            assert_eq!(found.code_type().map(|of| of.number), number);
        }
    }

    #[test]
    fn codes_have_the_smallest_integers_of_onnx() {
        for (bits, signed, zero, number) in [
            (2, false, 1, Some(21)),
            (4, true, 0, Some(22)),
            (5, true, 0, Some(3)),
            (8, false, 128, Some(2)),
            (8, false, 300, Some(4)),
            (8, false, 70000, None),
            (12, true, -2048, Some(5)),
            (16, false, 0, Some(4)),
            (20, false, 0, None),
        ] {
            let given = [
                ("zero_point", Value::Int(zero)),
                ("scale", Value::Scalar(0.5)),
                ("bits", Value::Int(bits)),
                ("signed", Value::Logical(signed)),
                ("symmetric", Value::Logical(false)),
            ];
            let found = linear("zero_point_linear_quantize", &given).unwrap();
            assert_eq!(found.code_type().map(|of| of.number), number, "{bits}");
        }
    }

    #[test]
    fn other_arguments_are_refused() {
        let of = |min: f64, bits| {
            linear(
                "linear_quantize",
                &[("min", Value::Scalar(min)), ("max", Value::Scalar(1.0)), ("bits", Value::Int(bits))],
            )
        };
        assert!(of(1.0, 8).is_err() && of(2.0, 8).is_err() && of(0.0, 0).is_err() && of(0.0, 8).is_ok());
        assert!(linear("acme_quantize", &[]).is_err() && linear("linear_quantize", &[]).is_err());
    }
}
