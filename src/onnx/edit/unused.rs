//! Removes what no output needs.

use rustc_hash::FxHashSet;

use super::references::References;
use crate::graph::names::NameId;
use crate::onnx::model::{FunctionProto, GraphProto, ModelNames, ModelProto, NodeProto, ValueInfo};
use crate::onnx::schema::Schemas;
use crate::onnx::walk::{each_graph, each_graph_mut};
use crate::room::with_stack;

/// Removes nodes of operators with a schema and constants that neither an output of their graph nor a node needs, also in
/// graphs inside nodes. Other nodes stay: what they do is not known.
pub(super) fn remove(model: &mut ModelProto) {
    let named = References::of(model).kept();
    let ModelProto { names, graph: Some(graph), .. } = model else { return };
    remove_in(graph, &named, &|node| is_standard(names, node));
}

fn is_standard(names: &ModelNames, node: &NodeProto) -> bool {
    let (domain, operator) = names.operator(node);
    Schemas::new().has(domain, operator)
}

/// Removes nodes of standard operators of a function that none of its outputs needs.
pub(super) fn remove_from(names: &ModelNames, function: &mut FunctionProto) {
    let mut body = GraphProto { nodes: std::mem::take(&mut function.nodes), ..GraphProto::default() };
    body.outputs.extend(function.outputs.iter().map(|name| ValueInfo { name: Some(*name), ty: None, rest: None }));
    remove_in(&mut body, &FxHashSet::default(), &|node| is_standard(names, node));
    function.nodes = body.nodes;
}

/// [`remove`] for a graph; values with a reference outside nodes stay.
fn remove_in(graph: &mut GraphProto, named: &FxHashSet<NameId>, is_standard: &dyn Fn(&NodeProto) -> bool) {
    let used = retain_nodes(graph, |node, used| {
        let is_used = |output: &NameId| used.contains(output) || named.contains(output);
        if is_standard(node) && !node.outputs.iter().any(is_used) {
            return false;
        }
        for attribute in &mut node.attributes {
            each_graph_mut(&mut attribute.value, &mut |graph| with_stack(|| remove_in(graph, named, is_standard)));
        }
        true
    });
    let used: FxHashSet<NameId> = used.union(named).copied().collect();
    retain_values(graph, &used);
}

/// Keeps the nodes that a function accepts, which gets the names that the outputs and the kept nodes behind use. Returns
/// all names that are used.
pub(super) fn retain_nodes(
    graph: &mut GraphProto,
    mut keeps: impl FnMut(&mut NodeProto, &FxHashSet<NameId>) -> bool,
) -> FxHashSet<NameId> {
    let mut used: FxHashSet<NameId> = graph.outputs.iter().filter_map(|output| output.name).collect();
    let mut kept = Vec::with_capacity(graph.nodes.len());
    for mut node in std::mem::take(&mut graph.nodes).into_iter().rev() {
        if keeps(&mut node, &used) {
            uses_of(&node, &mut used);
            kept.push(node);
        }
    }
    kept.reverse();
    graph.nodes = kept;
    used
}

/// Removes constants that are not used, and the types of values that no longer occur.
pub(super) fn retain_values(graph: &mut GraphProto, used: &FxHashSet<NameId>) {
    let inputs: FxHashSet<NameId> = graph.inputs.iter().filter_map(|input| input.name).collect();
    let is_needed = |name: NameId| used.contains(&name) || inputs.contains(&name);
    graph.initializers.retain(|constant| constant.name.is_none_or(is_needed));
    let made: FxHashSet<NameId> = graph.nodes.iter().flat_map(|node| node.outputs.iter().copied()).collect();
    graph.value_info.retain(|value| value.name.is_none_or(|name| is_needed(name) || made.contains(&name)));
}

/// Collects the names that a node uses, also in graphs inside it.
pub(super) fn uses_of(node: &NodeProto, used: &mut FxHashSet<NameId>) {
    uses_in(node, &mut |name| _ = used.insert(name));
}

/// Calls a function with each name that nodes and outputs of a model and of its functions use.
pub(super) fn each_use(model: &ModelProto, f: &mut dyn FnMut(NameId)) {
    model.functions.iter().flat_map(|function| &function.outputs).copied().for_each(&mut *f);
    model.graph.iter().flat_map(|graph| &graph.outputs).filter_map(|output| output.name).for_each(&mut *f);
    let bodies = model.functions.iter().map(|function| &function.nodes);
    let nodes = model.graph.iter().map(|graph| &graph.nodes).chain(bodies).flatten();
    nodes.for_each(|node| uses_in(node, f));
}

/// How often nodes, outputs and what is named outside nodes use each value, by the number of its name.
pub(super) fn counted_uses(model: &ModelProto, named: &FxHashSet<NameId>) -> Vec<u32> {
    let mut uses = vec![0u32; model.names.values.len()];
    let mut count = |name: NameId| {
        if let Some(count) = uses.get_mut(name.index()) {
            *count = count.saturating_add(1);
        }
    };
    named.iter().copied().for_each(&mut count);
    each_use(model, &mut count);
    uses
}

/// Calls a function with each name that a node uses, also in graphs inside it.
pub(super) fn uses_in(node: &NodeProto, f: &mut dyn FnMut(NameId)) {
    node.inputs.iter().copied().filter(|input| *input != NameId::ROOT).for_each(&mut *f);
    for attribute in &node.attributes {
        each_graph(&attribute.value, &mut |graph| {
            graph.outputs.iter().filter_map(|output| output.name).for_each(&mut *f);
            graph.nodes.iter().for_each(|node| with_stack(|| uses_in(node, f)));
        });
    }
}
