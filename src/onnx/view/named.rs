//! The tensors of the names of a model.

use crate::graph::TensorId;
use crate::graph::names::NameId;

/// The tensor of a name.
#[derive(Clone, Copy, Debug)]
enum NamedTensor {
    /// There is none.
    Absent,
    /// There is one, in a graph that is not visible.
    Hidden,
    Visible(TensorId),
}

/// The tensors by the names that values of the model have.
#[derive(Debug)]
pub(super) struct VisibleTensors {
    /// By the number of the name. The last row is that of values without a name.
    rows: Vec<NamedTensor>,
}

impl VisibleTensors {
    /// No tensors of a model with as many names.
    pub(super) fn new(names: usize) -> Self {
        VisibleTensors { rows: vec![NamedTensor::Absent; names + 1] }
    }

    fn place(&self, name: NameId) -> usize {
        name.index().min(self.rows.len() - 1)
    }

    /// The visible tensor of a name.
    pub(super) fn get(&self, name: NameId) -> Option<TensorId> {
        match self.rows[self.place(name)] {
            NamedTensor::Visible(tensor) => Some(tensor),
            NamedTensor::Absent | NamedTensor::Hidden => None,
        }
    }

    /// Whether a tensor has this name, visible or not.
    pub(super) fn is_taken(&self, name: NameId) -> bool {
        !matches!(self.rows[self.place(name)], NamedTensor::Absent)
    }

    /// Makes a tensor visible.
    pub(super) fn show(&mut self, name: NameId, tensor: TensorId) {
        let place = self.place(name);
        self.rows[place] = NamedTensor::Visible(tensor);
    }

    /// Hides the visible tensor of a name, and returns it.
    pub(super) fn hide(&mut self, name: NameId) -> Option<TensorId> {
        let (place, found) = (self.place(name), self.get(name)?);
        self.rows[place] = NamedTensor::Hidden;
        Some(found)
    }
}
