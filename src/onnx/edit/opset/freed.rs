//! Constants that became attributes are no longer needed.

use rustc_hash::FxHashSet;

use super::super::references::References;
use super::super::unused::each_use;
use crate::graph::names::NameId;
use crate::onnx::model::{GraphProto, ModelNames, ModelProto, NodeProto};
use crate::onnx::walk::each_graph_mut;
use crate::room::with_stack;

/// The values that nodes and outputs use.
pub(super) fn used(model: &ModelProto) -> FxHashSet<NameId> {
    let mut used = FxHashSet::default();
    each_use(model, &mut |name| _ = used.insert(name));
    used
}

/// Removes the constants that were used before, and are no longer.
pub(super) fn remove(model: &mut ModelProto, before: &FxHashSet<NameId>) {
    let after = used(model);
    let mut freed: FxHashSet<NameId> = before.difference(&after).copied().collect();
    if freed.is_empty() {
        return;
    }
    let kept = References::of(model).kept();
    freed.retain(|name| !kept.contains(name));
    let ModelProto { names, graph, functions, .. } = model;
    graph.iter_mut().for_each(|graph| remove_in(names, graph, &freed));
    functions.iter_mut().for_each(|function| remove_nodes(names, &mut function.nodes, &freed));
}

fn remove_in(names: &ModelNames, graph: &mut GraphProto, freed: &FxHashSet<NameId>) {
    let inputs: FxHashSet<NameId> = graph.inputs.iter().filter_map(|input| input.name).collect();
    let is_freed = |name: Option<NameId>| name.is_some_and(|name| freed.contains(&name) && !inputs.contains(&name));
    graph.initializers.retain(|constant| !is_freed(constant.name));
    graph.value_info.retain(|value| !is_freed(value.name));
    remove_nodes(names, &mut graph.nodes, freed);
}

fn remove_nodes(names: &ModelNames, nodes: &mut Vec<NodeProto>, freed: &FxHashSet<NameId>) {
    let is_freed = |node: &NodeProto| {
        names.operator(node) == ("", "Constant") && node.outputs.iter().all(|output| freed.contains(output))
    };
    nodes.retain(|node| !is_freed(node));
    for attribute in nodes.iter_mut().flat_map(|node| &mut node.attributes) {
        each_graph_mut(&mut attribute.value, &mut |graph| with_stack(|| remove_in(names, graph, freed)));
    }
}
