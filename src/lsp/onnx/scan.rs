//! The characters of a text with the brackets and signs that have a meaning, apart from strings and comments.

use crate::source::Span;

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A byte outside of strings and comments.
    Byte(u8),
    /// `=>`.
    Arrow,
    /// A string, with whether it ends.
    String(bool),
    /// A comment, without the end of its line, and whether there is one.
    Comment(bool),
}

/// The pieces of a text, in its order.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = (Span, Piece)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let (start, rest) = (at, bytes.get(at..)?);
        let (len, piece) = match *rest.first()? {
            b'"' => string(rest),
            b'#' => match rest.iter().position(|byte| *byte == b'\n') {
                Some(len) => (len, Piece::Comment(true)),
                None => (rest.len(), Piece::Comment(false)),
            },
            b'=' if rest.get(1) == Some(&b'>') => (2, Piece::Arrow),
            byte => (1, Piece::Byte(byte)),
        };
        at += len;
        Some((Span::new(start as u32, at as u32), piece))
    })
}

/// Where the string starts that is open at the end of a text.
pub(super) fn open_string(text: &str) -> Option<u32> {
    pieces(text).find(|(_, piece)| *piece == Piece::String(false)).map(|(span, _)| span.start)
}

/// The length of a string at the start of some bytes.
fn string(bytes: &[u8]) -> (usize, Piece) {
    let mut escaped = false;
    let end = bytes.iter().skip(1).position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or((bytes.len(), Piece::String(false)), |end| (end + 2, Piece::String(true)))
}
