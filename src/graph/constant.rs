//! Tensors as the values of constants.

use super::{Primitive, Value};
use crate::tensor::{DType, Data};

/// The NNEF primitive type of an element type.
pub(crate) fn primitive(dtype: DType) -> Primitive {
    match dtype {
        DType::Int32 | DType::Int64 | DType::Small(_) | DType::Uint32 | DType::Uint64 => Primitive::Integer,
        DType::Bool => Primitive::Logical,
        DType::Text => Primitive::String,
        DType::Float32 | DType::Float64 | DType::Narrow(_) => Primitive::Scalar,
        // NNEF has no complex numbers; they are at most counted as scalars.
        DType::Complex64 | DType::Complex128 => Primitive::Scalar,
    }
}

/// The number with the shortest decimal that is read back as a float of 32 bits.
pub(crate) fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::from(value))
}

/// The value of a scalar in NNEF: the shortest decimal that is read back unchanged in the tensor's precision.
pub(crate) fn scalar(data: &Data, at: usize) -> f64 {
    match data {
        Data::Float32(items) => shortest(items[at]),
        other => other.float(at),
    }
}

/// The bits of an element, for exact comparison.
pub(crate) fn bits(data: &Data, at: usize) -> u64 {
    if data.dtype().is_integer() { data.integer(at) as u64 } else { data.float(at).to_bits() }
}

/// The elements of a constant, one if all are equal; none if NNEF 1.0 cannot express them.
pub(crate) fn items(data: &Data) -> Option<Value> {
    if data.dtype().is_float() && (0..data.len()).any(|i| !data.float(i).is_finite()) {
        return None;
    }
    let equal = (1..data.len()).all(|i| bits(data, i) == bits(data, 0));
    let len = if equal { data.len().min(1) } else { data.len() };
    Some(match primitive(data.dtype()) {
        Primitive::Integer => Value::Integers((0..len).map(|i| data.integer(i)).collect()),
        Primitive::Logical => Value::Array((0..len).map(|i| Value::Logical(data.float(i) != 0.0)).collect()),
        _ => Value::Scalars((0..len).map(|i| scalar(data, i)).collect()),
    })
}

/// The number of elements that the value of a constant is written with.
pub(crate) fn written(value: &Value) -> usize {
    match value {
        Value::Integers(items) => items.len(),
        Value::Scalars(items) => items.len(),
        Value::Array(items) => items.len(),
        _ => 1,
    }
}
