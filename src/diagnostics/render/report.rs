//! The drawing of labels under source lines, with ariadne.
//!
//! ariadne gets only the lines to be shown, with a mark instead of a file name. Its output is then
//! corrected line by line: its heading is removed (the caller writes its own), and the mark and the
//! numbers in the margin are replaced by `file:line:column` and line numbers of the whole file.

use std::io::{self, Write};
use std::ops::Range;

use ariadne::{Color, Config, IndexType, Label, Report, ReportKind, Source};

use super::excerpt::Piece;
use super::heading::place;
use crate::diagnostics::visible::clean;
use crate::diagnostics::{Diagnostic, Severity};
use crate::source::{Location, Sources};

/// Encloses the number of a window where ariadne writes a file name. Source texts and messages
/// are cleaned of control characters before they get here.
const MARK: char = '\u{1}';

/// Consecutive lines with the labels in them.
struct Excerpt {
    piece: Piece,
    /// Marked bytes, message, whether it is the location of the diagnostic itself.
    labels: Vec<(Range<usize>, Option<String>, bool)>,
    /// The heading above it: `file:line:column`.
    heading: String,
    first_line: u32,
}

/// Writes the source lines of a diagnostic with its labels, and its help.
pub(super) fn write(out: &mut impl Write, sources: &Sources, diagnostic: &Diagnostic, color: bool) -> io::Result<()> {
    let windows = windows(sources, diagnostic);
    let mut drawn = Vec::new();
    draw(&mut drawn, sources, diagnostic, &windows, color)?;
    correct(out, &String::from_utf8_lossy(&drawn), &windows)
}

/// The windows of a diagnostic, the one with its own location first.
fn windows(sources: &Sources, diagnostic: &Diagnostic) -> Vec<Excerpt> {
    let main = (diagnostic.at, diagnostic.label.as_deref(), true);
    let others = diagnostic.labels.iter().map(|label| (label.at, Some(label.message.as_str()), false));
    let mut places: Vec<(Location, Option<&str>, bool)> = std::iter::once(main).chain(others).collect();
    places.sort_by_key(|(at, _, main)| (*at, !*main));
    let mut windows: Vec<Excerpt> = Vec::new();
    for (at, message, main) in places {
        let piece = Piece::new(sources, at);
        let label = (piece.meant.clone(), message.map(clean), main);
        if let Some(last) = windows.last_mut()
            && last.piece.join(&piece)
        {
            last.labels.push(label);
            if main {
                last.heading = place(sources, at);
            }
        } else {
            windows.push(Excerpt {
                first_line: piece.first_line(sources.file(at.file)),
                heading: place(sources, at),
                labels: vec![label],
                piece,
            });
        }
    }
    windows.sort_by_key(|window| !window.labels.iter().any(|label| label.2));
    for window in &mut windows {
        // In this order ariadne draws them as one block.
        window.labels.sort_by_key(|(meant, _, _)| (meant.end, meant.start));
    }
    windows
}

fn draw(
    out: &mut Vec<u8>,
    sources: &Sources,
    diagnostic: &Diagnostic,
    windows: &[Excerpt],
    color: bool,
) -> io::Result<()> {
    let tint = match diagnostic.severity {
        Severity::Error => Color::Red,
        Severity::Warning => Color::Yellow,
    };
    // With byte offsets ariadne 0.6 panics where a window other than the first has non-ASCII text.
    let config = Config::default().with_index_type(IndexType::Char).with_color(color);
    let mut texts = Vec::new();
    let mut labels = Vec::new();
    for (id, window) in windows.iter().enumerate() {
        let (text, lead) = window.piece.text(sources);
        for (meant, message, main) in &window.labels {
            let base = window.piece.shown.start;
            let chars = |offset: usize| text[..offset - base + lead].chars().count();
            let range = chars(meant.start)..chars(meant.end);
            let label = Label::new((id, range)).with_color(if *main { tint } else { Color::Blue });
            labels.push(label.with_message(message.as_deref().unwrap_or("here")));
        }
        texts.push(Source::from(text));
    }
    let mut report = Report::build(ReportKind::Error, (0, 0..0)).with_config(config).with_labels(labels);
    for line in diagnostic.help.iter().flat_map(|help| help.lines()) {
        report = report.with_help(clean(line));
    }
    report.finish().write(ReportTexts(texts), &mut *out)
}

