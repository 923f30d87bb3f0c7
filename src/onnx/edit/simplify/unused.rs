//! Removes what nothing uses: nodes and constants, functions, imports of operator sets.

use rustc_hash::FxHashSet;

use super::super::unused;
use crate::graph::names::NameId;
use crate::onnx::functions::Functions;
use crate::onnx::model::{FunctionProto, ModelNames, ModelProto, NodeProto};
use crate::onnx::protobuf::fields::model as model_fields;
use crate::onnx::walk::{each_graph, each_node, own_names_of_function};
use crate::source::names::Name;

/// Removes what nothing uses. Returns how much.
pub(super) fn remove(model: &mut ModelProto) -> u64 {
    let before = counted(model);
    unused::remove(model);
    // Training information, which stays encoded, calls functions and needs imports, too.
    let mut fields = model.rest.iter().flat_map(|fields| fields.iter());
    if !fields.any(|field| field.number == model_fields::TRAINING) {
        functions(model);
        imports(model);
    }
    before.saturating_sub(counted(model))
}

/// The number of parts that may be removed.
fn counted(model: &ModelProto) -> u64 {
    let mut count = model.functions.len() + model.opsets.len();
    let mut visit = |node: &NodeProto| {
        count += 1;
        for attribute in &node.attributes {
            each_graph(&attribute.value, &mut |graph| count += graph.initializers.len() + graph.value_info.len());
        }
    };
    model.graph.iter().for_each(|graph| each_node(&graph.nodes, &mut visit));
    model.functions.iter().for_each(|function| each_node(&function.nodes, &mut visit));
    let inner = model.functions.iter().map(|function| function.value_info.len()).sum::<usize>();
    let own = model.graph.iter().map(|graph| graph.initializers.len() + graph.value_info.len()).sum::<usize>();
    (count + inner + own) as u64
}

/// Removes functions that are not called from the graph, nor from a function that is.
fn functions(model: &mut ModelProto) {
    if model.functions.is_empty() {
        return;
    }
    let Some(graph) = &model.graph else { return };
    let table = Functions::of_calls(&model.names, &model.functions);
    let mut called = vec![false; model.functions.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut visit = |nodes: &[NodeProto], open: &mut Vec<usize>| {
        each_node(nodes, &mut |node| match table.called(&model.names, node) {
            Ok(Some(function)) if !std::mem::replace(&mut called[function], true) => open.push(function),
            _ => {}
        });
    };
    visit(&graph.nodes, &mut open);
    while let Some(function) = open.pop() {
        let Some(function) = model.functions.get(function) else { continue };
        visit(&function.nodes, &mut open);
        for default in &function.defaults {
            each_graph(&default.value, &mut |graph| visit(&graph.nodes, &mut open));
        }
    }
    let mut at = 0;
    model.functions.retain(|_| {
        at += 1;
        called[at - 1]
    });
    let ModelProto { names, functions, .. } = model;
    functions.iter_mut().for_each(|function| unused_of(names, function));
}

/// Removes nodes of a function that no output needs.
fn unused_of(names: &ModelNames, function: &mut FunctionProto) {
    unused::remove_from(names, function);
    let own = own_names_of_function(function);
    let known: FxHashSet<NameId> = function.outputs.iter().copied().chain(own).collect();
    function.value_info.retain(|value| value.name.is_none_or(|name| known.contains(&name)));
}

/// Removes imports of operator sets from which there is no node; that of the standard stays.
fn imports(model: &mut ModelProto) {
    let ModelProto { names, graph, functions, opsets, .. } = model;
    let mut used: FxHashSet<Option<Name>> = FxHashSet::default();
    let mut visit = |node: &NodeProto| _ = used.insert(node.domain);
    graph.iter().for_each(|graph| each_node(&graph.nodes, &mut visit));
    for function in functions.iter() {
        each_node(&function.nodes, &mut visit);
        for default in &function.defaults {
            each_graph(&default.value, &mut |graph| each_node(&graph.nodes, &mut visit));
        }
    }
    used.extend(functions.iter().map(|function| function.domain));
    let is_standard = |name: Name| matches!(names.texts.text(name), "" | "ai.onnx");
    opsets.retain(|import| import.domain.is_none_or(is_standard) || used.contains(&import.domain));
    for function in functions {
        let mut own: FxHashSet<Option<Name>> = FxHashSet::default();
        each_node(&function.nodes, &mut |node| _ = own.insert(node.domain));
        let keeps = |domain: Option<Name>| domain.is_none_or(is_standard) || own.contains(&domain);
        function.opsets.retain(|import| keeps(import.domain) || !function.defaults.is_empty());
    }
}
