//! The answers about a model.

use super::completion::completions;
use super::folds::folds;
use super::hints::hints;
use super::hover::hover;
use super::outline::outline;
use super::scan::{Piece, pieces};
use super::signature::signature;
use super::text::OnnxText;
use crate::input::Findings;
use crate::lsp::analyzed::{AnalyzedText, CallSignature, Completions, Fold, Hint, HoverText, OutlineItem};
use crate::lsp::symbols::{Symbol, SymbolIndex, SymbolKind};
use crate::onnx::text::value_name;
use crate::source::names::is_identifier;
use crate::source::{FileId, Span};

/// Whether a text has comments outside of strings.
fn has_comments(text: &str) -> bool {
    pieces(text).any(|(_, piece)| matches!(piece, Piece::Comment(_)))
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

    fn outline(&self) -> Vec<OutlineItem> {
        outline(self)
    }

    fn folds(&self) -> Vec<Fold> {
        folds(self.source())
    }

    fn signature(&self, offset: u32) -> Option<CallSignature> {
        signature(self, offset)
    }

    fn hints(&self, within: Span) -> Vec<Hint> {
        hints(self, within)
    }

    fn spelled(&self, symbol: &Symbol, name: &str) -> Result<String, String> {
        match symbol.kind {
            SymbolKind::Local if !name.is_empty() && !name.contains(char::is_control) => Ok(value_name(name)),
            SymbolKind::Operation | SymbolKind::Parameter if is_identifier(name) => Ok(name.to_owned()),
            _ => Err(format!("`{name}` cannot be a name")),
        }
    }
}
