//! The heading of a diagnostic, its place, and its colours.

use std::io::{self, Write};

use crate::diagnostics::diagnostic::{Diagnostic, Severity};
use crate::diagnostics::visible::clean;
use crate::source::{Location, Sources};

/// The colours of the text outside the report.
#[derive(Clone, Copy)]
pub(super) struct Paint {
    pub(super) color: bool,
}

impl Paint {
    pub(super) fn apply(self, style: &str, text: &str) -> String {
        if self.color { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

pub(super) fn write_heading(out: &mut impl Write, diagnostic: &Diagnostic, paint: Paint) -> io::Result<()> {
    let (word, style) = match diagnostic.severity {
        Severity::Error => ("Error", "1;31"),
        Severity::Warning => ("Warning", "1;33"),
    };
    let info = diagnostic.code.info();
    let id = match info.rule {
        Some(rule) => format!("{word}[{} {rule}]", info.code),
        None => format!("{word}[{}]", info.code),
    };
    writeln!(out, "{}: {}", paint.apply(style, &id), paint.apply("1", &clean(&diagnostic.message)))
}

/// `file:line:column` of a location; the file alone if it is binary.
pub(super) fn place(sources: &Sources, at: Location) -> String {
    if sources.file(at.file).is_binary() {
        return clean(sources.file(at.file).name());
    }
    let start = sources.start(at);
    format!("{}:{}:{}", clean(sources.file(at.file).name()), start.line, start.column)
}
