//! Texts of ncnn, with their weights beside them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::weighed::Weighed;
use crate::diagnostics::Diagnostics;
use crate::input::opened::Opened;
use crate::input::settings::Settings;
use crate::input::source::{Evaluable, Expanded, Flat, Source};
use crate::input::text::{self, Text};
use crate::input::{Findings, Refusal};
use crate::ncnn::model::NcnnModel;
use crate::ncnn::weights::{NcnnWeights, WeightFile};
use crate::onnx::contents::DiskFile;
use crate::pnnx::model::PnnxModel;
use crate::progress::{self, Phase};
use crate::source::facts::Facts;
use crate::source::{FileId, Sources};
use crate::{Lower, Options};

/// The extension of files of weights.
const WEIGHTS: &str = "bin";

/// Reads the text of a network.
pub(super) fn read(opened: Opened, settings: &Settings) -> Result<Box<dyn Source>, Refusal> {
    let weights = opened.path.as_ref().map(|path| path.with_extension(WEIGHTS)).filter(|path| path.is_file());
    let pnnx = opened.path.as_deref().map(beside).filter(|path| path.is_file());
    Ok(Box::new(NcnnText { text: opened.text(settings.options.max_text)?, weights, pnnx }))
}

/// The path of the file of PNNX that pnnx writes with a text: `net.pnnx.param` for `net.ncnn.param`.
fn beside(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{}.pnnx.param", stem.strip_suffix(".ncnn").unwrap_or(&stem)))
}

/// The text of a network, and the paths of its weights and of the file of PNNX if there are any.
struct NcnnText {
    text: Text,
    weights: Option<PathBuf>,
    pnnx: Option<PathBuf>,
}

/// The file of PNNX beside a text, which messages refer to; none if it is not one.
fn file_of_pnnx(path: &Path, sources: &mut Sources, options: &Options) -> Option<(FileId, PnnxModel)> {
    let Text { name, text } = text::read(path, options.max_text).ok()?;
    let file = sources.add(name, text);
    let (model, _) = PnnxModel::read(sources.file(file).text(), file, options.policy()).ok()?;
    Some((file, model))
}

impl NcnnText {
    /// The flat graph with its weights.
    fn expanded(self, settings: &Settings) -> Result<(Weighed<NcnnWeights>, Expanded), Refusal> {
        // Symbols in the shapes of inputs have values.
        let shapes = &settings.options.shapes;
        let shapes = shapes.resolved().unwrap_or_else(|_| shapes.clone());
        let options = settings.options.clone().with(|options| options.shapes = shapes);
        let weights = self.weights.map(|path| {
            let name = path.display().to_string();
            let disk = File::open(&path).and_then(|file| DiskFile::new(Arc::new(file), &name));
            disk.map(WeightFile::new).map_err(|error| Refusal::io(&name, error))
        });
        let weights = weights.transpose()?;
        let mut sources = Sources::new();
        let file = sources.add(self.text.name, self.text.text);
        let mut found = Diagnostics::of(options.policy());
        let model = found.take(NcnnModel::read(sources.file(file).text(), file, options.policy()));
        if let Some(model) = model.as_ref().filter(|model| model.has_left()) {
            let beside = self.pnnx.and_then(|path| file_of_pnnx(&path, &mut sources, &options));
            model.left(file, beside.as_ref()).into_iter().for_each(|left| found.report(left));
        }
        progress::enter(Phase::Translating);
        let graph = model.and_then(|model| {
            let graph = model.graph(file, weights, &options);
            found.take(graph.map(|(graph, weights, warnings)| ((graph, weights), warnings)))
        });
        let (data, result) = match graph {
            Some((graph, weights)) => (weights, Ok((graph, found))),
            None => (NcnnWeights::default(), Err(found)),
        };
        Ok((Weighed { sources, data, before: None, is_bound: false, facts: Facts::of_notation("ncnn") }, result))
    }
}

impl Source for NcnnText {
    fn check(self: Box<Self>, settings: &Settings) -> Result<Findings, Refusal> {
        let (weighed, result) = self.expanded(settings)?;
        Ok(Findings::new(weighed.sources, result.map_or_else(|errors| errors, |(_, found)| found)))
    }

    fn graph(self: Box<Self>, settings: &Settings) -> Result<Flat, Refusal> {
        let (weighed, result) = self.expanded(settings)?;
        Ok(Flat::new(weighed, result))
    }

    fn again(&self) -> Box<dyn Source> {
        Box::new(NcnnText { text: self.text.clone(), weights: self.weights.clone(), pnnx: self.pnnx.clone() })
    }

    /// All layers become operations of NNEF.
    fn evaluable(self: Box<Self>, settings: &Settings) -> Result<Evaluable, Refusal> {
        let settings = settings.with(|options| options.lower = Lower::All);
        self.graph(&settings).map(|flat| Evaluable::Graph(Box::new(flat)))
    }
}
