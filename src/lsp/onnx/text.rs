//! A model with what is known of it.

use std::cell::OnceCell;

use super::index::{OnnxIndex, index};
use crate::Options;
use crate::diagnostics::Diagnostic;
use crate::input::Findings;
use crate::lsp::analyzed::{AnalyzedText, Completions, HoverText};
use crate::lsp::symbols::{Symbol, SymbolIndex, SymbolKind};
use crate::onnx::Document;
use crate::onnx::infer::{ModelTypes, infer_functions};
use crate::onnx::model::ModelProto;
use crate::onnx::text::{Marks, value_name};
use crate::source::names::is_identifier;
use crate::source::{FileId, Location, Sources, Span};

/// The text of a model.
pub(in crate::lsp) struct OnnxText {
    options: Options,
    findings: Findings,
    file: FileId,
    /// The model, if its text has no errors.
    document: Option<Document>,
    pub(super) marks: Marks,
    types: OnceCell<Option<ModelTypes>>,
    index: OnceCell<OnnxIndex>,
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
        let infer = || Some(infer_functions(self.model()?, &self.options, usize::MAX));
        self.types.get_or_init(infer).as_ref()
    }

    /// The names of the text.
    pub(super) fn index(&self) -> &OnnxIndex {
        self.index.get_or_init(|| index(&self.marks))
    }
}

/// Whether a text has comments outside of strings.
fn has_comments(text: &str) -> bool {
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'#' if !quoted => return true,
            _ => {}
        }
    }
    false
}

impl AnalyzedText for OnnxText {
    fn findings(&self) -> (&Findings, FileId) {
        (&self.findings, self.file)
    }

    fn language(&self) -> &'static str {
        "onnxtxt"
    }

    fn symbols(&self) -> &SymbolIndex {
        &self.index().symbols
    }

    fn hover(&self, offset: u32) -> Option<HoverText> {
        super::hover::hover(self, offset)
    }

    fn formatted(&self) -> Result<String, String> {
        let Some(document) = &self.document else { return Err("a text with errors is not formatted".to_owned()) };
        if has_comments(self.source()) {
            return Err("the text has comments, which would be lost".to_owned());
        }
        match document.to_text(self.options.strict) {
            Ok((text, lost)) if lost.is_empty() => Ok(text),
            Ok((_, lost)) | Err(lost) => Err(lost.to_string()),
        }
    }

    fn completions(&self, offset: u32) -> Option<Completions> {
        super::completion::completions(self, offset)
    }

    fn spelled(&self, symbol: &Symbol, name: &str) -> Result<String, String> {
        match symbol.kind {
            SymbolKind::Local if !name.is_empty() && !name.contains(char::is_control) => Ok(value_name(name)),
            SymbolKind::Operation | SymbolKind::Parameter if is_identifier(name) => Ok(name.to_owned()),
            _ => Err(format!("`{name}` cannot be a name")),
        }
    }
}
