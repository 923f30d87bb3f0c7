//! The answers about a model.

use super::completion::completions;
use super::hover::hover;
use super::text::OnnxText;
use crate::input::Findings;
use crate::lsp::analyzed::{AnalyzedText, Completions, HoverText};
use crate::lsp::symbols::{Symbol, SymbolIndex, SymbolKind};
use crate::onnx::text::value_name;
use crate::source::FileId;
use crate::source::names::is_identifier;

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
        self.index()
    }

    fn hover(&self, offset: u32) -> Option<HoverText> {
        hover(self, offset)
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
        completions(self, offset)
    }

    fn spelled(&self, symbol: &Symbol, name: &str) -> Result<String, String> {
        match symbol.kind {
            SymbolKind::Local if !name.is_empty() && !name.contains(char::is_control) => Ok(value_name(name)),
            SymbolKind::Operation | SymbolKind::Parameter if is_identifier(name) => Ok(name.to_owned()),
            _ => Err(format!("`{name}` cannot be a name")),
        }
    }
}
