//! Graphs of nodes that cannot run with the shapes of the inputs: a branch that is never taken may have any shapes.
//!
//! What contradicts itself decides nothing. In such a graph nothing is computed, no branch is chosen, and types stay as
//! they were: programs that infer shapes would refuse the model for what never happens.

use rustc_hash::FxHashMap;

use crate::diagnostics::Code;
use crate::graph::names::NameId;
use crate::onnx::functions::NodeFinding;
use crate::onnx::infer::{GraphTypes, InnerPlace, sources};
use crate::onnx::model::{GraphProto, ModelNames, ModelProto, NodeProto, ValueInfo};
use crate::onnx::walk::{each_graph, each_graph_mut, each_node};
use crate::room::with_stack;

/// Marks the graphs in nodes of a graph in which operands contradict each other. Returns whether there are any.
pub(super) fn mark(graph: &mut GraphProto, types: &GraphTypes) -> bool {
    let mut marked = false;
    each_inner(graph, types, &mut |inner, (types, _)| {
        inner.cannot_run |= types.contradicts;
        marked |= types.contradicts | with_stack(|| mark(inner, types));
    });
    marked
}

/// Gives the graphs in nodes whose types contradict each other the types that they had before, when the nodes were the
/// same. Returns whether there are any.
pub(super) fn restore(graph: &mut GraphProto, before: &GraphProto, types: &GraphTypes) -> bool {
    let mut marked = false;
    each_inner(graph, types, &mut |inner, types| {
        let Some(before) = inner_at(before, types.1) else { return };
        match types.0.contradicts {
            true => {
                inner.clone_from(before);
                (inner.cannot_run, marked) = (true, true);
            }
            false => marked |= with_stack(|| restore(inner, before, types.0)),
        }
    });
    marked
}

/// The graph in a node of a graph.
fn inner_at(graph: &GraphProto, (node, attribute, position): InnerPlace) -> Option<&GraphProto> {
    graph.nodes.get(node)?.attributes.get(attribute)?.value.graphs().get(position)
}

/// Visits the graphs in the nodes of a graph with their types and places.
pub(super) fn each_inner(
    graph: &mut GraphProto,
    types: &GraphTypes,
    visit: &mut dyn FnMut(&mut GraphProto, (&GraphTypes, InnerPlace)),
) {
    for (i, node) in graph.nodes.iter_mut().enumerate() {
        for (a, attribute) in node.attributes.iter_mut().enumerate() {
            let mut place = (i, a, 0);
            each_graph_mut(&mut attribute.value, &mut |inner| {
                if let Some(types) = types.inner.get(place) {
                    visit(inner, (types, place));
                }
                place.2 += 1;
            });
        }
    }
}

/// The types that the graph of a model declares.
pub(in crate::onnx) fn declared(model: &ModelProto) -> Vec<ValueInfo> {
    let graph = model.graph.iter();
    graph.flat_map(|graph| graph.inputs.iter().chain(&graph.outputs).chain(&graph.value_info)).cloned().collect()
}

/// Declares the types that values had before. Programs that infer shapes look into a graph that cannot run, too.
pub(in crate::onnx) fn declare(model: &mut ModelProto, before: &[ValueInfo]) {
    let before: FxHashMap<Option<NameId>, &ValueInfo> = before.iter().map(|value| (value.name, value)).collect();
    if let Some(graph) = &mut model.graph {
        let values = graph.inputs.iter_mut().chain(&mut graph.outputs).chain(&mut graph.value_info);
        for value in values {
            if let Some(before) = before.get(&value.name) {
                value.ty.clone_from(&before.ty);
            }
        }
    }
}

/// A warning for each node with a graph that cannot run, which names the inputs that decide whether it does.
pub(in crate::onnx) fn misfits(model: &ModelProto) -> Vec<NodeFinding> {
    let Some(graph) = model.graph.as_ref().filter(|_| model.contradicts) else { return Vec::new() };
    let mut found = Vec::new();
    each_node(&graph.nodes, &mut |node| {
        let mut cannot_run = false;
        for attribute in &node.attributes {
            each_graph(&attribute.value, &mut |inner| cannot_run |= inner.cannot_run);
        }
        if cannot_run {
            found.push(finding(&model.names, graph, node));
        }
    });
    found
}

fn finding(names: &ModelNames, graph: &GraphProto, node: &NodeProto) -> NodeFinding {
    let output = node.outputs.iter().find(|output| **output != NameId::ROOT);
    let of = output.map_or(String::new(), |output| format!(" of `{}`", names.spelled(*output)));
    let operator = node.op_type.map_or("", |operator| names.texts.text(operator));
    let message = format!(
        "a graph of the `{operator}`{of} does not fit the shapes of the inputs: nothing in it is computed or decided, and declared types stay"
    );
    let deciding: Vec<String> = inputs_of(graph, node).into_iter().map(|input| names.spelled(input)).collect();
    NodeFinding::new(Code::OnnxMisfit, node.at, message).deciding(&deciding)
}

/// The inputs of the graph of a model that the first operand of a node is computed from.
fn inputs_of(graph: &GraphProto, node: &NodeProto) -> Vec<NameId> {
    let inputs: Vec<NameId> = graph.inputs.iter().filter_map(|input| input.name).collect();
    let found = sources(&graph.nodes, &inputs, &node.inputs[..node.inputs.len().min(1)]);
    found.into_iter().map(|at| inputs[at]).collect()
}
