//! Simplification of a whole model.

use rustc_hash::FxHashSet;

use super::super::contradictions;
use super::super::references::References;
use super::super::share::share;
use super::super::unused::counted_uses;
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
    let mut references = References::of(model);
    let variables = std::mem::take(&mut references.variables);
    let named = references.kept();
    let uses = counted_uses(model, &named);
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

/// The names that are not said in another place, see [`hidden`].
fn hidden_names(model: &ModelProto) -> FxHashSet<NameId> {
    let mut found = model.graph.as_ref().map(|graph| hidden(&graph.nodes, &own_names(graph))).unwrap_or_default();
    for function in &model.functions {
        found.extend(hidden(&function.nodes, &own_names_of_function(function)));
    }
    found
}
