//! Tensors as JSON: nested arrays of numbers or truth values.

mod exact;

use std::io::{self, Write};
use std::sync::Arc;

use super::{DType, Data, Dims, Tensor, volume};
use crate::source::Span;
use crate::source::json::{Json, JsonValue, parse};

/// An error in a text: location and message.
pub(crate) type Misfit = (Span, String);

/// Reads an object that maps names to nested arrays, or to objects with `data` and optional `shape`, as written by
/// [`write()`].
///
/// # Errors
///
/// The text is not a JSON object, or a value is not a nested array whose parts have equal lengths.
pub(crate) fn read(text: &str) -> Result<Vec<(String, Tensor)>, Misfit> {
    named(text, |_, json| tensor(json))
}

/// Reads an object that maps names to what a function reads.
///
/// # Errors
///
/// The text is not a JSON object, or those of the function.
pub(super) fn named<T>(text: &str, one: impl Fn(&str, &Json) -> Result<T, Misfit>) -> Result<Vec<(String, T)>, Misfit> {
    let json = parse(text).map_err(|error| (error.at, format!("not JSON: {}", error.message)))?;
    let Some(members) = json.as_object() else {
        return Err((json.at, "the text is not a JSON object of names and arrays".to_owned()));
    };
    let one = |member: &crate::source::json::Member| {
        let read = one(&member.key, &member.value);
        let value = read.map_err(|(at, message)| (at, format!("`{}`: {message}", member.key)))?;
        Ok((member.key.clone(), value))
    };
    members.iter().map(one).collect()
}

/// Reads a tensor in a type, or in those of [`tensor`]; `whole` is the whole text.
///
/// # Errors
///
/// Those of [`tensor`], or an item that the type does not have.
pub(super) fn tensor_of(whole: &str, json: &Json, dtype: Option<DType>) -> Result<Tensor, Misfit> {
    dtype.map_or_else(|| tensor(json), |dtype| exact::typed(whole, json, dtype))
}

/// Reads texts; none if there is something else.
pub(crate) fn texts(json: &Json) -> Option<Tensor> {
    exact::typed("", json, DType::Text).ok()
}

/// Reads a nested array, or an object with `data`.
///
/// The items are integers if all numbers are written without decimal point and exponent, otherwise scalars; `"inf"`,
/// `"-inf"` and `"nan"` are scalars.
///
/// # Errors
///
/// The value is something else, or its parts differ in length.
pub(crate) fn tensor(json: &Json) -> Result<Tensor, Misfit> {
    if let Some(data) = json.get("data") {
        let tensor = tensor(data)?;
        // An empty array does not determine its inner extents.
        return match json.get("shape").map(|shape| (shape.at, shape_of(shape))) {
            Some((at, Some(shape))) if shape != tensor.shape() && tensor.is_empty() => {
                Tensor::scalars(&shape, Vec::new()).map_err(|error| (at, error.0))
            }
            Some((at, Some(shape))) if shape != tensor.shape() => {
                Err((at, format!("the data have shape {:?}, not {shape:?}", tensor.shape())))
            }
            Some((at, None)) => Err((at, "`shape` is not an array of extents".to_owned())),
            _ => Ok(tensor),
        };
    }
    let (_, leaves) = nest(json)?;
    let all = |fits: fn(&JsonValue) -> bool| !leaves.is_empty() && leaves.iter().all(|leaf| fits(&leaf.value));
    if all(|leaf| matches!(leaf, JsonValue::Bool(_))) {
        typed(json, DType::Bool)
    } else if all(|leaf| matches!(leaf, JsonValue::Int(_))) {
        typed(json, DType::Int64)
    } else {
        typed(json, DType::Float64)
    }
}

/// Reads an array of extents.
pub(crate) fn shape_of(json: &Json) -> Option<Vec<usize>> {
    let extent = |json: &Json| match json.value {
        JsonValue::Int(extent) => usize::try_from(extent).ok(),
        _ => None,
    };
    json.as_array()?.iter().map(extent).collect()
}

/// Reads a tensor of a type from a number or nested arrays of numbers.
///
/// # Errors
///
/// The value is something else, or its parts differ in length.
pub(crate) fn typed(json: &Json, dtype: DType) -> Result<Tensor, Misfit> {
    let (shape, items) = nest(json)?;
    let data = match dtype {
        DType::Float32 => Data::Float32(convert(&items, dtype, |value| float(value).map(|x| x as f32))?),
        DType::Float64 => Data::Float64(convert(&items, dtype, float)?),
        DType::Narrow(format) => {
            Data::Narrow(format, convert(&items, dtype, |value| float(value).map(|x| format.round(x)))?)
        }
        DType::Int32 => Data::Int32(convert(&items, dtype, |value| int(value)?.try_into().ok())?),
        DType::Int64 => Data::Int64(convert(&items, dtype, int)?),
        DType::Bool => Data::Bool(convert(&items, dtype, truth)?),
        DType::Text => Data::Text(convert(&items, dtype, text)?),
        DType::Uint64 => Data::Uint64(convert(&items, dtype, |value| int(value)?.try_into().ok())?),
        other => return Err((json.at, format!("arrays of {other} are not read"))),
    };
    Tensor::new(&shape, data).ok_or_else(|| (json.at, "the arrays have different lengths".to_owned()))
}

