//! The memory layouts of tensors.
//!
//! While a graph is built and transformed, a shape is a short list of extents that tensors share
//! ([`Shape`](super::Shape)). [`Graph::array_shape`] converts it to an [`ArrayShape`] of `tensor`, which has an
//! element type and a layout, and so offsets and sizes in bytes. Layouts are annotations of tensors; they do
//! not change what a graph computes.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Graph, Primitive, TensorId};
use crate::tensor::{ArrayShape, DType, Dimension, ElementType, Layout, TensorError};

/// The layouts of tensors, if they have one.
#[derive(Clone, Debug, Default)]
pub(super) struct Layouts(FxHashMap<TensorId, Arc<Layout>>);

/// The memory of the tensors with a layout.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LaidOut {
    /// The number of these tensors.
    pub(crate) tensors: u64,
    /// The bytes of their elements.
    pub(crate) elements: u64,
    /// The bytes of their memory, padding included.
    pub(crate) memory: u64,
    /// The number of these tensors whose size is unknown.
    pub(crate) unknown: u64,
}

impl Layouts {
    /// Updates the numbers of tensors.
    pub(super) fn renumber(&mut self, renumber: &[Option<TensorId>]) {
        let old = std::mem::take(&mut self.0);
        self.0 = old.into_iter().filter_map(|(id, layout)| Some((renumber[id.index()]?, layout))).collect();
    }
}

/// The number format for a type of NNEF, which does not define one: the most common format in files.
fn element(primitive: Primitive) -> Option<ElementType> {
    let dtype = match primitive {
        Primitive::Scalar => DType::Float32,
        Primitive::Integer => DType::Int32,
        Primitive::Logical => DType::Bool,
        Primitive::String | Primitive::Generic => return None,
    };
    Some(ElementType::from(dtype))
}

impl Graph {
    /// The shape of a tensor with its layout: scalars are `f32`, integers `s32`, logicals `pred`; unknown
    /// extents are `?`; the default layout is row-major. None if the element type or the rank is unknown.
    pub fn array_shape(&self, tensor: TensorId) -> Option<ArrayShape> {
        self.array_of(tensor, element(self.tensors[tensor.index()].dtype?)?)
    }

    /// [`Graph::array_shape`] with another element type.
    pub(crate) fn array_of(&self, tensor: TensorId, element: ElementType) -> Option<ArrayShape> {
        let extents = self.shape(tensor)?.extents();
        let size = |extent: Option<i64>| extent.and_then(|extent| u64::try_from(extent).ok());
        let dims = extents.iter().map(|extent| size(extent.known()).map_or(Dimension::Unbounded, Dimension::Static));
        let array = ArrayShape::of(element, dims.collect());
        match self.layout(tensor) {
            Some(layout) => array.with_layout(layout.clone()).ok(),
            None => Some(array),
        }
    }

    /// The layout of a tensor, if it was set.
    pub fn layout(&self, tensor: TensorId) -> Option<&Layout> {
        self.layouts.0.get(&tensor).map(Arc::as_ref)
    }

    /// The memory of the tensors with a layout; none if there are none.
    pub(crate) fn laid_out(&self) -> Option<LaidOut> {
        let mut all = LaidOut::default();
        for id in (0..self.tensors.len()).map(|i| TensorId(i as u32)).filter(|id| self.layout(*id).is_some()) {
            all.tensors += 1;
            let sizes =
                self.array_shape(id).and_then(|array| array.element_bytes().ok().zip(array.allocated_bytes().ok()));
            match sizes {
                Some((elements, memory)) => {
                    all.elements = all.elements.saturating_add(elements);
                    all.memory = all.memory.saturating_add(memory);
                }
                None => all.unknown += 1,
            }
        }
        (all.tensors > 0).then_some(all)
    }

    /// Sets the layout of the tensor with a name; without a name, of all tensors of the layout's rank that have
    /// no layout.
    ///
    /// # Errors
    ///
    /// There is no tensor with this name, or the layout does not fit a shape.
    pub fn lay_out(&mut self, name: Option<&str>, layout: &Layout) -> Result<(), TensorError> {
        let ids = (0..self.tensors.len()).map(|i| TensorId(i as u32));
        let rank = layout.minor_to_major().len();
        let has_rank = |id: &TensorId| self.shape(*id).is_some_and(|shape| shape.rank() == rank);
        let chosen: Vec<TensorId> = match name {
            Some(name) => ids.filter(|id| self.tensor_name(*id) == name).collect(),
            None => ids.filter(|id| has_rank(id) && self.layout(*id).is_none()).collect(),
        };
        if let (Some(name), []) = (name, chosen.as_slice()) {
            return Err(TensorError::new(format!("the graph has no tensor `{name}`")));
        }
        for id in &chosen {
            let fail =
                |why: String| TensorError::new(format!("`{}` cannot have this layout: {why}", self.tensor_name(*id)));
            let array = self.array_of(*id, ElementType::from(DType::Float32));
            let array = array.ok_or_else(|| fail("its rank is not known".to_owned()))?;
            array.with_layout(layout.clone()).map_err(|error| fail(error.0))?;
        }
        let layout = Arc::new(layout.clone());
        self.layouts.0.extend(chosen.into_iter().map(|id| (id, Arc::clone(&layout))));
        Ok(())
    }
}
