//! From text to tokens: one-byte kinds, with spans beside them.

mod kinds;
#[cfg(test)]
mod tests;

use logos::{Lexer, Logos};

pub use self::kinds::Kind;
use super::dialect::Rules;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Dialect;
use crate::graph::standard::FLATTEN_LOOPS;
use crate::source::{FileId, Location, Span};

/// The tokens of a text.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// What each token is.
    pub kinds: Vec<Kind>,
    /// Where each token stands.
    pub spans: Vec<Span>,
    /// Comments, `#` included and the line end not.
    pub comments: Vec<Span>,
    /// The tokens that stand for statements which were read without tokens.
    pub plain: Vec<usize>,
    /// Whether loops are enabled.
    pub loops: bool,
}

/// What reads statements without tokens for a parser, where it can.
pub trait ReadStatements<'t> {
    /// Reads a statement of a graph or a fragment with its semicolon, adds the comments in it, and
    /// tells where it stands. Where it gives up, the statement is cut into tokens from its start.
    fn read(&mut self, lexer: &mut Lexer<'t, Kind>, comments: &mut Vec<Span>, graph: bool) -> Option<Span>;

    /// The statements read since the last time are a run, for which there is one token.
    fn end_run(&mut self);

    /// Reads the header of a fragment from behind its keyword, adds the comments in it, and gives
    /// the brace or the semicolon behind it. Where it gives up, the header is cut into tokens.
    fn read_head(&mut self, lexer: &mut Lexer<'t, Kind>, comments: &mut Vec<Span>) -> Option<(Kind, Span)>;
}

/// Leaves all statements to the parser.
impl ReadStatements<'_> for () {
    fn read(&mut self, _: &mut Lexer<Kind>, _: &mut Vec<Span>, _: bool) -> Option<Span> {
        None
    }

    fn end_run(&mut self) {}

    fn read_head(&mut self, _: &mut Lexer<Kind>, _: &mut Vec<Span>) -> Option<(Kind, Span)> {
        None
    }
}

/// Cuts a text into tokens. Findings are reported except within extension directives, whose text
/// is free. What `statements` reads leaves one token, [`Kind::Plain`], for a run of statements.
pub fn lex<'t>(
    text: &'t str,
    file: FileId,
    dialect: Dialect,
    statements: &mut impl ReadStatements<'t>,
    diagnostics: &mut Diagnostics,
) -> Tokens {
    let tokens = Tokens::default();
    let mut run = Run {
        text,
        file,
        rules: dialect.rules(),
        statements,
        diagnostics,
        free: false,
        place: Place::default(),
        header: 0,
        graph: false,
        braces: 0,
        tokens,
    };
    run.lex();
    run.tokens
}

/// Where the lexer is, as far as it decides whether statements stand here for certain.
///
/// The parser skips what it cannot read, so a brace alone tells nothing. But it never skips
/// `graph` and `fragment` between bodies, takes the next brace for that of the body unless a
/// semicolon or a closing brace comes before, and leaves the body at its first closing brace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Between bodies.
    #[default]
    Outside,
    /// Behind `graph` or `fragment`.
    Header,
    /// In a body: behind its brace and behind each semicolon a statement starts.
    Body,
    /// Behind something that belongs elsewhere. What stands here, up to the next closing brace,
    /// is left to the parser.
    Marred,
}

impl Place {
    fn after(self, kind: Kind) -> Place {
        match (self, kind) {
            (_, Kind::RBrace) | (Place::Header, Kind::Semicolon) => Place::Outside,
            (Place::Header, Kind::LBrace) => Place::Body,
            (Place::Body, Kind::LBrace | Kind::Graph | Kind::Fragment) => Place::Marred,
            (Place::Header | Place::Body, Kind::Version | Kind::Extension) => Place::Marred,
            (Place::Outside, Kind::Graph | Kind::Fragment) => Place::Header,
            _ => self,
        }
    }
}

struct Run<'t, 'a, S> {
    text: &'t str,
    file: FileId,
    rules: &'static Rules,
    statements: &'a mut S,
    diagnostics: &'a mut Diagnostics,
    /// Within an extension directive.
    free: bool,
    place: Place,
    /// The token with which the last header starts.
    header: usize,
    /// Whether it is that of a graph.
    graph: bool,
    /// How many braces are open within a body.
    braces: usize,
    tokens: Tokens,
}