/// The shape and the items of nested arrays.
fn nest(json: &Json) -> Result<(Dims, Vec<&Json>), Misfit> {
    let mut shape = Dims::new();
    let mut level = json;
    while let Some(items) = level.as_array() {
        shape.push(items.len());
        match items.first() {
            Some(first) => level = first,
            None => break,
        }
    }
    if volume(&shape).is_none() || shape.len() > super::MAX_RANK {
        return Err((json.at, "the tensor is too large".to_owned()));
    }
    let mut items = Vec::new();
    collect(json, &shape, &mut items)?;
    Ok((shape, items))
}

fn collect<'j>(json: &'j Json, shape: &[usize], out: &mut Vec<&'j Json>) -> Result<(), Misfit> {
    match (json.as_array(), shape) {
        (None, []) => {
            out.push(json);
            Ok(())
        }
        (Some(items), [extent, rest @ ..]) if items.len() == *extent => {
            items.iter().try_for_each(|item| collect(item, rest, out))
        }
        (Some(_), _) => Err((json.at, "the arrays have different lengths".to_owned())),
        (None, _) => Err((json.at, "a number where its neighbours are arrays".to_owned())),
    }
}

fn convert<T>(items: &[&Json], dtype: DType, f: impl Fn(&JsonValue) -> Option<T>) -> Result<Vec<T>, Misfit> {
    let wrong = |json: &Json| (json.at, format!("{} that {dtype} does not have", json.kind()));
    items.iter().map(|json| f(&json.value).ok_or_else(|| wrong(json))).collect()
}

fn float(value: &JsonValue) -> Option<f64> {
    match value {
        JsonValue::Int(int) => Some(*int as f64),
        JsonValue::Float(float) => Some(*float),
        JsonValue::String(text) => match text.as_str() {
            "inf" | "Infinity" => Some(f64::INFINITY),
            "-inf" | "-Infinity" => Some(f64::NEG_INFINITY),
            "nan" | "NaN" => Some(f64::NAN),
            _ => None,
        },
        _ => None,
    }
}

fn int(value: &JsonValue) -> Option<i64> {
    match value {
        JsonValue::Int(int) => Some(*int),
        _ => None,
    }
}

fn text(value: &JsonValue) -> Option<Arc<str>> {
    match value {
        JsonValue::String(text) => Some(text.as_str().into()),
        _ => None,
    }
}

fn truth(value: &JsonValue) -> Option<bool> {
    match value {
        JsonValue::Bool(truth) => Some(*truth),
        JsonValue::Int(0) => Some(false),
        JsonValue::Int(1) => Some(true),
        _ => None,
    }
}

/// The form of numbers: their precision, and the spelling of infinities and NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// For flat graphs: scalars are rounded to 32 bits; infinities and NaN are the strings `"inf"`, `"-inf"`
    /// and `"nan"`.
    Graph,
    /// For networks with loops: numbers in the precision of their type; `NaN`, `Infinity` and `-Infinity` as
    /// Python writes them.
    Network,
    /// For models of ONNX: numbers in the precision of their type, complex ones as pairs; infinities and NaN as for flat
    /// graphs.
    Exact,
}

/// Writes `{"outputs": {name: {"dtype": …, "shape": […], "data": …}}}`. Floats have the shortest text that is read
/// back unchanged.
///
/// # Errors
///
/// Writing failed.
pub(crate) fn write<'a>(
    tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    outputs(tensors, out, |tensor, out| match (style, tensor.data()) {
        (Style::Graph, Data::Float64(items)) => {
            let data = Data::Float32(items.iter().map(|&item| item as f32).collect());
            object(&Tensor { shape: tensor.shape.clone(), data }, style, out)
        }
        _ => object(tensor, style, out),
    })
}

/// Writes `{"outputs": {name: …}}`, each value by a function.
///
/// # Errors
///
/// Writing failed.
pub(super) fn outputs<'a, T>(
    values: impl IntoIterator<Item = (&'a str, T)>,
    out: &mut dyn Write,
    one: impl Fn(T, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    out.write_all(b"{\"outputs\": {")?;
    for (i, (name, value)) in values.into_iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        write!(out, "{comma}{}: ", serde_json::Value::from(name))?;
        one(value, out)?;
    }
    out.write_all(b"}}\n")
}

