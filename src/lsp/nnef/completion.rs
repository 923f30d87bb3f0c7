//! WordsBefore that can stand at a position of a document.

use std::collections::BTreeSet;

use super::declaration::{Declaration, declarations};
use super::text::NnefText;
use super::words::tokens;
use crate::graph::standard::{FLATTEN_LOOPS, FRAGMENT_DEFINITIONS, OPERATOR_EXPRESSIONS};
use crate::library::registries;
use crate::lsp::analyzed::{Completions, Proposal, ProposalKind};
use crate::nnef::lexer::{TokenKind, Tokens};
use crate::nnef::registries::REGISTRY_EXTENSION;
use crate::source::Span;

/// Where a position is.
#[derive(Debug, PartialEq, Eq)]
enum DocumentPlace<'t> {
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
struct GivenArguments<'t> {
    /// How many are given by position.
    positions: usize,
    /// Those that are named.
    names: BTreeSet<&'t str>,
}

/// The proposals at an offset.
pub(super) fn completions(of: &NnefText, offset: u32) -> Option<Completions> {
    let text = of.source().get(..offset as usize)?;
    let mut before = tokens(text, of.document.dialect());
    if in_comment(&before, text) || in_string(text) {
        return None;
    }
    let word = before.spans.last().copied().filter(|span| span.end == offset && is_word(text, *span));
    let replaced = word.unwrap_or(Span::new(offset, offset));
    before.truncate(before.kinds.len() - usize::from(word.is_some()));
    let words = WordsBefore { text, tokens: &before };
    let proposals = match words.place() {
        DocumentPlace::Other => Vec::new(),
        DocumentPlace::Top => keywords(&["fragment", "graph", "extension", "version"]),
        DocumentPlace::Directive(first) => directives(first),
        DocumentPlace::Expression(call) => expressions(of, &words, call),
    };
    Some(Completions { replaced, proposals })
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

fn keywords(words: &[&str]) -> Vec<Proposal> {
    let keyword =
        |word: &&str| Proposal { label: (*word).to_owned(), kind: ProposalKind::Keyword, detail: None, insert: None };
    words.iter().map(keyword).collect()
}

fn directives(first: Option<&str>) -> Vec<Proposal> {
    match first {
        None => keywords(&[FRAGMENT_DEFINITIONS, OPERATOR_EXPRESSIONS, FLATTEN_LOOPS, REGISTRY_EXTENSION]),
        Some(REGISTRY_EXTENSION) => {
            let module = |registry: &registries::Registry| Proposal {
                label: registry.name.to_owned(),
                kind: ProposalKind::Module,
                detail: None,
                insert: None,
            };
            registries::ALL.iter().map(module).collect()
        }
        Some(_) => keywords(&[FRAGMENT_DEFINITIONS, OPERATOR_EXPRESSIONS]),
    }
}

/// Parameters of the call around the position, locals, and operations.
fn expressions(of: &NnefText, words: &WordsBefore, call: Option<(&str, GivenArguments)>) -> Vec<Proposal> {
    let names = of.document.names();
    let declared = declarations(&of.document);
    let mut found = Vec::new();
    if let Some((operation, given)) = call
        && let Some(declared) = names.get(operation).and_then(|name| declared.get(&name))
    {
        for param in declared.fragment.params.iter().skip(given.positions) {
            let label = names.text(param.name.name);
            if !given.names.contains(label) {
                found.push(Proposal {
                    label: label.to_owned(),
                    kind: ProposalKind::Parameter,
                    detail: Some(declared.param(param)),
                    insert: Some(format!("{label} = ")),
                });
            }
        }
    }
    let value =
        |name: &&str| Proposal { label: (*name).to_owned(), kind: ProposalKind::Value, detail: None, insert: None };
    found.extend(words.locals().iter().map(value));
    let operation = |label: &str, detail: String| Proposal {
        label: label.to_owned(),
        kind: ProposalKind::Operation,
        detail: Some(detail),
        insert: None,
    };
    let mut operations: Vec<&Declaration> = declared.values().collect();
    operations.sort_by_key(|declared| names.text(declared.fragment.name.name));
    found.extend(
        operations.iter().map(|declared| operation(names.text(declared.fragment.name.name), declared.signature())),
    );
    // The document has only those declarations of registries that it uses.
    for registry in of.document.registries() {
        let others = registry
            .library
            .declarations()
            .filter(|other| names.get(other.name).is_none_or(|name| !declared.contains_key(&name)));
        found.extend(others.map(|other| {
            let head = other.text.split('{').next().unwrap_or_default();
            let words: Vec<&str> = head.trim_end().trim_end_matches(';').split_whitespace().collect();
            operation(other.name, words.join(" "))
        }));
    }
    found
}

/// The words before a position.
struct WordsBefore<'t> {
    text: &'t str,
    tokens: &'t Tokens,
}

impl<'t> WordsBefore<'t> {
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

    /// The brackets that are open at the end, by their positions.
    fn open(&self, from: usize) -> Vec<usize> {
        use TokenKind::{LBrace, LBracket, LParen, RBrace, RBracket, RParen};
        let mut open = Vec::new();
        for at in from..self.len() {
            match self.kind(at) {
                Some(LParen | LBracket | LBrace) => open.push(at),
                Some(RParen | RBracket | RBrace) => {
                    open.pop();
                }
                _ => {}
            }
        }
        open
    }

    fn place(&self) -> DocumentPlace<'t> {
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
        let (mut depth, mut given, mut named) = (0, GivenArguments::default(), false);
        for at in bracket + 1..self.len() {
            match self.kind(at) {
                Some(LParen | LBracket | LBrace) => depth += 1,
                Some(RParen | RBracket | RBrace) => depth -= 1,
                Some(Ident) if depth == 0 && self.kind(at + 1) == Some(Assign) => {
                    given.names.insert(self.word(at));
                    named = true;
                }
                Some(Comma) if depth == 0 => given.positions += usize::from(!std::mem::take(&mut named)),
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

    /// The names of the body so far: parameters and what was assigned, but no operations and no named arguments.
    fn locals(&self) -> BTreeSet<&'t str> {
        use TokenKind::{Assign, Ident, LParen, Lt};
        let Some(item) = self.item() else { return BTreeSet::new() };
        let mut depth = 0_u32;
        let mut found = BTreeSet::new();
        // The name of the fragment or the graph is not one of them.
        for at in item + 2..self.len() {
            match self.kind(at) {
                Some(LParen) => depth += 1,
                Some(TokenKind::RParen) => depth = depth.saturating_sub(1),
                Some(Ident) => {
                    let next = self.kind(at + 1);
                    let named = depth > 0 && next == Some(Assign);
                    if !named && !matches!(next, Some(LParen | Lt)) {
                        found.insert(self.word(at));
                    }
                }
                _ => {}
            }
        }
        found
    }
}
