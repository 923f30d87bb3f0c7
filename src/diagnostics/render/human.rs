//! A diagnostic with its source lines and its calls.

use std::io::{self, Write};

use super::calls::write_trace;
use super::heading::{Paint, place, write_heading};
use super::report;
use crate::diagnostics::diagnostic::Diagnostic;
use crate::diagnostics::visible::clean;
use crate::source::Sources;

impl Diagnostic {
    /// Writes the diagnostic with its source lines and its calls, ended by an empty line.
    ///
    /// `color` enables ANSI colours; the caller knows whether the output is a terminal.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_human(&self, out: &mut impl Write, sources: &Sources, color: bool) -> io::Result<()> {
        write_human(out, sources, self, color)
    }
}

pub(super) fn write_human(
    out: &mut impl Write,
    sources: &Sources,
    diagnostic: &Diagnostic,
    color: bool,
) -> io::Result<()> {
    let paint = Paint { color };
    write_heading(out, diagnostic, paint)?;
    if sources.file(diagnostic.at.file).is_binary() && diagnostic.labels.is_empty() {
        write_without_lines(out, sources, diagnostic, paint)?;
    } else {
        report::write(out, sources, diagnostic, color)?;
    }
    write_trace(out, sources, diagnostic, paint)?;
    out.write_all(b"\n")
}

/// Writes the name of a file without lines, such as a binary one, and the help.
fn write_without_lines(
    out: &mut impl Write,
    sources: &Sources,
    diagnostic: &Diagnostic,
    paint: Paint,
) -> io::Result<()> {
    writeln!(out, "  in {}", paint.apply("36", &place(sources, diagnostic.at)))?;
    for line in diagnostic.help.iter().flat_map(|help| help.lines()) {
        writeln!(out, "  {}: {}", paint.apply("38;5;115", "Help"), clean(line))?;
    }
    Ok(())
}
