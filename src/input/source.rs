//! The verbs that inputs have in every notation.

use std::sync::Arc;

use super::edit::Edited;
use super::model_run::ModelRun;
use super::passes::lowered;
use super::settings::Settings;
use super::table::loops::Networks;
use super::{Findings, Refusal, models};
use crate::diagnostics::Diagnostics;
use crate::eval::{EvalError, Evaluation, Evaluator, Quantizations, Variables};
use crate::graph::names::NameId;
use crate::graph::stats::Stats;
use crate::model::Model;
use crate::onnx::{ModelConstants, RuleCounts};
use crate::progress::{self, Phase};
use crate::source::facts::Facts;
use crate::source::{FileId, Location, Sources};
use crate::tensor::Tensor;
use crate::write::encode::VariableData;
use crate::{Dialect, Graph, write};

/// A graph with warnings, or the errors.
pub(crate) type Expanded = Result<(Graph, Diagnostics), Diagnostics>;

/// An input that was read, and not yet parsed.
pub(crate) trait Source: Send {
    /// The dialect of a document; none for other inputs.
    fn dialect(&self) -> Option<Dialect> {
        None
    }

    /// The text of a document and where it was read from; none for other inputs.
    fn document(&mut self) -> Option<&mut models::Written> {
        None
    }

    /// Checks the input, expansion included.
    fn check(self: Box<Self>, settings: &Settings) -> Result<Findings, Refusal>;

    /// The flat graph that is written in a notation.
    fn flatten(self: Box<Self>, to: &write::Notation, settings: &Settings) -> Result<Flat, Refusal> {
        let Flat { backing, result } = self.graph(settings)?;
        Ok(Flat { backing, result: lowered(result, to, settings) })
    }

    /// Edits the input itself, for output notations in which it is written so.
    fn edit(self: Box<Self>, _: &Settings) -> Result<Edited, Refusal> {
        Err(Refusal::Unfit("the input is written by its graph".to_owned()))
    }

    /// The flat graph for other uses than writing.
    fn graph(self: Box<Self>, settings: &Settings) -> Result<Flat, Refusal>;

    /// What is evaluated.
    fn evaluable(self: Box<Self>, settings: &Settings) -> Result<Evaluable, Refusal> {
        self.graph(settings).map(|flat| Evaluable::Graph(Box::new(flat)))
    }

    /// The same input once more.
    fn again(&self) -> Box<dyn Source>;

    /// What the results of the options are compared with: the input before the passes, as close to its text as it can be
    /// evaluated, with the shapes, the values of inputs and the part that the options select.
    fn reference(self: Box<Self>, settings: &Settings) -> Result<Evaluable, Refusal> {
        self.evaluable(settings)
    }
}

/// A flat graph with what it was made of.
pub(crate) struct Flat {
    /// What it was made of.
    pub(crate) backing: Box<dyn Backing>,
    /// The graph.
    pub(crate) result: Expanded,
}

impl Flat {
    pub(super) fn new(backing: impl Backing + 'static, result: Expanded) -> Self {
        if let Ok((graph, _)) = &result {
            graph.count_memory();
        }
        Flat { backing: Box::new(backing), result }
    }
}

/// How an input is evaluated.
pub(crate) enum Evaluable {
    /// By its flat graph.
    Graph(Box<Flat>),
    /// By the lazy sequences of a network, if it could be read.
    Network(Box<Networks>, Diagnostics),
    /// By the nodes of a model of ONNX.
    Model(Box<ModelRun>),
}

/// The number of bytes of the data of variables, by their labels.
pub(crate) type Sizes<'b> = Box<dyn Fn(&str) -> Option<u64> + 'b>;

/// What a flat graph was made of: texts, and the data of its variables.
pub(crate) trait Backing: Send {
    /// The texts in which diagnostics have their places.
    fn sources(&self) -> &Sources;

    /// The place of what is found about the whole input.
    fn start(&self) -> Location {
        Location::default()
    }

