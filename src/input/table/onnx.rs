//! Models of ONNX. They are edited themselves; graphs show them.

use std::path::PathBuf;

use super::weighed::Weighed;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::files::parent;
use crate::graph::stats::{NO_DATA, Stats};
use crate::input::edit::{Edited, InlinedModel};
use crate::input::model_run::{ModelRun, limits};
use crate::input::opened::{NoteFile, Opened};
use crate::input::passes::lowered;
use crate::input::passes::rows::Stage;
use crate::input::passes::work::{ModelWork, Stopped, are_asked};
use crate::input::settings::{Passes, Settings};
use crate::input::source::{Backing, Evaluable, Flat, Source, Values};
use crate::input::text::Text;
use crate::input::{Findings, Refusal};
use crate::onnx::contents::Contents;
use crate::onnx::to_nnef::NnefVariables;
use crate::onnx::{Document, ExternalFile, ModelConstants, RuleCounts, ViewTypes};
use crate::progress::{self, Phase};
use crate::source::facts::Facts;
use crate::source::{FileId, Sources};
use crate::{Dialect, Graph, Options, write};

/// Reads the bytes of a model in protobuf.
pub(super) fn read_protobuf(opened: Opened, settings: &Settings) -> Result<Box<dyn Source>, Refusal> {
    Ok(Box::new(ModelBytes::protobuf(opened, settings)?))
}

/// Reads the text of a model.
pub(super) fn read_text(opened: Opened, settings: &Settings) -> Result<Box<dyn Source>, Refusal> {
    Ok(Box::new(ModelBytes::text(opened, settings)?))
}

/// The bytes of a model, and its folder.
#[derive(Clone)]
struct ModelBytes {
    folder: Option<PathBuf>,
    /// Who is told of files with external data.
    beside: Option<NoteFile>,
    form: ModelForm,
}

/// A model in one of its forms.
#[derive(Clone)]
enum ModelForm {
    /// Protobuf, under a name for messages.
    Protobuf(String, Contents),
    Text(Text),
}

/// A model that was parsed, if it could be.
struct ParsedModel {
    sources: Sources,
    document: Option<Document>,
    found: Diagnostics,
    folder: Option<PathBuf>,
    /// How often each rule was applied, if the model was simplified.
    simplified: Option<RuleCounts>,
}

/// The folder of a model; none for a stream, whose folder is unknown.
fn folder_of(opened: &Opened) -> Option<PathBuf> {
    opened.path.as_deref().filter(|_| opened.is_file()).map(|path| parent(path).to_owned())
}

impl ModelBytes {
    fn protobuf(opened: Opened, settings: &Settings) -> Result<Self, Refusal> {
        let (folder, beside) = (folder_of(&opened), opened.beside.clone());
        let (name, contents) = opened.contents(settings.options.max_text)?;
        Ok(ModelBytes { folder, beside, form: ModelForm::Protobuf(name, contents) })
    }

    fn text(opened: Opened, settings: &Settings) -> Result<Self, Refusal> {
        let (folder, beside) = (folder_of(&opened), opened.beside.clone());
        let text = opened.text(settings.options.max_text)?;
        Ok(ModelBytes { folder, beside, form: ModelForm::Text(text) })
    }

    fn parse(self, settings: &Settings) -> ParsedModel {
        let mut sources = Sources::new();
        let (mut document, found) = match self.form {
            ModelForm::Protobuf(name, contents) => {
                Document::decode_contents(&name, contents, &mut sources, &settings.options)
            }
            ModelForm::Text(text) => {
                let file = sources.add(text.name, text.text);
                Document::parse_part(&sources, file, settings.production, &settings.options)
            }
        };
        if let (Some(document), Some(folder)) = (&mut document, &self.folder) {
            document.set_folder(folder);
            if let Some(note) = self.beside {
                document.external_files().iter().filter_map(|file| file.source.as_deref()).for_each(|path| note(path));
            }
        }
        ParsedModel { sources, document, found, folder: self.folder, simplified: None }
    }
}

impl ParsedModel {
    /// Reports a file that has changed since it was opened, or could not be read; then there is no document.
    fn note_change(&mut self) {
        if let Some(changed) = self.document.as_ref().and_then(Document::changed) {
            self.found.report(changed);
            self.document = None;
        }
    }

    /// The statistics before the expansion: only operations are counted, which needs no types.
    fn before(&self, options: &Options) -> Option<Stats> {
        let graph = self.document.as_ref()?.view(ViewTypes::Omitted, options).ok()??;
        Some(Stats::new(&graph, NO_DATA))
    }

    /// Runs passes of some stages; there is no document if one of them stops.
    ///
    /// # Errors
    ///
    /// This build has no such pass.
    fn pass(&mut self, stages: &[Stage], settings: &Settings) -> Result<(), Refusal> {
        if !are_asked(stages, settings) {
            return Ok(());
        }
        let Some(mut document) = self.document.take() else { return Ok(()) };
        let mut warnings = Diagnostics::of(settings.options.policy());
        let mut work = ModelWork::new(&mut document, &mut warnings, settings);
        let stopped = work.run(stages, settings);
        self.simplified = work.simplified.take().or(self.simplified.take());
        self.found.extend(warnings);
        match stopped {
            Ok(()) => self.document = Some(document),
            Err(Stopped::Found(errors)) => self.found.extend(errors),
            Err(Stopped::Refused(refusal)) => return Err(refusal),
        }
        Ok(())
    }

