//! Simplification of a whole model.

use rustc_hash::FxHashSet;

use super::super::contradictions;
use super::super::references::References;
use super::super::share::share;
use super::super::unused::uses_in;
use super::pass::{RuleLookup, SimplifyPass};
use super::scope::hidden;
use super::used::{RuleCounts, UsedRules};
use super::{rule_table, unused};
use crate::Options;
use crate::graph::names::NameId;
use crate::onnx::functions::Imports;
use crate::onnx::infer::{InferGoal, infer_functions};
use crate::onnx::model::ModelProto;
use crate::onnx::walk::{own_names, own_names_of_function};

/// Applies rules to all graphs and functions of a model once. Returns how often each was applied.
pub(in crate::onnx::edit) fn simplify(model: &mut ModelProto, used: UsedRules, options: &Options) -> RuleCounts {
    let mut counts = nodes(model, used, options);
    if used.uses(rule_table::SHARE) {
        counts.count_named(rule_table::SHARE, share(model));
    }
    if used.uses(rule_table::UNUSED) {
        counts.count_named(rule_table::UNUSED, unused::remove(model));
    }
    counts
}

/// Applies merges to all graphs and functions of a model once, and removes what nothing uses then. Returns how often each was
/// applied.
pub(in crate::onnx::edit) fn merge(model: &mut ModelProto, used: UsedRules, options: &Options) -> RuleCounts {
    let mut counts = nodes(model, used, options);
    if counts.total() > 0 {
        counts.count_named(rule_table::UNUSED, unused::remove(model));
    }
    counts
}

/// Applies the rules for nodes.
fn nodes(model: &mut ModelProto, used: UsedRules, options: &Options) -> RuleCounts {
    let types = infer_functions(model, options, usize::MAX, InferGoal::All);
    if let Some(graph) = &mut model.graph {
        model.contradicts |= contradictions::mark(graph, &types.main);
    }
    let References { named, variables, annotated } = References::of(model);
    let named: FxHashSet<NameId> = named.union(&annotated).copied().collect();
    let uses = counted(model, &named);
    let rules = RuleLookup::new(used, model);
    let hidden = hidden_names(model);
    let ModelProto { names, graph, functions, opsets, .. } = model;
    let imports = Imports::new(names, opsets);
    let mut pass = SimplifyPass::new(names, imports, &rules, &named, &variables, hidden, uses);
    if let Some(graph) = graph {
        pass.graph(graph, Some(&types.main).filter(|types| !types.contradicts), false);
    }
    for (i, function) in functions.iter_mut().enumerate() {
        pass.in_function(function, types.functions.get(&i));
    }
    pass.finish()
}

/// How often nodes, outputs and what is named outside nodes use each value, by the number of its name.
fn counted(model: &ModelProto, named: &FxHashSet<NameId>) -> Vec<u32> {
    let mut uses = vec![0u32; model.names.values.len()];
    let mut count = |name: NameId| {
        if let Some(count) = uses.get_mut(name.index()) {
            *count = count.saturating_add(1);
        }
    };
    named.iter().copied().for_each(&mut count);
    let bodies = model.functions.iter().map(|function| &function.nodes);
    model.functions.iter().flat_map(|function| &function.outputs).for_each(|output| count(*output));
    model.graph.iter().flat_map(|graph| &graph.outputs).filter_map(|output| output.name).for_each(&mut count);
    for nodes in model.graph.iter().map(|graph| &graph.nodes).chain(bodies) {
        nodes.iter().for_each(|node| uses_in(node, &mut count));
    }
    uses
}

/// The names that are not said in another place, see [`hidden`].
fn hidden_names(model: &ModelProto) -> FxHashSet<NameId> {
    let mut found = model.graph.as_ref().map(|graph| hidden(&graph.nodes, &own_names(graph))).unwrap_or_default();
    for function in &model.functions {
        found.extend(hidden(&function.nodes, &own_names_of_function(function)));
    }
    found
}
