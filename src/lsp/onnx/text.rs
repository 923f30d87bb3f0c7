//! A model with what is known of it.

use std::cell::OnceCell;

use super::findings::placed;
use super::index::index;
use crate::Options;
use crate::diagnostics::Diagnostic;
use crate::input::Findings;
use crate::lsp::symbols::SymbolIndex;
use crate::onnx::Document;
use crate::onnx::infer::{InferGoal, ModelTypes, infer_functions};
use crate::onnx::model::ModelProto;
use crate::onnx::text::TextMarks;
use crate::source::{FileId, Location, Sources, Span};

/// The text of a model.
pub(in crate::lsp) struct OnnxText {
    pub(super) options: Options,
    pub(super) findings: Findings,
    pub(super) file: FileId,
    /// The model, if its text has no errors.
    pub(super) document: Option<Document>,
    pub(super) marks: TextMarks,
    types: OnceCell<Option<ModelTypes>>,
    index: OnceCell<SymbolIndex>,
}

impl OnnxText {
    /// Parses and checks a text, and tries to expand its functions.
    pub(in crate::lsp) fn new(name: &str, text: &str, options: &Options) -> Self {
        let mut sources = Sources::new();
        let is_large = text.len() as u64 > options.max_text;
        let file = sources.add(name, if is_large { String::new() } else { text.to_owned() });
        let (document, mut found, marks) = Document::parse_marked(&sources, file, options);
        let document = document.filter(|_| !is_large);
        if is_large {
            found = Default::default();
            found.report(Diagnostic::too_large(Location::new(file, Span::default()), options.max_text));
        }
        if let Some(document) = &document {
            found.extend(document.check(options));
            if !found.has_errors() {
                let flattened = document.copy().flatten(options);
                found.extend(flattened.unwrap_or_else(|errors| errors));
            }
        }
        placed(&marks, &mut found);
        let findings = Findings::new(sources, found);
        let (types, index) = (OnceCell::new(), OnceCell::new());
        OnnxText { options: options.clone(), findings, file, document, marks, types, index }
    }

    /// The text as readers have it.
    pub(super) fn source(&self) -> &str {
        self.findings.sources.file(self.file).text()
    }

    /// The model, if its text has no errors.
    pub(super) fn model(&self) -> Option<&ModelProto> {
        self.document.as_ref()?.as_model()
    }

    /// The types of all values, if the text has no errors.
    pub(super) fn types(&self) -> Option<&ModelTypes> {
        let infer = || Some(infer_functions(self.model()?, &self.options, usize::MAX, InferGoal::All));
        self.types.get_or_init(infer).as_ref()
    }

    /// The names of the text.
    pub(super) fn index(&self) -> &SymbolIndex {
        self.index.get_or_init(|| index(&self.marks))
    }
}
