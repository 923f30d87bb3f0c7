//! Documents and models of NNEF.

use std::sync::Arc;

use crate::diagnostics::Diagnostics;
use crate::eval::Quantizations;
use crate::files::parent;
use crate::graph::names::NameId;
use crate::graph::stats::{NO_DATA, Stats};
use crate::input::models::{self, InputKind, Written};
use crate::input::opened::Opened;
use crate::input::passes::rows::Stage;
use crate::input::passes::work::are_asked;
use crate::input::settings::Settings;
use crate::input::source::{Backing, Evaluable, Expanded, Files, Flat, Sizes, Source, Values};
use crate::input::text::Text;
use crate::input::{Findings, Refusal};
use crate::model::Model;
use crate::nnef::dialect;
use crate::nnef::standardize::standardize;
use crate::parts::FILES;
use crate::picture::MAX_OPERATIONS;
use crate::progress::{self, Phase};
use crate::source::facts::Facts;
use crate::source::{FileId, Location, Sources};
use crate::write::encode::VariableData;
use crate::{Dialect, Document, Graph, Lower, Options, write};

/// A text that was read in a dialect.
pub(in crate::input) fn source_of(written: Written, dialect: Dialect) -> Box<dyn Source> {
    Box::new(DocumentText { written, dialect })
}

/// Reads a document or the graph of a model.
pub(super) fn read(opened: Opened, settings: &Settings) -> Result<Box<dyn Source>, Refusal> {
    let written = models::open(opened, settings)?;
    let dialect = settings.options.dialect.unwrap_or_else(|| dialect::detect(&written.text.text));
    Ok(Box::new(DocumentText { written, dialect }))
}

/// Parses and expands a text under a name for messages. The diagnostics are those of all stages.
pub(crate) fn expanded(name: &str, text: String, options: &Options) -> (Document, Expanded) {
    let parsed = crate::parse(name, text, options);
    let mut diagnostics = Diagnostics::of(options.policy());
    let refused = parsed.diagnostics.has_errors();
    diagnostics.extend(parsed.diagnostics);
    let document = parsed.document;
    if refused {
        // The part that could be parsed may have further errors, which are reported in the same run.
        diagnostics.extend(crate::check(&document, options));
        return (document, Err(diagnostics));
    }
    progress::enter(Phase::Expanding);
    let result = match crate::expand(&document, options) {
        Ok(expansion) => {
            diagnostics.extend(expansion.diagnostics);
            if diagnostics.has_errors() { Err(diagnostics) } else { Ok((expansion.graph, diagnostics)) }
        }
        Err(errors) => {
            diagnostics.extend(errors);
            Err(diagnostics)
        }
    };
    (document, result)
}

/// The text of a document.
struct DocumentText {
    written: Written,
    dialect: Dialect,
}

impl DocumentText {
    /// Parses and expands the document with options.
    fn expanded(self, options: &Options) -> (Documents, Expanded) {
        let Written { text, origin } = self.written;
        let (document, result) = expanded(&text.name, text.text, options);
        (Documents { origin, document }, result)
    }

    /// Expands the document for verbs that do not write the graph: loops are always expanded, and the dialect is kept.
    fn used(self, settings: &Settings) -> (Documents, Expanded) {
        self.expanded(&settings.with(|options| options.expand_loops = true).options)
    }
}

impl Source for DocumentText {
    fn dialect(&self) -> Option<Dialect> {
        Some(self.dialect)
    }

    fn document(&mut self) -> Option<&mut Written> {
        Some(&mut self.written)
    }

    fn check(self: Box<Self>, settings: &Settings) -> Result<Findings, Refusal> {
        let (mut documents, mut result) = self.used(settings);
        if let Ok((graph, found)) = &mut result
            && let Some(model) = models::whole(&documents.origin, settings)?
        {
            models::examine(&model, &mut documents.document, graph, found)?;
        }
        let found = result.map_or_else(|errors| errors, |(_, found)| found);
        Ok(Findings::new(documents.document.sources().clone(), found))
    }

    /// NNEF 1.0 and ONNX need a migration from the provisional dialect, and for ONNX, the compounds of NNEF that are not
    /// operators of ONNX are expanded. The expansion for a picture ends as soon as the graph is too large for it, unless
    /// it is counted or changed before it is drawn.
    fn flatten(self: Box<Self>, to: &write::Notation, settings: &Settings) -> Result<Flat, Refusal> {
        let options = &settings.options;
        // Strict checks evaluate what is not used, and not drawn.
        let shows_all = options.internal.cut.keeps_all() && (options.keep_unused || !options.strict);
        let is_changed = settings.counted || are_asked(&[Stage::Change, Stage::Form], settings);
        let shown = (to.is_picture() && shows_all && !is_changed).then_some(MAX_OPERATIONS);
        let settings = settings.with(|options| {
            options.migrate = to.needs.migrated;
            options.internal.shown = shown;
            options.internal.compounds = to.needs.compounds.map(|names| names());
        });
        let (documents, result) = self.expanded(&settings.options);
        let result = result.and_then(|(mut graph, mut warnings)| {
            if let Some(errors) = to.needs.standard.then(|| standardize(&mut graph).err()).flatten() {
                warnings.extend(errors);
                return Err(warnings);
            }
            models::infer_shapes(&documents.origin, &mut graph, &settings);
            Ok((graph, warnings))
        });
        Ok(Flat::new(documents, result))
    }

    fn graph(self: Box<Self>, settings: &Settings) -> Result<Flat, Refusal> {
        let (documents, result) = self.used(settings);
        Ok(Flat::new(documents, result))
    }

