//! What a caller can choose.

use crate::graph::Dialect;

/// Which calls are replaced by the bodies of their fragments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lower {
    /// Fragments of the document and of extra declaration files.
    #[default]
    Custom,
    /// These, and the compound operations of the standard library.
    All,
    /// None.
    None,
    /// Those of these names.
    Names(Vec<String>),
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
    /// Accept only what the specification allows – for networks with loops what TensorRT does – and evaluate everything.
    pub strict: bool,
    /// The dialect of the document; none where its text decides.
    pub dialect: Option<Dialect>,
    /// What is expanded.
    pub lower: Lower,
    /// Names that are not expanded whatever `lower` says.
    pub keep: Vec<String>,
    /// Evaluate what nothing demands, and keep operations that nothing uses.
    pub keep_unused: bool,
    /// The most operations that may be emitted.
    pub max_ops: u64,
    /// The most calls that may be open at once.
    pub max_depth: u64,
    /// Extra declarations: name for messages, and text.
    pub libraries: Vec<(String, String)>,
    /// Turn a document of the provisional dialect into a graph of NNEF 1.0 operations.
    pub migrate: bool,
    /// Shapes that replace those of externals.
    pub input_shapes: Vec<(String, Vec<i64>)>,
    /// Unroll scans whose number of steps is known, and all loops.
    pub unroll: bool,
    /// Expand all loops, but not scans: what evaluates the graph runs these.
    pub expand_loops: bool,
    /// The most trips of loops that end by a condition on tensors; a network with loops is evaluated
    /// for a million trips unless this says otherwise.
    pub max_trips: Option<u64>,
    /// Refuse scans that stay.
    pub flat: bool,
    /// The most steps of the evaluation of a network with loops; a step is one layer, or some hundred elements.
    pub max_steps: u64,
    /// The most bytes of tensors that are alive at a time in such an evaluation.
    pub max_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            strict: false,
            dialect: None,
            lower: Lower::Custom,
            keep: Vec::new(),
            keep_unused: false,
            max_ops: 10_000_000,
            max_depth: 1 << 20,
            libraries: Vec::new(),
            migrate: false,
            input_shapes: Vec::new(),
            unroll: false,
            expand_loops: false,
            max_trips: None,
            flat: false,
            max_steps: 200_000_000,
            max_bytes: 2 << 30,
        }
    }
}

impl Options {
    /// These with some changed.
    pub fn with(mut self, change: impl FnOnce(&mut Options)) -> Options {
        change(&mut self);
        self
    }

    /// Whether everything is evaluated, demanded or not (law 7).
    pub(crate) fn demand_all(&self) -> bool {
        self.strict || self.keep_unused
    }
}
