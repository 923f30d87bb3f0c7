//! Short pieces of source texts for display.
//!
//! A report shows a few lines of a text which may be a hundred megabytes long, or a single line of
//! ten megabytes. So only the text near each location is read, never the whole text: time and
//! output depend on what is shown. A piece has as many bytes as the source text it shows, so that
//! offsets are translated by subtraction.

use std::ops::Range;

use crate::diagnostics::visible::is_directional;
use crate::source::{FileId, Location, SourceFile, Sources};

/// Lines with more bytes are shown only near the location.
const LONG_LINE: usize = 240;
/// Bytes shown before and after a location in a long line.
const CONTEXT: usize = 70;
/// Locations farther apart than this many bytes are shown in separate pieces.
const NEAR: usize = 16 * 1024;
/// Replaces omitted text.
const CUT: &str = "…";

/// The bytes of a text that are shown, and those of them that are marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The file.
    pub(crate) file: FileId,
    /// The bytes shown: whole lines, or a part of one.
    pub(crate) shown: Range<usize>,
    /// The marked bytes, within `shown`.
    pub(crate) meant: Range<usize>,
    /// Whether the line continues before and after.
    pub(crate) cut: (bool, bool),
}

impl Piece {
    /// The piece around a location.
    pub(crate) fn new(sources: &Sources, at: Location) -> Piece {
        let text = sources.file(at.file).text();
        let bytes = text.as_bytes();
        let mut start = floor(text, at.span.start as usize);
        if bytes.get(start) == Some(&b'\n') && start > 0 && bytes[start - 1] == b'\r' {
            start -= 1;
        }
        let end = ceil(text, at.span.end as usize).max(start);
        let line = line_start(bytes, start).zip(line_end(bytes, start));
        let Some((from, to)) = line.filter(|(from, to)| to - from <= LONG_LINE) else {
            return Self::of_long_line(text, at.file, start, end);
        };
        let whole =
            |to: usize, end: usize| Piece { file: at.file, shown: from..to, meant: start..end, cut: (false, false) };
        let line_break = if bytes[to..].starts_with(b"\r\n") { 2 } else { 1 };
        if end <= to + line_break {
            return whole(to, end.min(to));
        }
        let last = line_start(bytes, floor(text, end - 1)).zip(line_end(bytes, floor(text, end - 1)));
        match last {
            Some((last_from, last_to)) if last_to - last_from <= LONG_LINE && last_to - from <= NEAR => {
                whole(last_to, end.min(last_to))
            }
            _ => whole(to, to),
        }
    }

    fn of_long_line(text: &str, file: FileId, start: usize, end: usize) -> Piece {
        let bytes = text.as_bytes();
        let from = floor(text, start.saturating_sub(CONTEXT));
        let from = bytes[from..start].iter().rposition(is_line_end).map_or(from, |i| from + i + 1);
        let end = end.min(floor(text, start + CONTEXT)).max(start);
        let to = ceil(text, end + CONTEXT);
        let to = bytes[start..to].iter().position(is_line_end).map_or(to, |i| start + i);
        let before = from > 0 && !is_line_end(&bytes[from - 1]);
        let after = to < bytes.len() && !is_line_end(&bytes[to]);
        Piece { file, shown: from..to, meant: start..end.min(to), cut: (before, after) }
    }

    /// Joins a later piece to this one if both can be shown as consecutive lines. Returns whether it did.
    pub(crate) fn join(&mut self, later: &Piece) -> bool {
        let whole = self.cut == (false, false) && later.cut == (false, false);
        let near = later.shown.start >= self.shown.start && later.shown.end <= self.shown.start + NEAR;
        if self.file != later.file || !whole || !near {
            return false;
        }
        self.shown.end = self.shown.end.max(later.shown.end);
        true
    }

