//! What is known of a text, in every notation.

use std::ops::Range;

use super::symbols::{Symbol, SymbolIndex, SymbolKind};
use crate::input::Findings;
use crate::source::{FileId, Span};

/// A text to be shown about a name, with the place of the name.
pub(super) struct HoverText {
    pub(super) span: Span,
    /// Lines in the notation of the text.
    pub(super) code: String,
    /// What there is to say about it.
    pub(super) remarks: Vec<String>,
}

/// What a completion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProposalKind {
    Operation,
    Parameter,
    Value,
    Keyword,
    Module,
}

/// A word that can stand at a position.
pub(super) struct Proposal {
    pub(super) label: String,
    pub(super) kind: ProposalKind,
    /// A signature or a type.
    pub(super) detail: Option<String>,
    /// The text to insert, if it is not the label.
    pub(super) insert: Option<String>,
}

/// The words that can stand at a position, instead of the part of one that is there.
pub(super) struct Completions {
    pub(super) replaced: Span,
    pub(super) proposals: Vec<Proposal>,
}

/// A replacement of a part of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) span: Span,
    pub(super) text: String,
}

/// A call that can be expanded where it stands.
#[derive(Clone, Debug)]
pub(super) struct ExpandableCall {
    /// The name of what is called.
    pub(super) operation: String,
    pub(super) span: Span,
    /// Why it cannot be expanded.
    pub(super) disabled: Option<String>,
}

/// A declaration or a statement in the outline of a text.
#[derive(Debug)]
pub(super) struct OutlineItem {
    pub(super) name: String,
    pub(super) kind: SymbolKind,
    /// What it calls, or its signature.
    pub(super) detail: String,
    /// All of it.
    pub(super) span: Span,
    /// Its name.
    pub(super) named: Span,
    pub(super) inner: Vec<OutlineItem>,
}

/// Lines that can be folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// What is between two brackets, which are the ends of the span.
    Brackets(Span),
    Comment(Span),
}

/// The signature of what is called around a position.
#[derive(Debug)]
pub(super) struct CallSignature {
    pub(super) label: String,
    /// The parts of the label that are parameters.
    pub(super) params: Vec<Range<usize>>,
    /// The parameter that the position is about.
    pub(super) active: Option<usize>,
    /// What there is to say about it.
    pub(super) remark: Option<String>,
}

/// What is shown after a name, but is not in the text.
#[derive(Debug)]
pub(super) struct Hint {
    pub(super) offset: u32,
    pub(super) label: String,
}

/// A text with what is known of it.
pub(super) trait AnalyzedText {
    /// The findings, and the file that is the text.
    fn findings(&self) -> (&Findings, FileId);

    /// The name of its notation, as editors have it.
    fn language(&self) -> &'static str;

    /// The names of the text.
    fn symbols(&self) -> &SymbolIndex;

    /// What there is to say about the name at an offset.
    fn hover(&self, offset: u32) -> Option<HoverText>;

    /// The text in canonical layout, or why it has none.
    fn formatted(&self) -> Result<String, String>;

    /// The words that can stand at an offset.
    fn completions(&self, offset: u32) -> Option<Completions>;

    /// Its declarations and statements.
    fn outline(&self) -> Vec<OutlineItem>;

    /// What can be folded, in the order of its ends.
    fn folds(&self) -> Vec<Fold>;

    /// The signature of what is called around an offset.
    fn signature(&self, offset: u32) -> Option<CallSignature>;

    /// The types and shapes of what is defined in a span.
    fn hints(&self, within: Span) -> Vec<Hint>;

    /// How a new name of a symbol is written, or why the symbol cannot have it.
    fn spelled(&self, symbol: &Symbol, name: &str) -> Result<String, String>;

    /// The call at a span of the text.
    fn call_at(&self, _: Span) -> Option<ExpandableCall> {
        None
    }

    /// The replacements that expand a call, or why it cannot be expanded.
    fn expansion(&self, _: &ExpandableCall) -> Result<Vec<Replacement>, String> {
        Err("calls are not expanded in this notation".to_owned())
    }
}
