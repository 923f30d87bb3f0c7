//! `textDocument/foldingRange`: bodies, lists and comments of several lines.

use serde_json::{Value, json};

use super::analyzed::Fold;
use super::params::{Answer, Params};
use super::positions::Lines;
use super::session::{AskedText, Session};
use crate::source::Span;

/// The most ranges that are sent to a client that names no limit of its own.
const MOST: u64 = 5000;

/// The brackets that are open.
#[derive(Debug, Default)]
pub(super) struct BracketPairs {
    open: Vec<(u8, u32)>,
}

impl BracketPairs {
    /// A bracket begins at an offset.
    pub(super) fn open(&mut self, bracket: u8, start: u32) {
        self.open.push((bracket, start));
    }

    /// A bracket ends at an offset. Returns the span with its other one; one that does not fit the last open one ends
    /// nothing.
    pub(super) fn close(&mut self, bracket: u8, end: u32) -> Option<Span> {
        let other = match bracket {
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => b'<',
        };
        let (_, start) = self.open.pop_if(|open| open.0 == other)?;
        Some(Span::new(start, end))
    }
}

/// Answers the request.
pub(super) fn ranges(session: &mut Session, params: Params) -> Answer {
    let Some(AskedText { text, analysis, .. }) = session.asked(params)? else { return Ok(Value::Null) };
    let mut found = lines_of(&text.lines, &analysis.folds());
    found.sort_unstable();
    // Of several in one line, the one that ends last is shown.
    found.dedup_by(|later, kept| {
        later.0 == kept.0 && {
            kept.1 = kept.1.max(later.1);
            true
        }
    });
    let most = usize::try_from(session.client.most_folds.unwrap_or(MOST)).unwrap_or(usize::MAX);
    let range = |(first, last, kind): (usize, usize, &str)| match kind {
        "" => json!({ "startLine": first, "endLine": last }),
        kind => json!({ "startLine": first, "endLine": last, "kind": kind }),
    };
    Ok(found.into_iter().take(most).map(range).collect())
}

/// The first and the last line of each part of several lines, with its kind. The line of a closing bracket stays.
fn lines_of(lines: &Lines, folds: &[Fold]) -> Vec<(usize, usize, &'static str)> {
    let mut found: Vec<(usize, usize, &str)> = Vec::new();
    let mut comment: Option<(usize, usize)> = None;
    let end_comment = |comment: Option<(usize, usize)>, found: &mut Vec<(usize, usize, &'static str)>| {
        found.extend(comment.filter(|(first, last)| first < last).map(|(first, last)| (first, last, "comment")));
    };
    for fold in folds {
        match fold {
            Fold::Brackets(span) => {
                let (first, last) = (lines.line_of(span.start), lines.line_of(span.end.saturating_sub(1)));
                found.extend((last > first + 1).then(|| (first, last - 1, "")));
            }
            Fold::Comment(span) if lines.is_first(span.start) => {
                let line = lines.line_of(span.start);
                match &mut comment {
                    Some((_, last)) if *last + 1 == line => *last = line,
                    other => end_comment(other.replace((line, line)), &mut found),
                }
            }
            Fold::Comment(_) => {}
        }
    }
    end_comment(comment, &mut found);
    found
}
