//! The types of the values that the nodes of a graph see.

use super::facts::OperandTypes;
use crate::graph::names::NameId;
use crate::onnx::infer::{GraphTypes, InnerPlace, ModelTypes, ValueType};

/// The types of the values of a graph and of those around it, the innermost last.
#[derive(Clone, Debug)]
pub(super) struct VisibleTypes<'t> {
    graphs: Vec<&'t GraphTypes>,
}

impl<'t> VisibleTypes<'t> {
    /// The types of the main graph.
    pub(super) fn of(types: &'t GraphTypes) -> Self {
        VisibleTypes { graphs: vec![types] }
    }

    /// The types in a function, as far as all its calls have them.
    pub(super) fn of_function(types: &'t ModelTypes, function: usize) -> Self {
        VisibleTypes { graphs: types.functions.get(&function).into_iter().collect() }
    }

    /// The types in a graph of the innermost graph.
    pub(super) fn inner(&self, place: InnerPlace) -> Self {
        let mut inner = self.clone();
        inner.graphs.extend(self.graphs.last().and_then(|types| types.inner.get(place)));
        inner
    }
}

impl OperandTypes for VisibleTypes<'_> {
    fn of_value(&self, value: NameId) -> Option<&ValueType> {
        self.graphs.iter().rev().find_map(|types| types.values.get(value))
    }
}