impl<'t, S: ReadStatements<'t>> Run<'t, '_, S> {
    fn lex(&mut self) {
        let text = self.text;
        let mut lexer = Kind::lexer(text);
        if text.starts_with('\u{FEFF}') {
            lexer.bump('\u{FEFF}'.len_utf8());
        }
        while let Some(kind) = lexer.next() {
            let range = lexer.span();
            let span = Span { start: range.start as u32, end: range.end as u32 };
            match kind {
                Ok(Kind::Ident) if self.free || self.tokens.loops => self.word_beside_loops(span),
                Ok(Kind::Ident) => {
                    let kind = if self.rules.extra_types.is_empty() { Kind::Ident } else { self.word(span) };
                    self.push(kind, span);
                }
                Ok(Kind::Dots) if !self.tokens.loops => self.oddity(Kind::Stray, span),
                Ok(Kind::Int) => {
                    if range.len() > 18 {
                        self.check_integer(span);
                    }
                    self.push(Kind::Int, span);
                }
                Ok(Kind::Real) => self.real(span),
                Ok(Kind::Str) => {
                    let extra = self.string(span.start, lexer.remainder());
                    lexer.bump(extra);
                }
                Ok(Kind::Slashes) if !self.free => {
                    let at = self.at(span);
                    self.diagnostics.report(
                        Diagnostic::new(Code::BadComment, at, "`//` does not start a comment")
                            .help("comments start with `#`"),
                    );
                    let rest = lexer.remainder();
                    lexer.bump(rest.find(['\n', '\r', '\x0C']).unwrap_or(rest.len()));
                }
                Ok(Kind::Comment) => self.tokens.comments.push(span),
                Ok(Kind::Ge) => self.greater_or_equal(span),
                Ok(Kind::Fragment) if self.is_plain_place() => self.fragment(&mut lexer, span),
                Ok(kind) if kind.is_keyword() => self.keyword(kind, span),
                Ok(Kind::Bad | Kind::BadWord | Kind::Ampersand | Kind::Pipe | Kind::Slashes) | Err(()) => {
                    self.oddity(kind.unwrap_or(Kind::Stray), span);
                }
                Ok(kind @ (Kind::LBrace | Kind::RBrace | Kind::Semicolon)) => {
                    self.free &= kind != Kind::Semicolon;
                    self.push(kind, span);
                    if self.tokens.loops && self.in_loop(kind) {
                        continue;
                    }
                    let place = self.place.after(kind);
                    // Once for each header: what stands there is looked at as a whole.
                    if place == Place::Body && self.place == Place::Header {
                        self.graph = self.is_graph();
                    }
                    self.place = place;
                    if self.place == Place::Body && self.rules.semicolons {
                        self.statements(&mut lexer);
                    }
                }
                Ok(kind) => self.push(kind, span),
            }
        }
    }

    /// Whether an item starts here for certain, and is one as ever.
    fn is_plain_place(&self) -> bool {
        let behind = matches!(self.tokens.kinds.last(), None | Some(Kind::RBrace | Kind::Semicolon));
        behind && self.place == Place::Outside && self.rules.semicolons && !self.tokens.loops
    }

    /// A fragment, whose header is one token if it can be read without others.
    fn fragment(&mut self, lexer: &mut Lexer<'t, Kind>, span: Span) {
        let mut ahead = lexer.clone();
        let comments = self.tokens.comments.len();
        let Some((kind, end)) = self.statements.read_head(&mut ahead, &mut self.tokens.comments) else {
            self.tokens.comments.truncate(comments);
            return self.keyword(Kind::Fragment, span);
        };
        *lexer = ahead;
        (self.free, self.braces, self.graph) = (false, 0, false);
        self.push(Kind::Head, span);
        self.push(kind, end);
        if kind == Kind::LBrace {
            self.place = Place::Body;
            self.statements(lexer);
        }
    }

    /// Whether the body that opens here is that of a graph: what the last header in front of it
    /// says that the parser takes for one. Where a header is broken off, another may follow.
    fn is_graph(&self) -> bool {
        use Kind::*;
        let header = self.tokens.kinds.get(self.header..).unwrap_or_default();
        let starts = |four: &&[Kind]| {
            matches!(four, [before, Graph | Fragment, Ident, LParen | Lt]
                if !matches!(before, Graph | Fragment | LParen | Comma))
        };
        let last = header.windows(4).rev().find(starts).map(|four| four[1]);
        last.or(header.first().copied()) == Some(Graph)
    }

