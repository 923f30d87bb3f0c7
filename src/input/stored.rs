//! The data behind the operations of a flat graph, in whatever the graph was read from.

use super::Refusal;
use super::settings::Settings;
use super::source::{Backing, Values};
use crate::Graph;
use crate::eval::Variables;
use crate::graph::standard::VARIABLE;
use crate::graph::{OperationId, Value};
use crate::model::ModelVariables;
use crate::onnx::ConstantReader;
use crate::tensor::Tensor;

/// The data of the variables of a graph.
pub(super) struct StoredData<'b> {
    graph: &'b Graph,
    values: Option<Values<'b>>,
    constants: Option<ConstantReader<'b>>,
}

impl<'b> StoredData<'b> {
    /// The data behind a graph.
    ///
    /// # Errors
    ///
    /// The model with the data cannot be read.
    pub(super) fn new(graph: &'b Graph, backing: &'b mut dyn Backing, settings: &Settings) -> Result<Self, Refusal> {
        if backing.constants().is_some() {
            let constants = backing.constants().map(|constants| constants.reader(settings.evaluation));
            return Ok(StoredData { graph, values: None, constants });
        }
        let values = backing.values(graph, settings)?;
        Ok(StoredData { graph, values: Some(values), constants: None })
    }

    pub(super) fn reader(&self) -> DataReader<'_> {
        let place = match (&self.constants, &self.values) {
            (Some(constants), _) => DataPlace::Constants(constants),
            (None, Some(values)) => match (values.weights, &values.model) {
                (Some(weights), _) => DataPlace::Loaded(weights),
                (None, Some(model)) => DataPlace::Files(model.data()),
                (None, None) => DataPlace::Nowhere,
            },
            (None, None) => DataPlace::Nowhere,
        };
        DataReader { graph: self.graph, place }
    }
}

/// Where data are.
pub(super) enum DataPlace<'b> {
    /// In the files of a model, by labels.
    Files(ModelVariables<'b>),
    /// Elsewhere, by labels.
    Loaded(&'b dyn Variables),
    /// In the model that the graph is a view of.
    Constants(&'b ConstantReader<'b>),
    Nowhere,
}

/// Reads the data behind the operations of a graph.
pub(super) struct DataReader<'b> {
    pub(super) graph: &'b Graph,
    pub(super) place: DataPlace<'b>,
}

impl<'b> DataReader<'b> {
    /// The label and the shape of a variable with a known shape.
    pub(super) fn variable(&self, id: OperationId) -> Option<(&'b str, Vec<usize>)> {
        let operation = self.graph.operations.get(id.index())?;
        let result = self.graph.tensors_of(operation).next()?;
        let Some(Value::String(label)) = self.graph.attribute(operation, "label") else { return None };
        if self.graph.operation_name(operation) != VARIABLE {
            return None;
        }
        let shape = self.graph.shape(result)?.known()?;
        Some((label, shape.into_iter().map(|extent| usize::try_from(extent).ok()).collect::<Option<_>>()?))
    }

    pub(super) fn loaded(&self, label: &str, shape: &[usize]) -> Result<Option<Tensor>, String> {
        let loaded = match &self.place {
            DataPlace::Files(files) => files.load(label, shape, None),
            DataPlace::Loaded(weights) => weights.load(label, shape, None),
            DataPlace::Constants(_) | DataPlace::Nowhere => Ok(None),
        };
        loaded.map_err(|error| format!("the data of `{label}`: {error}"))
    }

    /// The data behind an operation.
    pub(super) fn tensors(&self, id: OperationId) -> Result<Vec<Tensor>, Refusal> {
        let read = match (&self.place, self.variable(id)) {
            (DataPlace::Constants(constants), _) => constants.tensors(id),
            (_, Some((label, shape))) => self.loaded(label, &shape).map(|tensor| tensor.into_iter().collect()),
            (_, None) => Ok(Vec::new()),
        };
        read.map_err(Refusal::Unfit)
    }

    /// Gives the items of the data behind an operation to a function, as numbers in blocks. Those of 32-bit floats that are
    /// in a file are read in pieces. Returns whether there are data.
    ///
    /// # Errors
    ///
    /// The data cannot be read.
    #[cfg(feature = "kernels")]
    pub(super) fn numbers(&self, id: OperationId, take: &mut dyn FnMut(&[f64])) -> Result<bool, Refusal> {
        let mut block = [0.0; 512];
        let mut floats = |piece: &[u8]| {
            for items in piece.as_chunks::<4>().0.chunks(block.len()) {
                let block = &mut block[..items.len()];
                block.iter_mut().zip(items).for_each(|(to, bytes)| *to = f64::from(f32::from_le_bytes(*bytes)));
                take(block);
            }
        };
        let read = match (&self.place, self.variable(id)) {
            (DataPlace::Constants(constants), _) => constants.floats(id, &mut floats).map_err(Refusal::Unfit)?,
            (DataPlace::Files(files), Some((label, shape))) => {
                files.pieces(label, &shape, &mut floats).ok().flatten().unwrap_or(false)
            }
            _ => false,
        };
        if read {
            return Ok(true);
        }
        let tensors = self.tensors(id)?;
        tensors.iter().for_each(|tensor| take(&tensor.to_scalars()));
        Ok(!tensors.is_empty())
    }
}
