//! Findings as commands of a workflow of GitHub, which shows them beside the lines of a change.

use std::io::{self, Write};

use super::short::{id, with_help};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::json::Located;
use crate::diagnostics::visible::clean;

/// The text of a message or of a property: what would end it is written by its number.
fn escaped(text: &str, property: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' | '\r' | '\n' => escaped.push_str(&format!("%{:02X}", u32::from(c))),
            ':' | ',' if property => escaped.push_str(&format!("%{:02X}", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Writes a finding.
pub(super) fn write(out: &mut (impl Write + ?Sized), located: &Located, diagnostic: &Diagnostic) -> io::Result<()> {
    let file = located.sources.file(diagnostic.at.file);
    let mut place = format!("file={}", escaped(&clean(file.name()), true));
    if !file.is_binary() {
        let (start, end) = (located.places.start(diagnostic.at), located.places.end(diagnostic.at));
        place.push_str(&format!(",line={},endLine={}", start.line, end.line));
        if start.line == end.line {
            // Columns are shown within a line; that of the last character belongs to the range.
            let last = end.column.saturating_sub(1).max(start.column);
            place.push_str(&format!(",col={},endColumn={last}", start.column));
        }
    }
    let title = escaped(&format!("{}: {}", id(diagnostic.code), diagnostic.code.title()), true);
    let message = escaped(&with_help(diagnostic), false);
    writeln!(out, "::{} {place},title={title}::{message}", diagnostic.severity.word())
}

/// Writes a failure, which may be about an input.
pub(super) fn failure(out: &mut (impl Write + ?Sized), message: &str, path: Option<&str>) -> io::Result<()> {
    let file = path.map(|path| format!("file={},", escaped(&clean(path), true))).unwrap_or_default();
    writeln!(out, "::error {file}title=nnef-flatten::{}", escaped(&clean(message), false))
}

/// Writes a note of several lines.
pub(super) fn note(out: &mut (impl Write + ?Sized), text: &str) -> io::Result<()> {
    let lines: Vec<String> = text.lines().map(clean).collect();
    writeln!(out, "::notice title=nnef-flatten::{}", escaped(&lines.join("\n"), false))
}
