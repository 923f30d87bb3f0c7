//! Where a position of a document is, by the words before it.

use std::collections::BTreeSet;

use super::words::tokens;
use crate::diagnostics::Policy;
use crate::graph::Dialect;
use crate::nnef::lexer::{Lexer, TokenKind, Tokens};
use crate::source::{FileId, Span};

/// Where a position is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DocumentPlace<'t> {
    /// Outside of all declarations.
    Top,
    /// In a directive, after its first word if there is one.
    Directive(Option<&'t str>),
    /// In an expression; with the operation that is called around it, and what the call gives already.
    Expression(Option<(&'t str, GivenArguments<'t>)>),
    /// Where nothing is proposed: declarations, left sides.
    Other,
}

/// The arguments that a call gives before a position.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GivenArguments<'t> {
    /// How many are given by position.
    pub(super) positions: usize,
    /// Those that are named.
    pub(super) names: BTreeSet<&'t str>,
    /// The one that is named and being written.
    pub(super) current: Option<&'t str>,
}

/// The words before a position.
pub(super) struct WordsBefore<'t> {
    text: &'t str,
    tokens: Tokens,
}

impl<'t> WordsBefore<'t> {
    /// The words of a text; none if it ends in a comment or a string.
    pub(super) fn new(text: &'t str, dialect: Dialect) -> Option<Self> {
        let tokens = tokens(text, dialect);
        (!in_comment(&tokens, text) && !in_string(text)).then_some(WordsBefore { text, tokens })
    }

    /// Takes away the word at the end, which is being written. Returns its place.
    pub(super) fn take_last(&mut self) -> Span {
        let end = self.text.len() as u32;
        let word = self.tokens.spans.last().copied().filter(|span| span.end == end && is_word(self.text, *span));
        self.tokens.truncate(self.len() - usize::from(word.is_some()));
        word.unwrap_or(Span::new(end, end))
    }

    fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.kinds.get(at).copied()
    }

    fn word(&self, at: usize) -> &'t str {
        self.tokens.spans.get(at).and_then(|span| self.text.get(span.range())).unwrap_or_default()
    }

    fn len(&self) -> usize {
        self.tokens.kinds.len()
    }

    /// The start of the last declaration or directive.
    fn item(&self) -> Option<usize> {
        use TokenKind::{Extension, Fragment, Graph, Version};
        (0..self.len()).rev().find(|at| matches!(self.kind(*at), Some(Extension | Fragment | Graph | Version)))
    }

    /// The brackets that are open at the end, by their positions. A statement that ends closes what it has left open.
    fn open(&self, from: usize) -> Vec<usize> {
        use TokenKind::{LBrace, LBracket, LParen, RBrace, RBracket, RParen, Semicolon};
        let mut open = Vec::new();
        for at in from..self.len() {
            match self.kind(at) {
                Some(LParen | LBracket | LBrace) => open.push(at),
                Some(RParen | RBracket | RBrace) => {
                    open.pop();
                }
                Some(Semicolon) => {
                    let body = open.iter().rposition(|at| self.kind(*at) == Some(LBrace));
                    open.truncate(body.map_or(0, |body| body + 1));
                }
                _ => {}
            }
        }
        open
    }

    /// Where the end is.
    pub(super) fn place(&self) -> DocumentPlace<'t> {
        use TokenKind::{Extension, LBrace, LParen, RBrace, Semicolon, Version};
        let Some(item) = self.item() else { return DocumentPlace::Top };
        let last = self.len() - 1;
        match self.kind(item) {
            Some(Version | Extension) if self.kind(last) == Some(Semicolon) => return DocumentPlace::Top,
            Some(Version) => return DocumentPlace::Other,
            Some(Extension) => return DocumentPlace::Directive((item < last).then(|| self.word(item + 1))),
            _ => {}
        }
        let open = self.open(item);
        let Some(body) = open.iter().position(|at| self.kind(*at) == Some(LBrace)) else {
            let ended = matches!(self.kind(last), Some(RBrace | Semicolon)) && open.is_empty();
            return if ended { DocumentPlace::Top } else { DocumentPlace::Other };
        };
        let call = open.get(body + 1..).unwrap_or_default().iter().rev().find(|at| self.kind(**at) == Some(LParen));
        let called = call.and_then(|at| Some((*at, self.callee(*at)?)));
        match called {
            Some((at, callee)) => DocumentPlace::Expression(Some((callee, self.given(at)))),
            None if self.in_value(open.get(body).copied().unwrap_or_default()) => DocumentPlace::Expression(None),
            None => DocumentPlace::Other,
        }
    }

    /// The operation that is called around the end, and what the call gives already, also if the end is in an array or a
    /// tuple of it.
    pub(super) fn call(&self) -> Option<(&'t str, GivenArguments<'t>)> {
        let open = self.open(self.item()?);
        let body = open.iter().position(|at| self.kind(*at) == Some(TokenKind::LBrace))?;
        let brackets = open.get(body + 1..)?.iter().rev().filter(|at| self.kind(**at) == Some(TokenKind::LParen));
        let (at, callee) = brackets.copied().find_map(|at| Some((at, self.callee(at)?)))?;
        Some((callee, self.given(at)))
    }

    /// The operation that a bracket belongs to.
    fn callee(&self, bracket: usize) -> Option<&'t str> {
        use TokenKind::{Gt, Ident};
        let before = bracket.checked_sub(1)?;
        let name = if self.kind(before) == Some(Gt) { before.checked_sub(3)? } else { before };
        (self.kind(name) == Some(Ident)).then(|| self.word(name))
    }

    /// The arguments that a call gives so far. One that is not ended by a comma is being written.
    fn given(&self, bracket: usize) -> GivenArguments<'t> {
        use TokenKind::{Assign, Comma, Ident, LBrace, LBracket, LParen, RBrace, RBracket, RParen};
        let (mut depth, mut given) = (0, GivenArguments::default());
        for at in bracket + 1..self.len() {
            match self.kind(at) {
                Some(LParen | LBracket | LBrace) => depth += 1,
                Some(RParen | RBracket | RBrace) => depth -= 1,
                Some(Ident) if depth == 0 && self.kind(at + 1) == Some(Assign) => {
                    given.names.insert(self.word(at));
                    given.current = Some(self.word(at));
                }
                Some(Comma) if depth == 0 => given.positions += usize::from(given.current.take().is_none()),
                _ => {}
            }
        }
        given
    }

    /// Whether the end is on the right side of an assignment.
    fn in_value(&self, body: usize) -> bool {
        use TokenKind::{Assign, Semicolon};
        let start = (body..self.len()).rev().find(|at| self.kind(*at) == Some(Semicolon)).unwrap_or(body);
        (start..self.len()).any(|at| self.kind(at) == Some(Assign))
    }

    /// The names that an expression at the end can use: parameters, what ended statements assign, and iterators of the
    /// statement that is being written.
    pub(super) fn locals(&self) -> BTreeSet<&'t str> {
        use TokenKind::{Arrow, Colon, Comma, Ident, In, LBrace, RParen, Semicolon, With};
        let Some(item) = self.item() else { return BTreeSet::new() };
        let first =
            |wanted: TokenKind, end: usize| (item..end).find(|at| self.kind(*at) == Some(wanted)).unwrap_or(end);
        let body = first(LBrace, self.len());
        let ended = (body..self.len()).rev().find(|at| self.kind(*at) == Some(Semicolon)).unwrap_or(body);
        let is_param = |at: &usize| matches!(self.kind(at + 1), Some(Colon | Comma | RParen));
        let is_iterator = |at: &usize| matches!(self.kind(at + 1), Some(In | Colon)) || self.kind(at - 1) == Some(With);
        // The name of the fragment or the graph is not one of them.
        let params = (item + 2..first(Arrow, body)).filter(is_param);
        let iterators = (ended + 1..self.len()).filter(is_iterator);
        let names = params.chain(self.assigned(body, ended)).chain(iterators);
        names.filter(|at| self.kind(*at) == Some(Ident)).map(|at| self.word(at)).collect()
    }

    /// The positions on the left sides of the statements in a part of a body.
    fn assigned(&self, body: usize, ended: usize) -> impl Iterator<Item = usize> {
        let mut is_left = false;
        (body..ended).filter(move |at| {
            match self.kind(*at) {
                Some(TokenKind::LBrace | TokenKind::Semicolon) => is_left = true,
                Some(TokenKind::Assign) => is_left = false,
                _ => {}
            }
            is_left
        })
    }
}