    /// Reads as many statements as can be read without tokens.
    fn statements(&mut self, lexer: &mut Lexer<'t, Kind>) {
        let mut run: Option<Span> = None;
        loop {
            let mut ahead = lexer.clone();
            let comments = self.tokens.comments.len();
            let Some(span) = self.statements.read(&mut ahead, &mut self.tokens.comments, self.graph) else {
                self.tokens.comments.truncate(comments);
                break;
            };
            run = Some(run.map_or(span, |run| run.to(span)));
            *lexer = ahead;
        }
        if let Some(span) = run {
            self.statements.end_run();
            self.tokens.plain.push(self.tokens.kinds.len());
            self.push(Kind::Plain, span);
        }
    }

    fn push(&mut self, kind: Kind, span: Span) {
        self.tokens.kinds.push(kind);
        self.tokens.spans.push(span);
    }

    fn at(&self, span: Span) -> Location {
        Location::new(self.file, span)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if !self.free {
            self.diagnostics.report(diagnostic);
        }
    }

    /// A word of a directive, which may enable loops, or one where they are enabled.
    fn word_beside_loops(&mut self, span: Span) {
        let word = &self.text[span.range()];
        if self.free {
            self.tokens.loops |= word == FLATTEN_LOOPS && self.rules.semicolons;
            return self.push(Kind::Ident, span);
        }
        self.push(Kind::of_loops(word).unwrap_or(Kind::Ident), span);
    }