/// Writes a tensor with its type and its shape.
///
/// # Errors
///
/// Writing failed.
pub(super) fn object(tensor: &Tensor, style: Style, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"dtype\": \"{}\", \"shape\": {:?}, \"data\": ", tensor.dtype(), tensor.shape())?;
    nested(out, tensor, style, 0, 0)?;
    out.write_all(b"}")
}

/// Writes one tensor as nested arrays.
///
/// # Errors
///
/// Writing failed.
pub(crate) fn write_one(tensor: &Tensor, style: Style, out: &mut dyn Write) -> io::Result<()> {
    nested(out, tensor, style, 0, 0)
}

/// Writes the nested array of the axes from `axis` on, starting at element `from`.
fn nested(out: &mut dyn Write, tensor: &Tensor, style: Style, axis: usize, from: usize) -> io::Result<()> {
    let Some(&extent) = tensor.shape().get(axis) else { return number(out, tensor.data(), style, from) };
    let size: usize = tensor.shape()[axis + 1..].iter().product();
    out.write_all(b"[")?;
    for i in 0..extent {
        if i > 0 {
            out.write_all(b", ")?;
        }
        nested(out, tensor, style, axis + 1, from + i * size)?;
    }
    out.write_all(b"]")
}

fn number(out: &mut dyn Write, data: &Data, style: Style, at: usize) -> io::Result<()> {
    let words = match style {
        Style::Graph | Style::Exact => ["\"nan\"", "\"inf\"", "\"-inf\""],
        Style::Network => ["NaN", "Infinity", "-Infinity"],
    };
    match data {
        Data::Bool(items) => write!(out, "{}", items[at]),
        Data::Int32(items) => write!(out, "{}", items[at]),
        Data::Int64(items) => write!(out, "{}", items[at]),
        Data::Small(_, items) => write!(out, "{}", items[at]),
        Data::Uint32(items) => write!(out, "{}", items[at]),
        Data::Uint64(items) => write!(out, "{}", items[at]),
        Data::Text(items) => write!(out, "{}", serde_json::Value::from(&*items[at])),
        Data::Complex64(items) => pair(out, Data::Float32(items[at].to_vec()), style),
        Data::Complex128(items) => pair(out, Data::Float64(items[at].to_vec()), style),
        Data::Narrow(_, items) if items[at].is_finite() => write!(out, "{:?}", items[at]),
        Data::Float32(items) if items[at].is_finite() => write!(out, "{:?}", items[at]),
        Data::Float64(items) if items[at].is_finite() => write!(out, "{:?}", items[at]),
        other => {
            let value = other.float(at);
            let word = if value.is_nan() {
                0
            } else if value > 0.0 {
                1
            } else {
                2
            };
            out.write_all(words[word].as_bytes())
        }
    }
}

/// Writes the parts of a complex number.
fn pair(out: &mut dyn Write, parts: Data, style: Style) -> io::Result<()> {
    out.write_all(b"[")?;
    number(out, &parts, style, 0)?;
    out.write_all(b", ")?;
    number(out, &parts, style, 1)?;
    out.write_all(b"]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_read() {
        let text =
            r#"{"a": [[1, 2], [3, 4]], "b": [1, 2.5], "c": true, "d": ["inf", 0], "e": {"shape": [0, 2], "data": []}}"#;
        let found = read(text).unwrap();
        let find = |name: &str| &found.iter().find(|(other, _)| other == name).unwrap().1;
        assert_eq!(*find("a"), Tensor::integers(&[2, 2], vec![1, 2, 3, 4]).unwrap());
        assert_eq!(*find("b"), Tensor::scalars(&[2], vec![1.0, 2.5]).unwrap());
        assert_eq!(*find("c"), Tensor::logicals(&[], vec![true]).unwrap());
        assert_eq!(*find("d"), Tensor::scalars(&[2], vec![f64::INFINITY, 0.0]).unwrap());
        assert_eq!(find("e").shape(), [0, 2]);
    }

    #[test]
    fn ragged_arrays_and_other_values_are_refused() {
        for text in
            ["[1]", "1", r#"{"a": [[1], [1, 2]]}"#, r#"{"a": [1, [2]]}"#, r#"{"a": "x"}"#, r#"{"a": null}"#, "{"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_json() {
        let tensors = [
            ("y", Tensor::scalars(&[2], vec![1.0, 0.1]).unwrap()),
            ("z", Tensor::scalars(&[1, 1], vec![f64::NAN]).unwrap()),
            ("b", Tensor::logicals(&[], vec![false]).unwrap()),
        ];
        let mut out = Vec::new();
        write(tensors.iter().map(|(name, tensor)| (*name, tensor)), Style::Graph, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let wanted = r#"{"outputs": {"y": {"dtype": "float32", "shape": [2], "data": [1.0, 0.1]}, "#;
        assert!(text.starts_with(wanted), "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["outputs"]["z"]["data"][0][0], "nan");
        assert_eq!(value["outputs"]["b"]["data"], false);
    }
}
