//! The table of bodies: one row for each operator and each version in which its body changes.

use std::ops::Range;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::builders::{
    activations, attention, comparisons, layouts, linear, losses, normalizations, recurrent, reductions, sequences,
    sources,
};
use super::microsoft;
use super::needs::BodyNeeds;
use super::standard_call::{Build, NotKnown, StandardCall};
use super::template::{Template, TemplateSettings};

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
    /// What fills in more than the type of the first operand; none if there is nothing more.
    pub(super) build: Option<BodyBuilder>,
    /// What that depends on.
    pub(super) build_needs: BodyNeeds,
}

pub(super) const fn row(name: &'static str, version: i64, build: BodyBuilder) -> BodyRow {
    BodyRow { domain: "", name, version, build: Some(build), build_needs: BodyNeeds::Types }
}

/// The body of an operator that depends on nothing but attributes and types of elements.
pub(super) const fn of_elements(name: &'static str, version: i64, build: BodyBuilder) -> BodyRow {
    BodyRow { build_needs: BodyNeeds::Elements, ..row(name, version, build) }
}

/// The body of an operator that depends on nothing but attributes, apart from the type of the first operand.
pub(super) const fn of_attributes(name: &'static str, version: i64, build: BodyBuilder) -> BodyRow {
    BodyRow { build_needs: BodyNeeds::Nothing, ..row(name, version, build) }
}

/// The body of an operator that depends on nothing but the type of the first operand.
pub(super) const fn plain(name: &'static str, version: i64) -> BodyRow {
    BodyRow { domain: "", name, version, build: None, build_needs: BodyNeeds::Nothing }
}

/// The files with templates.
const FILES: &[&str] = &[
    include_str!("bodies/activations.txt"),
    include_str!("bodies/attention.txt"),
    include_str!("bodies/comparisons.txt"),
    include_str!("bodies/layouts.txt"),
    include_str!("bodies/linear.txt"),
    include_str!("bodies/losses.txt"),
    include_str!("bodies/normalizations.txt"),
    include_str!("bodies/quantization.txt"),
    include_str!("bodies/recurrent.txt"),
    include_str!("bodies/reductions.txt"),
    include_str!("bodies/sequences.txt"),
    include_str!("bodies/sources.txt"),
];

/// Templates by name and version.
type Templates = FxHashMap<(&'static str, i64), Template<'static>>;

/// The templates of the standard operators.
static TEMPLATES: LazyLock<Templates> =
    LazyLock::new(|| FILES.iter().flat_map(|file| Template::all_of(file)).collect());

/// The templates of the operators of onnxruntime.
static OF_MICROSOFT: LazyLock<Templates> =
    LazyLock::new(|| microsoft::FILES.iter().flat_map(|file| Template::all_of(file)).collect());

/// The keys of the element type of the first operand, and of its number.
const TYPE: &str = "T";
const TYPE_NUMBER: &str = "t";

/// The key of the operator that stands for the nodes of a graph of the call.
const APPLY: &str = "apply";

/// The flags for the versions of the standard operator set in which operators of bodies are new or have other operands.
const VERSIONS: &[(&str, i64)] = &[("v13", 13), ("v17", 17), ("v18", 18), ("v20", 20)];

/// Which bodies calls are replaced by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyTable {
    /// Those of operators that the standard defines as functions.
    Functions,
    /// The steps of recurrent layers.
    Steps,
}

impl BodyTable {
    fn rows(self) -> impl Iterator<Item = &'static BodyRow> {
        let (rows, of_vendor): (&[BodyRow], &[BodyRow]) = match self {
            BodyTable::Functions => (TABLE, microsoft::TABLE),
            BodyTable::Steps => (STEPS, &[]),
        };
        rows.iter().chain(of_vendor)
    }

    /// The names of the operators; some occur several times.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> {
        self.rows().map(|row| row.name)
    }

    /// The bodies of an operator, in ascending order of their versions.
    fn bodies(self, domain: &str, name: &str) -> &'static [StandardBody] {
        let Bodies { all, places } = match self {
            BodyTable::Functions => &*OF_FUNCTIONS,
            BodyTable::Steps => &*OF_STEPS,
        };
        places.get(&(domain, name)).map_or(&[], |place| &all[place.clone()])
    }

    /// The body of an operator in a version of its operator set.
    pub(super) fn body(self, domain: &str, name: &str, version: i64) -> Option<&'static StandardBody> {
        self.bodies(domain, name).iter().rfind(|body| body.row.version <= version)
    }

    /// What the bodies of an operator depend on; none if it has none in any version.
    pub(super) fn needs(self, domain: &str, name: &str) -> Option<BodyNeeds> {
        self.bodies(domain, name).iter().map(|body| body.needs).max()
    }
}

/// The bodies of a table.
struct Bodies {
    all: Vec<StandardBody>,
    /// The places of the bodies of each operator, by its domain and its name.
    places: FxHashMap<(&'static str, &'static str), Range<usize>>,
}

static OF_FUNCTIONS: LazyLock<Bodies> = LazyLock::new(|| Bodies::of(BodyTable::Functions));
static OF_STEPS: LazyLock<Bodies> = LazyLock::new(|| Bodies::of(BodyTable::Steps));

impl Bodies {
    fn of(table: BodyTable) -> Self {
        let mut places: FxHashMap<_, Range<usize>> = FxHashMap::default();
        for (i, row) in table.rows().enumerate() {
            places.entry((row.domain, row.name)).or_insert(i..i).end = i + 1;
        }
        Bodies { all: table.rows().map(StandardBody::of).collect(), places }
    }
}

