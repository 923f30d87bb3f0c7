//! Reads the tokens of a text on demand, directly from its bytes.

use crate::source::Span;

/// A position in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    pub(super) at: usize,
}

/// The token of a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberToken<'t> {
    pub(super) text: &'t str,
    /// Whether it has a decimal point or an exponent.
    pub(super) is_float: bool,
    pub(super) span: Span,
}

/// Whether a byte may be in a part of a domain: any that has no meaning in the notation.
pub(super) fn is_domain_byte(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !byte.is_ascii_control() && !b"\"#()<>[]{},.:=@".contains(&byte)
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Cursor { text, at: 0 }
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    fn bytes(&self) -> &'t [u8] {
        self.text.as_bytes()
    }

    /// The byte at the current position; 0 at the end.
    #[inline]
    pub(super) fn byte(&self) -> u8 {
        self.bytes().get(self.at).copied().unwrap_or(0)
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    /// Skips white space and comments.
    #[inline]
    pub(super) fn skip(&mut self) {
        loop {
            match self.byte() {
                b' ' | b'\t'..=b'\r' => self.at += 1,
                b'#' => self.skip_line(),
                _ => return,
            }
        }
    }

    /// Skips the rest of the line.
    pub(super) fn skip_line(&mut self) {
        let rest = &self.bytes()[self.at..];
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }

    /// The first byte of the next token.
    #[inline]
    pub(super) fn peek(&mut self) -> u8 {
        self.skip();
        self.byte()
    }

    /// Consumes a character, if it is the next token.
    #[inline]
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte && !self.at_end();
        self.at += usize::from(found);
        found
    }

    /// Consumes an arrow, if it is the next token.
    pub(super) fn eat_arrow(&mut self) -> bool {
        self.skip();
        let found = self.bytes()[self.at..].starts_with(b"=>");
        self.at += if found { 2 } else { 0 };
        found
    }

    /// Whether the next token is an identifier.
    #[inline]
    pub(super) fn at_identifier(&mut self) -> bool {
        matches!(self.peek(), b'A'..=b'Z' | b'a'..=b'z' | b'_')
    }

    /// The next token if it is an identifier, otherwise an empty text. It is not consumed.
    pub(super) fn identifier(&mut self) -> &'t str {
        if !self.at_identifier() {
            return "";
        }
        let rest = &self.bytes()[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let len = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        &self.text[self.at..self.at + len]
    }

    /// Consumes a number, if it is the next token. White space after the sign is not allowed.
    pub(super) fn number(&mut self) -> Option<NumberToken<'t>> {
        self.skip();
        let (start, bytes) = (self.at, self.bytes());
        let digits = |from: usize| {
            let rest = &bytes[from.min(bytes.len())..];
            from + rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len())
        };
        let first = start + usize::from(self.byte() == b'-');
        let mut end = digits(first);
        if end == first {
            return None;
        }
        let mut is_float = false;
        if bytes.get(end) == Some(&b'.') {
            (end, is_float) = (digits(end + 1), true);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            (end, is_float) = (digits(end + 1 + sign), true);
        }
        self.at = end;
        let span = Span::new(start as u32, end as u32);
        Some(NumberToken { text: &self.text[start..end], is_float, span })
    }

    /// The token at the current position, for messages: a word, a number or a character.
    pub(super) fn token(&self) -> (Span, &'t str) {
        let rest = &self.text[self.at..];
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let word = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let number = { *self }.number().map_or(0, |number| number.text.len());
        let len = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) }.max(number);
        let shown = rest.char_indices().map(|(at, _)| at).take_while(|at| *at <= len.min(40)).last().unwrap_or(0);
        let shown = if len <= 40 { len } else { shown };
        (Span::new(self.at as u32, (self.at + len) as u32), &rest[..shown])
    }
}
