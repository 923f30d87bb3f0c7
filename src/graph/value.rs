//! Values of attributes and literal operands in a flat graph.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::TensorId;

/// The value of an argument of an operation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// An integer.
    Int(i64),
    /// A scalar.
    Scalar(f64),
    /// A logical.
    Logical(bool),
    /// A string.
    String(Arc<str>),
    /// A tensor.
    Tensor(TensorId),
    /// A dimension symbol of a vendor extension, or an expression on such symbols, as text.
    Symbol(Arc<str>),
    /// An array of integers; the empty array is one of these.
    Integers(Arc<[i64]>),
    /// An array of scalars.
    Scalars(Arc<[f64]>),
    /// Any other array.
    Array(Arc<[Value]>),
    /// A tuple.
    Tuple(Arc<[Value]>),
}

impl Value {
    /// An array: integers and scalars are packed.
    pub(crate) fn list(items: Vec<Value>) -> Value {
        let integer = |item: &Value| if let Value::Int(int) = item { Some(*int) } else { None };
        let scalar = |item: &Value| if let Value::Scalar(scalar) = item { Some(*scalar) } else { None };
        if let Some(integers) = items.iter().map(integer).collect::<Option<Vec<i64>>>() {
            return Value::Integers(integers.into());
        }
        match items.iter().map(scalar).collect::<Option<Vec<f64>>>() {
            Some(scalars) => Value::Scalars(scalars.into()),
            None => Value::Array(items.into()),
        }
    }

    /// Calls a function with every tensor in the value.
    pub(crate) fn each_tensor(&self, f: &mut impl FnMut(TensorId)) {
        match self {
            Value::Tensor(tensor) => f(*tensor),
            Value::Array(items) | Value::Tuple(items) => items.iter().for_each(|item| item.each_tensor(f)),
            _ => {}
        }
    }

    /// Whether the value contains a tensor.
    pub(crate) fn has_tensor(&self) -> bool {
        match self {
            Value::Tensor(_) => true,
            Value::Array(items) | Value::Tuple(items) => items.iter().any(Value::has_tensor),
            _ => false,
        }
    }

    /// Replaces every tensor in the value.
    pub(crate) fn map_tensors(&mut self, f: &mut impl FnMut(TensorId) -> TensorId) {
        match self {
            Value::Tensor(tensor) => *tensor = f(*tensor),
            Value::Array(items) | Value::Tuple(items) if items.iter().any(Value::has_tensor) => {
                let mut changed: Vec<Value> = items.to_vec();
                changed.iter_mut().for_each(|item| item.map_tensors(f));
                *items = changed.into();
            }
            _ => {}
        }
    }

    /// Calls a function with every word in the text of the value that a reader looks up among names: `inf`, `nan`,
    /// and dimension symbols.
    pub(crate) fn each_word(&self, f: &mut impl FnMut(&str)) {
        let mut number = |value: f64| match value {
            value if value.is_nan() => f("nan"),
            value if value.is_infinite() => f("inf"),
            _ => {}
        };
        match self {
            Value::Scalar(value) => number(*value),
            Value::Scalars(items) => items.iter().for_each(|value| number(*value)),
            Value::Symbol(text) => {
                let words = text.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
                words.filter(|word| !word.is_empty()).for_each(f);
            }
            Value::Array(items) | Value::Tuple(items) => items.iter().for_each(|item| item.each_word(f)),
            _ => {}
        }
    }

    /// Calls a function with every string in the value.
    pub(crate) fn each_string(&self, f: &mut impl FnMut(&str)) {
        match self {
            Value::String(text) => f(text),
            Value::Array(items) | Value::Tuple(items) => items.iter().for_each(|item| item.each_string(f)),
            _ => {}
        }
    }

    /// Hashes the value. Numbers are equal if their bits are, and tensors if `of` gives the same one for them.
    pub(crate) fn hash_with(&self, hasher: &mut impl Hasher, of: &impl Fn(TensorId) -> TensorId) {
        std::mem::discriminant(self).hash(hasher);
        match self {
            Value::Int(item) => item.hash(hasher),
            Value::Scalar(item) => item.to_bits().hash(hasher),
            Value::Logical(item) => item.hash(hasher),
            Value::String(text) | Value::Symbol(text) => text.hash(hasher),
            Value::Tensor(tensor) => of(*tensor).hash(hasher),
            Value::Integers(items) => items.hash(hasher),
            Value::Scalars(items) => {
                items.len().hash(hasher);
                items.iter().for_each(|item| item.to_bits().hash(hasher));
            }
            Value::Array(items) | Value::Tuple(items) => {
                items.len().hash(hasher);
                items.iter().for_each(|item| item.hash_with(hasher, of));
            }
        }
    }

    /// Whether two values are the same: numbers if their bits are, and tensors if `same` says so.
    pub(crate) fn is_same(&self, other: &Value, same: &impl Fn(TensorId, TensorId) -> bool) -> bool {
        match (self, other) {
            (Value::Scalar(a), Value::Scalar(b)) => a.to_bits() == b.to_bits(),
            (Value::Scalars(a), Value::Scalars(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.to_bits() == b.to_bits())
            }
            (Value::Tensor(a), Value::Tensor(b)) => same(*a, *b),
            (Value::Array(a), Value::Array(b)) | (Value::Tuple(a), Value::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.is_same(b, same))
            }
            (a, b) => a == b,
        }
    }

    /// The integers of an array of integers.
    pub fn as_integers(&self) -> Option<&[i64]> {
        match self {
            Value::Integers(items) => Some(items),
            _ => None,
        }
    }
}

/// The numbers of a long literal array, with their signs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Numbers {
    /// Integers only.
    Ints(Arc<[i64]>),
    /// Scalars only.
    Scalars(Arc<[f64]>),
}

impl From<&Numbers> for Value {
    fn from(numbers: &Numbers) -> Self {
        match numbers {
            Numbers::Ints(items) => Value::Integers(Arc::clone(items)),
            Numbers::Scalars(items) => Value::Scalars(Arc::clone(items)),
        }
    }
}

impl Numbers {
    /// The number of items.
    pub(crate) fn len(&self) -> usize {
        match self {
            Numbers::Ints(items) => items.len(),
            Numbers::Scalars(items) => items.len(),
        }
    }
}
