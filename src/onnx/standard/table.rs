//! The table of bodies: one row for each operator and each version in which its body changes.

use super::builders::{
    activations, attention, comparisons, layouts, linear, losses, normalizations, recurrent, reductions, sequences,
    sources,
};
use super::call::{Build, NotKnown, StandardCall};
use super::template::{self, TemplateSettings};

/// What fills a template in for a call.
pub(super) type BodyBuilder = fn(&StandardCall, &mut TemplateSettings) -> Build<()>;

/// A body of an operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyRow {
    /// The domain; empty for that of the standard.
    pub(super) domain: &'static str,
    pub(super) name: &'static str,
    /// The first version of the operator set in which it is the body.
    pub(super) version: i64,
    /// The file with its template.
    file: &'static str,
    build: BodyBuilder,
}

const fn row(name: &'static str, version: i64, file: &'static str, build: BodyBuilder) -> BodyRow {
    BodyRow { domain: "", name, version, file, build }
}

const ACTIVATIONS: &str = include_str!("bodies/activations.txt");
const ATTENTION: &str = include_str!("bodies/attention.txt");
const COMPARISONS: &str = include_str!("bodies/comparisons.txt");
const LAYOUTS: &str = include_str!("bodies/layouts.txt");
const LINEAR: &str = include_str!("bodies/linear.txt");
const LOSSES: &str = include_str!("bodies/losses.txt");
const NORMALIZATIONS: &str = include_str!("bodies/normalizations.txt");
const QUANTIZATION: &str = include_str!("bodies/quantization.txt");
const RECURRENT: &str = include_str!("bodies/recurrent.txt");
const REDUCTIONS: &str = include_str!("bodies/reductions.txt");
const SEQUENCES: &str = include_str!("bodies/sequences.txt");
const SOURCES: &str = include_str!("bodies/sources.txt");

/// Which bodies calls are replaced by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyTable {
    /// Those of operators that the standard defines as functions.
    Functions,
    /// The steps of recurrent layers.
    Steps,
}

impl BodyTable {
    fn rows(self) -> &'static [BodyRow] {
        match self {
            BodyTable::Functions => TABLE,
            BodyTable::Steps => STEPS,
        }
    }

    /// The names of the operators; some occur several times.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        self.rows().iter().map(|row| row.name)
    }

    /// The body of an operator in a version of its operator set.
    pub(super) fn body(self, domain: &str, name: &str, version: i64) -> Option<&'static BodyRow> {
        self.rows().iter().rfind(|row| row.name == name && row.domain == domain && row.version <= version)
    }

    /// Whether an operator has a body in some version.
    pub(super) fn has(self, domain: &str, name: &str) -> bool {
        self.body(domain, name, i64::MAX).is_some()
    }
}

/// The recurrent layers. Their steps are operators that all versions from 7 on have.
static STEPS: &[BodyRow] = &[
    row("GRU", 7, RECURRENT, recurrent::gru),
    row("LSTM", 7, RECURRENT, recurrent::lstm),
    row("RNN", 7, RECURRENT, recurrent::rnn),
];

