//! The JSON form of a diagnostic: one object a line, for editors and scripts.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::diagnostic::{Diagnostic, Severity};
use super::visible::escaped;
use crate::source::places::Places;
use crate::source::{Location, Sources};

impl Diagnostic {
    /// Writes the diagnostic as one line of JSON.
    ///
    /// The fields are `kind` (`finding`), `severity`, `code`, `rule`, `message`, `path`, `node`, `range`, `fix`, `file`,
    /// `line`, `column`, `end_line`, `end_column`, `label`, `help`, `labels`, `expansion` and `elided`. Lines and columns
    /// count from 1, columns count characters; the bytes of a `range` count from 0. `range` is null in files without
    /// lines, where `node` says what is meant in a model of ONNX. `fix` is a `range` with its `replacement`, and null
    /// unless the change is certain. Where calls were left out of the middle of the expansion, `elided` says how many and
    /// before which of its items; otherwise it is null.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_json(&self, out: &mut impl Write, sources: &Sources) -> io::Result<()> {
        let located = Located::new(sources, std::iter::once(self));
        write_line(out, &located.finding(self, sources.file(self.at.file).name()))
    }
}

/// Writes an object on a line. Standard error is often a terminal, and JSON need not escape all characters that control
/// one.
pub(crate) fn write_line(out: &mut (impl Write + ?Sized), object: &Value) -> io::Result<()> {
    writeln!(out, "{}", escaped(&object.to_string()))
}

/// Sources with the lines and columns of diagnostics.
pub(crate) struct Located<'s> {
    pub(crate) sources: &'s Sources,
    pub(crate) places: Places,
}

impl<'s> Located<'s> {
    /// Finds the lines and columns that diagnostics refer to.
    pub(crate) fn new<'d>(sources: &'s Sources, all: impl IntoIterator<Item = &'d Diagnostic>) -> Self {
        Located { sources, places: Places::with_ends(sources, all.into_iter().flat_map(Diagnostic::locations)) }
    }

    /// The object of a diagnostic about an input with this path.
    pub(crate) fn finding(&self, diagnostic: &Diagnostic, path: &str) -> Value {
        let info = diagnostic.code.info();
        let (start, end) = (self.places.start(diagnostic.at), self.places.end(diagnostic.at));
        let labels = diagnostic.labels.iter().map(|label| self.with_place("message", &label.message, label.at));
        let calls = diagnostic.expansion.iter().map(|frame| self.with_place("fragment", &frame.fragment, frame.at));
        let fix = diagnostic.fix.as_ref().filter(|fix| fix.certain);
        let fix = fix.map(|fix| {
            let range = self.range(Location { span: fix.span, ..diagnostic.at });
            json!({ "range": range, "replacement": fix.replacement })
        });
        json!({
            "kind": "finding",
            "severity": diagnostic.severity.word(),
            "code": info.code,
            "rule": info.rule,
            "message": diagnostic.message,
            "path": path,
            "node": diagnostic.node.as_ref().map(|node| json!({ "path": node.path, "name": node.name })),
            "range": self.range(diagnostic.at),
            "fix": fix,
            "file": self.sources.file(diagnostic.at.file).name(),
            "line": start.line,
            "column": start.column,
            "end_line": end.line,
            "end_column": end.column,
            "label": diagnostic.label,
            "help": diagnostic.help,
            "labels": labels.collect::<Vec<_>>(),
            "expansion": calls.collect::<Vec<_>>(),
            "elided": diagnostic.elided.map(|(count, before)| json!({ "count": count, "before": before })),
        })
    }

    /// A range as lines, columns and bytes; none in a file without lines.
    fn range(&self, at: Location) -> Option<Value> {
        let file = self.sources.file(at.file);
        let end = |position: crate::source::Position, offset| json!({ "line": position.line, "column": position.column, "byte": file.offset_in_file(offset) });
        let range = json!({
            "start": end(self.places.start(at), at.span.start),
            "end": end(self.places.end(at), at.span.end),
        });
        (!file.is_binary()).then_some(range)
    }

    /// A text with the start of its location.
    fn with_place(&self, name: &str, text: &str, at: Location) -> Value {
        let position = self.places.start(at);
        let mut object = Map::new();
        object.insert(name.to_owned(), text.into());
        object.insert("file".to_owned(), self.sources.file(at.file).name().into());
        object.insert("line".to_owned(), position.line.into());
        object.insert("column".to_owned(), position.column.into());
        Value::Object(object)
    }
}

