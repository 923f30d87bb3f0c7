//! Excerpts of source lines, in which expressions are marked.

use crate::source::{Location, Sources};

/// The maximum length of an excerpt of a source line, and of its part before the location, in characters.
pub(super) const EXCERPT: (usize, usize) = (240, 60);

/// A part of a source line.
pub(super) struct Excerpt {
    /// What is shown.
    pub(super) text: String,
    /// The range of the source that the text has, after the characters that stand for what is left out.
    range: (usize, usize),
    /// The number of these characters.
    added: usize,
}

impl Excerpt {
    /// The part of a line around a location.
    pub(super) fn new(sources: &Sources, at: Location) -> Self {
        let file = sources.file(at.file);
        let text = file.text();
        let (line, start) = (file.line_start(at.span.start) as usize, at.span.start as usize);
        let before = text.get(line..start).unwrap_or("");
        let rest = text.get(start..).unwrap_or("");
        let taken = rest.chars().take(EXCERPT.0).take_while(|c| *c != '\n' && *c != '\r');
        let after: usize = taken.clone().map(char::len_utf8).sum();
        let is_cut = taken.count() == EXCERPT.0;
        let skipped = before.chars().rev().take(EXCERPT.1 + 1).count() > EXCERPT.1;
        let near: usize = before.chars().rev().take(EXCERPT.1).map(char::len_utf8).sum();
        let (mut from, to) = (start.saturating_sub(near), start + after);
        let mut part = text.get(from..to).unwrap_or("");
        if !skipped {
            from += part.len() - part.trim_start().len();
            part = part.trim_start();
        }
        let part = part.trim_end();
        let ends = |is_cut: bool| if is_cut { "…" } else { "" };
        let text = format!("{}{part}{}", ends(skipped), ends(is_cut));
        Excerpt { text, range: (from, from + part.len()), added: usize::from(skipped) }
    }

    /// The start and the length of a location in the text, in characters.
    pub(super) fn marked(&self, sources: &Sources, at: Location) -> (usize, usize) {
        let text = sources.file(at.file).text();
        let (from, to) = self.range;
        let clamp = |offset: u32| (offset as usize).clamp(from, to);
        let (start, end) = (clamp(at.span.start), clamp(at.span.end));
        let count = |from: usize, to: usize| text.get(from..to).map_or(0, |part| part.chars().count());
        (self.added + count(from, start), count(start, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    #[test]
    fn locations_are_marked_in_their_lines() {
        let mut sources = Sources::new();
        let long = format!("{}y = f(ä);{}", "x".repeat(70), "z".repeat(300));
        let file = sources.add("a", format!("first\n    y = relu(ä);\n{long}\n"));
        let marked = |start: usize, end: usize| {
            let at = Location { file, span: Span { start: start as u32, end: end as u32 } };
            let excerpt = Excerpt::new(&sources, at);
            let (from, count) = excerpt.marked(&sources, at);
            let part: String = excerpt.text.chars().skip(from).take(count).collect();
            (excerpt.text, part)
        };
        assert_eq!(marked(14, 22), ("y = relu(ä);".to_owned(), "relu(ä)".to_owned()));
        let start = 24 + 70 + 4;
        let (text, part) = marked(start, start + 5);
        assert!(text.starts_with("…x") && text.ends_with("z…"), "{text}");
        assert_eq!(part, "f(ä)");
    }
}