/// The arguments that are named after a position in a call, up to its end. The word that goes on there is none of them.
pub(super) fn named_after(text: &str, dialect: Dialect) -> BTreeSet<&str> {
    use TokenKind::{Assign, Comma, Ident, LBrace, LBracket, LParen, RBrace, RBracket, RParen, Semicolon};
    let mut tokens = Tokens::default();
    let mut lexer = Lexer::new(text, FileId::default(), dialect, Policy::default());
    let (mut depth, mut last, mut found) = (0_u32, (Semicolon, Span::default()), BTreeSet::new());
    let mut after_comma = false;
    while let Some(kind) = lexer.next(&mut tokens) {
        match kind {
            LParen | LBracket | LBrace => depth += 1,
            RParen | RBracket | RBrace if depth == 0 => break,
            RParen | RBracket | RBrace => depth -= 1,
            Semicolon => break,
            Comma if depth == 0 => after_comma = true,
            Assign if depth == 0 && after_comma && last.0 == Ident => {
                found.insert(text.get(last.1.range()).unwrap_or_default());
            }
            _ => {}
        }
        last = (kind, tokens.spans.last().copied().unwrap_or_default());
    }
    found
}

fn is_word(text: &str, span: Span) -> bool {
    text.get(span.range()).is_some_and(|word| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        && !text.as_bytes().get(span.start as usize).is_some_and(u8::is_ascii_digit)
}

fn in_comment(tokens: &Tokens, text: &str) -> bool {
    tokens.comments.last().is_some_and(|comment| comment.end as usize == text.len())
}

/// Whether a string is open at the end of a text: strings end on their line.
fn in_string(text: &str) -> bool {
    let line = text.rsplit(['\n', '\r']).next().unwrap_or_default();
    let mut open = None;
    let mut escaped = false;
    for c in line.chars() {
        match (open, c) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(quote), c) if c == quote => open = None,
            (None, '\'' | '"') => open = Some(c),
            (None, '#') => return false,
            _ => {}
        }
    }
    open.is_some()
}
