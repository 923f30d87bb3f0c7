//! The graph with fragments.

use super::{fragments, listing};
use crate::graph::{Graph, TensorId};

impl Graph {
    /// The graph with fragments for its repeated structure, and calls of them; none if that saves nothing. Tensors in
    /// `apart`, outputs, and results of operations without operands keep their names. Names of fragments and of their
    /// tensors are none of the `reserved` ones.
    pub(crate) fn outlined(&self, apart: &[TensorId], reserved: &dyn Fn(&str) -> bool) -> Option<Graph> {
        let plan = crate::outline::find(&listing::listing(self, apart))?;
        Some(fragments::with_fragments(self, &plan, reserved))
    }
}
