//! The answers about a document.

use super::completion::completions;
use super::expansion::{call_at, expansion};
use super::folds::folds;
use super::hints::hints;
use super::hover::hover;
use super::outline::outline;
use super::signature::signature;
use super::text::NnefText;
use super::words::spelled;
use crate::input::Findings;
use crate::lsp::analyzed::{
    AnalyzedText, CallSignature, Completions, ExpandableCall, Fold, Hint, HoverText, OutlineItem, Replacement,
};
use crate::lsp::symbols::{Symbol, SymbolIndex};
use crate::source::{FileId, Span};

impl AnalyzedText for NnefText {
    fn findings(&self) -> (&Findings, FileId) {
        (&self.findings, self.document.main().file)
    }

    fn language(&self) -> &'static str {
        "nnef"
    }

    fn symbols(&self) -> &SymbolIndex {
        &self.index().symbols
    }

    fn hover(&self, offset: u32) -> Option<HoverText> {
        hover(self, offset)
    }

    fn formatted(&self) -> Result<String, String> {
        match self.document.broken() {
            Some(_) => Err("a text with syntax errors is not formatted".to_owned()),
            None => Ok(self.document.format()),
        }
    }

    fn completions(&self, offset: u32) -> Option<Completions> {
        completions(self, offset)
    }

    fn outline(&self) -> Vec<OutlineItem> {
        outline(self)
    }

    fn folds(&self) -> Vec<Fold> {
        folds(self)
    }

    fn signature(&self, offset: u32) -> Option<CallSignature> {
        signature(self, offset)
    }

    fn hints(&self, within: Span) -> Vec<Hint> {
        hints(self, within)
    }

    fn spelled(&self, _: &Symbol, name: &str) -> Result<String, String> {
        spelled(name, self.document.dialect())
    }

    fn call_at(&self, span: Span) -> Option<ExpandableCall> {
        call_at(self, span)
    }

    fn expansion(&self, call: &ExpandableCall) -> Result<Vec<Replacement>, String> {
        expansion(self, call)
    }
}
