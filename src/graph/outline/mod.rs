//! Repeated structure of a graph as fragments.
//!
//! `listing` tells [`crate::outline`] which operations are equal but for tensors, `fragments` writes what it finds as kept
//! fragments and calls, and `naming` chooses names.

mod fragments;
mod listing;
mod naming;

use super::{Graph, TensorId};

impl Graph {
    /// The graph with fragments for its repeated structure, and calls of them; none if that saves nothing. Tensors in
    /// `apart`, outputs, and results of operations without operands keep their names. Names of fragments and of their
    /// tensors are none of the `reserved` ones.
    pub(crate) fn outlined(&self, apart: &[TensorId], reserved: &dyn Fn(&str) -> bool) -> Option<Graph> {
        let plan = crate::outline::find(&listing::listing(self, apart))?;
        Some(fragments::with_fragments(self, &plan, reserved))
    }
}