    /// Expands calls, and runs the passes; there is no document if that fails.
    fn flatten(&mut self, settings: &Settings) -> Result<(), Refusal> {
        progress::enter(Phase::Expanding);
        self.pass(&[Stage::Part, Stage::Change, Stage::Note], settings)
    }

    /// The model to be evaluated.
    fn evaluable(self, settings: &Settings) -> Evaluable {
        let ParsedModel { sources, document, found, .. } = self;
        Evaluable::Model(Box::new(ModelRun::new(sources, document, found, settings)))
    }

    /// The model as a graph; none if there is no document.
    ///
    /// # Errors
    ///
    /// A part of a model has no graph.
    fn view(&mut self, types: ViewTypes, options: &Options, what: &str) -> Result<Option<Graph>, Refusal> {
        Ok(self.view_with_constants(types, options, what)?.map(|(graph, _)| graph))
    }

    /// [`ParsedModel::view`], with the constants behind operations if they are wanted.
    fn view_with_constants(
        &mut self,
        types: ViewTypes,
        options: &Options,
        what: &str,
    ) -> Result<Option<(Graph, ModelConstants)>, Refusal> {
        let Some(document) = &self.document else { return Ok(None) };
        match document.view_with_constants(types, options) {
            Ok(Some(viewed)) => Ok(Some(viewed)),
            Ok(None) => Err(Refusal::Unfit(format!("{what}: a part of a model has no graph"))),
            Err(found) => {
                self.found.report(*found);
                Ok(None)
            }
        }
    }
}

impl Source for ModelBytes {
    fn check(self: Box<Self>, settings: &Settings) -> Result<Findings, Refusal> {
        let mut parsed = self.parse(settings);
        if let Some(document) = &parsed.document {
            progress::enter(Phase::Checking);
            parsed.found.extend(document.check_parts(&settings.options));
            let is_sound = !parsed.found.has_errors();
            if let Err(errors) = document.check_external_data(&settings.options) {
                parsed.found.extend(errors);
            }
            if parsed.folder.is_none() {
                warn_left(document, &document.external_files(), UNKNOWN, &mut parsed.found);
            }
            if !parsed.found.has_errors() {
                // What is given decides which shapes there are, and which branches run.
                parsed.pass(&[Stage::Given], settings)?;
            }
            if let Some(document) = parsed.document.as_ref().filter(|_| is_sound) {
                document.check_shapes(&settings.options, &mut parsed.found);
            }
            if !parsed.found.has_errors() {
                parsed.flatten(settings)?;
            }
        }
        parsed.note_change();
        Ok(Findings::new(parsed.sources, parsed.found))
    }

    fn flatten(self: Box<Self>, to: &write::Notation, settings: &Settings) -> Result<Flat, Refusal> {
        if to.dialect == Some(Dialect::V1) {
            let Flat { backing, result } = self.translated(settings)?;
            return Ok(Flat { backing, result: lowered(result, to, settings) });
        }
        self.flat(&format!("--to {}", to.name), to.is_picture(), settings)
    }

    fn edit(self: Box<Self>, settings: &Settings) -> Result<Edited, Refusal> {
        let options = &settings.options;
        let mut parsed = self.parse(settings);
        let before = if settings.counted { parsed.before(options).map(Box::new) } else { None };
        parsed.pass(&[Stage::Given], settings)?;
        parsed.flatten(settings)?;
        if let Some(document) = parsed.document.as_mut().filter(|_| settings.provenance)
            && let Err(over) = document.note_origins_within(options)
        {
            parsed.found.report(*over);
        }
        // A source map has no types.
        let types = if settings.counted { ViewTypes::Inferred } else { ViewTypes::Omitted };
        let graph = settings.viewed.as_deref().map(|what| parsed.view(types, options, what)).transpose()?.flatten();
        let graph = graph.map(Box::new);
        // What is told is told of the flat model.
        parsed.pass(&[Stage::Form], settings)?;
        parsed.note_change();
        let ParsedModel { sources, document, found, simplified, .. } = parsed;
        let document = document.filter(|_| !found.has_errors());
        Ok(Edited::Model(Box::new(InlinedModel { sources, found, document, graph, before, simplified })))
    }

    fn graph(self: Box<Self>, settings: &Settings) -> Result<Flat, Refusal> {
        self.flat("graph", false, settings)
    }

    fn evaluable(self: Box<Self>, settings: &Settings) -> Result<Evaluable, Refusal> {
        self.evaluated(settings.passes, settings)
    }

    fn again(&self) -> Box<dyn Source> {
        Box::new(self.clone())
    }

