//! The element types of what the graph of a `SequenceMap` computes.
//!
//! A program may run the operator by its function, which begins with empty sequences of the types that the graph declares.
//! onnxruntime does, and infers them before only where control flow is last in the graph, which folding may replace.

use super::contradictions::each_inner;
use crate::Options;
use crate::onnx::infer::{GraphTypes, infer};
use crate::onnx::model::{GraphProto, ModelNames, ModelProto, NodeProto, TensorType, TypeForm, ValueInfo};
use crate::onnx::walk::{each_graph, each_node};
use crate::room::with_stack;

/// The operator.
const MAP: &str = "SequenceMap";

/// Declares the element types of the outputs of graphs of `SequenceMap` that have none, as far as they are known.
pub(in crate::onnx) fn declare_items(model: &mut ModelProto, options: &Options) {
    let ModelProto { names, graph: Some(graph), .. } = &*model else { return };
    if names.texts.get(MAP).is_none() || !lacks_elements(names, graph) {
        return;
    }
    let types = infer(model, options);
    if let ModelProto { names, graph: Some(graph), .. } = model {
        declare(names, graph, &types.main);
    }
}

fn is_map(names: &ModelNames, node: &NodeProto) -> bool {
    names.operator(node) == ("", MAP)
}

/// Whether a type is missing in the graph of a `SequenceMap`.
fn lacks_elements(names: &ModelNames, graph: &GraphProto) -> bool {
    let mut lacks = false;
    each_node(&graph.nodes, &mut |node| {
        for attribute in node.attributes.iter().filter(|_| is_map(names, node)) {
            each_graph(&attribute.value, &mut |inner| lacks |= inner.outputs.iter().any(has_no_element));
        }
    });
    lacks
}

fn has_no_element(value: &ValueInfo) -> bool {
    match value.ty.as_ref().map(|ty| &ty.form) {
        None | Some(TypeForm::None) => true,
        Some(TypeForm::Tensor(ty)) => ty.element.unwrap_or(0) == 0,
        Some(_) => false,
    }
}

/// Declares the types in the graphs of nodes of a graph.
fn declare(names: &ModelNames, graph: &mut GraphProto, types: &GraphTypes) {
    let maps: Vec<bool> = graph.nodes.iter().map(|node| is_map(names, node)).collect();
    each_inner(graph, types, &mut |inner, (types, (node, ..))| {
        // What is not to be run may have types that contradict each other.
        if inner.cannot_run || types.contradicts {
            return;
        }
        for output in inner.outputs.iter_mut().filter(|output| maps[node] && has_no_element(output)) {
            declare_element(output, types);
        }
        with_stack(|| declare(names, inner, types));
    });
}

fn declare_element(output: &mut ValueInfo, types: &GraphTypes) {
    let facts = output.name.and_then(|name| types.values.get(name)?.as_tensor());
    let Some(element) = facts.and_then(|facts| facts.element) else { return };
    match &mut output.ty.get_or_insert_default().form {
        TypeForm::Tensor(ty) => ty.element = Some(element as i32),
        form => *form = TypeForm::Tensor(TensorType { element: Some(element as i32), shape: None, rest: None }),
    }
}
