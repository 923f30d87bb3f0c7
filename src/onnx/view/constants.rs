//! The constants behind the operations of a graph, whose elements stay where the model has them.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::attributes::described;
use crate::eval::{Budget, Limits};
use crate::graph::OperationId;
use crate::onnx::model::{AttributeValue, NodeProto, TensorProto};
#[cfg(feature = "kernels")]
use crate::onnx::run::dtype_of;
use crate::onnx::run::{Stores, element_pieces, tensor_of};
#[cfg(feature = "kernels")]
use crate::tensor::DType;
use crate::tensor::Tensor;

/// The constants of the operations of a graph: initializers, and tensors in attributes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelConstants {
    rows: FxHashMap<OperationId, Vec<TensorProto>>,
    folder: Option<PathBuf>,
}

impl ModelConstants {
    pub(super) fn initializer(&mut self, id: OperationId, constant: &TensorProto) {
        self.rows.insert(id, vec![constant.clone()]);
    }

    pub(super) fn node(&mut self, id: OperationId, node: &NodeProto) {
        let tensors: Vec<TensorProto> = node.attributes.iter().flat_map(|of| tensors(&of.value)).cloned().collect();
        if !tensors.is_empty() {
            self.rows.insert(id, tensors);
        }
    }

    /// Sets the folder of the model, where the files of its external data are.
    pub(crate) fn set_folder(&mut self, folder: Option<&Path>) {
        self.folder = folder.map(Path::to_owned);
    }

    /// The constants for reading, with the limits on what is read at once.
    pub(crate) fn reader(&self, limits: Limits) -> ConstantReader<'_> {
        ConstantReader { constants: self, stores: Stores::new(self.folder.as_deref()), limits }
    }
}

/// The tensors of an attribute, except for those in graphs.
fn tensors(value: &AttributeValue) -> &[TensorProto] {
    match value {
        AttributeValue::Tensor(tensor) => std::slice::from_ref(&**tensor),
        AttributeValue::Tensors(tensors) => tensors,
        _ => &[],
    }
}

/// Reads constants.
pub(crate) struct ConstantReader<'c> {
    constants: &'c ModelConstants,
    stores: Stores,
    limits: Limits,
}

impl ConstantReader<'_> {
    /// The types and shapes of the constants of an operation; none if it has no constants. Their bytes go to a function
    /// in pieces, so that they are never all in memory if they are in a file.
    ///
    /// # Errors
    ///
    /// The data do not fit type and shape, or cannot be read.
    pub(crate) fn pieces(&self, id: OperationId, take: &mut dyn FnMut(&[u8])) -> Result<Option<String>, String> {
        let Some(tensors) = self.constants.rows.get(&id) else { return Ok(None) };
        for tensor in tensors {
            let budget = Budget::new(self.limits);
            element_pieces(tensor, &self.stores, &budget, take).map_err(|error| error.to_string())?;
        }
        let told: Vec<String> = tensors.iter().map(described).collect();
        Ok(Some(told.join(", ")))
    }

    /// Gives the bytes of a constant of 32-bit floats to a function, in pieces. Returns whether it is one.
    ///
    /// # Errors
    ///
    /// Those of [`ConstantReader::pieces`].
    #[cfg(feature = "kernels")]
    pub(crate) fn floats(&self, id: OperationId, take: &mut dyn FnMut(&[u8])) -> Result<bool, String> {
        let Some([tensor]) = self.constants.rows.get(&id).map(Vec::as_slice) else { return Ok(false) };
        if tensor.data_type.and_then(dtype_of) != Some(DType::Float32) {
            return Ok(false);
        }
        let budget = Budget::new(self.limits);
        element_pieces(tensor, &self.stores, &budget, take).map_err(|error| error.to_string())?;
        Ok(true)
    }

    /// The constants of an operation.
    ///
    /// # Errors
    ///
    /// Those of [`ConstantReader::pieces`]; they are larger than the limits allow.
    pub(crate) fn tensors(&self, id: OperationId) -> Result<Vec<Tensor>, String> {
        let rows = self.constants.rows.get(&id).map_or(&[][..], Vec::as_slice);
        let tensor = |of: &TensorProto| tensor_of(of, &self.stores, &Budget::new(self.limits));
        rows.iter().map(|of| tensor(of).map_err(|error| error.to_string())).collect()
    }
}
