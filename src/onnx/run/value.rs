//! The values of a model while it runs.

use std::sync::Arc;

use crate::tensor::Tensor;

/// The memory of a tensor besides its elements, in units of 8 bytes: its counters, its shape, and what an allocation of a
/// few bytes takes.
pub(crate) const TENSOR: usize = 20;

/// The memory of a value in a sequence, in units of 8 bytes.
pub(crate) const SLOT: usize = 2;

/// A value: a tensor, or what is made of tensors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RunValue {
    Tensor(Arc<Tensor>),
    Sequence(Arc<Vec<RunValue>>),
    Optional(Option<Box<RunValue>>),
}

impl RunValue {
    /// A sequence of values.
    pub(crate) fn sequence(items: Vec<RunValue>) -> Self {
        RunValue::Sequence(Arc::new(items))
    }

    /// Its own memory in units of 8 bytes: of a sequence without that of its items.
    pub(crate) fn weight(&self) -> usize {
        match self {
            RunValue::Tensor(tensor) => tensor.weight().saturating_add(TENSOR),
            RunValue::Sequence(items) => items.len().saturating_mul(SLOT).saturating_add(SLOT),
            RunValue::Optional(_) => SLOT,
        }
    }

    /// Its memory with that of its items.
    pub(crate) fn total_weight(&self) -> usize {
        match self {
            RunValue::Sequence(items) => {
                items.iter().map(RunValue::total_weight).fold(self.weight(), usize::saturating_add)
            }
            RunValue::Optional(Some(value)) => value.total_weight(),
            _ => self.weight(),
        }
    }

    /// The address of what equal values share; none for an optional, which is not shared.
    pub(super) fn address(&self) -> Option<usize> {
        match self {
            RunValue::Tensor(tensor) => Some(Arc::as_ptr(tensor) as usize),
            RunValue::Sequence(items) => Some(Arc::as_ptr(items) as usize),
            RunValue::Optional(_) => None,
        }
    }

    /// What it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            RunValue::Tensor(_) => "a tensor",
            RunValue::Sequence(_) => "a sequence",
            RunValue::Optional(_) => "an optional",
        }
    }
}

impl From<Tensor> for RunValue {
    fn from(tensor: Tensor) -> Self {
        RunValue::Tensor(Arc::new(tensor))
    }
}

impl From<Arc<Tensor>> for RunValue {
    fn from(tensor: Arc<Tensor>) -> Self {
        RunValue::Tensor(tensor)
    }
}
