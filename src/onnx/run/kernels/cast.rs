//! Conversions between element types.

use std::sync::Arc;

use crate::eval::EvalError;
use crate::onnx::run::node_call::{KernelResult, NodeCall, one};
use crate::onnx::run::{number_of, tensor_proto};
use crate::tensor::{DType, Data, NarrowFloat, Tensor};

/// The bytes of the longest text of a number.
const LONGEST: usize = 24;

/// The rounding of numbers to powers of two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Powers {
    Up,
    Down,
    Nearest,
}

/// How values are converted that the type does not have.
#[derive(Clone, Copy)]
struct Conversion {
    to: DType,
    /// Whether what is out of the range of a float of 8 bits is the nearest finite value.
    saturates: bool,
    powers: Powers,
}

impl Conversion {
    fn new(call: &NodeCall, to: DType) -> Result<Self, EvalError> {
        let powers = match call.text_or("round_mode", "up")?.as_str() {
            "up" => Powers::Up,
            "down" => Powers::Down,
            "nearest" => Powers::Nearest,
            other => return Err(call.refused(format!("`round_mode` is `{other}`"))),
        };
        Ok(Conversion { to, saturates: call.flag("saturate", true)?, powers })
    }

    /// The float of a narrow format.
    fn narrowed(self, format: NarrowFloat, value: f64) -> f32 {
        match format {
            NarrowFloat::Float8E8M0 => self.power(value),
            _ if format.bits() == 8 && self.saturates && !value.is_nan() => {
                let greatest = format.greatest();
                let rounded = format.round(value);
                let beyond = value.abs() > greatest && f64::from(rounded.abs()) != greatest;
                if beyond { greatest.copysign(value) as f32 } else { rounded }
            }
            _ => format.round(value),
        }
    }

    /// A power of two.
    fn power(self, value: f64) -> f32 {
        let value = value.abs();
        if value.is_nan() || !self.saturates && (value == 0.0 || value.is_infinite()) {
            return f32::NAN;
        }
        // The greatest power of two that is not above the number.
        let below = if value == 0.0 { -1023 } else { ((value.to_bits() >> 52) as i32) - 1023 };
        let rest = if value == 0.0 || value.is_infinite() { 1.0 } else { value / 2f64.powi(below) };
        let goes_up = match self.powers {
            Powers::Up => rest > 1.0,
            Powers::Down => false,
            Powers::Nearest => rest >= 1.5,
        };
        let exponent = below + i32::from(goes_up);
        match exponent {
            -127..=127 => 2f64.powi(exponent) as f32,
            _ if !self.saturates => f32::NAN,
            _ => 2f64.powi(exponent.clamp(-127, 127)) as f32,
        }
    }

    fn of_floats(self, items: impl Iterator<Item = f64>) -> Data {
        match self.to {
            // Those of 8 bits and fewer have rules of their own.
            DType::Narrow(format) if format.bits() > 8 => Data::from_floats(self.to, items),
            DType::Narrow(format) => Data::Narrow(format, items.map(|item| self.narrowed(format, item)).collect()),
            // Out of range, the lowest bits of the whole part, as for integers.
            to if to.is_integer() => Data::from_wide(to, items.map(|item| item as i128)),
            to => Data::from_floats(to, items),
        }
    }

    fn tensor(self, call: &NodeCall, x: &Tensor) -> Result<Tensor, EvalError> {
        match self.to {
            DType::Text if x.dtype() != DType::Text => call.texts_room(x.shape(), x.len().saturating_mul(LONGEST))?,
            _ => call.room(x.shape())?,
        };
        let (data, places) = (x.data(), 0..x.len());
        let converted = match (data, self.to) {
            _ if x.dtype() == self.to => return Ok(x.clone()),
            (Data::Complex64(items), DType::Complex128) => {
                Data::Complex128(items.iter().map(|item| item.map(f64::from)).collect())
            }
            (Data::Complex128(items), DType::Complex64) => {
                Data::Complex64(items.iter().map(|item| item.map(|part| part as f32)).collect())
            }
            (Data::Text(items), _) => self.of_texts(call, items)?,
            (Data::Bool(items), DType::Text) => {
                Data::Text(items.iter().map(|item| if *item { "True" } else { "False" }.into()).collect())
            }
            (data, DType::Text) if x.dtype().is_float() => Data::Text(places.map(|at| shown(data, at)).collect()),
            (Data::Float32(items), _) => self.of_floats(items.iter().copied().map(f64::from)),
            _ if x.dtype().is_float() || x.dtype().is_complex() => self.of_floats(places.map(|at| data.float(at))),
            (_, DType::Narrow(_)) => self.of_floats(places.map(|at| data.float(at))),
            _ => Data::from_wide(self.to, places.map(|at| data.wide(at))),
        };
        Ok(Tensor::with(x.shape(), converted)?)
    }

