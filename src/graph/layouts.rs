//! How tensors lie in memory.
//!
//! While a graph is made and transformed, a shape is a short list of extents that tensors share
//! ([`Shape`](super::Shape)). Whoever asks for bytes, places or a layout gets it as the
//! [`ArrayShape`] of `tensor`, from [`Graph::array_shape`]: the one place where the first becomes the
//! second. Layouts are notes on tensors; they do not change what a graph computes.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Graph, Primitive, TensorId};
use crate::tensor::{ArrayShape, DType, Dimension, ElementType, Layout, TensorError};

/// The layouts of the tensors that have one.
#[derive(Clone, Debug, Default)]
pub(super) struct Layouts(FxHashMap<TensorId, Arc<Layout>>);

/// What tensors with layouts take in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LaidOut {
    /// How many there are.
    pub(crate) tensors: u64,
    /// The bytes of their elements.
    pub(crate) elements: u64,
    /// The bytes of their memory, padding included.
    pub(crate) memory: u64,
    /// How many of them have a size that is not known.
    pub(crate) unknown: u64,
}

impl Layouts {
    /// Follows tensors to their new numbers.
    pub(super) fn renumber(&mut self, renumber: &[Option<TensorId>]) {
        let old = std::mem::take(&mut self.0);
        self.0 = old.into_iter().filter_map(|(id, layout)| Some((renumber[id.index()]?, layout))).collect();
    }
}

/// The number format that stands for a type of NNEF, which says nothing of bits: that of most files.
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
    /// The shape of a tensor with its layout: scalars are `f32`, integers `s32`, logicals `pred`,
    /// extents that are not known `?`, and a layout that was not given is row-major. None where type
    /// or rank are not known.
    pub fn array_shape(&self, tensor: TensorId) -> Option<ArrayShape> {
        self.array_of(tensor, element(self.tensors[tensor.index()].dtype?)?)
    }

    /// The same for elements of any type.
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

    /// The layout that a tensor was given.
    pub fn layout(&self, tensor: TensorId) -> Option<&Layout> {
        self.layouts.0.get(&tensor).map(Arc::as_ref)
    }

    /// What the tensors that were given layouts take; none where there are no layouts.
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

    /// Gives a layout to the tensor of a name, or without a name to all tensors of its rank that have
    /// none.
    ///
    /// # Errors
    ///
    /// There is no such tensor, or the layout does not fit a shape.
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
