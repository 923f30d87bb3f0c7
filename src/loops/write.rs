//! Values as JSON.

use std::io::{self, Write};

use super::tensor::{Data, Tensor};

/// Writes named tensors as `{"outputs": {name: {"dtype", "shape", "data"}}}` with nested arrays.
/// Floats are the shortest texts that read back; `NaN` and `Infinity` are written as Python does.
pub fn write_values(out: &mut dyn Write, values: &[(String, Tensor)]) -> io::Result<()> {
    out.write_all(b"{\"outputs\": {")?;
    for (i, (name, tensor)) in values.iter().enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        let name = serde_json::Value::from(name.as_str());
        write!(out, "{comma}{name}: {{\"dtype\": \"{}\", \"shape\": {:?}, \"data\": ", tensor.dtype(), tensor.shape())?;
        nested(out, tensor, 0, 0)?;
        out.write_all(b"}")?;
    }
    out.write_all(b"}}\n")
}

/// The part of a tensor below an axis, from an element on.
fn nested(out: &mut dyn Write, tensor: &Tensor, axis: usize, from: usize) -> io::Result<()> {
    let Some(&extent) = tensor.shape().get(axis) else { return number(out, tensor.data(), from) };
    let size: usize = tensor.shape()[axis + 1..].iter().product();
    out.write_all(b"[")?;
    for i in 0..extent {
        if i > 0 {
            out.write_all(b", ")?;
        }
        nested(out, tensor, axis + 1, from + i * size)?;
    }
    out.write_all(b"]")
}

fn number(out: &mut dyn Write, data: &Data, at: usize) -> io::Result<()> {
    match data {
        Data::Bool(items) => write!(out, "{}", items[at]),
        Data::Int32(items) => write!(out, "{}", items[at]),
        Data::Int64(items) => write!(out, "{}", items[at]),
        Data::Float32(items) if items[at].is_finite() => write!(out, "{:?}", items[at]),
        Data::Float64(items) if items[at].is_finite() => write!(out, "{:?}", items[at]),
        other => {
            let value = other.float(at);
            let text = if value.is_nan() {
                "NaN"
            } else if value > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            };
            out.write_all(text.as_bytes())
        }
    }
}
