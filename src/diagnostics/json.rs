//! The JSON form of a diagnostic: one object a line, for editors and scripts.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::diagnostic::{Diagnostic, Severity};
use super::visible::escaped;
use crate::source::{Location, Sources};

impl Diagnostic {
    /// Writes the diagnostic as one line of JSON.
    ///
    /// The fields are `severity`, `code`, `rule`, `message`, `file`, `line`, `column`, `end_line`,
    /// `end_column`, `label`, `help`, `labels`, `expansion` and `elided`. Lines and columns count from
    /// 1, columns count characters. Where calls were left out of the middle of the expansion, `elided`
    /// says how many and before which of its items; otherwise it is null.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_json(&self, out: &mut impl Write, sources: &Sources) -> io::Result<()> {
        write_json(out, sources, self)
    }
}

fn write_json(out: &mut impl Write, sources: &Sources, diagnostic: &Diagnostic) -> io::Result<()> {
    let info = diagnostic.code.info();
    let start = sources.start(diagnostic.at);
    let end = sources.end(diagnostic.at);
    let labels: Vec<Value> = diagnostic
        .labels
        .iter()
        .map(|label| {
            let (file, line, column) = place(sources, label.at);
            json!({ "message": label.message, "file": file, "line": line, "column": column })
        })
        .collect();
    let object = json!({
        "severity": match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "code": info.code,
        "rule": info.rule,
        "message": diagnostic.message,
        "file": sources.file(diagnostic.at.file).name(),
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "label": diagnostic.label,
        "help": diagnostic.help,
        "labels": labels,
        "expansion": expansion(sources, diagnostic),
        "elided": diagnostic.elided.map(|(count, before)| json!({ "count": count, "before": before })),
    });
    // Standard error is often a terminal, and JSON need not escape all characters that control one.
    writeln!(out, "{}", escaped(&object.to_string()))
}

/// The object for a failure that is not a diagnostic: the fields of one, null or empty but for the message.
#[cfg(feature = "cli")]
pub(crate) fn failure(message: &str) -> Value {
    json!({
        "severity": "error", "code": null, "rule": null, "message": message, "file": null, "line": null,
        "column": null, "end_line": null, "end_column": null, "label": null, "help": null, "labels": [],
        "expansion": [], "elided": null,
    })
}

fn expansion(sources: &Sources, diagnostic: &Diagnostic) -> Vec<Value> {
    diagnostic
        .expansion
        .iter()
        .map(|frame| {
            let (file, line, column) = place(sources, frame.at);
            json!({ "fragment": frame.fragment, "file": file, "line": line, "column": column })
        })
        .collect()
}

fn place(sources: &Sources, at: Location) -> (&str, u32, u32) {
    let position = sources.start(at);
    (sources.file(at.file).name(), position.line, position.column)
}

#[cfg(test)]
mod tests {
    use super::super::{Code, TraceFrame};
    use super::*;
    use crate::source::Span;

    #[test]
    fn all_fields_are_there() {
        let mut sources = Sources::new();
        let file = sources.add("a \"b\".nnef", "one\né two\nthree\n");
        let at = |start, end| Location::new(file, Span::new(start, end));
        let mut diagnostic = Diagnostic::new(Code::UnknownOperation, at(7, 10), "what is `two`?")
            .help("say `one`")
            .see(at(0, 3), "declared here");
        diagnostic.expansion.push(TraceFrame { fragment: "f".to_owned(), at: at(11, 16) });
        diagnostic.elided = Some((7, 1));
        let mut out = Vec::new();
        write_json(&mut out, &sources, &diagnostic).unwrap();
        assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 1);
        let value: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            value,
            json!({
                "severity": "warning", "code": "E0401", "rule": "A1", "message": "what is `two`?",
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
        let (mut sources, mut out) = (Sources::new(), Vec::new());
        let at = Location { file: sources.add("t", ""), ..Location::default() };
        write_json(&mut out, &sources, &Diagnostic::new(Code::TooLarge, at, "m")).unwrap();
        let of_diagnostic: Value = serde_json::from_slice(&out).unwrap();
        let of_failure = failure("m");
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&of_failure), names(&of_diagnostic));
        assert_eq!((&of_failure["message"], &of_failure["severity"]), (&json!("m"), &json!("error")));
    }

    #[test]
    fn a_code_without_rule_has_null() {
        let mut sources = Sources::new();
        let file = sources.add("t", "");
        let mut out = Vec::new();
        let at = Location::new(file, Span::default());
        write_json(&mut out, &sources, &Diagnostic::new(Code::TooLarge, at, "m")).unwrap();
        let value: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((&value["rule"], &value["line"], &value["column"]), (&Value::Null, &json!(1), &json!(1)));
    }
}