    fn again(&self) -> Box<dyn Source> {
        Box::new(DocumentText { written: self.written.clone(), dialect: self.dialect })
    }

    /// The document is expanded to primitives.
    fn reference(self: Box<Self>, settings: &Settings) -> Result<Evaluable, Refusal> {
        let settings = primitives(self.dialect, settings);
        self.evaluable(&settings)
    }
}

/// A document, which may be that of a model.
struct Documents {
    origin: InputKind,
    document: Document,
}

impl Documents {
    /// The text of the quantizations of a model, with the model.
    // Inlined, so that nothing about quantizations is built without files.
    #[inline(always)]
    fn quant(&self, model: Option<&Arc<Model>>) -> Result<Option<Text>, Refusal> {
        if FILES.missing().is_some() {
            return Ok(None);
        }
        match model.filter(|_| self.origin.is_model()) {
            Some(model) => models::quant(model),
            None => Ok(None),
        }
    }

    /// The whole model that a document belongs to: a document with the name `graph.nnef` belongs to its folder.
    fn whole(&self, settings: &Settings) -> Result<Option<Arc<Model>>, Refusal> {
        match &self.origin {
            InputKind::Document(path) if self.origin.is_model() => {
                models::whole(&InputKind::Folder(parent(path).to_owned()), settings)
            }
            origin => models::whole(origin, settings),
        }
    }
}

impl Backing for Documents {
    fn sources(&self) -> &Sources {
        self.document.sources()
    }

    fn start(&self) -> Location {
        Location { file: self.document.main().file, ..Location::default() }
    }

    fn add_source(&mut self, name: &str, text: String) -> FileId {
        self.document.add_source(name, text)
    }

    /// The names of tensors that the quantizations of a model round.
    fn apart(&mut self, graph: &Graph, settings: &Settings) -> Result<Vec<NameId>, Refusal> {
        if !self.origin.is_model() {
            return Ok(Vec::new());
        }
        let model = models::data(&self.origin, &[graph], settings)?;
        let Some(text) = self.quant(model.as_ref())? else { return Ok(Vec::new()) };
        // Mistakes are reported where the quantizations are used.
        let found = self.document.quantizations(&text.name, &text.text, graph, &mut Diagnostics::default());
        Ok(found.map_or_else(Vec::new, |found| found.tensors().map(|id| graph.tensors[id.index()].name).collect()))
    }

    fn files(&mut self, result: &mut Expanded, settings: &Settings) -> Result<Files, Refusal> {
        let Ok((graph, found)) = result else { return Ok(Files::default()) };
        let model = self.whole(settings)?;
        let quant = match &model {
            Some(model) => models::examine(model, &mut self.document, graph, found)?,
            None => None,
        };
        if found.has_errors() {
            *result = Err(std::mem::take(found));
        }
        Ok(Files { model, quant })
    }

    fn data(
        &mut self,
        graph: &Graph,
        (to, file): (&write::Notation, bool),
        settings: &Settings,
    ) -> Result<VariableData, Refusal> {
        if !to.has_data(file) {
            return Ok(VariableData::default());
        }
        let model = models::data(&self.origin, &[graph], settings)?;
        let Some(text) = self.quant(model.as_ref())? else { return Ok(VariableData::of(model)) };
        let mut found = Diagnostics::default();
        match self.document.quantizations(&text.name, &text.text, graph, &mut found) {
            Some(quantizations) => Ok(VariableData { model, quantizations: Some(quantizations), found }),
            None => Err(Refusal::Found(Box::new(Findings::new(self.sources().clone(), found)))),
        }
    }

    fn values(&mut self, graph: &Graph, settings: &Settings) -> Result<Values<'_>, Refusal> {
        let model = models::data(&self.origin, &[graph], settings)?;
        let mut found = Diagnostics::default();
        let quantizations = match self.quant(model.as_ref())? {
            None => Ok((Quantizations::default(), found)),
            Some(text) => match self.document.quantizations(&text.name, &text.text, graph, &mut found) {
                Some(quantizations) => Ok((quantizations, found)),
                None => Err(found),
            },
        };
        let stored = model.as_ref().map_or(0, |model| model.stored());
        Ok(Values { sources: self.document.sources(), model, weights: None, stored, quantizations, seed: None })
    }

    fn facts(&self) -> Facts {
        self.document.facts()
    }

    /// The statistics of the document with nothing expanded.
    fn before(&self, to: &write::Notation, settings: &Settings) -> Option<Stats> {
        let options = Options {
            lower: Lower::None,
            keep: Vec::new(),
            migrate: to.dialect == Some(Dialect::V1),
            ..settings.options.clone()
        };
        let expansion = crate::expand(&self.document, &options).ok()?;
        Some(Stats::new(&expansion.graph, NO_DATA))
    }

    fn stored(&self, graph: &Graph, settings: &Settings) -> Sizes<'_> {
        // Data that cannot be read are reported where they are needed.
        let data = models::data(&self.origin, &[graph], settings).ok().flatten();
        Box::new(move |label| data.as_ref()?.stored_data(label))
    }
}

/// The options with which a document is expanded to primitives.
fn primitives(dialect: Dialect, settings: &Settings) -> Settings {
    // The specification's bodies of these two operations are invalid for all operands, so the evaluator has kernels for
    // them. The draft does not have these operations.
    let of_dialect = dialect == Dialect::V1;
    let keep = ["avg_roi_align", "max_roi_align"].into_iter().filter(|_| of_dialect).map(str::to_owned).collect();
    settings.with(|options| {
        *options = Options { lower: Lower::All, keep, unroll: false, flat: false, ..std::mem::take(options) };
    })
}