    /// The text shown, and the offset of the source text in it.
    pub(crate) fn text(&self, sources: &Sources) -> (String, usize) {
        let source = sources.file(self.file).text().get(self.shown.clone()).unwrap_or("");
        let mut text = String::with_capacity(source.len() + 2 * CUT.len());
        if self.cut.0 {
            text.push_str(CUT);
        }
        let lead = text.len();
        text.extend(source.chars().map(harmless));
        if self.cut.1 {
            text.push_str(CUT);
        }
        (text, lead)
    }

    /// The number of the first line shown.
    pub(crate) fn first_line(&self, file: &SourceFile) -> u32 {
        file.position(self.shown.start as u32).line
    }
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The start of the line of `at`; `None` if it is far away.
fn line_start(bytes: &[u8], at: usize) -> Option<usize> {
    let window = at.saturating_sub(LONG_LINE + 1);
    match bytes[window..at].iter().rposition(is_line_end) {
        Some(i) => Some(window + i + 1),
        None => (window == 0).then_some(0),
    }
}

/// The end of the line of `at`, before its line break; `None` if it is far away.
fn line_end(bytes: &[u8], at: usize) -> Option<usize> {
    let window = (at + LONG_LINE + 1).min(bytes.len());
    match bytes[at..window].iter().position(is_line_end) {
        Some(i) => Some(at + i),
        None => (window == bytes.len()).then_some(window),
    }
}

/// The nearest character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The nearest character boundary at or after an offset.
fn ceil(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset += 1;
    }
    offset
}

/// A character in a form that is safe and visible: control characters would reach the terminal,
/// directional overrides would reorder the line, rare line separators would shift the line
/// numbers, and nothing could be marked in a line under a character without a width. Their replacement
/// has the same length in bytes.
fn harmless(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => c,
        '\u{0}'..='\u{1f}' | '\u{7f}' => '?',
        '\u{80}'..='\u{9f}' | '\u{61c}' => '¿',
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => '\u{fffd}',
        _ if is_directional(c) => '\u{fffd}',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    fn piece(text: &str, start: u32, end: u32) -> (String, String) {
        let mut sources = Sources::new();
        let file = sources.add("t", text.to_string());
        let piece = Piece::new(&sources, Location::new(file, Span { start, end }));
        let (shown, lead) = piece.text(&sources);
        let meant = piece.meant.start - piece.shown.start + lead..piece.meant.end - piece.shown.start + lead;
        (shown.clone(), shown[meant].to_owned())
    }

    #[test]
    fn short_lines_are_shown_whole() {
        assert_eq!(piece("ab\ncd ef\ngh", 6, 8), ("cd ef".into(), "ef".into()));
        assert_eq!(piece("ab\ncd ef\ngh", 6, 10), ("cd ef\ngh".into(), "ef\ng".into()));
        assert_eq!(piece("ab\r\ncd", 3, 4), ("ab".into(), "".into()));
        assert_eq!(piece("ab", 9, 99), ("ab".into(), "".into()));
        assert_eq!(piece("", 0, 0), ("".into(), "".into()));
        assert_eq!(piece("é", 1, 1), ("é".into(), "é".into()));
    }

    #[test]
    fn long_lines_are_cut() {
        let text = format!("x\n{}HERE{}\ny", "a".repeat(10_000), "é".repeat(10_000));
        let (shown, meant) = piece(&text, 10_002, 10_006);
        assert_eq!(meant, "HERE");
        assert!(shown.len() < 200 && shown.starts_with("…a") && shown.ends_with("é…"), "{shown}");
        let (shown, meant) = piece(&text, 10_002, 20_000);
        assert!(shown.len() < 250 && meant.starts_with("HEREé"), "{shown}");
    }

    #[test]
    fn nothing_harmful_is_shown() {
        assert_eq!(piece("a\u{1b}[31m\u{202e}b", 0, 1).0, "a?[31m\u{fffd}b");
        assert_eq!(piece("a\u{feff}\u{200b}\u{61c}b", 0, 1).0, "a\u{fffd}\u{fffd}¿b");
    }
}
