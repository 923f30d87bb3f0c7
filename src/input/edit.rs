//! Inputs that are written in their own notation: they are edited themselves, so that nothing of them is lost in a graph.

use std::io;
use std::num::NonZeroUsize;

use super::Findings;
use crate::Graph;
use crate::diagnostics::Diagnostics;
use crate::graph::stats::Stats;
use crate::onnx::{Document, ModelText, RuleCounts};
use crate::pnnx::data::Archive;
use crate::sink::ByteSink;
use crate::source::Sources;
use crate::write::OnnxForm;

/// An input that was edited.
pub(crate) enum Edited {
    /// A model of ONNX, with external data.
    Model(Box<InlinedModel>),
    /// A file of PNNX, with data beside it.
    File(Box<File>),
}

/// A model of ONNX with its calls expanded. Parts that most uses do not need are boxed, so that it stays small.
pub(crate) struct InlinedModel {
    pub(crate) sources: Sources,
    pub(crate) found: Diagnostics,
    /// The model; none if it is refused.
    pub(crate) document: Option<Document>,
    /// The model as a graph, if that is needed.
    pub(crate) graph: Option<Box<Graph>>,
    /// The statistics before the expansion, if they are needed.
    pub(crate) before: Option<Box<Stats>>,
    /// How often each rule was applied, if the model was simplified.
    pub(crate) simplified: Option<RuleCounts>,
}

/// A file of PNNX with its expressions expanded.
pub(crate) struct File {
    pub(crate) sources: Sources,
    pub(crate) found: Diagnostics,
    /// The text; none if the file is refused.
    pub(crate) text: Option<String>,
    /// The data beside it.
    pub(crate) archive: Option<Archive>,
}

/// A flat model of ONNX that can be written.
pub(crate) struct FlatModel {
    pub(crate) document: Document,
    /// The text. Protobuf is written from the document; a text is made before, because parts of it may be impossible.
    text: Option<ModelText>,
}

impl FlatModel {
    /// A model in a form; none if it is not possible in a text.
    pub(crate) fn new(document: Document, form: OnnxForm, strict: bool, found: &mut Diagnostics) -> Option<Self> {
        let text = found.take(form.text(&document, strict))?;
        Some(FlatModel { document, text })
    }

    /// Writes it; a text is made by a number of threads.
    pub(crate) fn write(&self, threads: Option<NonZeroUsize>, out: &mut dyn ByteSink) -> io::Result<()> {
        match &self.text {
            Some(text) => text.write(threads, &mut *out),
            None => self.document.write_protobuf(out),
        }
    }
}

impl Edited {
    /// Writes what was edited, without data beside it. Returns the findings, and whether anything was written.
    pub(super) fn write(
        self,
        (form, strict): (Option<OnnxForm>, bool),
        out: &mut dyn io::Write,
    ) -> io::Result<Findings> {
        match self {
            Edited::Model(model) => {
                let InlinedModel { sources, mut found, document, .. } = *model;
                let flat = document.zip(form);
                let flat = flat.and_then(|(document, form)| FlatModel::new(document, form, strict, &mut found));
                flat.filter(|_| !found.has_errors()).map_or(Ok(()), |flat| flat.write(None, &mut &mut *out))?;
                Ok(Findings::new(sources, found))
            }
            Edited::File(file) => {
                let File { sources, found, text, .. } = *file;
                text.filter(|_| !found.has_errors()).map_or(Ok(()), |text| out.write_all(text.as_bytes()))?;
                Ok(Findings::new(sources, found))
            }
        }
    }
}
