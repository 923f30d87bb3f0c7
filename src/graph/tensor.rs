//! The stored form of a tensor.

use super::element::Element;
use super::ids::OperationId;
use super::names::NameId;
use super::primitive::Primitive;
use super::shape_table::ShapeId;

/// A tensor.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    /// Its name.
    pub(crate) name: NameId,
    /// The element type, if known.
    pub(crate) dtype: Option<Primitive>,
    /// The true element type, in graphs of notations that have sized types.
    pub(crate) element: Option<Element>,
    /// Whether its items are known while expanding, as [`Graph::values`](super::Graph::values).
    pub(crate) known: bool,
    /// Whether the document writes it as a literal array, not as an operation `constant`.
    pub(crate) literal: bool,
    /// Its shape, if the rank is known; see [`Graph::shape`](super::Graph::shape).
    pub(crate) shape: Option<ShapeId>,
    /// The operation that produces it; none for an input of a kept fragment.
    pub(crate) producer: Option<OperationId>,
}

const _: () = assert!(size_of::<Tensor>() == 16);