    fn reference(self: Box<Self>, settings: &Settings) -> Result<Evaluable, Refusal> {
        self.evaluated(Passes::default(), settings)
    }
}

impl ModelBytes {
    /// The model as it was read, with the values and the shapes of the options. A part has the names of the flat model, and
    /// went through the passes.
    fn evaluated(self, passes: Passes, settings: &Settings) -> Result<Evaluable, Refusal> {
        let mut parsed = self.parse(settings);
        parsed.pass(&[Stage::Given], settings)?;
        if !settings.options.internal.cut.keeps_all() {
            parsed.flatten(&Settings { passes, ..settings.clone() })?;
        } else if let Some(document) = &mut parsed.document
            && let Err(refused) = document.set_shapes(&settings.options)
        {
            parsed.found.extend(refused);
        }
        Ok(parsed.evaluable(settings))
    }

    /// The model as a flat graph of NNEF.
    fn translated(self, settings: &Settings) -> Result<Flat, Refusal> {
        let options = &settings.options;
        let mut parsed = self.parse(settings);
        let before = if settings.counted { parsed.before(options) } else { None };
        let facts = parsed.document.as_ref().map(Document::facts).unwrap_or_default();
        parsed.pass(&[Stage::Given], settings)?;
        progress::enter(Phase::Translating);
        let translated =
            parsed.document.as_mut().map(|document| document.translate(options, limits(document, settings)));
        parsed.note_change();
        let ParsedModel { sources, mut found, document, .. } = parsed;
        let graph = translated.filter(|_| document.is_some()).and_then(|translated| {
            found.take(translated.map(|(graph, variables, warnings)| ((graph, variables), warnings)))
        });
        let (data, result) = match graph {
            Some((graph, variables)) => (variables, Ok((graph, found))),
            None => (NnefVariables::default(), Err(found)),
        };
        Ok(Flat::new(Weighed { sources, data, before, is_bound: true, facts }, result))
    }

    /// The model as a graph. One that is too large to be drawn is refused before it is made.
    fn flat(self, what: &str, drawn: bool, settings: &Settings) -> Result<Flat, Refusal> {
        let mut parsed = self.parse(settings);
        let before = if settings.counted { parsed.before(&settings.options) } else { None };
        let facts = parsed.document.as_ref().map(Document::facts).unwrap_or_default();
        parsed.pass(&[Stage::Given], settings)?;
        parsed.flatten(settings)?;
        let counted = parsed.document.as_ref().filter(|_| drawn).map(Document::operations);
        if let Some(refused) = counted.and_then(|(count, first)| write::encode::too_large(count, first)) {
            parsed.found.report(refused);
            parsed.document = None;
        }
        let types = if settings.constants { ViewTypes::Compared } else { ViewTypes::Inferred };
        let viewed = parsed.view_with_constants(types, &settings.options, what)?;
        parsed.note_change();
        let ParsedModel { sources, found, document, simplified, .. } = parsed;
        let (constants, result) = match viewed.filter(|_| document.is_some()) {
            Some((graph, constants)) => (constants, Ok((graph, found))),
            None => (ModelConstants::default(), Err(found)),
        };
        let models = Models { sources, before, constants, facts, simplified };
        Ok(Flat::new(models, result))
    }
}

/// What is behind the graph of a model.
struct Models {
    sources: Sources,
    before: Option<Stats>,
    constants: ModelConstants,
    /// What the model tells about itself.
    facts: Facts,
    simplified: Option<RuleCounts>,
}

impl Backing for Models {
    fn sources(&self) -> &Sources {
        &self.sources
    }

    fn add_source(&mut self, name: &str, text: String) -> FileId {
        self.sources.add(name, text)
    }

    fn is_view(&self) -> bool {
        true
    }

    fn values(&mut self, _: &Graph, _: &Settings) -> Result<Values<'_>, Refusal> {
        Err(Refusal::Unfit("graphs of models of ONNX are not evaluated".to_owned()))
    }

    fn constants(&self) -> Option<&ModelConstants> {
        Some(&self.constants)
    }

    fn before(&self, _: &write::Notation, _: &Settings) -> Option<Stats> {
        self.before.clone()
    }

    fn simplified(&self) -> Option<&RuleCounts> {
        self.simplified.as_ref()
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }
}

/// Why files of a model from a stream do not follow it.
pub(crate) const UNKNOWN: &str = "its folder is unknown, because it comes from a stream";

/// The maximum number of files that a warning names.
const SHOWN: usize = 5;

/// Warns of external data that do not follow a model.
pub(crate) fn warn_left(document: &Document, files: &[ExternalFile], why: &str, found: &mut Diagnostics) {
    if files.is_empty() {
        return;
    }
    let shown: Vec<String> = files.iter().take(SHOWN).map(|file| format!("`{}`", file.location)).collect();
    let more = if files.len() > SHOWN { " and others" } else { "" };
    let message = format!("the external data {}{more} are not copied with the model: {why}", shown.join(", "));
    let help = "they must be in the folder of the model";
    found.report(Diagnostic::new(Code::OnnxDataLeft, Document::nowhere(document.file), message).help(help));
}
