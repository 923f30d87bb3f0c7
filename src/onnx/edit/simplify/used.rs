//! Which rules are used, and how often.

use super::rule_table::{FOLD, RULES, UNUSED};

/// The position of a rule in the table.
fn index_of(name: &str) -> Option<usize> {
    RULES.iter().position(|rule| rule.name == name)
}

/// A rule, by its position in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuleId(usize);

impl RuleId {
    /// The rules that change no result, or those that merge.
    pub(crate) fn all(merges: bool) -> impl Iterator<Item = RuleId> {
        (0..RULES.len()).filter(move |index| RULES[*index].merges == merges).map(RuleId)
    }

    /// Its position in the table.
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// The rules of a kind.
const fn all(merges: bool) -> u128 {
    let (mut bits, mut index) = (0, 0);
    while index < RULES.len() {
        if RULES[index].merges == merges {
            bits |= 1 << index;
        }
        index += 1;
    }
    bits
}

fn bits(rules: &[RuleId]) -> u128 {
    rules.iter().fold(0, |bits, rule| bits | 1 << rule.0)
}

/// The rules that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UsedRules(u128);

const _: () = assert!(RULES.len() <= u128::BITS as usize);

impl UsedRules {
    /// All rules that change no result.
    pub(crate) const ALL: UsedRules = UsedRules(all(false));

    /// These rules, or all that change no result if there is none, without others.
    pub(crate) fn of(used: &[RuleId], left: &[RuleId]) -> UsedRules {
        UsedRules(if used.is_empty() { all(false) } else { bits(used) } & !bits(left))
    }

    /// These merges, or all if there is none.
    pub(crate) fn merging(used: &[RuleId]) -> UsedRules {
        UsedRules(if used.is_empty() { all(true) } else { bits(used) })
    }

    /// These rules, and what computes what is known.
    pub(crate) fn and_fold(self) -> UsedRules {
        UsedRules(self.0 | index_of(FOLD).map_or(0, |index| 1 << index))
    }

    /// Whether what is known is computed, too.
    pub(crate) fn folds(self) -> bool {
        self.uses(FOLD)
    }

    /// Whether what nothing uses is removed.
    pub(crate) fn removes(self) -> bool {
        self.uses(UNUSED)
    }

    /// Whether the rule at a position is used.
    pub(super) fn has(self, index: usize) -> bool {
        self.0 >> index & 1 == 1
    }

    /// Whether the rule with a name is used.
    pub(crate) fn uses(self, name: &str) -> bool {
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
    pub(crate) fn count_named(&mut self, name: &str, times: u64) {
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
