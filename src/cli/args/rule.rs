//! The rules of `--simplify` and `--merge` as values of options.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::onnx::{RULES, RuleId};

/// A rule that changes no result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule(pub RuleId);

/// A rule that merges.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MergeRule(pub RuleId);

fn value_of(rule: RuleId) -> Option<PossibleValue> {
    let rule = RULES.get(rule.index())?;
    Some(PossibleValue::new(rule.name).help(format!("{} becomes {}", rule.pattern, rule.left)))
}

impl ValueEnum for Rule {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Rule>> = LazyLock::new(|| RuleId::all(false).map(Rule).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        value_of(self.0)
    }
}

impl ValueEnum for MergeRule {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<MergeRule>> = LazyLock::new(|| RuleId::all(true).map(MergeRule).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        value_of(self.0)
    }
}
