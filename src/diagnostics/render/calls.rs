//! The enclosing calls of a diagnostic.

use std::io::{self, Write};

use super::excerpt::Piece;
use super::heading::{Paint, place};
use crate::diagnostics::diagnostic::{Diagnostic, TraceFrame};
use crate::diagnostics::visible::clean;
use crate::source::Sources;

/// At most this many calls of a trace are shown.
pub(super) const MAX_FRAMES: usize = 12;

/// Writes every enclosing call, innermost first, with its source line.
pub(super) fn write_trace(
    out: &mut impl Write,
    sources: &Sources,
    diagnostic: &Diagnostic,
    paint: Paint,
) -> io::Result<()> {
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
