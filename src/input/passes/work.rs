//! What goes through passes: a flat graph with what is behind it, or a model of ONNX.

use rustc_hash::FxHashSet;

use super::rows::{Did, PASSES, PassRow, PassStep, Stage};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::eval::Limits;
use crate::graph::TensorId;
use crate::graph::names::NameId;
use crate::input::Refusal;
use crate::input::settings::Settings;
use crate::input::source::Backing;
use crate::onnx::{Document, RuleCounts};
use crate::{Graph, Options};

/// Why a pass ends the way of an input.
pub(crate) enum Stopped {
    /// What the options ask for does not fit the input.
    Found(Diagnostics),
    /// It cannot be done.
    Refused(Refusal),
}

/// The result of a pass or a part of it.
pub(crate) type Passing<T> = Result<T, Stopped>;

impl Stopped {
    pub(super) fn one(found: Diagnostic) -> Self {
        let mut all = Diagnostics::default();
        all.report(found);
        Stopped::Found(all)
    }
}

impl From<Diagnostics> for Stopped {
    fn from(found: Diagnostics) -> Self {
        Stopped::Found(found)
    }
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Stopped::Refused(refusal)
    }
}

/// A flat graph that goes through passes.
pub(crate) struct GraphWork<'w> {
    pub(crate) graph: &'w mut Graph,
    pub(crate) backing: &'w mut dyn Backing,
    /// The names of the tensors that passes leave as they are, once one asks for them: those of the graph before passes.
    apart: Option<FxHashSet<NameId>>,
    /// The graph with fragments for repeated structure, once there is one.
    pub(crate) outlined: Option<Graph>,
}

/// A pass that ran, and what it did.
pub(crate) type Ran = (&'static PassRow, Did);

/// The passes of some stages that the settings ask for.
fn asked(stages: &[Stage], settings: &Settings) -> impl Iterator<Item = &'static PassRow> {
    PASSES.iter().filter(move |row| stages.contains(&row.stage) && (row.is_asked)(settings))
}

/// Whether the settings ask for a pass of some stages.
pub(crate) fn are_asked(stages: &[Stage], settings: &Settings) -> bool {
    asked(stages, settings).next().is_some()
}

impl<'w> GraphWork<'w> {
    pub(crate) fn new(graph: &'w mut Graph, backing: &'w mut dyn Backing) -> Self {
        GraphWork { graph, backing, apart: None, outlined: None }
    }

    /// Runs the passes of some stages. Returns what they did.
    ///
    /// # Errors
    ///
    /// The first pass that stopped.
    pub(crate) fn run(&mut self, stages: &[Stage], settings: &Settings) -> Passing<Vec<Ran>> {
        let mut ran = Vec::new();
        for row in asked(stages, settings) {
            if let PassStep::Runs(pass) = row.on_graph {
                ran.push((row, pass(self, settings)?));
            }
        }
        Ok(ran)
    }

    /// The tensors that passes leave as they are.
    pub(super) fn apart(&mut self, settings: &Settings) -> Result<Vec<TensorId>, Refusal> {
        let names = match self.apart.take() {
            Some(names) => names,
            None => self.backing.apart(self.graph, settings)?.into_iter().collect(),
        };
        let apart = self.graph.tensors().filter(|tensor| names.contains(&self.graph.name_of(*tensor))).collect();
        self.apart = Some(names);
        Ok(apart)
    }
}

/// A model of ONNX that goes through passes.
pub(crate) struct ModelWork<'w> {
    pub(super) document: &'w mut Document,
    /// The options, with how much constants may grow.
    pub(super) options: Options,
    /// The limits on what is computed.
    pub(super) limits: Limits,
    /// Warnings.
    pub(super) found: &'w mut Diagnostics,
    /// How often each rule was applied, once the model is simplified.
    pub(crate) simplified: Option<RuleCounts>,
}

impl<'w> ModelWork<'w> {
    pub(crate) fn new(document: &'w mut Document, found: &'w mut Diagnostics, settings: &Settings) -> Self {
        let limits = crate::input::model_run::limits(document, settings);
        let options = settings.options.clone().with(|options| {
            options.internal.fold_growth = settings.passes.fold_growth;
        });
        document.keep_values(&settings.kept);
        ModelWork { document, options, limits, found, simplified: None }
    }

    /// Runs the passes of some stages.
    ///
    /// # Errors
    ///
    /// The first pass that stopped.
    pub(crate) fn run(&mut self, stages: &[Stage], settings: &Settings) -> Passing<()> {
        for row in asked(stages, settings) {
            if let PassStep::Runs(pass) = row.on_model {
                pass(self, settings)?;
            }
        }
        // The names are those of the flat model.
        if stages.contains(&Stage::Change) {
            self.document.check_kept()?;
        }
        Ok(())
    }
}
