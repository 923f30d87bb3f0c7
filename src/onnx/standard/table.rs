//! The table of bodies: one row for each operator and each version in which its body changes.

use super::builders::{activations, comparisons};
use super::call::{Build, StandardCall};
use super::template::{self, Settings};

/// What fills a template in for a call.
pub(super) type Builder = fn(&StandardCall, &mut Settings) -> Build<()>;

/// A body of an operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The domain; empty for that of the standard.
    pub(super) domain: &'static str,
    pub(super) name: &'static str,
    /// The first version of the operator set in which it is the body.
    pub(super) version: i64,
    /// The file with its template.
    file: &'static str,
    build: Builder,
}

const fn row(name: &'static str, version: i64, file: &'static str, build: Builder) -> Row {
    Row { domain: "", name, version, file, build }
}

const ACTIVATIONS: &str = include_str!("bodies/activations.txt");
const COMPARISONS: &str = include_str!("bodies/comparisons.txt");

/// All bodies. The versions of an operator are in ascending order.
pub(super) static TABLE: &[Row] = &[
    row("CastLike", 15, COMPARISONS, comparisons::cast_like),
    row("CastLike", 19, COMPARISONS, comparisons::cast_like),
    row("CastLike", 24, COMPARISONS, comparisons::cast_like),
    row("Celu", 12, ACTIVATIONS, activations::plain),
    row("Clip", 13, COMPARISONS, comparisons::clip),
    row("Elu", 18, ACTIVATIONS, activations::plain),
    row("Gelu", 20, ACTIVATIONS, activations::gelu),
    row("GreaterOrEqual", 12, COMPARISONS, activations::plain),
    row("HardSigmoid", 18, ACTIVATIONS, activations::plain),
    row("HardSwish", 14, ACTIVATIONS, activations::plain),
    row("LeakyRelu", 16, ACTIVATIONS, activations::plain),
    row("LessOrEqual", 12, COMPARISONS, activations::plain),
    row("Mish", 18, ACTIVATIONS, activations::plain),
    row("PRelu", 16, ACTIVATIONS, activations::plain),
    row("Relu", 18, ACTIVATIONS, activations::plain),
    row("Selu", 18, ACTIVATIONS, activations::plain),
    row("Shrink", 18, ACTIVATIONS, activations::shrink),
    row("Softplus", 18, ACTIVATIONS, activations::plain),
    row("Softsign", 18, ACTIVATIONS, activations::plain),
    row("Swish", 24, ACTIVATIONS, activations::plain),
    row("ThresholdedRelu", 18, ACTIVATIONS, activations::plain),
];

impl Row {
    /// The function for a call, in the text notation.
    pub(super) fn text(&self, call: &StandardCall) -> Build<String> {
        let mut settings = Settings::default();
        settings.set("T", call.element_name(0));
        settings.set("t", call.element(0).map_or(0, |element| element.number));
        (self.build)(call, &mut settings)?;
        let section = template::section(self.file, self.name, self.version);
        let text = section.and_then(|section| template::assemble(self.name, section, &settings));
        text.ok_or(super::call::NotKnown)
    }
}

/// The body of an operator in a version of its operator set.
pub(super) fn body(domain: &str, name: &str, version: i64) -> Option<&'static Row> {
    TABLE.iter().rfind(|row| row.name == name && row.domain == domain && row.version <= version)
}

/// Whether an option names an operator that has a body in some version: with or without its domain.
pub(crate) fn names_body(option: &str) -> bool {
    TABLE.iter().any(|row| {
        let domain = if row.domain.is_empty() { "ai.onnx" } else { row.domain };
        let name = option.strip_prefix(domain).and_then(|rest| rest.strip_prefix('.')).unwrap_or(option);
        name == row.name
    })
}

/// Whether an operator has a body in some version.
pub(super) fn has_body(domain: &str, name: &str) -> bool {
    body(domain, name, i64::MAX).is_some()
}
