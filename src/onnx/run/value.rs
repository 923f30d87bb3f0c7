//! The values of a model while it runs.

use std::sync::Arc;

use crate::tensor::Tensor;

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

    /// The number of items that it counts for in the limit of memory.
    pub(crate) fn items(&self) -> usize {
        match self {
            RunValue::Tensor(tensor) => tensor.len(),
            RunValue::Sequence(items) => items.iter().map(|item| item.items().saturating_add(1)).sum(),
            RunValue::Optional(value) => value.as_ref().map_or(1, |value| value.items().saturating_add(1)),
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
