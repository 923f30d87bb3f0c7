//! The texts that are open in the editor.

use std::cell::OnceCell;

use serde_json::Value;

use super::analyzed::AnalyzedText;
use super::languages::Language;
use super::params::{Params, RequestError};
use super::positions::{Lines, PositionEncoding};
use super::uri;
use crate::Options;
use crate::live::LiveRun;

/// A text that is open in the editor.
pub(super) struct OpenText {
    pub(super) uri: String,
    pub(super) version: Option<i64>,
    pub(super) lines: Lines,
    language: Option<&'static Language>,
    /// What is known of this version, when it is asked for.
    analysis: OnceCell<Option<Box<dyn AnalyzedText>>>,
    /// Whether the findings of this version have been sent.
    pub(super) is_published: bool,
}

impl OpenText {
    /// The text of a notification that it was opened.
    pub(super) fn opened(params: Params) -> Result<OpenText, RequestError> {
        let uri = params.uri()?.to_owned();
        let id = params.0.pointer("/textDocument/languageId").and_then(Value::as_str).unwrap_or_default();
        Ok(OpenText {
            version: params.0.pointer("/textDocument/version").and_then(Value::as_i64),
            lines: Lines::new(params.text("/textDocument/text")?.to_owned()),
            language: Language::of(id, &uri::name(&uri)),
            uri,
            analysis: OnceCell::new(),
            is_published: false,
        })
    }

    /// Changes the text by a notification: replacements of ranges, each in the text after those before it, or of the
    /// whole text.
    pub(super) fn change(&mut self, params: Params, encoding: PositionEncoding) -> Result<(), RequestError> {
        for change in params.items("/contentChanges").map(Params) {
            let text = change.text("/text")?;
            if change.0.get("range").is_none_or(Value::is_null) {
                self.lines = Lines::new(text.to_owned());
                continue;
            }
            let [start, end] =
                change.range("/range")?.map(|(line, character)| self.lines.byte(line, character, encoding));
            let before = self.lines.text();
            let (head, tail) =
                (before.get(..start).unwrap_or_default(), before.get(end.max(start)..).unwrap_or_default());
            self.lines = Lines::new([head, text, tail].concat());
        }
        self.version = params.0.pointer("/textDocument/version").and_then(Value::as_i64);
        self.analysis = OnceCell::new();
        self.is_published = false;
        Ok(())
    }

    /// What is known of the text; none in an unknown notation.
    pub(super) fn analysis(&self, options: &Options) -> Option<&dyn AnalyzedText> {
        let analyze = || {
            let language = self.language?;
            let _run = LiveRun::within(options.max_memory);
            Some((language.analyze)(&uri::name(&self.uri), self.lines.read(), options))
        };
        self.analysis.get_or_init(analyze).as_deref()
    }
}
