//! The types of the values of functions: what all their calls have in common.

use rustc_hash::{FxHashMap, FxHashSet};

use super::merge::joined;
use super::tables::GraphTypes;
use crate::onnx::functions::Functions;
use crate::onnx::model::{ModelProto, NodeProto};
use crate::onnx::protobuf::fields::model as model_fields;
use crate::onnx::walk::{each_graph, each_node};

/// What the calls so far have in common.
#[derive(Debug, Default)]
pub(super) struct FunctionTypes {
    common: FxHashMap<usize, GraphTypes>,
    /// The places in memory of the calls.
    visited: FxHashSet<usize>,
    /// The functions with a call that was not looked at.
    skipped: FxHashSet<usize>,
}

fn place(node: &NodeProto) -> usize {
    std::ptr::from_ref(node).addr()
}

impl FunctionTypes {
    /// Adds the types in a call.
    pub(super) fn add(&mut self, function: usize, call: &NodeProto, types: GraphTypes) {
        self.visited.insert(place(call));
        match self.common.get_mut(&function) {
            Some(common) => join(common, &types),
            None => _ = self.common.insert(function, types),
        }
    }

    /// Adds a call with the types of one that was added.
    pub(super) fn add_same(&mut self, call: &NodeProto) {
        self.visited.insert(place(call));
    }

    /// Records that a call is not looked at.
    pub(super) fn skip(&mut self, function: usize) {
        self.skipped.insert(function);
    }

    /// The types in the functions of which all calls were looked at.
    pub(super) fn complete(mut self, model: &ModelProto, functions: &Functions) -> FxHashMap<usize, GraphTypes> {
        let encoded = model.rest.iter().flat_map(|fields| fields.iter());
        if encoded.into_iter().any(|field| field.number == model_fields::TRAINING) {
            // Its calls are not looked at.
            return FxHashMap::default();
        }
        let mut visit = |node: &NodeProto| {
            if let Ok(Some(function)) = functions.called(&model.names, node)
                && !self.visited.contains(&place(node))
            {
                self.skipped.insert(function);
            }
        };
        model.graph.iter().for_each(|graph| each_node(&graph.nodes, &mut visit));
        for function in &model.functions {
            each_node(&function.nodes, &mut visit);
            for default in &function.defaults {
                each_graph(&default.value, &mut |graph| each_node(&graph.nodes, &mut visit));
            }
        }
        self.common.retain(|function, _| !self.skipped.contains(function));
        self.common
    }
}

/// Keeps what other types say, too.
fn join(common: &mut GraphTypes, other: &GraphTypes) {
    common.values.retain(|name, ty| {
        let Some(other) = other.values.get(name) else { return false };
        if ty != other {
            *ty = joined(ty, other);
        }
        true
    });
    common.inner.retain(|place, types| {
        let Some(other) = other.inner.get(place) else { return false };
        join(types, other);
        true
    });
}
