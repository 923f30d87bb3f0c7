//! From text to tokens: one-byte kinds, with spans in a separate table.

mod kinds;
#[cfg(test)]
mod tests;

use logos::Logos;
use rustc_hash::FxHashSet;

pub(crate) use self::kinds::SPELLED;
pub(crate) use self::kinds::TokenKind;
#[cfg(test)]
pub(crate) use self::kinds::reserved_names;
use super::dialect::Rules;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Policy};
use crate::graph::Dialect;
use crate::graph::standard::FLATTEN_LOOPS;
use crate::source::{FileId, Location, Span};

/// The tokens of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens {
    /// The kind of each token.
    pub(crate) kinds: Vec<TokenKind>,
    /// The span of each token.
    pub(crate) spans: Vec<Span>,
    /// The spans of comments, with `#` and without the line end.
    pub(crate) comments: Vec<Span>,
    /// Whether loops are enabled.
    pub(crate) loops: bool,
}

impl Tokens {
    fn push(&mut self, kind: TokenKind, span: Span) {
        self.kinds.push(kind);
        self.spans.push(span);
    }

    /// Removes all tokens from an index on; comments stay.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.kinds.truncate(len);
        self.spans.truncate(len);
    }
}

/// A number of at most this many digits without an exponent is never too large.
const MAX_PLAIN: u32 = 300;