/// The texts of the windows, as a cache for ariadne.
struct ReportTexts(Vec<Source<String>>);

impl ariadne::Cache<usize> for ReportTexts {
    type Storage = String;

    fn fetch(&mut self, id: &usize) -> Result<&Source<String>, impl std::fmt::Debug> {
        self.0.get(*id).ok_or("no such window")
    }

    fn display<'a>(&self, id: &'a usize) -> Option<impl std::fmt::Display + 'a> {
        Some(format!("{MARK}{id}{MARK}"))
    }
}

/// Writes the drawing without its first line and with corrected numbers.
fn correct(out: &mut impl Write, drawn: &str, windows: &[Excerpt]) -> io::Result<()> {
    let lines = read_lines(drawn, windows);
    let width = |number: u32| number.to_string().len();
    let numbered = || lines.iter().filter_map(|line| line.number.as_ref());
    let old = numbered().map(|(field, _)| field.len()).max().unwrap_or(1);
    let new = numbered().map(|(_, number)| width(*number)).max().unwrap_or(1).max(old);
    let wider = new - old;
    for line in &lines {
        let text = match (&line.number, line.heading) {
            (Some((field, number)), _) => {
                format!("{}{number:>new$}{}", &line.text[..field.start], &line.text[field.end..])
            }
            (None, Some(heading)) => format!("{}{}", " ".repeat(wider), with_heading(line.text, heading)),
            (None, None) => match line.text.find('─').filter(|&at| !line.text[..at].contains(' ')) {
                // The closing horizontal line starts at the left edge.
                Some(at) => format!("{}{}{}", &line.text[..at], "─".repeat(wider), &line.text[at..]),
                None => format!("{}{}", " ".repeat(wider), line.text),
            },
        };
        writeln!(out, "{}", merge_colors(&text).trim_end())?;
    }
    Ok(())
}

/// A line of the drawing.
struct Line<'a> {
    text: &'a str,
    /// The heading, if a window begins with this line.
    heading: Option<&'a str>,
    /// The field of its line number, and the corrected number.
    number: Option<(Range<usize>, u32)>,
}

fn read_lines<'a>(drawn: &'a str, windows: &'a [Excerpt]) -> Vec<Line<'a>> {
    let mut window = windows.first();
    let mut lines = Vec::new();
    for text in drawn.lines().skip(1) {
        let mut heading = None;
        if let Some(id) = text.split(MARK).nth(1) {
            window = id.parse().ok().and_then(|id: usize| windows.get(id));
            heading = window.map(|window| window.heading.as_str());
        }
        let first = window.map_or(1, |window| window.first_line);
        let number = number_field(text).map(|(field, number)| (field, number + first - 1));
        lines.push(Line { text, heading, number });
    }
    lines
}

/// The field of the line number in the margin, and the number.
fn number_field(text: &str) -> Option<(Range<usize>, u32)> {
    let mut start = text.len() - text.strip_prefix(' ')?.len();
    if text[start..].starts_with('\x1b') {
        start += text[start..].find('m')? + 1;
    }
    let digits = text[start..].trim_start_matches(' ');
    let (number, _) = digits.split_once(" │")?;
    let end = text.len() - digits.len() + number.len();
    Some((start..end, number.parse().ok()?))
}

/// Replaces the mark and ariadne's own line and column by the heading.
fn with_heading(text: &str, heading: &str) -> String {
    let mut parts = text.splitn(3, MARK);
    let (before, _, after) = (parts.next(), parts.next(), parts.next());
    let after = after.unwrap_or("").trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
    format!("{}{heading}{after}", before.unwrap_or(""))
}

/// Removes changes to the current colour: ariadne colours every character separately.
fn merge_colors(text: &str) -> String {
    const RESET: &str = "\x1b[0m";
    let mut merged = String::with_capacity(text.len());
    let mut rest = text;
    let mut current = "";
    while let Some(at) = rest.find("\x1b[") {
        merged.push_str(&rest[..at]);
        let len = rest[at..].find('m').map_or(rest.len() - at, |end| end + 1);
        let (style, after) = rest[at..].split_at(len);
        rest = after;
        if style != RESET {
            merged.push_str(style);
            current = style;
        } else if let Some(again) = rest.strip_prefix(current).filter(|_| !current.is_empty()) {
            rest = again;
        } else {
            merged.push_str(style);
        }
    }
    merged.push_str(rest);
    merged
}