    /// Adds a text, such as the value of an option.
    fn add_source(&mut self, name: &str, text: String) -> FileId;

    /// Whether the graph is a view of a model that is edited itself.
    fn is_view(&self) -> bool {
        false
    }

    /// Whether inputs have the values of the options already.
    fn is_bound(&self) -> bool {
        self.is_view()
    }

    /// The names of tensors that passes leave as they are.
    fn apart(&mut self, _: &Graph, _: &Settings) -> Result<Vec<NameId>, Refusal> {
        Ok(Vec::new())
    }

    /// The files of the whole model that is written with the graph.
    fn files(&mut self, _: &mut Expanded, _: &Settings) -> Result<Files, Refusal> {
        Ok(Files::default())
    }

    /// The data with which a graph is encoded in a notation; `file` tells whether it is written to a file.
    fn data(&mut self, _: &Graph, _: (&write::Notation, bool), _: &Settings) -> Result<VariableData, Refusal> {
        Ok(VariableData::default())
    }

    /// The data with which the graph is evaluated.
    fn values(&mut self, _: &Graph, _: &Settings) -> Result<Values<'_>, Refusal>;

    /// The constants behind the operations of a graph that is a view of a model.
    fn constants(&self) -> Option<&ModelConstants> {
        None
    }

    /// The data of variables that are in no model of NNEF.
    fn weights(&self) -> Option<&dyn Variables> {
        None
    }

    /// What the model tells about itself, by what that is: its notation, its producer, its metadata.
    fn facts(&self) -> Facts;

    /// The statistics before the expansion.
    fn before(&self, _: &write::Notation, _: &Settings) -> Option<Stats> {
        None
    }

    /// How often each rule was applied, if it is a model that was simplified.
    fn simplified(&self) -> Option<&RuleCounts> {
        None
    }

    /// The number of bytes of the data of a variable, by its label.
    fn stored(&self, _: &Graph, _: &Settings) -> Sizes<'_> {
        Box::new(|_| None)
    }
}

/// The files of a whole model besides its graph.
#[derive(Default)]
pub(crate) struct Files {
    /// The model with the files.
    pub(crate) model: Option<Arc<Model>>,
    /// The text of the quantizations.
    pub(crate) quant: Option<String>,
}

/// What the evaluation of a graph takes from its input.
pub(crate) struct Values<'b> {
    /// The texts in which diagnostics have their places.
    pub(crate) sources: &'b Sources,
    /// The model with the data of variables.
    pub(super) model: Option<Arc<Model>>,
    /// The data of variables that are not in a model.
    pub(super) weights: Option<&'b dyn Variables>,
    /// The bytes that the data take where they are stored, if they count in addition to the limit of items.
    pub(super) stored: u64,
    /// The quantizations with warnings, or the errors in them.
    pub(crate) quantizations: Result<(Quantizations, Diagnostics), Diagnostics>,
    /// The seed of random data for variables without data, if they get such data.
    pub(super) seed: Option<u64>,
}

impl<'b> Values<'b> {
    /// The values of an input without quantizations.
    pub(super) fn of(sources: &'b Sources, weights: Option<&'b dyn Variables>) -> Self {
        let quantizations = Ok((Quantizations::default(), Diagnostics::default()));
        Values { sources, model: None, weights, stored: 0, quantizations, seed: None }
    }

    /// Evaluates a graph on inputs.
    pub(crate) fn run(
        &self,
        graph: &Graph,
        inputs: &[(String, Tensor)],
        (quantizations, settings): (Quantizations, &Settings),
    ) -> Result<Evaluation, EvalError> {
        progress::enter(Phase::Evaluating);
        let evaluator = Evaluator::with_limits(settings.evaluation_of(self.stored)).quantized(quantizations);
        let evaluator = self.seed.into_iter().fold(evaluator, Evaluator::random_variables);
        match self.weights {
            Some(weights) => evaluator.run(graph, inputs, weights),
            None => evaluator.run(graph, inputs, &*models::variables(self.model.as_deref())),
        }
    }
}
