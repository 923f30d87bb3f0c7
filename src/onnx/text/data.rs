//! The elements of constant tensors.

use super::cursor::NumberToken;
use super::parser::{TextParser, TextResult};
use crate::diagnostics::Code;
use crate::onnx::model::{EncodedField, Extent, Fields, TensorProto, TensorType, Wire};
use crate::onnx::protobuf::fields::tensor;
use crate::onnx::protobuf::push_packed;
use crate::onnx::types::{ElementType, Storage};
use crate::source::Span;

/// The value of the field `data_location` for external data.
const EXTERNAL: u64 = 1;

impl Storage {
    /// The number of the field with the elements.
    pub(crate) fn field(self) -> u32 {
        match self {
            Storage::Float => tensor::FLOAT_DATA,
            Storage::Double => tensor::DOUBLE_DATA,
            Storage::Signed | Storage::Unsigned => tensor::INT32_DATA,
            Storage::Int64 => tensor::INT64_DATA,
            Storage::Uint64 => tensor::UINT64_DATA,
            Storage::String => tensor::STRING_DATA,
        }
    }
}

/// The number of elements in an entry of the data: small numbers share a byte.
fn packed_elements(bits: u32) -> u32 {
    if matches!(bits, 2 | 4) { 8 / bits } else { 1 }
}

