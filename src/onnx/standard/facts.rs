//! What is known about the operands of calls.

use rustc_hash::FxHashMap;

use crate::graph::names::NameId;
use crate::onnx::model::{Extent, GraphProto, TypeForm, ValueInfo};
use crate::onnx::types::ElementType;

/// What is known about a value.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueFacts {
    pub(super) element: Option<&'static ElementType>,
    /// The extents, as far as they are numbers.
    pub(super) shape: Option<Vec<Option<i64>>>,
    /// The items of a small integer tensor, as far as they are numbers.
    pub(super) items: Option<Vec<Option<i64>>>,
}

/// What is known about the values of a graph and of those around it.
#[derive(Debug, Default)]
pub(super) struct GraphFacts {
    values: FxHashMap<NameId, ValueFacts>,
}

impl GraphFacts {
    /// The declared types of a graph.
    pub(super) fn of(graph: &GraphProto) -> Self {
        let mut facts = GraphFacts::default();
        facts.add(graph);
        facts
    }

    /// Adds the declared types of an inner graph.
    pub(super) fn add(&mut self, graph: &GraphProto) {
        for tensor in &graph.initializers {
            let Some(name) = tensor.name else { continue };
            let element = tensor.data_type.and_then(ElementType::numbered);
            let shape = Some(tensor.dims.iter().map(|extent| Some(*extent)).collect());
            self.values.insert(name, ValueFacts { element, shape, items: None });
        }
        graph.inputs.iter().chain(&graph.outputs).chain(&graph.value_info).for_each(|value| self.declare(value));
    }

    fn declare(&mut self, value: &ValueInfo) {
        let Some(TypeForm::Tensor(tensor)) = value.ty.as_ref().map(|ty| &ty.form) else { return };
        let extent = |extent: Extent| if let Extent::Value(extent) = extent { Some(extent) } else { None };
        let shape = tensor.shape.as_ref().map(|shape| shape.dims.iter().map(|dim| extent(dim.extent)).collect());
        let element = tensor.element.and_then(ElementType::numbered);
        value.name.map(|name| self.values.insert(name, ValueFacts { element, shape, items: None }));
    }

    /// What is known about a value.
    pub(super) fn of_value(&self, value: NameId) -> Option<&ValueFacts> {
        self.values.get(&value)
    }
}