    fn of_texts(self, call: &NodeCall, items: &[Arc<str>]) -> Result<Data, EvalError> {
        let wrong = |text: &str| EvalError::value(format!("`{}`: `{text}` is not a number", call.name()));
        if self.to.range().is_some() {
            let whole = |text: &Arc<str>| {
                let exact = text.trim().parse::<i128>().ok();
                exact.or_else(|| number(text).map(|item| item as i128)).ok_or_else(|| wrong(text))
            };
            return Ok(Data::from_wide(self.to, items.iter().map(whole).collect::<Result<Vec<_>, _>>()?.into_iter()));
        }
        let floats = items.iter().map(|text| number(text).ok_or_else(|| wrong(text)));
        Ok(self.of_floats(floats.collect::<Result<Vec<_>, _>>()?.into_iter()))
    }
}

/// The number that a text spells.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.to_ascii_lowercase().as_str() {
        "inf" | "+inf" | "infinity" | "+infinity" => Some(f64::INFINITY),
        "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
        "nan" | "+nan" | "-nan" => Some(f64::NAN),
        _ => text.parse().ok(),
    }
}

/// The shortest text that is read back as the same float. Numbers that are very large or small have an exponent.
fn shown(data: &Data, at: usize) -> Arc<str> {
    let value = data.float(at);
    if !value.is_finite() {
        return if value.is_nan() {
            "nan"
        } else if value > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .into();
    }
    let digits = match data {
        Data::Float64(items) => format!("{:e}", items[at]),
        Data::Narrow(format, items) => shortest(*format, items[at]),
        _ => format!("{:e}", value as f32),
    };
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs()).into();
    }
    let plain = match data {
        Data::Float64(_) => format!("{value:?}"),
        Data::Narrow(..) => format!("{:?}", digits.parse::<f64>().unwrap_or(value)),
        _ => format!("{:?}", value as f32),
    };
    // The debug form has an exponent from 1e16 on, which is not reached here.
    plain.into()
}

/// The digits of a narrow float: as few as round to it.
fn shortest(format: NarrowFloat, value: f32) -> String {
    let digits = (0..9).map(|digits| format!("{value:.digits$e}"));
    let same = |text: &String| text.parse::<f64>().is_ok_and(|read| format.round(read) == value);
    digits.into_iter().find(same).unwrap_or_else(|| format!("{value:e}"))
}

/// The items in the type of an attribute.
pub(in crate::onnx) fn cast(call: &NodeCall) -> KernelResult {
    let to = match call.version {
        // The first version has the name of the type.
        ..6 => {
            let name = call.text_or("to", "")?.to_ascii_lowercase();
            crate::onnx::types::ElementType::named(&name).and_then(crate::onnx::run::element::dtype)
        }
        _ => call.dtype_attribute("to")?,
    };
    let to = to.ok_or_else(|| call.refused("there is no type to cast to"))?;
    one(Conversion::new(call, to)?.tensor(call, call.tensor(0)?)?)
}

/// The items in the type of another tensor.
pub(in crate::onnx) fn cast_like(call: &NodeCall) -> KernelResult {
    one(Conversion::new(call, call.tensor(1)?.dtype())?.tensor(call, call.tensor(0)?)?)
}

/// The items with the same bits in another type.
pub(in crate::onnx) fn bit_cast(call: &NodeCall) -> KernelResult {
    let x = call.tensor(0)?;
    let to = call.dtype_attribute("to")?.ok_or_else(|| call.refused("there is no type to cast to"))?;
    call.room(x.shape())?;
    let mut proto = tensor_proto(x, None);
    proto.data_type = Some(number_of(to));
    if x.dtype() == DType::Text || to == DType::Text {
        return Err(call.refused("text has no bits"));
    }
    one(crate::onnx::run::tensor_of(&proto, call.stores, call.budget)?)
}

/// A tensor in the type of another one; numbers are rounded or wrapped.
pub(in crate::onnx) fn converted(call: &NodeCall, x: &Tensor, to: DType) -> Result<Tensor, EvalError> {
    Conversion { to, saturates: true, powers: Powers::Up }.tensor(call, x)
}
