//! What applies to all verbs of an input: the options, and the limits on its data.

use crate::diagnostics::ReadLimit;
use crate::live::LiveRun;
use crate::onnx::UsedRules;
use crate::onnx::text::Production;
use crate::options::Profile;
use crate::tensor::Tensor;
use crate::{Options, eval, model};

/// The options of a run, and the limits on models and evaluations.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The options.
    pub(crate) options: Options,
    /// The limits on models.
    pub(crate) model: model::Limits,
    /// The limits on evaluations.
    pub(crate) evaluation: eval::Limits,
    /// Whether the data of a model count in addition to the limit of items.
    pub(crate) data_count: bool,
    /// Whether statistics before the expansion are wanted.
    pub(crate) counted: bool,
    /// Whether the graph of a model that is edited is needed: what for.
    pub(crate) viewed: Option<String>,
    /// Whether the constants behind the graph of a model are needed, to be compared with others.
    pub(crate) constants: bool,
    /// Whether nodes get the functions that they come from as metadata.
    pub(crate) provenance: bool,
    /// The part of a model that a text of ONNX contains.
    pub(crate) production: Production,
    /// The values that inputs of the graph get, by name.
    pub(crate) bound: Vec<(String, Tensor)>,
    /// The passes.
    pub(crate) passes: Passes,
    /// The tensors that passes over a model of ONNX keep.
    pub(crate) kept: Vec<String>,
    /// The layouts that tensors get.
    pub(crate) layouts: Vec<String>,
}

/// Passes that options request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Passes {
    /// Computes what is known.
    pub(crate) fold: bool,
    /// Merges what is equal.
    pub(crate) share: bool,
    /// Removes and joins what changes no result of a model, by these rules.
    pub(crate) simplify: Option<UsedRules>,
    /// Merges arithmetic with constants into the weights of a model, by these rules.
    pub(crate) merge: Option<UsedRules>,
    /// The version of the standard operator set that a model is written for.
    pub(crate) opset: Option<i64>,
    /// The most bytes by which a constant that is computed for a model may be larger than what it replaces; none for the
    /// usual number.
    pub(crate) fold_growth: Option<u64>,
    /// Writes the types of all values into models, and comments with types, modules and places into texts of NNEF.
    pub(crate) annotate: bool,
    /// Writes repeated structure once.
    pub(crate) outline: bool,
    /// Removes reshapes and transposes that move nothing.
    pub(crate) drop_bitcasts: bool,
}

impl Settings {
    /// The settings with the limits that belong to the profile of options.
    pub(crate) fn new(options: &Options) -> Self {
        let mut model = match options.internal.profile {
            Profile::Trusted => model::Limits::default(),
            Profile::Untrusted => model::Limits::untrusted(),
        };
        let evaluation = eval::Limits::of(options);
        model.graph = model.graph.min(options.max_text);
        model.text = model.text.min(options.max_text);
        Settings {
            options: options.clone(),
            model,
            evaluation,
            data_count: true,
            counted: false,
            viewed: None,
            constants: false,
            provenance: false,
            production: Production::default(),
            bound: Vec::new(),
            passes: Passes::default(),
            kept: Vec::new(),
            layouts: Vec::new(),
        }
    }

    /// Counts the memory of what follows together, within the limit of the options.
    pub(crate) fn run(&self) -> LiveRun {
        LiveRun::within(self.options.max_memory)
    }

    /// The same settings with other options.
    pub(super) fn with(&self, change: impl FnOnce(&mut Options)) -> Self {
        Settings { options: self.options.clone().with(change), ..self.clone() }
    }

    /// The maximum size of files of arrays in bytes: 8 for each item that an evaluation may have.
    pub(crate) fn arrays(&self) -> ReadLimit {
        ReadLimit::arrays(self.evaluation.max_items.saturating_mul(8))
    }

    /// The limits on an evaluation with data that take a number of bytes, which count as an input: a file has at least
    /// two bytes for each item.
    pub(crate) fn evaluation_of(&self, stored: u64) -> eval::Limits {
        let mut limits = self.evaluation;
        if self.data_count {
            limits.max_items = limits.max_items.saturating_add(stored / 2);
            limits.allow();
        }
        limits
    }
}
