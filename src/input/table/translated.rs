//! Models of ONNX that became graphs of NNEF, with the data of their variables.

use std::path::Path;
use std::rc::Rc;

use crate::diagnostics::Diagnostics;
use crate::graph::stats::Stats;
use crate::input::Refusal;
use crate::input::settings::Settings;
use crate::input::source::{Backing, Expanded, Files, Flat, Sizes, Values};
use crate::model::{Model, Scratch};
use crate::onnx::to_nnef::NnefVariables;
use crate::source::{FileId, Sources};
use crate::write::encode::VariableData;
use crate::{Graph, write};

/// What is behind the translation of a model.
pub(super) struct Translated {
    sources: Sources,
    variables: NnefVariables,
    before: Option<Stats>,
}

impl Translated {
    /// The graph of a model with the data of its variables, if it has one.
    pub(super) fn flat(
        sources: Sources,
        before: Option<Stats>,
        graph: Option<(Graph, NnefVariables)>,
        found: Diagnostics,
    ) -> Flat {
        match graph {
            Some((graph, variables)) => Flat::new(Translated { sources, variables, before }, Ok((graph, found))),
            None => Flat::new(Translated { sources, variables: NnefVariables::default(), before }, Err(found)),
        }
    }

    /// The data as files of a model; none without data.
    fn model(&self, settings: &Settings) -> Result<Option<Rc<Model>>, Refusal> {
        let failed = |error: String| Refusal::Unfit(format!("the data cannot be stored: {error}"));
        if self.variables.iter().len() == 0 {
            return Ok(None);
        }
        let mut files = Scratch::new().map_err(|error| failed(error.to_string()))?;
        for (label, tensor) in self.variables.iter() {
            let bytes = tensor.to_dat().map_err(|error| failed(format!("`{label}`: {error}")))?;
            files.add(&format!("{label}.dat"), &bytes).map_err(|error| failed(error.to_string()))?;
        }
        let model = files.model(Path::new("data of ONNX"), &settings.model);
        model.map(|model| Some(Rc::new(model))).map_err(|error| failed(error.to_string()))
    }
}

impl Backing for Translated {
    fn sources(&self) -> &Sources {
        &self.sources
    }

    fn add_source(&mut self, name: &str, text: String) -> FileId {
        self.sources.add(name, text)
    }

    fn is_bound(&self) -> bool {
        true
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
        Ok(Values::of(&self.sources, Some(&self.variables)))
    }

    fn before(&self, _: &write::Notation, _: &Settings) -> Option<Stats> {
        self.before.clone()
    }

    fn stored(&self, _: &Graph, _: &Settings) -> Sizes<'_> {
        Box::new(|label| self.variables.bytes(label))
    }
}
