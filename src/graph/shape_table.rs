//! Interned shapes of a graph: a tensor stores the number of its shape, and equal shapes have equal numbers.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::{Extent, Shape};
use crate::room::position_id;

position_id! {
    /// Identifies a shape of a [`super::Graph`].
    ShapeId
}

/// All shapes of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct ShapeTable {
    shapes: IndexSet<Shape, FxBuildHasher>,
    /// A cache: the most recently interned shape.
    last: Option<ShapeId>,
    /// The bytes of the extents of all shapes.
    bytes: usize,
    /// Whether an extent of each shape is not known, not even as an expression.
    open: Vec<bool>,
}

impl ShapeTable {
    pub(crate) fn get(&self, id: ShapeId) -> Option<&Shape> {
        self.shapes.get_index(id.index())
    }

    /// The bytes of the extents of all shapes.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether an extent of a shape is not known, not even as an expression.
    #[inline]
    pub(crate) fn is_open(&self, id: ShapeId) -> bool {
        self.open.get(id.index()).is_none_or(|open| *open)
    }

    /// The number of a shape, which is added if it is new.
    pub(crate) fn intern(&mut self, shape: Shape) -> ShapeId {
        if let Some(last) = self.last
            && self.get(last) == Some(&shape)
        {
            return last;
        }
        let bytes = size_of_val(shape.extents());
        let (index, is_new) = self.shapes.insert_full(shape);
        if is_new {
            self.bytes += bytes;
            self.open.push(self.shapes[index].extents().iter().any(Extent::is_unknown));
        }
        let id = ShapeId::at(index);
        self.last = Some(id);
        id
    }
}
