//! Simplification: what changes no result is removed, or said by less.
//!
//! The rules are rows of one [table](table). The [pass] applies those for nodes in the order of the nodes, so that the
//! operands of each are simplified before it; a rule looks at a node, at the nodes that its operands come from, and at types.
//! Names of inputs and outputs, and of what stays, are kept. Rules that [merge] change rounding; they are used apart.

mod constants;
mod control;
mod extents;
mod items;
mod merge;
mod moves;
mod pass;
mod row;
mod rule_table;
mod same;
mod scope;
mod step;
mod targets;
#[cfg(test)]
mod tests;
mod unchanged;
mod uniform;
mod unused;
mod used;
mod whole;

pub(super) use constants::value as constant_value;
pub(crate) use row::SimplifyRule;
pub(crate) use rule_table::RULES;
pub(super) use scope::SimplifyScope;
pub(super) use step::{SimplifyStep, StepExtents, given, is_same};
pub(crate) use used::{RuleCounts, RuleId, UsedRules};
pub(super) use whole::{merge, simplify};