impl TextParser<'_> {
    /// Reads the data of a tensor: elements in braces, or pairs of strings that describe external data. The shape
    /// must be known.
    pub(super) fn tensor_data(&mut self, ty: &TensorType, span: Span) -> TextResult<TensorProto> {
        let Some(shape) = &ty.shape else {
            return Err(self.report(Code::OnnxInitializer, span, "the shape of a constant tensor must be known"));
        };
        let mut dims = smallvec::SmallVec::new();
        for dim in &shape.dims {
            match dim.extent {
                Extent::Value(extent) if extent >= 0 => dims.push(extent),
                _ => {
                    let message = "the extents of a constant tensor must be numbers";
                    return Err(self.report(Code::OnnxInitializer, span, message));
                }
            }
        }
        let mut tensor = TensorProto { dims, data_type: ty.element, ..TensorProto::default() };
        let Some(element) = ty.element.and_then(ElementType::numbered) else { return Ok(tensor) };
        if self.cursor.peek() == b'[' {
            self.external(&mut tensor)?;
            return Ok(tensor);
        }
        let start = self.cursor.at;
        self.expect(b'{', "`{`")?;
        let (fields, count) = self.elements(element)?;
        tensor.rest = fields;
        let span = Span::new(start as u32, self.cursor.at as u32);
        self.element_count(&tensor, element, count, span)?;
        Ok(tensor)
    }

    fn external(&mut self, tensor: &mut TensorProto) -> TextResult<()> {
        self.entries(&mut tensor.external)?;
        if tensor.external.is_empty() {
            let span = Span::new(self.cursor.at as u32 - 1, self.cursor.at as u32);
            return Err(self.report(
                Code::OnnxSyntax,
                span,
                "where the data are is missing: `\"location\" : \"FILE\"`",
            ));
        }
        let bytes = EXTERNAL.to_le_bytes().to_vec();
        let location = EncodedField { number: tensor::DATA_LOCATION, wire: Wire::Varint, bytes: bytes.into() };
        tensor.rest = Some(Box::new(vec![location]));
        Ok(())
    }

    fn element_count(&mut self, tensor: &TensorProto, element: &ElementType, count: u64, span: Span) -> TextResult<()> {
        let complex = matches!(element.name, "complex64" | "complex128");
        let elements = tensor.dims.iter().try_fold(1_u64, |count, &extent| count.checked_mul(extent as u64));
        let expected = elements.and_then(|elements| elements.checked_mul(if complex { 2 } else { 1 }));
        if expected == Some(count) {
            return Ok(());
        }
        let expected = expected.map_or("more".to_owned(), |expected| expected.to_string());
        let what = if complex { "numbers, two for each element" } else { "elements" };
        let message = format!("the shape requires {expected} {what}, {count} are given");
        Err(self.report(Code::OnnxElements, span, message))
    }

    /// Reads elements up to the closing brace. Returns their field and their number.
    fn elements(&mut self, element: &ElementType) -> TextResult<(Fields, u64)> {
        let mut data = Vec::new();
        let mut strings = Vec::new();
        let (mut count, mut shared) = (0_u64, 0_u32);
        let in_entry = packed_elements(element.bits);
        if !self.cursor.eat(b'}') {
            self.list(b'}', "`}` or `,`", |parser| {
                match element.storage {
                    Storage::Float => data.extend(parser.float()?.to_bits().to_le_bytes()),
                    Storage::Double => data.extend(parser.double()?.to_bits().to_le_bytes()),
                    Storage::String => {
                        let bytes = parser.string()?.into_bytes().into();
                        strings.push(EncodedField { number: tensor::STRING_DATA, wire: Wire::Bytes, bytes });
                    }
                    _ if in_entry > 1 => {
                        let place = count as u32 % in_entry;
                        let bits = parser.bounded(element)? as u32 & ((1 << element.bits) - 1);
                        shared = if place == 0 { bits } else { shared | bits << (place * element.bits) };
                        if place + 1 == in_entry {
                            push_packed(&mut data, u64::from(shared));
                        }
                    }
                    _ => push_packed(&mut data, parser.bounded(element)? as u64),
                }
                count += 1;
                Ok(())
            })?;
        }
        if in_entry > 1 && count % u64::from(in_entry) != 0 {
            push_packed(&mut data, u64::from(shared));
        }
        if element.storage == Storage::String {
            return Ok(((!strings.is_empty()).then(|| Box::new(strings)), count));
        }
        let field = EncodedField { number: element.storage.field(), wire: Wire::Bytes, bytes: data.into() };
        Ok(((count > 0).then(|| Box::new(vec![field])), count))
    }

    /// Reads an integer in the range of an element type.
    fn bounded(&mut self, element: &ElementType) -> TextResult<i64> {
        let start = self.cursor;
        let number = self.cursor.number().filter(|number| !number.is_float);
        let Some(NumberToken { text, span, .. }) = number else {
            self.cursor = start;
            return Err(self.unexpected(&format!("an integer, as elements of `{}` are written", element.name)));
        };
        let bits = element.bits;
        let value = match element.storage {
            Storage::Signed => {
                text.parse().ok().filter(|value: &i64| (-1 << (bits - 1)..1 << (bits - 1)).contains(value))
            }
            Storage::Unsigned => text.parse().ok().filter(|value: &i64| (0..1 << bits).contains(value)),
            Storage::Uint64 => {
                let value = text.parse::<u64>().ok().filter(|value| bits == 64 || value >> bits == 0);
                value.map(|value| value as i64)
            }
            _ => text.parse().ok(),
        };
        value.ok_or_else(|| {
            let message = format!("`{text}` is not an element of `{}`", element.name);
            self.report(Code::OnnxNumber, span, message)
        })
    }

    /// Reads a 32-bit float. Integers, and the words for infinities and NaN, are also floats.
    pub(super) fn float(&mut self) -> TextResult<f32> {
        if let Some(float) = self.special_float() {
            return Ok(float);
        }
        let Some(number) = self.cursor.number() else { return Err(self.unexpected("a number")) };
        self.parsed(number, f32::is_finite)
    }

    /// Reads a 64-bit float.
    fn double(&mut self) -> TextResult<f64> {
        if let Some(float) = self.special_float() {
            let nan = if float.is_sign_negative() { -f64::NAN } else { f64::NAN };
            return Ok(if float.is_nan() { nan } else { f64::from(float) });
        }
        let Some(number) = self.cursor.number() else { return Err(self.unexpected("a number")) };
        self.parsed(number, f64::is_finite)
    }

    /// The value of a number token, if it is valid for the type.
    pub(super) fn parsed<T: std::str::FromStr + Copy>(
        &mut self,
        number: NumberToken,
        is_finite: impl Fn(T) -> bool,
    ) -> TextResult<T> {
        let complete = number.text.ends_with(|c: char| c.is_ascii_digit() || c == '.');
        match number.text.parse().ok().filter(|value| complete && is_finite(*value)) {
            Some(value) => Ok(value),
            None => {
                let reason = if complete { "is too large for its type" } else { "is truncated" };
                let message = format!("the number `{}` {reason}", number.text);
                Err(self.report(Code::OnnxNumber, number.span, message))
            }
        }
    }

    /// Reads `nan`, `inf` or `infinity`, with or without a sign, in upper or lower case, if it is next.
    pub(super) fn special_float(&mut self) -> Option<f32> {
        // Most values are numbers.
        if self.cursor.peek().is_ascii_digit() {
            return None;
        }
        let start = self.cursor;
        let negative = self.cursor.eat(b'-');
        let blank = negative && self.cursor.byte().is_ascii_whitespace();
        let word = if blank { "" } else { self.cursor.identifier() };
        let float = match word.to_ascii_lowercase().as_str() {
            "nan" => f32::NAN,
            "inf" | "infinity" => f32::INFINITY,
            _ => {
                self.cursor = start;
                return None;
            }
        };
        self.cursor.at += word.len();
        Some(if negative { -float } else { float })
    }
}