    /// Whether a brace or semicolon is that of the body of a loop.
    fn in_loop(&mut self, kind: Kind) -> bool {
        let inside = self.braces > 0;
        match kind {
            Kind::LBrace if inside || self.place == Place::Body => self.braces += 1,
            Kind::RBrace => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
        inside || self.braces > 0
    }

    fn word(&self, span: Span) -> Kind {
        let word = &self.text[span.range()];
        let known = self.rules.extra_types.iter().find(|row| row.0 == word);
        known.map_or(Kind::Ident, |row| Kind::of_primitive(row.1))
    }

    fn keyword(&mut self, kind: Kind, span: Span) {
        if self.rules.not_keywords.contains(&&self.text[span.range()]) {
            return self.push(Kind::Ident, span);
        }
        match kind {
            Kind::Extension => self.free = true,
            Kind::Version | Kind::Fragment | Kind::Graph => (self.free, self.braces) = (false, 0),
            _ => {}
        }
        let place = self.place.after(kind);
        if place == Place::Header && self.place == Place::Outside {
            self.header = self.tokens.kinds.len();
        }
        self.place = place;
        self.push(kind, span);
    }

    /// `>=` right after a tensor type is the end of the type and the start of its default.
    fn greater_or_equal(&mut self, span: Span) {
        let kinds = &self.tokens.kinds;
        if matches!(kinds[..], [.., Kind::Tensor, Kind::Lt] | [.., Kind::Tensor, Kind::Lt, _]) {
            self.push(Kind::Gt, Span::new(span.start, span.start + 1));
            self.push(Kind::Assign, Span::new(span.start + 1, span.end));
        } else {
            self.push(Kind::Ge, span);
        }
    }

    /// The magnitude of the least integer is allowed after a minus sign.
    fn check_integer(&mut self, span: Span) {
        let digits = self.text[span.range()].trim_start_matches('0');
        let kinds = &self.tokens.kinds;
        let negative = matches!(kinds[..], [.., before, Kind::Minus] if !before.ends_expression());
        let fits = digits.is_empty() || digits.parse::<i64>().is_ok() || (negative && digits == "9223372036854775808");
        if !fits {
            let message = format!("integer `{}` does not fit into 64 bits", &self.text[span.range()]);
            self.report(Diagnostic::new(Code::IntegerTooLarge, self.at(span), message));
        }
    }

    fn real(&mut self, span: Span) {
        let number = &self.text[span.range()];
        if let Some(point) = number.find('.')
            && !number[point + 1..].starts_with(|c: char| c.is_ascii_digit())
        {
            let message = format!("the number `{number}` has no digits after its point");
            let mended = format!("write `{}0{}`", &number[..=point], &number[point + 1..]);
            self.report(Diagnostic::new(Code::NumberWithoutFraction, self.at(span), message).help(mended));
        }
        // No number of fewer digits is too large without an exponent.
        let long = number.len() > 300 || number.contains(['e', 'E']);
        if long && number.parse::<f64>().is_ok_and(f64::is_infinite) {
            let message = format!("the number `{number}` is too large for a 64-bit scalar");
            self.report(Diagnostic::new(Code::NonFiniteLiteral, self.at(span), message));
        }
        self.push(Kind::Real, span);
    }

    /// Reads a string whose opening quote is at `start`; gives the length of what follows it.
    fn string(&mut self, start: u32, rest: &str) -> usize {
        let quote = self.text.as_bytes()[start as usize];
        let bytes = rest.as_bytes();
        let mut odd = None;
        let mut i = 0;
        loop {
            match bytes.get(i) {
                Some(&byte) if byte == quote => break,
                None | Some(b'\n' | b'\r') => return self.unterminated(start, quote, i),
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
        self.push(Kind::Str, Span::new(start, start + i as u32 + 2));
        i + 1
    }

    fn unterminated(&mut self, start: u32, quote: u8, len: usize) -> usize {
        let opening = Span::new(start, start + 1);
        if self.free {
            self.push(Kind::Stray, opening);
            return 0;
        }
        let message = format!("the string has no closing `{}`", char::from(quote));
        self.report(
            Diagnostic::new(Code::UnterminatedString, self.at(opening), message)
                .label("opened here")
                .help("a string ends on its line, with the quote it starts with"),
        );
        self.push(Kind::Bad, Span::new(start, start + 1 + len as u32));
        len
    }

    fn odd_character(&mut self, at: u32, rest: &str) {
        let Some(found) = rest.chars().next() else { return };
        let span = Span::new(at, at + found.len_utf8() as u32);
        let (message, help) = match found {
            '\\' => {
                let message = "`\\` escapes nothing here: it stays in the string";
                (message.to_owned(), "only the quote and `\\` can be escaped; write `\\\\` for a backslash")
            }
            _ => (format!("{} inside a string", name(found)), "strings hold printable ASCII characters"),
        };
        self.report(Diagnostic::new(Code::StringCharacter, self.at(span), message).help(help));
    }

    /// Reports what cannot be a token, and pushes what lets the parser carry on.
    fn oddity(&mut self, kind: Kind, span: Span) {
        let word = &self.text[span.range()];
        let at = self.at(span);
        match kind {
            Kind::Bad => {
                let finding = Diagnostic::new(Code::BadNumber, at, format!("`{word}` is not a number"));
                self.report(finding.help_if(number_help(word)));
                self.push(Kind::Bad, span);
            }
            Kind::BadWord if word.chars().all(|c| c == '$' || c == '_' || c.is_alphanumeric()) => {
                let finding = Diagnostic::new(Code::BadIdentifier, at, format!("`{word}` is not an identifier"));
                self.report(finding.help("identifiers consist of ASCII letters, digits and `_`"));
                self.push(Kind::Ident, span);
            }
            Kind::Ampersand | Kind::Pipe => {
                let finding = Diagnostic::new(Code::BadCharacter, at, format!("unexpected character `{word}`"));
                self.report(finding.help(format!("the operator is written `{word}{word}`")));
                self.push(if kind == Kind::Pipe { Kind::Or } else { Kind::And }, span);
            }
            Kind::Slashes => self.push(Kind::Stray, span),
            _ => {
                let odd = word.char_indices().find(|(_, c)| !(c.is_ascii_alphanumeric() || *c == '_'));
                let (offset, odd) = odd.unwrap_or((0, ' '));
                let start = span.start + offset as u32;
                let at = self.at(Span::new(start, start + odd.len_utf8() as u32));
                let message = format!("unexpected character {}", name(odd));
                self.report(Diagnostic::new(Code::BadCharacter, at, message));
                self.push(Kind::Stray, span);
            }
        }
    }
}

/// A character for a message.
fn name(c: char) -> String {
    match c {
        '\t' => "a tab".to_owned(),
        c if c.is_alphanumeric() || c.is_ascii_graphic() => format!("`{c}`"),
        c => format!("U+{:04X}", u32::from(c)),
    }
}

fn number_help(word: &str) -> Option<String> {
    let end = word.find(|c: char| c.is_ascii_alphabetic() || c == '_')?;
    let (number, suffix) = word.split_at(end);
    let plain = number.parse::<f64>().is_ok() && !number.ends_with('.');
    let known = ["l", "L", "f", "F", "u", "U", "ll", "LL", "ul", "UL", "h"].contains(&suffix);
    (plain && known).then(|| format!("drop the suffix: `{number}`"))
}
