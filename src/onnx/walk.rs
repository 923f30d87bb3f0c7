//! Walks over nodes, and over the graphs in their attributes.

use rustc_hash::FxHashSet;

use super::model::{AttributeValue, FunctionProto, GraphProto, ModelProto, NodeProto, Values};
use crate::graph::names::NameId;

/// Visits nodes, including those of graphs in their attributes.
pub(in crate::onnx) fn each_node(nodes: &[NodeProto], visit: &mut dyn FnMut(&NodeProto)) {
    for node in nodes {
        visit(node);
        for attribute in &node.attributes {
            each_graph(&attribute.value, &mut |graph| each_node(&graph.nodes, visit));
        }
    }
}

/// Visits the nodes of a model, those of its functions included.
pub(in crate::onnx) fn each_node_of_model(model: &ModelProto, visit: &mut dyn FnMut(&NodeProto)) {
    model.graph.iter().for_each(|graph| each_node(&graph.nodes, visit));
    model.functions.iter().for_each(|function| each_node(&function.nodes, visit));
}

/// [`each_node`] for nodes that are changed.
pub(in crate::onnx) fn each_node_mut(nodes: &mut [NodeProto], visit: &mut dyn FnMut(&mut NodeProto)) {
    for node in nodes {
        visit(node);
        node.attributes.iter_mut().for_each(|attribute| each_node_of_value(&mut attribute.value, visit));
    }
}

/// [`each_node_mut`] for the nodes of the graphs in the value of an attribute.
pub(in crate::onnx) fn each_node_of_value(value: &mut AttributeValue, visit: &mut dyn FnMut(&mut NodeProto)) {
    each_graph_mut(value, &mut |graph| each_node_mut(&mut graph.nodes, visit));
}

/// Visits the graphs in the value of an attribute.
pub(in crate::onnx) fn each_graph(value: &AttributeValue, visit: &mut dyn FnMut(&GraphProto)) {
    value.graphs().iter().for_each(visit);
}

/// [`each_graph`] for graphs that are changed.
pub(in crate::onnx) fn each_graph_mut(value: &mut AttributeValue, visit: &mut dyn FnMut(&mut GraphProto)) {
    value.graphs_mut().iter_mut().for_each(visit);
}

/// The names that a graph defines, each once.
pub(in crate::onnx) fn own_names(graph: &GraphProto) -> Values {
    let inputs = graph.inputs.iter().filter_map(|input| input.name);
    let initializers = graph.initializers.iter().filter_map(|tensor| tensor.name);
    distinct(inputs.chain(initializers), &graph.nodes)
}

/// The names that a function defines, each once.
pub(in crate::onnx) fn own_names_of_function(function: &FunctionProto) -> Values {
    distinct(function.inputs.iter().copied(), &function.nodes)
}

/// Names and those of the results of nodes, each once.
fn distinct(names: impl Iterator<Item = NameId>, nodes: &[NodeProto]) -> Values {
    let results = nodes.iter().flat_map(|node| node.outputs.iter().copied());
    let mut own: Values = names.chain(results).filter(|name| *name != NameId::ROOT).collect();
    // Most branches define one.
    if own.len() > 1 {
        let mut seen = FxHashSet::default();
        own.retain(|name| seen.insert(*name));
    }
    own
}
