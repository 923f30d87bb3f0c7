//! A row of the table of rules, and which rules are used.

use super::step::SimplifyStep;
use super::table::{FOLD, RULES};
use crate::graph::names::NameId;
use crate::onnx::model::{NodeProto, TensorProto};

/// A rule: what it looks for, and what it leaves.
#[derive(Debug)]
pub(crate) struct SimplifyRule {
    /// Its name in options.
    pub(crate) name: &'static str,
    /// The operators of the nodes that it looks at; none for a rule that is applied to whole graphs.
    pub(super) operators: &'static [&'static str],
    /// What is simplified.
    pub(crate) pattern: &'static str,
    /// What has to be known for that.
    pub(crate) condition: &'static str,
    /// What is left.
    pub(crate) left: &'static str,
    /// Why no result changes, not even its sign or the bits of a special value.
    pub(crate) exact: &'static str,
    /// Where it is applied.
    pub(super) applies: Applies,
}

/// Where a rule is applied.
#[derive(Clone, Copy, Debug)]
pub(super) enum Applies {
    /// To a node, after its operands were simplified.
    Node(fn(&SimplifyStep) -> Option<Change>),
    /// To a node with graphs, after these were simplified; see [`super::control`].
    Control,
    /// By the driver, or by a pass of its own.
    Apart,
}

/// What a rule makes of a node.
#[derive(Debug)]
pub(super) enum Change {
    /// Another value is the first result, which is the only one that is used.
    Value(NameId),
    /// Another node has the results.
    Node(Box<NewNode>),
}

/// A node in place of another one.
#[derive(Debug)]
pub(super) struct NewNode {
    pub(super) node: NodeProto,
    /// Its operator of the standard, if it is another one.
    pub(super) operator: Option<&'static str>,
    /// New constants, as these operands.
    pub(super) constants: Vec<(usize, TensorProto)>,
}

impl Change {
    /// A node of the same operator without new constants.
    pub(super) fn node(node: NodeProto) -> Option<Change> {
        Change::new(node, None, Vec::new())
    }

    /// A node of an operator with new constants as operands.
    pub(super) fn new(
        node: NodeProto,
        operator: Option<&'static str>,
        constants: Vec<(usize, TensorProto)>,
    ) -> Option<Change> {
        Some(Change::Node(Box::new(NewNode { node, operator, constants })))
    }
}

/// The position of a rule in the table.
pub(super) fn index_of(name: &str) -> Option<usize> {
    RULES.iter().position(|rule| rule.name == name)
}

/// A rule, by its position in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuleId(usize);

impl RuleId {
    /// All rules.
    pub(crate) fn all() -> impl Iterator<Item = RuleId> {
        (0..RULES.len()).map(RuleId)
    }

    /// Its position in the table.
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// The rules that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UsedRules(u128);

const _: () = assert!(RULES.len() <= u128::BITS as usize);

impl UsedRules {
    /// All rules.
    pub(crate) const ALL: UsedRules = UsedRules(u128::MAX);

    /// These rules, or all if there is none, without others.
    pub(crate) fn of(used: &[RuleId], left: &[RuleId]) -> UsedRules {
        let bits = |rules: &[RuleId]| rules.iter().fold(0u128, |bits, rule| bits | 1 << rule.0);
        UsedRules(if used.is_empty() { u128::MAX } else { bits(used) } & !bits(left))
    }

    /// These rules, and what computes what is known.
    pub(crate) fn and_fold(self) -> UsedRules {
        UsedRules(self.0 | index_of(FOLD).map_or(0, |index| 1 << index))
    }

    /// Whether the rule at a position is used.
    pub(super) fn has(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }

    /// Whether the rule with a name is used.
    pub(super) fn uses(self, name: &str) -> bool {
        index_of(name).is_some_and(|index| self.has(index))
    }
}

/// How often each rule was applied, in the order of the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleCounts(Vec<u64>);

impl RuleCounts {
    /// Counts applications of the rule at a position.
    pub(super) fn count(&mut self, index: usize, times: u64) {
        self.0.resize(RULES.len(), 0);
        if let Some(count) = self.0.get_mut(index) {
            *count = count.saturating_add(times);
        }
    }

    /// Counts applications of the rule with a name.
    pub(super) fn count_named(&mut self, name: &str, times: u64) {
        if let Some(index) = index_of(name) {
            self.count(index, times);
        }
    }

    /// Counts nodes whose results became constants.
    pub(crate) fn count_folded(&mut self, times: u64) {
        self.count_named(FOLD, times);
    }

    /// Adds the counts of another pass.
    pub(crate) fn add(&mut self, other: &RuleCounts) {
        other.0.iter().enumerate().for_each(|(index, count)| self.count(index, *count));
    }

    /// The sum of all counts.
    pub(crate) fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The rules that were applied, with their counts.
    pub(crate) fn applied(&self) -> impl Iterator<Item = (&'static str, u64)> {
        RULES.iter().zip(&self.0).filter(|(_, count)| **count > 0).map(|(rule, count)| (rule.name, *count))
    }
}
