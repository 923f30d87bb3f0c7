//! The storage of computed tensors: in row-major order, or in the memory of the layout that the graph declares.

use std::sync::Arc;

use super::budget::Budget;
use super::error::EvalError;
use crate::tensor::{Buffer, Layout, Tensor};

/// A tensor that has been computed.
pub(super) enum Stored {
    /// In row-major order.
    Rows(Arc<Tensor>),
    /// In the memory of a layout.
    LaidOut(Buffer),
}

impl Stored {
    /// Stores a tensor in the memory of its layout, if it has one.
    ///
    /// # Errors
    ///
    /// The layout does not match the shape, or a limit would be exceeded.
    pub(super) fn new(value: Arc<Tensor>, layout: Option<&Layout>, budget: &Budget) -> Result<Stored, EvalError> {
        let Some(layout) = layout else { return Ok(Stored::Rows(value)) };
        let places = value.array_shape().with_layout(layout.clone())?.places()?;
        budget.room(&[usize::try_from(places).unwrap_or(usize::MAX)])?;
        Ok(Stored::LaidOut(value.laid_out(layout.clone())?))
    }

    /// The tensor in row-major order.
    ///
    /// # Errors
    ///
    /// The conversion would exceed a limit.
    pub(super) fn tensor(&self, budget: &Budget) -> Result<Arc<Tensor>, EvalError> {
        match self {
            Stored::Rows(tensor) => Ok(Arc::clone(tensor)),
            Stored::LaidOut(buffer) => {
                budget.work(buffer.data().len() as u64)?;
                Ok(Arc::new(buffer.to_tensor()))
            }
        }
    }

    /// The number of stored items, including padding.
    pub(super) fn len(&self) -> usize {
        match self {
            Stored::Rows(tensor) => tensor.len(),
            Stored::LaidOut(buffer) => buffer.data().len(),
        }
    }
}
