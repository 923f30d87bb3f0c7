//! Diagnostics as text: the source lines with labels, followed by the enclosing calls.

mod excerpt;
mod report;

use std::io::{self, Write};

use super::visible::clean;
use super::{Diagnostic, Severity, TraceFrame};
use crate::source::{Location, Sources};
use excerpt::Piece;

/// At most this many calls of a trace are shown.
const MAX_FRAMES: usize = 12;

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

fn write_human(out: &mut impl Write, sources: &Sources, diagnostic: &Diagnostic, color: bool) -> io::Result<()> {
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

/// The diagnostic on one line, with its location.
pub(crate) fn line(diagnostic: &Diagnostic, sources: &Sources, color: bool) -> String {
    let mut heading = Vec::new();
    // Writing to memory does not fail.
    let _ = write_heading(&mut heading, diagnostic, Paint { color });
    let heading = String::from_utf8_lossy(&heading);
    let help = diagnostic.help.as_ref().map_or_else(String::new, |help| format!("; {}", clean(help)));
    format!("{}, at {}{help}", heading.trim_end(), place(sources, diagnostic.at))
}

/// The sentence that ends a run: `2 errors, 3 warnings (5 more not shown)`; `None` if all numbers are 0.
pub(crate) fn summary(errors: usize, warnings: usize, suppressed: usize) -> Option<String> {
    let counted = |count: usize, what: &str| {
        let plural = if count == 1 { "" } else { "s" };
        (count > 0).then(|| format!("{count} {what}{plural}"))
    };
    let mut text = match (counted(errors, "error"), counted(warnings, "warning")) {
        (Some(errors), Some(warnings)) => format!("{errors}, {warnings}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) if suppressed == 0 => return None,
        (None, None) => return Some(format!("{suppressed} not shown")),
    };
    if suppressed > 0 {
        text.push_str(&format!(" ({suppressed} more not shown)"));
    }
    Some(text)
}

/// The colours of the text outside the report.
#[derive(Clone, Copy)]
struct Paint {
    color: bool,
}

impl Paint {
    fn apply(self, style: &str, text: &str) -> String {
        if self.color { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn write_heading(out: &mut impl Write, diagnostic: &Diagnostic, paint: Paint) -> io::Result<()> {
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

/// Writes every enclosing call, innermost first, with its source line.
fn write_trace(out: &mut impl Write, sources: &Sources, diagnostic: &Diagnostic, paint: Paint) -> io::Result<()> {
    let frames = &diagnostic.expansion;
    let (elided, gap) = diagnostic.elided.unwrap_or((0, frames.len()));
    let gap = gap.min(frames.len());
    let (head, tail) = frames.split_at(gap);
    let (head, tail, dropped) = shorten(head, tail);
    for frame in head {
        write_frame(out, sources, frame, paint)?;
    }
    let hidden = elided + dropped;
    if hidden > 0 {
        let calls = if hidden == 1 { "call" } else { "calls" };
        writeln!(out, "  … {hidden} more {calls} …")?;
    }
    for frame in tail {
        write_frame(out, sources, frame, paint)?;
    }
    Ok(())
}

/// Drops frames on both sides of the gap until [`MAX_FRAMES`] are left. Returns these and the number dropped.
fn shorten<'a>(head: &'a [TraceFrame], tail: &'a [TraceFrame]) -> (&'a [TraceFrame], &'a [TraceFrame], usize) {
    let total = head.len() + tail.len();
    if total <= MAX_FRAMES {
        return (head, tail, 0);
    }
    if tail.is_empty() {
        let (head, tail) = head.split_at(head.len() - MAX_FRAMES / 2);
        return (&head[..MAX_FRAMES / 2], tail, total - MAX_FRAMES);
    }
    let last = (MAX_FRAMES - head.len().min(MAX_FRAMES / 2)).min(tail.len());
    let first = head.len().min(MAX_FRAMES - last);
    (&head[..first], &tail[tail.len() - last..], total - first - last)
}

fn write_frame(out: &mut impl Write, sources: &Sources, frame: &TraceFrame, paint: Paint) -> io::Result<()> {
    let place = place(sources, frame.at);
    writeln!(out, "  in `{}`, called at {}", clean(&frame.fragment), paint.apply("36", &place))?;
    let mut piece = Piece::new(sources, frame.at);
    // Only the line in which the call starts.
    let text = piece.text(sources).0;
    let line = text.lines().next().unwrap_or("").trim();
    if line.is_empty() {
        return Ok(());
    }
    piece.shown.start = piece.meant.start;
    let number = piece.first_line(sources.file(frame.at.file));
    writeln!(out, "    {} {line}", paint.apply("90", &format!("{number:>4} │")))
}

/// `file:line:column` of a location; the file alone if it is binary.
fn place(sources: &Sources, at: Location) -> String {
    if sources.file(at.file).is_binary() {
        return clean(sources.file(at.file).name());
    }
    let start = sources.start(at);
    format!("{}:{}:{}", clean(sources.file(at.file).name()), start.line, start.column)
}

#[cfg(test)]
mod tests;
