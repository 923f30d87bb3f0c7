//! A log in the Static Analysis Results Interchange Format, SARIF 2.1.0.
//!
//! Results are written when they are found; the rules, inputs and failures that the log names stand behind them.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::reporter::Verdict;
use super::short::with_help;
use crate::cli::explain;
use crate::diagnostics::json::Located;
use crate::diagnostics::visible::escaped;
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Location;

/// The version of the format, and the address that identifies its schema.
const VERSION: &str = "2.1.0";
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The state of a log.
#[derive(Default)]
pub(super) struct SarifLog {
    /// Whether its beginning is written.
    begun: bool,
    /// The number of results.
    results: usize,
    /// The codes of the results, in the order in which they were found.
    rules: Vec<Code>,
    artifacts: Vec<Value>,
    notifications: Vec<Value>,
    /// Whether a failure was told.
    failed: bool,
}

/// A path as a reference of a URI. Paths stay relative, so that the log can be read in another checkout.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte.into()),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// A place in a file; the file alone if it has no lines.
fn physical(located: &Located, at: Location) -> Value {
    let file = located.sources.file(at.file);
    let artifact = json!({ "uri": uri(file.name()) });
    if file.is_binary() {
        json!({ "artifactLocation": artifact })
    } else {
        json!({ "artifactLocation": artifact, "region": region(located, at) })
    }
}

fn region(located: &Located, at: Location) -> Value {
    let (start, end) = (located.places.start(at), located.places.end(at));
    json!({ "startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column })
}

impl SarifLog {
    /// Writes the beginning of the log, if it is not written.
    pub(super) fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        write!(out, "{{\"$schema\":\"{SCHEMA}\",\"version\":\"{VERSION}\",\"runs\":[{{\"results\":[")
    }

    /// Writes a finding.
    pub(super) fn result(&mut self, out: &mut dyn Write, located: &Located, found: &Diagnostic) -> io::Result<()> {
        self.begin(out)?;
        let separator = if self.results > 0 { ",\n" } else { "\n" };
        self.results += 1;
        let known = self.rules.iter().position(|code| *code == found.code);
        let rule = known.unwrap_or_else(|| {
            self.rules.push(found.code);
            self.rules.len() - 1
        });
        let mut location = json!({ "physicalLocation": physical(located, found.at) });
        if let Some(node) = &found.node {
            let mut logical = json!({ "fullyQualifiedName": node.path, "kind": "object" });
            if let Some(name) = &node.name {
                logical["name"] = name.as_str().into();
            }
            location["logicalLocations"] = json!([logical]);
        }
        let mut result = json!({
            "ruleId": found.code.as_str(),
            "ruleIndex": rule,
            "level": found.severity.word(),
            "message": { "text": with_help(found) },
            "locations": [location],
        });
        let related = found.labels.iter().map(
            |label| json!({ "physicalLocation": physical(located, label.at), "message": { "text": label.message } }),
        );
        let related: Vec<Value> = related.collect();
        if !related.is_empty() {
            result["relatedLocations"] = related.into();
        }
        let frame = |(fragment, at): (&str, Location)| {
            let text = format!("in `{fragment}`");
            json!({ "location": { "physicalLocation": physical(located, at), "message": { "text": text } } })
        };
        let frames: Vec<Value> = found.expansion.iter().map(|call| frame((&call.fragment, call.at))).collect();
        if !frames.is_empty() {
            result["stacks"] = json!([{ "message": { "text": "calls, innermost first" }, "frames": frames }]);
        }
        if let Some(fix) = found.fix.as_ref().filter(|fix| fix.certain) {
            let deleted = region(located, Location { span: fix.span, ..found.at });
            let file = uri(located.sources.file(found.at.file).name());
            let replacement = json!({ "deletedRegion": deleted, "insertedContent": { "text": fix.replacement } });
            let text = found.help.clone().unwrap_or_else(|| found.message.clone());
            result["fixes"] = json!([{
                "description": { "text": text },
                "artifactChanges": [{ "artifactLocation": { "uri": file }, "replacements": [replacement] }],
            }]);
        }
        write!(out, "{separator}{}", escaped(&result.to_string()))
    }

    /// Notes an input with its verdict.
    pub(super) fn artifact(&mut self, path: &str, verdict: &Verdict) {
        let properties = verdict.object(path);
        self.artifacts.push(json!({
            "location": { "uri": uri(path) }, "roles": ["analysisTarget"], "properties": properties,
        }));
    }

    /// Notes a failure, which may be about an input.
    pub(super) fn failure(&mut self, message: &str, path: Option<&str>) {
        self.failed = true;
        let mut notification = json!({ "level": "error", "message": { "text": message } });
        if let Some(path) = path {
            notification["locations"] = json!([{ "physicalLocation": { "artifactLocation": { "uri": uri(path) } } }]);
        }
        self.notifications.push(notification);
    }

    /// Notes requested information.
    pub(super) fn note(&mut self, text: &str, object: &Value) {
        let text = text.trim_end();
        self.notifications.push(json!({ "level": "note", "message": { "text": text }, "properties": object }));
    }

    /// Writes the end of the log, if it has begun or there is something to tell.
    pub(super) fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.begun && self.notifications.is_empty() {
            return Ok(());
        }
        self.begin(out)?;
        let rules: Vec<Value> = self.rules.iter().map(|code| rule(*code)).collect();
        let rest = json!({
            "columnKind": "unicodeCodePoints",
            "tool": { "driver": {
                "name": "nnef-flatten", "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"), "rules": rules,
            } },
            "artifacts": std::mem::take(&mut self.artifacts),
            "invocations": [{
                "executionSuccessful": !self.failed,
                "toolExecutionNotifications": std::mem::take(&mut self.notifications),
            }],
        });
        let rest = rest.to_string();
        writeln!(out, "],{}]}}", escaped(rest.strip_prefix('{').unwrap_or_default()))
    }
}

/// The description of a code.
fn rule(code: Code) -> Value {
    let (title, explanation) = (code.title(), explain::body(code));
    let mut rule = json!({
        "id": code.as_str(),
        "name": format!("{code:?}"),
        "shortDescription": { "text": title },
        "help": { "text": explanation, "markdown": explanation },
        "defaultConfiguration": { "level": code.severity(false).word() },
    });
    if let Some(of) = code.rule() {
        rule["properties"] = json!({ "rule": of });
    }
    rule
}
