//! The rules of `--simplify` as values of options.

use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::onnx::{RULES, RuleId};

/// A rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule(pub RuleId);

impl ValueEnum for Rule {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Rule>> = LazyLock::new(|| RuleId::all().map(Rule).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let rule = RULES.get(self.0.index())?;
        Some(PossibleValue::new(rule.name).help(format!("{} becomes {}", rule.pattern, rule.left)))
    }
}
