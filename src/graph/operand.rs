//! The arguments and results of an operation, as they are given and read.

use super::ids::TensorId;
use super::value::Value;
use crate::source::names::Name;

/// The parameter of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A parameter of the kind.
    Param(u32),
    /// An argument by position, of an operation that is not declared.
    Positional,
    /// An argument by name, of an operation that is not declared.
    Named(Name),
}

/// An argument of a new operation. Parameters without an argument have their default value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Argument {
    /// The parameter.
    pub(crate) key: Key,
    /// The value.
    pub(crate) value: Value,
}

/// The value of an argument. Tensors are not stored as [`Value`]s, since most arguments are tensors.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Operand<'g> {
    /// A tensor.
    Tensor(TensorId),
    /// An array of at least one tensor.
    Tensors(&'g [TensorId]),
    /// Anything else.
    Value(&'g Value),
}

impl<'g> Operand<'g> {
    /// The value, unless it is a tensor or an array of tensors.
    pub fn value(self) -> Option<&'g Value> {
        match self {
            Operand::Tensor(_) | Operand::Tensors(_) => None,
            Operand::Value(value) => Some(value),
        }
    }

    /// The value, also of tensors.
    pub fn to_value(self) -> Value {
        match self {
            Operand::Tensor(tensor) => Value::Tensor(tensor),
            Operand::Tensors(tensors) => Value::Array(tensors.iter().copied().map(Value::Tensor).collect()),
            Operand::Value(value) => value.clone(),
        }
    }

    /// Calls a function with every tensor that occurs in the value.
    pub fn each_tensor(self, f: &mut impl FnMut(TensorId)) {
        match self {
            Operand::Tensor(tensor) => f(tensor),
            Operand::Tensors(tensors) => tensors.iter().copied().for_each(f),
            Operand::Value(value) => value.each_tensor(f),
        }
    }
}

impl<'g> From<&'g Value> for Operand<'g> {
    fn from(value: &'g Value) -> Self {
        match value {
            Value::Tensor(tensor) => Operand::Tensor(*tensor),
            value => Operand::Value(value),
        }
    }
}

/// A result of an operation: one tensor, or an array of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<'g> {
    /// One tensor.
    Tensor(&'g TensorId),
    /// An array of tensors.
    Array(&'g [TensorId]),
}

impl<'g> Output<'g> {
    /// The tensors of the result.
    pub fn tensors(self) -> &'g [TensorId] {
        match self {
            Output::Tensor(tensor) => std::slice::from_ref(tensor),
            Output::Array(tensors) => tensors,
        }
    }
}
