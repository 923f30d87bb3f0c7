//! Positions as the protocol has them: a line, and a character in it, counted in units that client and server agree on.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::source::{Span, line_starts, without_mark};

/// The unit in which characters of a line are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PositionEncoding {
    Utf8,
    /// What every client understands.
    #[default]
    Utf16,
    Utf32,
}

impl PositionEncoding {
    /// The first of a client's encodings that the server has, too.
    pub(super) fn agreed<'n>(mut offered: impl Iterator<Item = &'n str>) -> PositionEncoding {
        offered.find_map(PositionEncoding::named).unwrap_or_default()
    }

    fn named(name: &str) -> Option<PositionEncoding> {
        [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32]
            .into_iter()
            .find(|encoding| encoding.name() == name)
    }

    /// Its name in the protocol.
    pub(super) fn name(self) -> &'static str {
        match self {
            PositionEncoding::Utf8 => "utf-8",
            PositionEncoding::Utf16 => "utf-16",
            PositionEncoding::Utf32 => "utf-32",
        }
    }

    fn units(self, c: char) -> usize {
        match self {
            PositionEncoding::Utf8 => c.len_utf8(),
            PositionEncoding::Utf16 => c.len_utf16(),
            PositionEncoding::Utf32 => 1,
        }
    }
}

/// A text with its lines. Offsets are bytes of the text without its byte order mark, as readers count them; positions
/// count the mark, as editors do that keep it.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    text: String,
    starts: Vec<u32>,
    /// The place that was counted last: those of a list come in the order of the text, so that a line of any length is
    /// counted once.
    last: Cell<CountedPlace>,
}

/// A byte of a line, and the characters before it in the line.
#[derive(Clone, Copy, Debug, Default)]
struct CountedPlace {
    line: usize,
    byte: usize,
    characters: usize,
    encoding: PositionEncoding,
}

impl Lines {
    pub(super) fn new(text: String) -> Self {
        let starts = line_starts(&text);
        Lines { text, starts, last: Cell::default() }
    }

    /// The text as the editor has it.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The text as readers have it.
    pub(super) fn read(&self) -> &str {
        without_mark(&self.text)
    }

    fn mark(&self) -> usize {
        self.text.len() - self.read().len()
    }

    /// The bytes of a line without its end.
    fn line(&self, line: usize) -> &str {
        let start = self.starts.get(line).map_or(self.text.len(), |start| *start as usize);
        let end = self.starts.get(line + 1).map_or(self.text.len(), |end| *end as usize);
        self.text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r'])
    }

    /// The position of a byte of the text, as the editor has it. Bytes inside of characters count as their starts.
    fn position_of(&self, byte: usize, encoding: PositionEncoding) -> Value {
        let byte = byte.min(self.text.len());
        let line = self.starts.partition_point(|start| *start as usize <= byte).saturating_sub(1);
        let start = self.starts.get(line).map_or(0, |start| *start as usize);
        let mut at = CountedPlace { line, byte: start, characters: 0, encoding };
        let last = self.last.get();
        if last.line == line && last.encoding == encoding && (start..=byte).contains(&last.byte) {
            at = last;
        }
        for c in self.text.get(at.byte..).unwrap_or_default().chars() {
            if at.byte + c.len_utf8() > byte {
                break;
            }
            at.byte += c.len_utf8();
            at.characters += encoding.units(c);
        }
        self.last.set(at);
        let character = at.characters;
        json!({ "line": line, "character": character })
    }

    /// The position of an offset.
    pub(super) fn position(&self, offset: u32, encoding: PositionEncoding) -> Value {
        self.position_of(offset as usize + self.mark(), encoding)
    }

    /// The line of an offset, from 0 on.
    pub(super) fn line_of(&self, offset: u32) -> usize {
        let byte = offset as usize + self.mark();
        self.starts.partition_point(|start| *start as usize <= byte).saturating_sub(1)
    }

    /// Whether only blanks come before an offset on its line.
    pub(super) fn is_first(&self, offset: u32) -> bool {
        let line = self.line(self.line_of(offset));
        let start = self.starts.get(self.line_of(offset)).map_or(0, |start| *start as usize);
        let before = line.get(..(offset as usize + self.mark()).saturating_sub(start));
        before.is_some_and(|before| without_mark(before).trim().is_empty())
    }

    /// The range of a span.
    pub(super) fn range(&self, span: Span, encoding: PositionEncoding) -> Value {
        json!({ "start": self.position(span.start, encoding), "end": self.position(span.end, encoding) })
    }

    /// The range of the whole text, a byte order mark excluded.
    pub(super) fn whole(&self, encoding: PositionEncoding) -> Value {
        self.range(Span::new(0, self.read().len() as u32), encoding)
    }

    /// The byte of a position; a position beyond its line, or beyond the text, is at the end of it.
    pub(super) fn byte(&self, line: u64, character: u64, encoding: PositionEncoding) -> usize {
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        let Some(start) = self.starts.get(line) else { return self.text.len() };
        let (mut left, mut at) = (usize::try_from(character).unwrap_or(usize::MAX), *start as usize);
        for c in self.line(line).chars() {
            // A position inside of a character is at its start.
            if left < encoding.units(c) {
                break;
            }
            left -= encoding.units(c);
            at += c.len_utf8();
        }
        at
    }

    /// The offset of a position, as readers count it.
    pub(super) fn offset(&self, position: (u64, u64), encoding: PositionEncoding) -> u32 {
        self.byte(position.0, position.1, encoding).saturating_sub(self.mark()) as u32
    }
}
