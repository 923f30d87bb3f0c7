//! Simplification: what changes no result is removed, or said by less.
//!
//! The rules are rows of one [table](table). The [pass] applies those for nodes in the order of the nodes, so that the
//! operands of each are simplified before it; a rule looks at a node, at the nodes that its operands come from, and at types.
//! Names of inputs and outputs, and of what stays, are kept.

mod constants;
mod control;
mod extents;
mod items;
mod moves;
mod pass;
mod row;
mod same;
mod scope;
mod step;
mod table;
mod targets;
#[cfg(test)]
mod tests;
mod unchanged;
mod uniform;
mod unused;

use rustc_hash::FxHashSet;

pub(crate) use row::{RuleCounts, RuleId, SimplifyRule, UsedRules};
pub(crate) use table::RULES;

use super::contradictions;
use super::references::References;
use super::share::share;
use super::unused::uses_in;
use crate::Options;
use crate::graph::names::NameId;
use crate::onnx::infer::{InferGoal, infer_functions};
use crate::onnx::inline::{Imports, own_names};
use crate::onnx::model::ModelProto;
use pass::{RuleLookup, SimplifyPass};
use scope::hidden;

impl UsedRules {
    /// Whether what is known is computed, too.
    pub(crate) fn folds(self) -> bool {
        self.uses(table::FOLD)
    }
}

/// Applies rules to all graphs and functions of a model once. Returns how often each was applied.
pub(super) fn simplify(model: &mut ModelProto, used: UsedRules, options: &Options) -> RuleCounts {
    let mut counts = nodes(model, used, options);
    if used.uses(table::SHARE) {
        counts.count_named(table::SHARE, share(model));
    }
    if used.uses(table::UNUSED) {
        counts.count_named(table::UNUSED, unused::remove(model));
    }
    counts
}

/// Applies the rules for nodes.
fn nodes(model: &mut ModelProto, used: UsedRules, options: &Options) -> RuleCounts {
    let types = infer_functions(model, options, usize::MAX, InferGoal::All);
    if let Some(graph) = &mut model.graph {
        contradictions::mark(graph, &types.main);
    }
    let References { named, variables, annotated } = References::of(model);
    let named: FxHashSet<NameId> = named.union(&annotated).copied().collect();
    let uses = counted(model, &named);
    let rules = RuleLookup::new(used, model);
    let hidden = hidden_names(model);
    let ModelProto { names, graph, functions, opsets, .. } = model;
    let imports = Imports::new(names, opsets);
    let mut pass = SimplifyPass::new(names, imports, &rules, (&named, &variables), (hidden, uses));
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
        let results = function.nodes.iter().flat_map(|node| node.outputs.iter().copied());
        let mut own: Vec<NameId> =
            function.inputs.iter().copied().chain(results).filter(|name| *name != NameId::ROOT).collect();
        own.sort_unstable();
        own.dedup();
        found.extend(hidden(&function.nodes, &own));
    }
    found
}
