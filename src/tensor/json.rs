//! Tensors as JSON: nested arrays of numbers or truth values.

use std::io::{self, Write};

use serde_json::Value;

use super::{Tensor, TensorError};

/// Reads an object: names with nested arrays, or with objects that have `data` and may have
/// `shape`, as [`write()`] makes them.
///
/// # Errors
///
/// The text is no JSON object, or a value is no nested array whose parts have the same length.
pub fn read(text: &str) -> Result<Vec<(String, Tensor)>, TensorError> {
    let value: Value = serde_json::from_str(text).map_err(|error| TensorError::new(format!("no JSON: {error}")))?;
    let Value::Object(members) = value else {
        return Err(TensorError::new("the text is no JSON object of names and arrays"));
    };
    let member = |(name, value): (String, Value)| match tensor(&value) {
        Ok(tensor) => Ok((name, tensor)),
        Err(error) => Err(TensorError::new(format!("`{name}`: {error}"))),
    };
    members.into_iter().map(member).collect()
}

/// Reads one nested array, or an object with `data`.
///
/// Numbers without point and exponent are integers, if all are; `"inf"`, `"-inf"` and `"nan"` are
/// scalars.
///
/// # Errors
///
/// The value is something else, or its parts differ in length.
pub fn tensor(value: &Value) -> Result<Tensor, TensorError> {
    if let Some(data) = value.as_object().and_then(|object| object.get("data")) {
        let tensor = tensor(data)?;
        // An array without items does not show its inner extents.
        return match value.get("shape").map(shape_of) {
            Some(Some(shape)) if shape != tensor.shape() && tensor.is_empty() => Tensor::scalars(&shape, Vec::new()),
            Some(Some(shape)) if shape != tensor.shape() => {
                Err(TensorError::new(format!("the data have shape {:?}, not {shape:?}", tensor.shape())))
            }
            Some(None) => Err(TensorError::new("`shape` is no array of extents")),
            _ => Ok(tensor),
        };
    }
    let mut shape = Vec::new();
    let mut first = value;
    while let Value::Array(items) = first {
        shape.push(items.len());
        match items.first() {
            Some(item) => first = item,
            None => break,
        }
    }
    let mut leaves = Vec::new();
    collect(value, &shape, &mut leaves)?;
    if !leaves.is_empty() && leaves.iter().all(|leaf| leaf.is_boolean()) {
        return Tensor::logicals(&shape, leaves.iter().filter_map(|leaf| leaf.as_bool()).collect());
    }
    let integers: Option<Vec<i64>> = leaves.iter().map(|leaf| leaf.as_i64()).collect();
    match integers.filter(|integers| !integers.is_empty()) {
        Some(integers) => Tensor::integers(&shape, integers),
        None => Tensor::scalars(&shape, leaves.into_iter().map(number).collect::<Result<_, _>>()?),
    }
}

fn shape_of(value: &Value) -> Option<Vec<usize>> {
    value.as_array()?.iter().map(|extent| usize::try_from(extent.as_u64()?).ok()).collect()
}

fn collect<'v>(value: &'v Value, shape: &[usize], leaves: &mut Vec<&'v Value>) -> Result<(), TensorError> {
    match (value, shape) {
        (Value::Array(items), [extent, inner @ ..]) if items.len() == *extent => {
            items.iter().try_for_each(|item| collect(item, inner, leaves))
        }
        (Value::Array(items), [extent, ..]) => {
            Err(TensorError::new(format!("an array has {} items, the first beside it {extent}", items.len())))
        }
        (Value::Array(_), []) | (_, [_, ..]) => Err(TensorError::new("arrays and numbers stand beside each other")),
        (leaf, []) => {
            leaves.push(leaf);
            Ok(())
        }
    }
}

fn number(leaf: &Value) -> Result<f64, TensorError> {
    let special = |text: &str| match text {
        "inf" | "Infinity" => Some(f64::INFINITY),
        "-inf" | "-Infinity" => Some(f64::NEG_INFINITY),
        "nan" | "NaN" => Some(f64::NAN),
        _ => None,
    };
    let number = leaf.as_f64().or_else(|| special(leaf.as_str()?));
    number.ok_or_else(|| TensorError::new(format!("{leaf} is no number")))
}

/// Writes `{"outputs": {name: {"dtype": …, "shape": […], "data": …}}}`. Scalars are rounded to 32
/// bits; those that JSON has no number for are the strings `"inf"`, `"-inf"` and `"nan"`.
///
/// # Errors
///
/// Those of the writer.
pub fn write<'a>(tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"outputs\": {")?;
    for (i, (name, tensor)) in tensors.into_iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        write!(out, "{comma}{}: ", Value::from(name))?;
        let dtype = tensor.element_type().stored();
        write!(out, "{{\"dtype\": \"{dtype}\", \"shape\": {:?}, \"data\": ", tensor.shape())?;
        match tensor {
            Tensor::Scalar(array) => {
                nested(out, array.shape(), &mut array.iter(), &mut |out, item| scalar(out, *item))?
            }
            Tensor::Integer(array) => {
                nested(out, array.shape(), &mut array.iter(), &mut |out, item| write!(out, "{item}"))?;
            }
            Tensor::Logical(array) => {
                nested(out, array.shape(), &mut array.iter(), &mut |out, item| write!(out, "{item}"))?;
            }
        }
        out.write_all(b"}")?;
    }
    out.write_all(b"}}\n")
}

fn scalar(out: &mut dyn Write, item: f64) -> io::Result<()> {
    match item as f32 {
        item if item.is_nan() => out.write_all(b"\"nan\""),
        item if item.is_infinite() => out.write_all(if item > 0.0 { b"\"inf\"" } else { b"\"-inf\"" }),
        item => write!(out, "{item:?}"),
    }
}

fn nested<T>(
    out: &mut dyn Write,
    shape: &[usize],
    items: &mut dyn Iterator<Item = T>,
    leaf: &mut dyn FnMut(&mut dyn Write, T) -> io::Result<()>,
) -> io::Result<()> {
    let Some((extent, inner)) = shape.split_first() else {
        return items.next().map_or(Ok(()), |item| leaf(out, item));
    };
    out.write_all(b"[")?;
    for i in 0..*extent {
        if i > 0 {
            out.write_all(b", ")?;
        }
        nested(out, inner, items, leaf)?;
    }
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
        write(tensors.iter().map(|(name, tensor)| (*name, tensor)), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let wanted = r#"{"outputs": {"y": {"dtype": "float32", "shape": [2], "data": [1.0, 0.1]}, "#;
        assert!(text.starts_with(wanted), "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["outputs"]["z"]["data"][0][0], "nan");
        assert_eq!(value["outputs"]["b"]["data"], false);
    }
}