/// The recurrent layers. Their steps are operators that all versions from 7 on have.
static STEPS: &[BodyRow] =
    &[row("GRU", 7, recurrent::gru), row("LSTM", 7, recurrent::lstm), row("RNN", 7, recurrent::rnn)];

/// The bodies of functions. The versions of an operator are in ascending order.
pub(super) static TABLE: &[BodyRow] = &[
    row("AffineGrid", 20, layouts::affine_grid),
    row("Attention", 23, attention::attention),
    of_elements("Bernoulli", 15, sources::bernoulli),
    of_attributes("BlackmanWindow", 17, sources::window),
    of_elements("CastLike", 15, comparisons::cast_like),
    of_elements("CastLike", 19, comparisons::cast_like),
    of_elements("CastLike", 24, comparisons::cast_like),
    row("CausalConvWithState", 27, linear::causal_convolution),
    plain("Celu", 12),
    row("CenterCropPad", 18, layouts::crop_or_pad),
    of_elements("Clip", 13, comparisons::clip),
    of_attributes("DepthToSpace", 28, layouts::blocks),
    plain("DynamicQuantizeLinear", 11),
    plain("Elu", 18),
    of_attributes("Gelu", 20, activations::gelu),
    plain("GreaterOrEqual", 12),
    of_elements("GroupNormalization", 18, normalizations::group),
    of_elements("GroupNormalization", 21, normalizations::group),
    of_attributes("HammingWindow", 17, sources::window),
    of_attributes("HannWindow", 17, sources::window),
    plain("HardSigmoid", 18),
    plain("HardSwish", 14),
    // As onnxruntime has it; the standard has it from version 17 on.
    row("LayerNormalization", 1, normalizations::layer),
    plain("LeakyRelu", 16),
    plain("LessOrEqual", 12),
    row("LinearAttention", 27, linear::attention),
    of_attributes("LogSoftmax", 13, reductions::softmax),
    plain("MeanVarianceNormalization", 9),
    plain("Mish", 18),
    of_elements("NegativeLogLikelihoodLoss", 12, losses::negative_log_likelihood),
    plain("PRelu", 16),
    row("RMSNormalization", 23, normalizations::root_mean_square),
    of_elements("Range", 11, sources::range),
    plain("ReduceL1", 18),
    of_elements("ReduceL2", 18, reductions::of_floats),
    of_elements("ReduceLogSum", 18, reductions::of_floats),
    of_elements("ReduceLogSumExp", 18, reductions::of_doubles),
    plain("ReduceSumSquare", 18),
    plain("Relu", 18),
    row("RotaryEmbedding", 23, linear::rotary_embedding),
    plain("Selu", 18),
    row("SequenceMap", 17, sequences::map),
    of_elements("Shrink", 18, activations::shrink),
    of_attributes("Softmax", 13, reductions::softmax),
    plain("SoftmaxCrossEntropyLoss", 12),
    plain("Softplus", 18),
    plain("Softsign", 18),
    of_attributes("SpaceToDepth", 28, layouts::blocks),
    plain("SwiGLU", 28),
    plain("Swish", 24),
    plain("ThresholdedRelu", 18),
    BodyRow { domain: "ai.onnx.preview", ..row("FlexAttention", 1, attention::flexible) },
];

/// A row with its template.
#[derive(Debug)]
pub(super) struct StandardBody {
    pub(super) row: &'static BodyRow,
    pub(super) template: Option<&'static Template<'static>>,
    /// What the body depends on.
    pub(super) needs: BodyNeeds,
}

impl StandardBody {
    fn of(row: &'static BodyRow) -> Self {
        let templates = if microsoft::is_of(row) { &OF_MICROSOFT } else { &TEMPLATES };
        let template = templates.get(&(row.name, row.version));
        let typed = template.is_some_and(|template| template.has_key(TYPE) || template.has_key(TYPE_NUMBER));
        let needs = row.build_needs.max(if typed { BodyNeeds::Elements } else { BodyNeeds::Nothing });
        StandardBody { row, template, needs }
    }

    /// What fills the template in for a call.
    pub(super) fn settings(&self, call: &StandardCall) -> Build<TemplateSettings> {
        let mut settings = TemplateSettings::default();
        if self.needs > BodyNeeds::Nothing {
            settings.set(TYPE, call.element_name(0));
            settings.set(TYPE_NUMBER, call.element(0).map_or(0, |element| element.number));
        }
        if self.template.is_some_and(|template| template.has_key(APPLY)) {
            settings.set(APPLY, format!("{}.{APPLY}", call.domain));
        }
        for (flag, version) in VERSIONS {
            settings.flag(flag, call.version >= *version);
        }
        self.row.build.map_or(Ok(()), |build| build(call, &mut settings))?;
        Ok(settings)
    }

    /// The function with these settings, in the text notation.
    pub(super) fn text(&self, settings: &TemplateSettings) -> Build<String> {
        let name = self.row.name;
        let text = self.template.and_then(|template| template.assemble(name, settings));
        debug_assert!(text.is_some(), "{name}: the settings lack a value: {settings:?}");
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
    BodyTable::Functions.rows().any(|row| {
        let domain = if row.domain.is_empty() { "ai.onnx" } else { row.domain };
        let name = option.strip_prefix(domain).and_then(|rest| rest.strip_prefix('.')).unwrap_or(option);
        name == row.name
    })
}

/// The operators with bodies, with their domains; some occur several times.
pub(crate) fn with_bodies() -> impl Iterator<Item = (&'static str, &'static str)> {
    BodyTable::Functions.rows().map(|row| (row.domain, row.name))
}