impl Severity {
    /// Its word in messages for programs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// The object for a failure that is not a diagnostic: the fields of one, null or empty but for the message, and the path
/// of the input that it is about.
#[cfg(feature = "cli")]
pub(crate) fn failure(message: &str, path: Option<&str>) -> Value {
    json!({
        "kind": "failure", "severity": "error", "code": null, "rule": null, "message": message, "path": path,
        "node": null, "range": null, "fix": null, "file": null, "line": null, "column": null, "end_line": null,
        "end_column": null, "label": null, "help": null, "labels": [], "expansion": [], "elided": null,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Code, NodePlace, TraceFrame};
    use super::*;
    use crate::source::Span;

    fn object(diagnostic: &Diagnostic, sources: &Sources) -> Value {
        let mut out = Vec::new();
        diagnostic.write_json(&mut out, sources).unwrap();
        assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 1);
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn all_fields_are_there() {
        let mut sources = Sources::new();
        let file = sources.add("a \"b\".nnef", "\u{feff}one\né two\nthree\n");
        let at = |start, end| Location::new(file, Span::new(start, end));
        let mut diagnostic = Diagnostic::new(Code::UnknownOperation, at(7, 10), "what is `two`?")
            .help("say `one`")
            .fix(Span::new(7, 7), "one")
            .see(at(0, 3), "declared here");
        diagnostic.expansion.push(TraceFrame { fragment: "f".to_owned(), at: at(11, 16) });
        diagnostic.elided = Some((7, 1));
        assert_eq!(
            object(&diagnostic, &sources),
            json!({
                "kind": "finding",
                "severity": "warning", "code": "E0401", "rule": "A1", "message": "what is `two`?",
                "path": "a \"b\".nnef", "node": null,
                "range": {
                    "start": { "line": 2, "column": 3, "byte": 10 }, "end": { "line": 2, "column": 6, "byte": 13 },
                },
                "fix": {
                    "range": {
                        "start": { "line": 2, "column": 3, "byte": 10 }, "end": { "line": 2, "column": 3, "byte": 10 },
                    },
                    "replacement": "one",
                },
                "file": "a \"b\".nnef", "line": 2, "column": 3, "end_line": 2, "end_column": 6,
                "label": "not declared", "help": "say `one`",
                "labels": [{ "message": "declared here", "file": "a \"b\".nnef", "line": 1, "column": 1 }],
                "expansion": [{ "fragment": "f", "file": "a \"b\".nnef", "line": 3, "column": 1 }],
                "elided": { "count": 7, "before": 1 },
            })
        );
    }

    #[cfg(feature = "cli")]
    #[test]
    fn failures_have_the_fields_of_diagnostics() {
        let mut sources = Sources::new();
        let at = Location { file: sources.add("t", ""), ..Location::default() };
        let (of_diagnostic, of_failure) =
            (object(&Diagnostic::new(Code::TooLarge, at, "m"), &sources), failure("m", None));
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&of_failure), names(&of_diagnostic));
        assert_eq!((&of_failure["message"], &of_failure["severity"]), (&json!("m"), &json!("error")));
    }

    #[test]
    fn what_is_not_known_is_null() {
        let mut sources = Sources::new();
        let at = Location::new(sources.add("t", ""), Span::default());
        let value = object(&Diagnostic::new(Code::TooLarge, at, "m").propose(at.span, Some("probably")), &sources);
        assert_eq!((&value["rule"], &value["line"], &value["column"]), (&Value::Null, &json!(1), &json!(1)));
        assert_eq!((&value["fix"], &value["node"]), (&Value::Null, &Value::Null));
    }

    #[cfg(feature = "onnx")]
    #[test]
    fn binary_files_have_nodes_instead_of_ranges() {
        let mut sources = Sources::new();
        let at = Location::new(sources.add_binary("m.onnx"), Span::default());
        let node = NodePlace { path: "graph.node[3]".to_owned(), name: Some("conv".to_owned()), part: None };
        let value = object(&Diagnostic::new(Code::OnnxType, at, "m").about(Some(node)), &sources);
        assert_eq!(value["node"], json!({ "path": "graph.node[3]", "name": "conv" }));
        assert_eq!(value["range"], Value::Null);
    }
}
