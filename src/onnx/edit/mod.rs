//! Edits of models that options request: inputs with given values and shapes, folding, merging of equal nodes, types,
//! functions for repeated structure.

mod annotate;
mod contradictions;
mod cut;
mod fold;
mod format;
mod given;
mod growth;
mod mapped;
mod opset;
mod outline;
mod pure;
mod references;
mod rounds;
mod share;
mod simplify;
#[cfg(test)]
mod tests;
mod unused;

pub(super) use annotate::annotate;
pub(super) use contradictions::{declare, declared, misfits};
pub(super) use cut::{cut, has_kept};
pub(super) use format::raise;
pub(super) use given::{bind, set_shapes};
pub(super) use mapped::declare_items;
pub(super) use opset::convert as convert_opset;
pub(super) use outline::outline;
pub(crate) use pure::is_function;
pub(super) use rounds::{fold, memory, merge, simplify, unroll};
pub(super) use share::share;
pub(crate) use simplify::{RULES, RuleCounts, RuleId, SimplifyRule, UsedRules};
