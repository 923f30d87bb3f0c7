//! The findings about a text: `textDocument/publishDiagnostics`, and for clients that ask, `textDocument/diagnostic`.

use serde_json::{Value, json};

use super::params::{Answer, Params};
use super::positions::Lines;
use super::session::Session;
use super::texts::OpenText;
use crate::diagnostics::{Diagnostic, Severity};
use crate::input::Findings;
use crate::source::{FileId, Location, Span};

/// The name of the program in the list of findings.
const SOURCE: &str = "nnef-flatten";

/// Answers with the findings about a text.
pub(super) fn diagnostic(session: &mut Session, params: Params) -> Answer {
    let text = session.text(params.uri()?)?;
    Ok(json!({ "kind": "full", "items": session.told(text) }))
}

impl Session {
    /// The parameters of the notification about a text.
    pub(super) fn published(&self, text: &OpenText) -> Value {
        json!({ "uri": text.uri, "version": text.version, "diagnostics": self.told(text) })
    }

    /// The findings about a text, in its order.
    fn told(&self, text: &OpenText) -> Vec<Value> {
        let found = text.analysis(&self.options).map(|analysis| {
            let (findings, file) = analysis.findings();
            let sorted = findings.diagnostics.clone().into_sorted();
            sorted.iter().map(|found| self.finding(text, findings, file, found)).collect()
        });
        found.unwrap_or_default()
    }

    /// The object of a finding.
    pub(super) fn finding(&self, text: &OpenText, findings: &Findings, file: FileId, found: &Diagnostic) -> Value {
        let info = found.code.info();
        let elsewhere = |at: Location, message: &str| -> Option<Value> {
            let location = self.located(text, findings, file, at)?;
            Some(json!({ "location": location, "message": message }))
        };
        let labels = found.labels.iter().filter_map(|label| elsewhere(label.at, &label.message));
        let calls = found
            .expansion
            .iter()
            .filter_map(|call| elsewhere(call.at, &format!("in the call of `{}`", call.fragment)));
        let related: Vec<Value> = labels.chain(calls).collect();
        let mut message = found.message.clone();
        if let Some(help) = &found.help {
            message = format!("{message}\nhelp: {help}");
        }
        // What is wrong with another file is told where the text begins.
        let span = if found.at.file == file { shown(&text.lines, found.at.span) } else { Span::default() };
        if found.at.file != file {
            message = format!("{}: {message}", findings.sources.name(found.at.file));
        }
        json!({
            "range": text.lines.range(span, self.client.encoding),
            "severity": match found.severity {
                Severity::Error => 1,
                Severity::Warning => 2,
            },
            "code": info.code,
            "source": SOURCE,
            "message": message,
            "relatedInformation": related,
        })
    }

    /// The location of a place that a finding names; none if the editor has no address for its file.
    fn located(&self, text: &OpenText, findings: &Findings, file: FileId, at: Location) -> Option<Value> {
        if at.file == file {
            return Some(self.here(text, at.span));
        }
        let name = findings.sources.name(at.file);
        self.in_library(name, at.span).or_else(|| self.in_file(name, at.span))
    }
}

/// The span by which a finding is shown: editors show nothing for a span without characters, so that it becomes the word or
/// the character after it, and at the end of a line or of the text the last character.
fn shown(lines: &Lines, span: Span) -> Span {
    if span.start < span.end {
        return span;
    }
    let text = lines.read();
    let after = text.get(span.start as usize..).unwrap_or_default();
    let word = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
    if let Some(first) = after.chars().next().filter(|first| !first.is_whitespace()) {
        return Span::new(span.start, span.start + word.max(first.len_utf8()) as u32);
    }
    let before = text.get(..span.start as usize).unwrap_or(text).trim_end();
    let last = before.chars().next_back().map_or(0, char::len_utf8);
    Span::new((before.len() - last) as u32, before.len() as u32)
}
