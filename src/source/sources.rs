//! The source texts, and the lines and columns of their bytes.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::span::{FileId, Location, Position};

/// One source text and its name for messages.
#[derive(Debug)]
pub(crate) struct SourceFile {
    name: String,
    text: Cow<'static, str>,
    /// The number of bytes of the byte order marks before the text.
    mark: u32,
    /// Whether it is a binary file, whose text is not known.
    is_binary: bool,
    line_starts: OnceLock<Vec<u32>>,
}

impl SourceFile {
    /// The name shown in messages: a path or `<stdin>`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The name without the folder, for results: these do not depend on where the file is.
    pub(crate) fn short_name(&self) -> &str {
        self.name.rsplit(['/', std::path::MAIN_SEPARATOR]).next().unwrap_or(&self.name)
    }

    /// Whether it is a binary file, which has no lines.
    pub(crate) fn is_binary(&self) -> bool {
        self.is_binary
    }

    /// The whole text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The offset in the file of an offset in the text: byte order marks before the text count.
    pub(crate) fn offset_in_file(&self, offset: u32) -> u32 {
        offset.saturating_add(self.mark)
    }

    /// Line and column of a byte offset. Offsets past the end or inside a character are clamped.
    pub(crate) fn position(&self, offset: u32) -> Position {
        let mut offset = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line(offset);
        let start = self.line_starts().get(line.saturating_sub(1)).copied().unwrap_or(0) as usize;
        let column = self.text[start..offset].chars().count() as u32 + 1;
        Position { line: line as u32, column }
    }

    /// The offset at which the line of an offset starts.
    pub(crate) fn line_start(&self, offset: u32) -> u32 {
        let line = self.line(offset as usize);
        self.line_starts().get(line.saturating_sub(1)).copied().unwrap_or(0)
    }

    fn line(&self, offset: usize) -> usize {
        self.line_starts().partition_point(|&start| start as usize <= offset)
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| line_starts(&self.text))
    }
}

/// Offsets at which lines start. LF, CR LF and a lone CR end a line.
pub(crate) fn line_starts(text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    let is_end = |byte: u8| byte == b'\n' || byte == b'\r';
    let mut starts = vec![0];
    for (block, part) in bytes.chunks(BLOCK).enumerate() {
        // Without a branch for each byte this takes a few instructions for all of them.
        if !part.iter().fold(false, |found, &byte| found | is_end(byte)) {
            continue;
        }
        for (i, &byte) in part.iter().enumerate().filter(|(_, byte)| is_end(**byte)) {
            let next = block * BLOCK + i + 1;
            if byte == b'\n' || bytes.get(next) != Some(&b'\n') {
                starts.push(next as u32);
            }
        }
    }
    starts
}

/// The number of bytes that are looked at together for the ends of lines.
const BLOCK: usize = 32;

/// The text after byte order marks at its start. Readers of a text that is not yet among the sources use it, because
/// [`Sources::add`] drops the marks.
pub(crate) fn without_mark(text: &str) -> &str {
    text.trim_start_matches('\u{FEFF}')
}

/// All source texts: the standard library, extra declaration files, and the document.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Findings have copies of the whole set, which share the texts and the starts of lines.
    files: Vec<Arc<SourceFile>>,
}

impl Sources {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text under the name that messages show. A byte order mark at its start is dropped, so that no reader
    /// sees it and no location counts it.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Cow<'static, str>>) -> FileId {
        let text = text.into();
        let mark = text.len() - without_mark(&text).len();
        let text = match text {
            Cow::Borrowed(text) => Cow::Borrowed(without_mark(text)),
            Cow::Owned(mut text) => {
                text.drain(..mark);
                Cow::Owned(text)
            }
        };
        let (mark, line_starts) = (mark as u32, OnceLock::new());
        self.push(SourceFile { name: name.into(), text, mark, is_binary: false, line_starts })
    }

    fn push(&mut self, file: SourceFile) -> FileId {
        self.files.push(Arc::new(file));
        FileId(self.files.len() as u32 - 1)
    }

    /// Adds a file without lines, under the name that messages show.
    #[cfg(feature = "onnx")]
    pub(crate) fn add_binary(&mut self, name: &str) -> FileId {
        let (name, text) = (name.to_owned(), Cow::Borrowed(""));
        self.push(SourceFile { name, text, mark: 0, is_binary: true, line_starts: OnceLock::new() })
    }

    /// The file with an id from [`Sources::add`].
    pub(crate) fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// The name of a file.
    pub fn name(&self, id: FileId) -> &str {
        self.file(id).name()
    }

    /// The text of a location; empty if the span is not on character boundaries.
    pub fn text(&self, at: Location) -> &str {
        self.file(at.file).text.get(at.span.range()).unwrap_or("")
    }

    /// Line and column at which a location starts.
    pub fn start(&self, at: Location) -> Position {
        self.file(at.file).position(at.span.start)
    }

    /// Line and column of the end of a location.
    pub fn end(&self, at: Location) -> Position {
        self.file(at.file).position(at.span.end)
    }

    /// All files, in the order in which they were added.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files.iter().enumerate().map(|(i, file)| (FileId(i as u32), &**file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    #[test]
    fn byte_order_marks_are_not_counted() {
        let mut sources = Sources::new();
        for text in ["ab\nc", "\u{FEFF}ab\nc", "\u{FEFF}\u{FEFF}ab\nc"] {
            for id in [sources.add("owned", text.to_owned()), sources.add("borrowed", text)] {
                assert_eq!(sources.file(id).text(), "ab\nc");
                assert_eq!(sources.file(id).position(1), Position { line: 1, column: 2 });
            }
        }
        let id = sources.add("inside", "a\u{FEFF}b");
        assert_eq!(sources.file(id).position(4), Position { line: 1, column: 3 });
    }

    #[test]
    fn positions_count_lines_and_characters() {
        let mut sources = Sources::new();
        let id = sources.add("t", "ab\ncé x\r\nlast\rmac");
        let at = |offset| sources.file(id).position(offset);
        assert_eq!(at(0), Position { line: 1, column: 1 });
        assert_eq!(at(3), Position { line: 2, column: 1 });
        assert_eq!(at(7), Position { line: 2, column: 4 });
        assert_eq!(at(10), Position { line: 3, column: 1 });
        assert_eq!(at(15), Position { line: 4, column: 1 });
        assert_eq!(at(999), Position { line: 4, column: 4 });
        // Inside the two bytes of é: clamped to its start.
        assert_eq!(at(5), Position { line: 2, column: 2 });
    }

    #[test]
    fn spans_join() {
        assert_eq!(Span::new(3, 5).to(Span::new(1, 4)), Span::new(1, 5));
        assert_eq!(Span::new(3, 1), Span::new(3, 3));
    }
}
