//! Compile-time values, and how they become values of the graph.

use std::sync::Arc;

use super::list::List;
use crate::graph::{self, TensorId};
use crate::graph::symbolic::Symbolic;

/// A value while expanding. 24 bytes; clones are cheap.
#[derive(Clone, Debug)]
pub enum Value {
    /// An integer.
    Int(i64),
    /// A scalar.
    Scalar(f64),
    /// A logical.
    Logical(bool),
    /// A tensor of the graph.
    Tensor(TensorId),
    /// A dimension symbol.
    Symbol(Arc<Symbolic>),
    /// A string.
    String(List),
    /// An array.
    Array(List),
    /// A tuple.
    Tuple(List),
}

/// Nesting of arrays in an attribute of the flat graph. Deeper ones are refused, because what
/// reads them recurses.
pub const MAX_VALUE_DEPTH: usize = 1000;

impl Value {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Int(_) => "an integer",
            Value::Scalar(_) => "a scalar",
            Value::Logical(_) => "a logical",
            Value::Tensor(_) => "a tensor",
            Value::Symbol(_) => "a symbol",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Tuple(_) => "a tuple",
        }
    }

    /// A dimension symbol.
    pub fn symbol(name: &str) -> Value {
        Value::Symbol(Arc::new(Symbolic::symbol(name)))
    }

    /// The integer, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(i) => Some(*i),
            _ => None,
        }
    }

    /// Whether a tensor, or an extent that is not known, occurs in it.
    pub fn has_tensor(&self) -> bool {
        self.any(&|value| matches!(value, Value::Tensor(_)) || value.is_unknown())
    }

    /// Whether it is computed from an extent that is not known.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Value::Symbol(symbolic) if symbolic.is_unknown())
    }

    /// Whether something is true of it or of one of its items; arrays of numbers are seen at once.
    pub fn any(&self, test: &dyn Fn(&Value) -> bool) -> bool {
        match self {
            Value::Array(list) | Value::Tuple(list) if list.ints().is_none() && list.scalars().is_none() => {
                list.to_values().iter().any(|value| stacker::maybe_grow(32 * 1024, 1024 * 1024, || value.any(test)))
            }
            _ => test(self),
        }
    }

    /// The value as the graph keeps it; none where it is nested too deep, or depends on an extent
    /// that is not known.
    pub fn freeze(&self, depth: usize) -> Option<graph::Value> {
        if depth > MAX_VALUE_DEPTH {
            return None;
        }
        Some(match self {
            Value::Int(i) => graph::Value::Int(*i),
            Value::Scalar(s) => graph::Value::Scalar(*s),
            Value::Logical(b) => graph::Value::Logical(*b),
            Value::Tensor(t) => graph::Value::Tensor(*t),
            Value::Symbol(symbolic) if symbolic.is_unknown() => return None,
            Value::Symbol(symbolic) => graph::Value::Symbol(Arc::clone(symbolic)),
            Value::String(list) => graph::Value::String(list.text().into()),
            Value::Array(list) => match (list.ints(), list.scalars()) {
                (Some(ints), _) => graph::Value::Integers(ints.into()),
                (_, Some(scalars)) => graph::Value::Scalars(scalars.into()),
                _ => graph::Value::Array(freeze_items(list, depth)?),
            },
            Value::Tuple(list) => graph::Value::Tuple(freeze_items(list, depth)?),
        })
    }

    /// A value of the graph as a compile-time value.
    pub fn thaw(value: &graph::Value) -> Value {
        match value {
            graph::Value::Int(i) => Value::Int(*i),
            graph::Value::Scalar(s) => Value::Scalar(*s),
            graph::Value::Logical(b) => Value::Logical(*b),
            graph::Value::Tensor(t) => Value::Tensor(*t),
            graph::Value::Symbol(symbolic) => Value::Symbol(Arc::clone(symbolic)),
            graph::Value::String(text) => Value::String(List::from_text(text, None)),
            graph::Value::Integers(ints) => Value::Array(List::from_ints(ints.iter().copied(), None)),
            graph::Value::Scalars(scalars) => Value::Array(List::from_scalars(scalars.iter().copied(), None)),
            graph::Value::Array(items) => Value::Array(List::from_values(items.iter().map(Value::thaw).collect(), None)),
            graph::Value::Tuple(items) => Value::Tuple(List::from_values(items.iter().map(Value::thaw).collect(), None)),
        }
    }
}

fn freeze_items(list: &List, depth: usize) -> Option<Arc<[graph::Value]>> {
    list.to_values().iter().map(|value| value.freeze(depth + 1)).collect()
}
