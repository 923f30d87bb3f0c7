//! Whether two graphs compute the same, node by node.

use rustc_hash::FxHashMap;

use super::super::share::{same_attribute, same_tensor};
use crate::graph::names::NameId;
use crate::onnx::model::{AttributeValue, GraphProto, NodeProto, TensorProto};
use crate::onnx::walk::own_names;
use crate::room::with_stack;

/// Whether two graphs without inputs have the same outputs: the same nodes in the same order, up to the names of values.
pub(super) fn same_graphs(a: &GraphProto, b: &GraphProto) -> bool {
    GraphComparison::default().graphs(a, b)
}

/// Two graphs that are compared.
#[derive(Default)]
struct GraphComparison {
    /// The values of the second graph, by those of the first one.
    other: FxHashMap<NameId, NameId>,
    /// The values that the second graph has of its own.
    own: FxHashMap<NameId, NameId>,
}

impl GraphComparison {
    fn graphs(&mut self, a: &GraphProto, b: &GraphProto) -> bool {
        let plain = [a, b].iter().all(|graph| graph.rest.is_none() && !graph.cannot_run);
        let alike = a.nodes.len() == b.nodes.len()
            && a.inputs.len() == b.inputs.len()
            && a.initializers.len() == b.initializers.len()
            && a.outputs.len() == b.outputs.len();
        if !plain || !alike || own_names(a).len() != own_names(b).len() {
            return false;
        }
        let constants = a.initializers.iter().zip(&b.initializers);
        let mut inputs = a.inputs.iter().zip(&b.inputs);
        inputs.all(|(a, b)| a.ty == b.ty && self.define(a.name, b.name))
            && constants.into_iter().all(|(a, b)| same_constant(a, b) && self.define(a.name, b.name))
            && a.nodes.iter().zip(&b.nodes).all(|(a, b)| with_stack(|| self.nodes(a, b)))
            && a.outputs
                .iter()
                .zip(&b.outputs)
                .all(|(a, b)| a.name.zip(b.name).is_some_and(|(a, b)| self.is_same(a, b)))
    }

    /// Notes that two values are the same; not if one of them is another one already.
    fn define(&mut self, a: Option<NameId>, b: Option<NameId>) -> bool {
        match (a, b) {
            (Some(NameId::ROOT) | None, Some(NameId::ROOT) | None) => true,
            (Some(a), Some(b)) => self.other.insert(a, b).is_none() && self.own.insert(b, a).is_none(),
            _ => false,
        }
    }

    fn is_same(&self, a: NameId, b: NameId) -> bool {
        match self.other.get(&a) {
            Some(other) => *other == b,
            None => a == b && !self.own.contains_key(&b),
        }
    }

    fn nodes(&mut self, a: &NodeProto, b: &NodeProto) -> bool {
        (a.op_type, a.domain, a.overload) == (b.op_type, b.domain, b.overload)
            && a.inputs.len() == b.inputs.len()
            && a.outputs.len() == b.outputs.len()
            && a.attributes.len() == b.attributes.len()
            && a.inputs.iter().zip(&b.inputs).all(|(a, b)| self.is_same(*a, *b))
            && a.attributes.iter().zip(&b.attributes).all(|(a, b)| match (&a.value, &b.value) {
                (AttributeValue::Graph(inner), AttributeValue::Graph(other)) => {
                    a.name == b.name && self.graphs(inner, other)
                }
                _ => !a.value.has_graphs() && same_attribute(a, b),
            })
            && a.outputs.iter().zip(&b.outputs).all(|(a, b)| self.define(Some(*a), Some(*b)))
    }
}

fn same_constant(a: &TensorProto, b: &TensorProto) -> bool {
    same_tensor(a, b)
}