/// The bodies of functions. The versions of an operator are in ascending order.
pub(super) static TABLE: &[BodyRow] = &[
    row("AffineGrid", 20, LAYOUTS, layouts::affine_grid),
    row("Attention", 23, ATTENTION, attention::attention),
    row("Bernoulli", 15, SOURCES, sources::bernoulli),
    row("BlackmanWindow", 17, SOURCES, sources::window),
    row("CastLike", 15, COMPARISONS, comparisons::cast_like),
    row("CastLike", 19, COMPARISONS, comparisons::cast_like),
    row("CastLike", 24, COMPARISONS, comparisons::cast_like),
    row("CausalConvWithState", 27, LINEAR, linear::causal_convolution),
    row("Celu", 12, ACTIVATIONS, activations::plain),
    row("CenterCropPad", 18, LAYOUTS, layouts::crop_or_pad),
    row("Clip", 13, COMPARISONS, comparisons::clip),
    row("DepthToSpace", 28, LAYOUTS, layouts::blocks),
    row("DynamicQuantizeLinear", 11, QUANTIZATION, activations::plain),
    row("Elu", 18, ACTIVATIONS, activations::plain),
    row("Gelu", 20, ACTIVATIONS, activations::gelu),
    row("GreaterOrEqual", 12, COMPARISONS, activations::plain),
    row("GroupNormalization", 18, NORMALIZATIONS, normalizations::group),
    row("GroupNormalization", 21, NORMALIZATIONS, normalizations::group),
    row("HammingWindow", 17, SOURCES, sources::window),
    row("HannWindow", 17, SOURCES, sources::window),
    row("HardSigmoid", 18, ACTIVATIONS, activations::plain),
    row("HardSwish", 14, ACTIVATIONS, activations::plain),
    row("LayerNormalization", 17, NORMALIZATIONS, normalizations::layer),
    row("LeakyRelu", 16, ACTIVATIONS, activations::plain),
    row("LessOrEqual", 12, COMPARISONS, activations::plain),
    row("LinearAttention", 27, LINEAR, linear::attention),
    row("LogSoftmax", 13, REDUCTIONS, reductions::softmax),
    row("MeanVarianceNormalization", 9, NORMALIZATIONS, activations::plain),
    row("Mish", 18, ACTIVATIONS, activations::plain),
    row("NegativeLogLikelihoodLoss", 12, LOSSES, losses::negative_log_likelihood),
    row("PRelu", 16, ACTIVATIONS, activations::plain),
    row("RMSNormalization", 23, NORMALIZATIONS, normalizations::root_mean_square),
    row("Range", 11, SOURCES, sources::range),
    row("ReduceL1", 18, REDUCTIONS, activations::plain),
    row("ReduceL2", 18, REDUCTIONS, reductions::of_floats),
    row("ReduceLogSum", 18, REDUCTIONS, reductions::of_floats),
    row("ReduceLogSumExp", 18, REDUCTIONS, reductions::of_doubles),
    row("ReduceSumSquare", 18, REDUCTIONS, activations::plain),
    row("Relu", 18, ACTIVATIONS, activations::plain),
    row("RotaryEmbedding", 23, LINEAR, linear::rotary_embedding),
    row("Selu", 18, ACTIVATIONS, activations::plain),
    row("SequenceMap", 17, SEQUENCES, sequences::map),
    row("Shrink", 18, ACTIVATIONS, activations::shrink),
    row("Softmax", 13, REDUCTIONS, reductions::softmax),
    row("SoftmaxCrossEntropyLoss", 12, LOSSES, activations::plain),
    row("Softplus", 18, ACTIVATIONS, activations::plain),
    row("Softsign", 18, ACTIVATIONS, activations::plain),
    row("SpaceToDepth", 28, LAYOUTS, layouts::blocks),
    row("SwiGLU", 28, ACTIVATIONS, activations::plain),
    row("Swish", 24, ACTIVATIONS, activations::plain),
    row("ThresholdedRelu", 18, ACTIVATIONS, activations::plain),
    BodyRow { domain: "ai.onnx.preview", ..row("FlexAttention", 1, ATTENTION, attention::flexible) },
];

impl BodyRow {
    /// The template.
    pub(super) fn section(&self) -> Option<&'static str> {
        template::section(self.file, self.name, self.version)
    }

    /// What fills the template in for a call.
    pub(super) fn settings(&self, call: &StandardCall) -> Build<TemplateSettings> {
        let mut settings = TemplateSettings::default();
        settings.set("T", call.element_name(0));
        settings.set("t", call.element(0).map_or(0, |element| element.number));
        settings.set("apply", format!("{}.apply", call.domain));
        for (flag, version) in [("v13", 13), ("v18", 18)] {
            settings.flag(flag, call.version >= version);
        }
        (self.build)(call, &mut settings)?;
        Ok(settings)
    }

    /// The function with these settings, in the text notation.
    pub(super) fn text(&self, settings: &TemplateSettings) -> Build<String> {
        let text = self.section().and_then(|section| template::assemble(self.name, section, settings));
        debug_assert!(text.is_some(), "{}: the settings lack a value: {settings:?}", self.name);
        text.ok_or(NotKnown)
    }
}

/// The operators with bodies, each once.
#[cfg(test)]
pub(super) fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.chunk_by(|a, b| (a.domain, a.name) == (b.domain, b.name)).map(|rows| (rows[0].domain, rows[0].name))
}

/// Whether an option names an operator that has a body in some version: with or without its domain.
pub(crate) fn names_body(option: &str) -> bool {
    TABLE.iter().any(|row| {
        let domain = if row.domain.is_empty() { "ai.onnx" } else { row.domain };
        let name = option.strip_prefix(domain).and_then(|rest| rest.strip_prefix('.')).unwrap_or(option);
        name == row.name
    })
}

/// The operators with bodies, with their domains; some occur several times.
pub(crate) fn with_bodies() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.iter().map(|row| (row.domain, row.name))
}
