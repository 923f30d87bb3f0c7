//! The data of the variables of a translated model.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::refusal::{Lowered, NodeRefusal};
use crate::eval::Variables;
use crate::live::Held;
use crate::tensor::{DType, Data, Tensor, TensorError};

/// The data of variables by their labels.
#[derive(Debug, Default)]
pub(crate) struct NnefVariables {
    tensors: BTreeMap<String, Arc<Tensor>>,
    /// Their memory.
    held: Held,
}

impl NnefVariables {
    pub(super) fn insert(&mut self, label: String, tensor: Arc<Tensor>) {
        self.tensors.insert(label, tensor);
    }

    /// Counts their bytes in the memory of the run.
    pub(super) fn count_memory(&self) {
        self.held.set(self.tensors.values().map(|tensor| tensor.bytes()).sum());
    }

    /// The tensors by their labels.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Tensor)> {
        self.tensors.iter().map(|(label, tensor)| (label.as_str(), &**tensor))
    }

    /// The number of bytes of the data of a variable.
    pub(crate) fn bytes(&self, label: &str) -> Option<u64> {
        self.tensors.get(label).map(|tensor| tensor.bytes())
    }
}

impl Variables for NnefVariables {
    fn load(&self, label: &str, _: &[usize], _: Option<DType>) -> Result<Option<Tensor>, TensorError> {
        Ok(self.tensors.get(label).map(|tensor| Tensor::clone(tensor).widened()))
    }
}

/// A tensor with the element types that files of NNEF have.
pub(super) fn stored_form(tensor: &Arc<Tensor>) -> Lowered<Arc<Tensor>> {
    let places = 0..tensor.len();
    let data = match tensor.data() {
        Data::Float32(_) | Data::Float64(_) | Data::Int64(_) | Data::Int32(_) | Data::Bool(_) => {
            return Ok(Arc::clone(tensor));
        }
        data if tensor.dtype().is_float() => Data::from_floats(DType::Float32, places.map(|i| data.float(i))),
        data if tensor.dtype().is_integer() => {
            let items = places.map(|i| i64::try_from(data.wide(i)).ok()).collect::<Option<Vec<i64>>>();
            Data::Int64(items.ok_or(NodeRefusal::because("a constant has integers of more than 63 bits"))?)
        }
        _ => return Err(NodeRefusal::because("a constant has texts or complex numbers, which NNEF does not have")),
    };
    Tensor::new(tensor.shape(), data).map(Arc::new).ok_or(NodeRefusal::UNFIT)
}
