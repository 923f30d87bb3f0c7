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

/// The elements that the value of a constant is written with: integers, truths, or numbers, which are those of a mixed list,
/// too. None if an element is not a literal number or truth.
#[cfg(feature = "eval")]
pub(crate) fn given(value: &Value) -> Option<Data> {
    let items = match value {
        Value::Integers(items) => return Some(Data::Int64(items.to_vec())),
        Value::Scalars(items) => return Some(Data::Float64(items.to_vec())),
        Value::Array(items) => items,
        single => std::slice::from_ref(single),
    };
    let int = |item: &Value| if let Value::Int(int) = item { Some(*int) } else { None };
    let truth = |item: &Value| if let Value::Logical(truth) = item { Some(*truth) } else { None };
    let number = |item: &Value| match item {
        Value::Int(int) => Some(*int as f64),
        Value::Scalar(scalar) => Some(*scalar),
        Value::Logical(truth) => Some(f64::from(*truth)),
        _ => None,
    };
    let ints = || Some(Data::Int64(items.iter().map(int).collect::<Option<_>>()?));
    let truths = || Some(Data::Bool(items.iter().map(truth).collect::<Option<_>>()?));
    let numbers = || Some(Data::Float64(items.iter().map(number).collect::<Option<_>>()?));
    ints().or_else(truths).or_else(numbers)
}

/// The elements of a constant with `count` of them: a single one is repeated. None if another number is given.
#[cfg(feature = "eval")]
pub(crate) fn filled(given: Data, count: usize) -> Option<Data> {
    match given.len() {
        1 => Some(given.pick(std::iter::repeat_n(0, count))),
        len => (len == count).then_some(given),
    }
}

/// The bytes of elements as those of a type: scalars have 32 bits, integers 64, logicals 8.
#[cfg(feature = "eval")]
pub(crate) fn stored(data: &Data, as_type: Primitive) -> Vec<u8> {
    let places = 0..data.len();
    match as_type {
        Primitive::Integer => places.flat_map(|at| data.integer(at).to_le_bytes()).collect(),
        Primitive::Logical => places.map(|at| u8::from(data.float(at) != 0.0)).collect(),
        _ => places.flat_map(|at| (data.float(at) as f32).to_le_bytes()).collect(),
    }
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

#[cfg(all(test, feature = "eval"))]
mod tests {
    use super::*;

    #[test]
    fn elements_are_those_that_are_written() {
        let (big, scalar, truth) = (i64::MAX - 1, Value::Scalar(0.5), Value::Logical(true));
        assert_eq!(given(&Value::Int(big)), Some(Data::Int64(vec![big])));
        assert_eq!(given(&Value::Integers([2, big].into())), Some(Data::Int64(vec![2, big])));
        assert_eq!(given(&Value::Array([truth.clone(), truth.clone()].into())), Some(Data::Bool(vec![true, true])));
        assert_eq!(
            given(&Value::Array([Value::Int(2), scalar, truth].into())),
            Some(Data::Float64(vec![2.0, 0.5, 1.0]))
        );
        assert_eq!(given(&Value::Array([Value::Int(2), Value::Symbol("N".into())].into())), None);
    }

    #[test]
    fn a_single_element_is_repeated() {
        assert_eq!(filled(Data::Int64(vec![7]), 3), Some(Data::Int64(vec![7; 3])));
        assert_eq!(filled(Data::Int64(vec![7, 8]), 2), Some(Data::Int64(vec![7, 8])));
        assert_eq!(filled(Data::Int64(vec![7, 8]), 3), None);
    }
}
