//! The values of models: tensors, and what is made of tensors.

mod form;
mod json;
mod members;

use std::sync::Arc;

use super::{DType, Data, Tensor, TensorError};

pub(crate) use form::ValueForm;
pub(crate) use json::{from_json, to_json};
pub(crate) use members::{assembled, members};

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
    Map(Arc<MapValue>),
    Optional(Option<Box<RunValue>>),
}

/// Values by name.
pub(crate) type NamedValues = Vec<(String, RunValue)>;

/// Numbers or texts by keys, which are integers or texts: two tensors of rank 1. Keys are in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MapValue {
    keys: Tensor,
    values: Tensor,
}

impl MapValue {
    /// A map from keys to the values at the same places. Of equal keys the last one counts.
    ///
    /// # Errors
    ///
    /// The numbers of keys and of values differ, or keys are neither integers nor texts.
    pub(crate) fn new(keys: &Tensor, values: &Tensor) -> Result<Self, TensorError> {
        if keys.rank() != 1 || values.rank() != 1 || keys.len() != values.len() {
            let (keys, values) = (keys.shape(), values.shape());
            return Err(TensorError::new(format!("keys of shape {keys:?} do not fit values of shape {values:?}")));
        }
        let mut order: Vec<usize> = (0..keys.len()).collect();
        let equal: Box<dyn Fn(usize, usize) -> bool> = match keys.data() {
            Data::Text(texts) => {
                order.sort_by(|a, b| texts[*a].cmp(&texts[*b]));
                Box::new(|a, b| texts[a] == texts[b])
            }
            data if data.dtype().is_integer() => {
                order.sort_by_key(|at| data.wide(*at));
                Box::new(|a, b| data.wide(a) == data.wide(b))
            }
            data => return Err(TensorError::new(format!("keys of a map have the type {}", data.dtype()))),
        };
        // The order of equal keys is kept: each is replaced by the one behind it.
        let is_last = |at: usize| order.get(at + 1).is_none_or(|next| !equal(order[at], *next));
        let kept: Vec<usize> = (0..order.len()).filter(|at| is_last(*at)).map(|at| order[at]).collect();
        drop(equal);
        let picked = |of: &Tensor| Tensor::with(&[kept.len()], of.data().pick(kept.iter().copied()));
        Ok(MapValue { keys: picked(keys)?, values: picked(values)? })
    }

    /// The keys, a tensor of rank 1.
    pub(crate) fn keys(&self) -> &Tensor {
        &self.keys
    }

    /// The values, in the order of the keys.
    pub(crate) fn values(&self) -> &Tensor {
        &self.values
    }
}

impl RunValue {
    /// A sequence of values.
    pub(crate) fn sequence(items: Vec<RunValue>) -> Self {
        RunValue::Sequence(Arc::new(items))
    }

    /// A map.
    pub(crate) fn map(of: MapValue) -> Self {
        RunValue::Map(Arc::new(of))
    }

    /// The tensor, if it is one.
    pub(crate) fn tensor(&self) -> Option<&Arc<Tensor>> {
        if let RunValue::Tensor(tensor) = self { Some(tensor) } else { None }
    }

    /// Its own memory in units of 8 bytes: of a sequence without that of its items.
    pub(crate) fn weight(&self) -> usize {
        let of_tensor = |tensor: &Tensor| tensor.weight().saturating_add(TENSOR);
        match self {
            RunValue::Tensor(tensor) => of_tensor(tensor),
            RunValue::Sequence(items) => items.len().saturating_mul(SLOT).saturating_add(SLOT),
            RunValue::Map(map) => of_tensor(&map.keys).saturating_add(of_tensor(&map.values)),
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
    pub(crate) fn address(&self) -> Option<usize> {
        match self {
            RunValue::Tensor(tensor) => Some(Arc::as_ptr(tensor) as usize),
            RunValue::Sequence(items) => Some(Arc::as_ptr(items) as usize),
            RunValue::Map(map) => Some(Arc::as_ptr(map) as usize),
            RunValue::Optional(_) => None,
        }
    }

    /// What it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            RunValue::Tensor(_) => "a tensor",
            RunValue::Sequence(_) => "a sequence",
            RunValue::Map(_) => "a map",
            RunValue::Optional(_) => "an optional",
        }
    }

    /// The value with each of its tensors changed, but for the keys of maps.
    pub(crate) fn with_tensors(self, change: &dyn Fn(Tensor) -> Tensor) -> Self {
        match self {
            RunValue::Tensor(tensor) => change(Arc::unwrap_or_clone(tensor)).into(),
            RunValue::Sequence(items) => {
                let items = Arc::unwrap_or_clone(items);
                RunValue::sequence(items.into_iter().map(|item| item.with_tensors(change)).collect())
            }
            RunValue::Map(map) => {
                let MapValue { keys, values } = Arc::unwrap_or_clone(map);
                RunValue::map(MapValue { keys, values: change(values) })
            }
            RunValue::Optional(value) => RunValue::Optional(value.map(|value| Box::new(value.with_tensors(change)))),
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

#[cfg(test)]
mod tests;
