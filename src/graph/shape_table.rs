//! The shapes of a graph, each stored once: a tensor has the number of its shape, and two shapes are
//! equal if their numbers are.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::Shape;
use crate::room::position_id;

position_id! {
    /// Identifies a shape of a [`super::Graph`].
    ShapeId
}

/// All shapes of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct ShapeTable {
    shapes: IndexSet<Shape, FxBuildHasher>,
    /// The shape that was looked up last.
    last: Option<ShapeId>,
}

impl ShapeTable {
    pub(crate) fn get(&self, id: ShapeId) -> Option<&Shape> {
        self.shapes.get_index(id.index())
    }

    /// The number of a shape.
    pub(crate) fn intern(&mut self, shape: Shape) -> ShapeId {
        if let Some(last) = self.last
            && self.get(last) == Some(&shape)
        {
            return last;
        }
        let id = ShapeId::at(self.shapes.insert_full(shape).0);
        self.last = Some(id);
        id
    }
}
