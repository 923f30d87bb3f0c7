//! The options of a run.

mod given;
mod shape_text;

use crate::diagnostics::Policy;
use crate::graph::{Cut, Dialect};
pub use given::GivenShapes;
pub(crate) use given::{DeclaredSymbols, nameless};
pub(crate) use shape_text::{input_name, input_shape, symbol};

/// Which calls are replaced by the bodies of their fragments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lower {
    /// Fragments of the document and of extra declaration files.
    #[default]
    Custom,
    /// These fragments, and the compound operations of the standard library.
    All,
    /// No fragments.
    None,
    /// The fragments of these names.
    Names(Vec<String>),
}

/// The words that `--lower` takes instead of names.
pub(crate) const LEVELS: [&str; 3] = ["custom", "all", "none"];

/// What the crate itself sets in the options of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Internal {
    /// The standard compounds that are not expanded, if the output notation has equivalents; none if `lower` decides.
    pub(crate) compounds: Option<Vec<&'static str>>,
    /// Whether compounds of NNEF stay, though operators of another notation become operations of NNEF.
    pub(crate) keeps_compounds: bool,
    /// Whether operations that NNEF only approximates are kept by their meaning, which the output notation has.
    pub(crate) exact: bool,
    /// The limits on models and evaluations.
    pub(crate) profile: Profile,
    /// Whether all diagnostics are kept.
    pub(crate) all_findings: bool,
    /// Whether a model is expanded and folded for its translation to NNEF: then numbers are computed from the codes of
    /// quantized constants, too, and types are those of the given shapes in any case.
    pub(crate) translates: bool,
    /// The most bytes by which a constant that is computed for a model may be larger than what it replaces, if it is not the
    /// usual number.
    pub(crate) fold_growth: Option<u64>,
    /// Whether a model was folded.
    pub(crate) is_folded: bool,
    /// The part of the flat graph that is wanted.
    pub(crate) cut: Cut,
    /// The offset of the only call that is expanded, of those in the graph's own body; none if `lower` decides.
    pub(crate) only_call: Option<u32>,
    /// Whether types of all values are inferred after an expansion, which take memory for each node.
    pub(crate) typed: bool,
    /// The most operations that the output shows, if it is a picture of the graph as it is expanded.
    pub(crate) shown: Option<usize>,
}

/// A set of limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Profile {
    /// For trusted inputs.
    #[default]
    Trusted,
    /// For inputs from unknown sources.
    Untrusted,
}

/// The options of a run.
///
/// ```
/// use nnef_flatten::Options;
///
/// let mut options = Options::default();
/// options.strict = true;
/// assert_eq!(options, Options::default().with(|options| options.strict = true));
/// assert_eq!(options.max_ops, 10_000_000);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Accept only what the specification allows (for networks with loops: what TensorRT allows), and evaluate
    /// every local of a fragment.
    pub strict: bool,
    /// The dialect of the document; none to detect it.
    pub dialect: Option<Dialect>,
    /// Which calls are expanded.
    pub lower: Lower,
    /// What the crate itself sets.
    pub(crate) internal: Internal,
    /// Names of operations that are not expanded, regardless of `lower`.
    pub keep: Vec<String>,
    /// Evaluate every local of a fragment, and keep operations whose results are not used.
    pub keep_unused: bool,
    /// The maximum number of operations that are emitted.
    pub max_ops: u64,
    /// The maximum number of open calls.
    pub max_depth: u64,
    /// The maximum number of items of an array, and of characters of a string, during an expansion.
    pub max_length: usize,
    /// The maximum number of bytes of values, open calls and names at any time of an expansion.
    pub max_memory: u64,
    /// The maximum length of an input text in bytes.
    pub max_text: u64,
    /// Additional declaration files: a name for messages and a text, or the name of a registry and an empty text.
    pub libraries: Vec<(String, String)>,
    /// Convert a document of the provisional dialect to operations of NNEF 1.0.
    pub migrate: bool,
    /// Shapes and extents that replace those of the document.
    pub shapes: GivenShapes,
    /// Expand all loops, and scans with a known number of steps.
    pub unroll: bool,
    /// Expand all loops, but keep scans, which the evaluator of the graph runs.
    pub expand_loops: bool,
    /// The trip limit of loops whose condition depends on tensors. When a network with loops is evaluated,
    /// the default is a million trips.
    pub max_trips: Option<u64>,
    /// Report an error for scans that cannot be expanded.
    pub flat: bool,
    /// The maximum number of steps when a network with loops is evaluated; a step is one layer, or some hundred
    /// elements.
    pub max_steps: u64,
    /// The maximum number of bytes of all tensors at any time of such an evaluation.
    pub max_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            strict: false,
            dialect: None,
            lower: Lower::Custom,
            internal: Internal::default(),
            keep: Vec::new(),
            keep_unused: false,
            max_ops: 10_000_000,
            max_depth: 1 << 20,
            max_length: 10_000_000,
            max_memory: 768 << 20,
            max_text: 2 << 30,
            libraries: Vec::new(),
            migrate: false,
            shapes: GivenShapes::default(),
            unroll: false,
            expand_loops: false,
            max_trips: None,
            flat: false,
            max_steps: 200_000_000,
            max_bytes: 768 << 20,
        }
    }
}

impl Options {
    /// How diagnostics are judged.
    pub(crate) fn policy(&self) -> Policy {
        Policy { strict: self.strict, all: self.internal.all_findings }
    }

    /// Limits for untrusted documents, for example in a service; the other options have their defaults.
    /// A document of less than 1 MB takes at most some two seconds and 256 MiB.
    ///
    /// ```
    /// use nnef_flatten::{Options, expand, parse};
    ///
    /// let options = Options::untrusted();
    /// let text = "version 1.0;\n#".to_string() + &"a".repeat(100 << 20);
    /// let parsed = parse("upload", text, &options);
    /// assert!(parsed.diagnostics.has_errors());
    /// ```
    pub fn untrusted() -> Options {
        Options {
            internal: Internal { profile: Profile::Untrusted, ..Internal::default() },
            max_ops: 200_000,
            max_depth: 10_000,
            max_length: 1_000_000,
            max_memory: 144 << 20,
            max_text: 8 << 20,
            max_steps: 4_000_000,
            max_bytes: 144 << 20,
            ..Options::default()
        }
    }

    /// Applies a change to the options.
    pub fn with(mut self, change: impl FnOnce(&mut Options)) -> Options {
        change(&mut self);
        self
    }

    /// The operations that `lower` names.
    pub(crate) fn lowered(&self) -> &[String] {
        if let Lower::Names(names) = &self.lower { names } else { &[] }
    }

    /// The operations that `lower` and `keep` name.
    pub(crate) fn named(&self) -> impl Iterator<Item = &str> {
        self.lowered().iter().chain(&self.keep).map(String::as_str)
    }

    /// Messages about operations that both `lower` and `keep` name.
    pub(crate) fn conflicts(&self) -> impl Iterator<Item = String> {
        let both = self.lowered().iter().filter(|name| self.keep.contains(name));
        both.map(|name| format!("`{name}` is to be expanded and to be kept"))
    }

    /// The message about an unknown operation in the options.
    pub(crate) fn unknown(name: &str) -> String {
        format!("the options name an unknown operation, `{name}`")
    }

    /// Whether all locals are evaluated, even if no result needs them.
    pub(crate) fn demand_all(&self) -> bool {
        self.strict || self.keep_unused
    }
}