/// Divides a text into tokens, one at a time. Errors are reported except within extension directives,
/// which may contain any text.
pub(crate) struct Lexer<'t> {
    text: &'t str,
    file: FileId,
    rules: &'static Rules,
    logos: logos::Lexer<'t, TokenKind>,
    /// Whether the position is within an extension directive.
    free: bool,
    /// The words that were reported: each is one mistake, however often it is used.
    told: FxHashSet<&'t str>,
    /// The diagnostics so far.
    pub(crate) diagnostics: Diagnostics,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str, file: FileId, dialect: Dialect, policy: Policy) -> Self {
        let (rules, logos) = (dialect.rules(), TokenKind::lexer(text));
        Lexer {
            text,
            file,
            rules,
            logos,
            free: false,
            told: FxHashSet::default(),
            diagnostics: Diagnostics::of(policy),
        }
    }

    /// The byte offset after the last token.
    pub(crate) fn position(&self) -> usize {
        self.logos.span().end
    }

    /// Skips text that the reader of flat statements has read.
    pub(crate) fn skip_to(&mut self, position: usize) {
        self.logos.bump(position - self.position());
    }

    /// Adds the next token and returns its kind; if it is split in two, that of the second.
    #[inline]
    pub(crate) fn next(&mut self, tokens: &mut Tokens) -> Option<TokenKind> {
        let before = tokens.kinds.len();
        while tokens.kinds.len() == before {
            let kind = self.logos.next()?.unwrap_or(TokenKind::Stray);
            let range = self.logos.span();
            self.token(kind, Span { start: range.start as u32, end: range.end as u32 }, tokens);
        }
        tokens.kinds.last().copied()
    }

    #[inline]
    fn token(&mut self, kind: TokenKind, span: Span, tokens: &mut Tokens) {
        match kind {
            TokenKind::Ident => self.word(span, tokens),
            TokenKind::Comment => tokens.comments.push(span),
            TokenKind::Int if span.end - span.start > 18 => self.long_integer(span, tokens),
            TokenKind::Real if span.end - span.start > MAX_PLAIN => self.real(span, tokens),
            TokenKind::OtherReal => self.real(span, tokens),
            TokenKind::Str => self.string(span.start, tokens),
            TokenKind::Slashes if !self.free => self.slashes(span),
            TokenKind::Ge => self.greater_or_equal(span, tokens),
            TokenKind::Semicolon => {
                self.free = false;
                tokens.push(kind, span);
            }
            TokenKind::Dots if tokens.loops => tokens.push(kind, span),
            TokenKind::Bad
            | TokenKind::BadWord
            | TokenKind::Ampersand
            | TokenKind::Pipe
            | TokenKind::Slashes
            | TokenKind::Stray
            | TokenKind::Dots => {
                self.oddity(kind, span, tokens);
            }
            kind if kind.is_keyword() => self.keyword(kind, span, tokens),
            kind => tokens.push(kind, span),
        }
    }

    /// A word that is not always a keyword: a type of the dialect, a keyword of loops if these are
    /// enabled, a word of an extension directive, which may enable them, or an identifier.
    #[inline]
    fn word(&mut self, span: Span, tokens: &mut Tokens) {
        let mut kind = TokenKind::Ident;
        if self.free || tokens.loops || !self.rules.own_words.is_empty() {
            let word = &self.text[span.range()];
            if self.free {
                tokens.loops |= word == FLATTEN_LOOPS && self.rules.semicolons;
            } else if tokens.loops {
                kind = TokenKind::of_loops(word).unwrap_or(kind);
            }
            if let Some((_, _, meant)) = self.rules.own_words.iter().find(|(own, ..)| *own == word) {
                kind = *meant;
            }
        }
        tokens.push(kind, span);
    }

    fn at(&self, span: Span) -> Location {
        Location::new(self.file, span)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if !self.free {
            self.diagnostics.report(diagnostic);
        }
    }

    fn keyword(&mut self, kind: TokenKind, span: Span, tokens: &mut Tokens) {
        if self.rules.not_keywords.contains(&&self.text[span.range()]) {
            return tokens.push(TokenKind::Ident, span);
        }
        match kind {
            TokenKind::Extension => self.free = true,
            TokenKind::Version | TokenKind::Fragment | TokenKind::Graph => self.free = false,
            _ => {}
        }
        tokens.push(kind, span);
    }

    fn slashes(&mut self, span: Span) {
        let at = self.at(span);
        let finding = Diagnostic::new(Code::BadComment, at, "`//` does not start a comment");
        self.diagnostics.report(finding.help("comments start with `#`").fix(span, "#"));
        let rest = self.logos.remainder();
        self.logos.bump(rest.find(['\n', '\r', '\x0C']).unwrap_or(rest.len()));
    }

    /// `>=` right after a tensor type is the end of the type and the start of its default.
    fn greater_or_equal(&mut self, span: Span, tokens: &mut Tokens) {
        let kinds = &tokens.kinds;
        if matches!(kinds[..], [.., TokenKind::Tensor, TokenKind::Lt] | [.., TokenKind::Tensor, TokenKind::Lt, _]) {
            tokens.push(TokenKind::Gt, Span::new(span.start, span.start + 1));
            tokens.push(TokenKind::Assign, Span::new(span.start + 1, span.end));
        } else {
            tokens.push(TokenKind::Ge, span);
        }
    }

    /// The magnitude of the least integer is allowed after a minus sign.
    fn long_integer(&mut self, span: Span, tokens: &mut Tokens) {
        let digits = self.text[span.range()].trim_start_matches('0');
        let kinds = &tokens.kinds;
        let negative = matches!(kinds[..], [.., before, TokenKind::Minus] if !before.ends_expression());
        let fits = digits.is_empty() || digits.parse::<i64>().is_ok() || (negative && digits == "9223372036854775808");
        if !fits {
            let message = format!("integer `{}` does not fit into 64 bits", &self.text[span.range()]);
            self.report(Diagnostic::new(Code::IntegerTooLarge, self.at(span), message));
        }
        tokens.push(TokenKind::Int, span);
    }

    fn real(&mut self, span: Span, tokens: &mut Tokens) {
        let number = &self.text[span.range()];
        if let Some(found) = without_fraction(number, self.at(span)) {
            let mended = number.replacen('.', ".0", 1);
            self.report(found.help(format!("write `{mended}`")).fix(span, mended));
        }
        if number.parse::<f64>().is_ok_and(f64::is_infinite) {
            let message = format!("the number `{number}` is too large for a 64-bit scalar");
            self.report(Diagnostic::new(Code::NonFiniteLiteral, self.at(span), message));
        }
        tokens.push(TokenKind::Real, span);
    }

    /// Reads a string whose opening quote is at `start`.
    fn string(&mut self, start: u32, tokens: &mut Tokens) {
        let rest = self.logos.remainder();
        let len = self.string_len(start, rest, tokens);
        self.logos.bump(len);
    }

    /// Adds a string and returns its length after the opening quote.
    fn string_len(&mut self, start: u32, rest: &str, tokens: &mut Tokens) -> usize {
        let quote = self.text.as_bytes()[start as usize];
        let bytes = rest.as_bytes();
        let mut odd = None;
        let mut i = 0;
        loop {
            match bytes.get(i) {
                Some(&byte) if byte == quote => break,
                None | Some(b'\n' | b'\r') => return self.unterminated(start, quote, i, tokens),
                Some(b'\\') if bytes.get(i + 1).is_some_and(|&next| next == quote || next == b'\\') => i += 2,
                Some(b'\\' | 0..=0x1F | 0x7F..) => {
                    odd = odd.or(Some(i));
                    i += 1;
                }
                Some(_) => i += 1,
            }
        }
        if let Some(odd) = odd {
            self.odd_character(start + 1 + odd as u32, &rest[odd..]);
        }
        tokens.push(TokenKind::Str, Span::new(start, start + i as u32 + 2));
        i + 1
    }

    fn unterminated(&mut self, start: u32, quote: u8, len: usize, tokens: &mut Tokens) -> usize {
        let opening = Span::new(start, start + 1);
        if self.free {
            tokens.push(TokenKind::Stray, opening);
            return 0;
        }
        let message = format!("the string has no closing `{}`", char::from(quote));
        self.report(
            Diagnostic::new(Code::UnterminatedString, self.at(opening), message)
                .help("a string ends on its line, with the quote it starts with"),
        );
        tokens.push(TokenKind::Bad, Span::new(start, start + 1 + len as u32));
        len
    }

    fn odd_character(&mut self, at: u32, rest: &str) {
        let Some(found) = rest.chars().next() else { return };
        let span = Span::new(at, at + found.len_utf8() as u32);
        let finding = |message: String| Diagnostic::new(Code::StringCharacter, self.at(span), message);
        let finding = match found {
            '\\' => finding("this `\\` escapes no character: it stays in the string".to_owned())
                .label("not an escape sequence")
                .help("only the quote and `\\` can be escaped; write `\\\\` for a backslash")
                .fix(span, "\\\\"),
            _ => finding(format!("{} inside a string", name(found))).help("strings hold printable ASCII characters"),
        };
        self.report(finding);
    }

    /// Reports text that cannot be a token, and adds a token with which the parser can continue.
    fn oddity(&mut self, kind: TokenKind, span: Span, tokens: &mut Tokens) {
        let word = &self.text[span.range()];
        let at = self.at(span);
        match kind {
            TokenKind::Bad => {
                let finding = Diagnostic::new(Code::BadNumber, at, format!("`{word}` is not a number"));
                self.report(match without_suffix(word) {
                    Some(number) => finding.help(format!("remove the suffix: `{number}`")).fix(span, number),
                    None => finding,
                });
                tokens.push(TokenKind::Bad, span);
            }
            TokenKind::BadWord if word.chars().all(|c| c == '$' || c == '_' || c.is_alphanumeric()) => {
                if !self.free && self.told.insert(word) {
                    let finding = Diagnostic::new(Code::BadIdentifier, at, format!("`{word}` is not an identifier"));
                    self.report(finding.help("identifiers consist of ASCII letters, digits and `_`"));
                }
                tokens.push(TokenKind::Ident, span);
            }
            TokenKind::Ampersand | TokenKind::Pipe => {
                let finding = Diagnostic::new(Code::BadCharacter, at, format!("unexpected character `{word}`"));
                let doubled = format!("{word}{word}");
                self.report(finding.help(format!("the operator is written `{doubled}`")).fix(span, doubled));
                tokens.push(if kind == TokenKind::Pipe { TokenKind::Or } else { TokenKind::And }, span);
            }
            TokenKind::Slashes => tokens.push(TokenKind::Stray, span),
            _ => {
                let odd = word.char_indices().find(|(_, c)| !(c.is_ascii_alphanumeric() || *c == '_'));
                let (offset, odd) = odd.unwrap_or((0, ' '));
                let start = span.start + offset as u32;
                let at = self.at(Span::new(start, start + odd.len_utf8() as u32));
                let message = format!("unexpected character {}", name(odd));
                self.report(Diagnostic::new(Code::BadCharacter, at, message));
                tokens.push(TokenKind::Stray, Span::new(span.start, self.skip_stray()));
            }
        }
    }

    /// Skips adjacent characters that cannot be in a token, so that all of them are one token and one
    /// diagnostic. Returns their end.
    fn skip_stray(&mut self) -> u32 {
        let mut ahead = self.logos.clone();
        while let Some(Err(())) = ahead.next()
            && ahead.span().start == self.position()
        {
            self.logos = ahead.clone();
        }
        self.position() as u32
    }
}

/// The diagnostic about a number without digits after its point; none for other numbers.
pub(crate) fn without_fraction(number: &str, at: Location) -> Option<Diagnostic> {
    let (_, behind) = number.split_once('.')?;
    let lacks = !behind.starts_with(|c: char| c.is_ascii_digit());
    let message = || format!("the number `{number}` has no digits after the decimal point");
    lacks.then(|| Diagnostic::new(Code::NumberWithoutFraction, at, message()))
}

/// The name of a character in messages.
fn name(c: char) -> String {
    match c {
        '\t' => "a tab".to_owned(),
        c if c.is_alphanumeric() || c.is_ascii_graphic() => format!("`{c}`"),
        c => format!("U+{:04X}", u32::from(c)),
    }
}

fn without_suffix(word: &str) -> Option<&str> {
    let end = word.find(|c: char| c.is_ascii_alphabetic() || c == '_')?;
    let (number, suffix) = word.split_at(end);
    let plain = number.parse::<f64>().is_ok() && !number.ends_with('.');
    let known = ["l", "L", "f", "F", "u", "U", "ll", "LL", "ul", "UL", "h"].contains(&suffix);
    (plain && known).then_some(number)
}
