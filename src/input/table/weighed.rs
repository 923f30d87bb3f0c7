//! Graphs with data of variables that are in no model of NNEF: those of files of PNNX and ncnn, and of translated models
//! of ONNX.

use std::path::Path;
use std::sync::Arc;

use crate::eval::Variables;
use crate::graph::stats::Stats;
use crate::input::Refusal;
use crate::input::settings::Settings;
use crate::input::source::{Backing, Expanded, Files, Sizes, Values};
use crate::model::{Limits, Model, Scratch};
use crate::ncnn::weights::NcnnWeights;
use crate::onnx::to_nnef::NnefVariables;
use crate::parts::FILES;
use crate::pnnx::data::Weights;
use crate::source::facts::Facts;
use crate::source::{FileId, Sources};
use crate::tensor::{Tensor, TensorError};
use crate::write::encode::VariableData;
use crate::{Graph, write};

/// Takes the data of a variable, by its label.
type Take<'t> = dyn FnMut(&str, &Tensor) -> Result<(), String> + 't;

/// Data of variables, by their labels.
pub(super) trait VariableStore: Variables + Send {
    /// What the data are, for messages.
    const TITLE: &'static str;

    /// Whether there may be data.
    fn has_data(&self) -> bool;

    /// The data as files of a model.
    fn model(&self, limits: &Limits) -> Result<Model, String>;

    /// The number of bytes of the data of a variable.
    fn bytes(&self, label: &str) -> Option<u64>;
}

impl VariableStore for Weights {
    const TITLE: &'static str = "data of PNNX";

    fn has_data(&self) -> bool {
        self.archive.is_some()
    }

    fn model(&self, limits: &Limits) -> Result<Model, String> {
        collected(Self::TITLE, limits, |take| {
            let Some(archive) = &self.archive else { return Ok(()) };
            for (label, (member, typed)) in &self.members {
                take(label, &archive.tensor(member, typed).map_err(|error| error.to_string())?)?;
            }
            Ok(())
        })
    }

    fn bytes(&self, label: &str) -> Option<u64> {
        Weights::bytes(self, label)
    }
}

impl VariableStore for NcnnWeights {
    const TITLE: &'static str = "weights of ncnn";

    fn has_data(&self) -> bool {
        self.has_file()
    }

    fn model(&self, limits: &Limits) -> Result<Model, String> {
        collected(Self::TITLE, limits, |take| self.each(take))
    }

    fn bytes(&self, label: &str) -> Option<u64> {
        NcnnWeights::bytes(self, label)
    }
}

impl VariableStore for NnefVariables {
    const TITLE: &'static str = "data of ONNX";

    fn has_data(&self) -> bool {
        !self.is_empty()
    }

    /// What the files of the input have as it is written is not copied before that.
    fn model(&self, limits: &Limits) -> Result<Model, String> {
        let file = |(label, file): (&str, Result<_, _>)| match file {
            Ok(file) => Ok((label.to_owned(), file)),
            Err(error) => Err(unwritten(label, &error)),
        };
        let files = self.files().map(file).collect::<Result<Vec<_>, String>>()?;
        Model::made(Path::new(Self::TITLE), files, limits).map_err(|error| error.to_string())
    }

    fn bytes(&self, label: &str) -> Option<u64> {
        NnefVariables::bytes(self, label)
    }
}

/// The message for data that files of NNEF do not have.
fn unwritten(label: &str, error: &TensorError) -> String {
    format!("`{label}`: {error}")
}

/// The data that a function gives to another as files of a model, which are written into a temporary one.
fn collected(
    title: &str,
    limits: &Limits,
    each: impl FnOnce(&mut Take) -> Result<(), String>,
) -> Result<Model, String> {
    let mut files = Scratch::new().map_err(|error| error.to_string())?;
    each(&mut |label, tensor| {
        let bytes = tensor.to_dat().map_err(|error| unwritten(label, &error))?;
        files.add(&format!("{label}.dat"), &bytes).map_err(|error| error.to_string())
    })?;
    files.model(Path::new(title), limits).map_err(|error| error.to_string())
}

/// What is behind a graph: its texts, and the data of its variables.
pub(super) struct Weighed<D> {
    pub(super) sources: Sources,
    pub(super) data: D,
    /// The statistics before the expansion, if they are wanted.
    pub(super) before: Option<Stats>,
    /// Whether inputs have the values of the options already.
    pub(super) is_bound: bool,
    /// What the model tells about itself.
    pub(super) facts: Facts,
}

impl<D: VariableStore> Weighed<D> {
    /// The data as files of a model; none without data.
    fn model(&self, settings: &Settings) -> Result<Option<Arc<Model>>, Refusal> {
        let failed = |error: String| Refusal::Unfit(format!("the data cannot be stored: {error}"));
        if FILES.missing().is_some() || !self.data.has_data() {
            return Ok(None);
        }
        self.data.model(&settings.model).map(|model| Some(Arc::new(model))).map_err(failed)
    }
}

impl<D: VariableStore> Backing for Weighed<D> {
    fn sources(&self) -> &Sources {
        &self.sources
    }

    fn add_source(&mut self, name: &str, text: String) -> FileId {
        self.sources.add(name, text)
    }

    fn is_bound(&self) -> bool {
        self.is_bound
    }

    fn files(&mut self, result: &mut Expanded, settings: &Settings) -> Result<Files, Refusal> {
        let model = if result.is_ok() { self.model(settings)? } else { None };
        Ok(Files { model, quant: None })
    }

    fn data(
        &mut self,
        _: &Graph,
        (to, file): (&write::Notation, bool),
        settings: &Settings,
    ) -> Result<VariableData, Refusal> {
        Ok(VariableData::of(if to.has_data(file) { self.model(settings)? } else { None }))
    }

    fn values(&mut self, _: &Graph, _: &Settings) -> Result<Values<'_>, Refusal> {
        Ok(Values::of(&self.sources, Some(&self.data)))
    }

    fn weights(&self) -> Option<&dyn Variables> {
        self.data.has_data().then_some(&self.data)
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    fn before(&self, _: &write::Notation, _: &Settings) -> Option<Stats> {
        self.before.clone()
    }

    fn stored(&self, _: &Graph, _: &Settings) -> Sizes<'_> {
        Box::new(|label| self.data.bytes(label))
    }
}
