//! The parts of a document (3.2.4) and their order.

use super::declaration::{self, FragmentHead};
use super::{BYTES_PER_NAME, ModuleKind, ParserRun, ROOM};
use crate::diagnostics::{Code, Diagnostic};
use crate::nnef::ast::{Body, Extension, Fragment, GraphDecl, TopLevelItem};
use crate::nnef::lexer::TokenKind;
use crate::nnef::registries;
use crate::source::Span;

/// The kind of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemKind {
    Version,
    Extension,
    Fragment,
    Graph,
}

/// Whether an item of each kind was found already.
type Seen = [bool; 4];

impl ParserRun<'_> {
    /// `<document> ::= <version> <extension>* <fragment-definition>* <graph-definition>`
    pub(super) fn items(&mut self) {
        let mut at = 0;
        let mut seen = Seen::default();
        loop {
            if self.flat {
                self.window(0);
                at = 0;
            }
            if at >= self.kinds().len() || self.gives_up() {
                break;
            }
            let Some(part) = self.part(at) else {
                self.stray(at);
                at = self.next_item(at + 1);
                continue;
            };
            self.check_order(part, at, seen);
            seen[part as usize] = true;
            at = match part {
                ItemKind::Version => self.version(at),
                ItemKind::Extension => self.extension(at),
                ItemKind::Fragment => self.fragment(at),
                ItemKind::Graph => self.graph(at),
            };
        }
        if self.kind == ModuleKind::Document && !seen[ItemKind::Graph as usize] {
            let message = "the document has no graph";
            let finding = Diagnostic::new(Code::DocumentStructure, self.location(at), message);
            self.diagnostics.report(finding.label("no graph before this"));
        }
    }

    fn part(&self, at: usize) -> Option<ItemKind> {
        let draft = !self.state.rules.not_keywords.is_empty();
        Some(match self.kind(at)? {
            TokenKind::Version => ItemKind::Version,
            TokenKind::Extension => ItemKind::Extension,
            TokenKind::Fragment => ItemKind::Fragment,
            TokenKind::Graph => ItemKind::Graph,
            TokenKind::Ident if draft && self.token_text(at) == "version" => ItemKind::Version,
            TokenKind::Ident if draft && self.token_text(at) == "extension" => ItemKind::Extension,
            _ => return None,
        })
    }

    pub(super) fn token_text(&self, at: usize) -> &str {
        &self.state.text[self.span(at).range()]
    }

    fn stray(&mut self, at: usize) {
        if matches!(self.kind(at), Some(TokenKind::Stray | TokenKind::Bad)) {
            return;
        }
        let message = format!("expected `fragment` or `graph`, found {}", self.found(at));
        self.report_unexpected(Code::DocumentStructure, at, message);
    }

    fn check_order(&mut self, part: ItemKind, at: usize, seen: Seen) {
        let document = self.kind == ModuleKind::Document;
        let [version, _, fragment, graph] = seen;
        let any = seen.contains(&true);
        let (message, label) = match part {
            ItemKind::Graph if !document => ("a library of declarations has no graph", "a graph in a library"),
            _ if !document => return,
            ItemKind::Version if version => ("the version is given twice", "a second version"),
            ItemKind::Version if any => ("the version comes first in a document", "a version after other parts"),
            ItemKind::Version => return,
            _ if !any => ("a document starts with its version", "no version before this"),
            ItemKind::Extension if graph => {
                ("extensions come before fragments and the graph", "an extension after the graph")
            }
            ItemKind::Extension if fragment => {
                ("extensions come before fragments and the graph", "an extension after a fragment")
            }
            ItemKind::Fragment if graph => ("fragments come before the graph", "a fragment after the graph"),
            ItemKind::Graph if graph => ("a document has exactly one graph", "a second graph"),
            _ => return,
        };
        let mut finding = Diagnostic::new(Code::DocumentStructure, self.location(at), message).label(label);
        if document && !any {
            let (version, start) = (self.version_text(), self.span(at).start);
            finding = finding.help(format!("put `{version}` in front"));
            finding = finding.fix(Span::new(start, start), format!("{version}\n"));
        }
        self.diagnostics.report(finding);
    }

    /// `<version> ::= "version" <major> "." <minor> ";"`
    fn version(&mut self, start: usize) -> usize {
        let number = start + 1;
        let mut after = number;
        match self.kind(number) {
            Some(TokenKind::Int | TokenKind::Real | TokenKind::Bad) => {
                self.version_number(start, number);
                after += 1;
            }
            _ => self.bad_version(number, format!("expected a version number, found {}", self.found(number))),
        }
        if self.kind(after) == Some(TokenKind::Semicolon) {
            return after + 1;
        }
        if self.state.rules.semicolons && after > number {
            let message = format!("expected `;` after the version, found {}", self.found(after));
            let finding = self.of_version(after, message).fix(self.span(number).after(), ";");
            self.diagnostics.report(finding);
        }
        let end = self.header_end(after.saturating_sub(1));
        match self.part(after) {
            Some(_) => after,
            None if self.state.rules.semicolons && self.kind(end) == Some(TokenKind::Semicolon) => end + 1,
            None => after,
        }
    }

    fn version_number(&mut self, start: usize, number: usize) {
        let text = self.token_text(number);
        let parts = text.split_once('.').map(|(major, minor)| (major.parse(), minor.parse()));
        let Some((Ok(major), Ok(minor))) = parts else {
            let message = format!("`{text}` is not a version: a version is `major.minor`");
            return self.bad_version(number, message);
        };
        if (major, minor) != (1, 0) {
            return self.bad_version(number, format!("version {major}.{minor} is not supported"));
        }
        let end = number + usize::from(self.kind(number + 1) == Some(TokenKind::Semicolon));
        if self.module.version.is_none() {
            self.module.version = Some(self.range(start, end));
            self.module.items.push(TopLevelItem::Version);
        }
    }

    fn version_text(&self) -> &'static str {
        if self.state.rules.semicolons { "version 1.0;" } else { "version 1.0" }
    }

    fn bad_version(&mut self, at: usize, message: String) {
        let finding = self.of_version(at, message);
        self.diagnostics.report(finding);
    }

    fn of_version(&self, at: usize, message: String) -> Diagnostic {
        let help = format!("write `{}`", self.version_text());
        let finding = match self.kind(at) {
            Some(TokenKind::Int | TokenKind::Real | TokenKind::Bad) => {
                Diagnostic::new(Code::BadVersion, self.location(at), message)
            }
            _ => self.surprise(Code::BadVersion, at, message),
        };
        finding.help(help)
    }

    /// `<extension> ::= "extension" <identifier>+ ";"`; vendors write other text after the name.
    fn extension(&mut self, start: usize) -> usize {
        let stop = |at: &usize| self.kinds()[*at] == TokenKind::Semicolon || self.part(*at).is_some();
        let len = self.kinds().len();
        let end = (start + 1..len).find(stop).unwrap_or(len);
        let closed = self.kind(end) == Some(TokenKind::Semicolon);
        if !self.state.rules.semicolons {
            let message = "this dialect has no extensions";
            let finding = Diagnostic::new(Code::BadExtension, self.location(start), message);
            self.diagnostics.report(finding.label("an extension directive"));
            return end + usize::from(closed);
        }
        if !closed {
            let message = format!("expected `;` after the extension, found {}", self.found(end));
            self.report_unexpected(Code::BadExtension, end, message);
        }
        if self.kind(start + 1) != Some(TokenKind::Ident) || end == start + 1 {
            if closed || end > start + 1 {
                let message = format!("expected the name of an extension, found {}", self.found(start + 1));
                self.report_unexpected(Code::BadExtension, start + 1, message);
            }
            return end + usize::from(closed);
        }
        self.extension_words(start, end, closed);
        end + usize::from(closed)
    }

    fn extension_words(&mut self, start: usize, end: usize, closed: bool) {
        let kinds = self.kinds()[start + 1..end].to_vec();
        let listed =
            kinds.chunks(2).all(|pair| matches!(pair, [TokenKind::Ident] | [TokenKind::Ident, TokenKind::Comma]));
        let listed = listed && kinds.last() == Some(&TokenKind::Ident);
        let odd = kinds.iter().position(|kind| *kind != TokenKind::Ident);
        self.begin(start + 1);
        let mut words = vec![self.state.ident(0)];
        if odd.is_none() || listed {
            let others = kinds.iter().enumerate().skip(1).filter(|(_, kind)| **kind == TokenKind::Ident);
            words.extend(others.map(|(at, _)| self.state.ident(at)));
        }
        let known = registries::is_extension(self.state.names.text(words[0].name));
        // Khronos' parser only reads names separated by commas.
        let accepted = (known || listed) && !self.diagnostics.strict();
        if let Some(odd) = odd.filter(|_| !accepted) {
            let message = "an extension is written as identifiers separated by spaces";
            self.report(Code::VendorSyntax, start + 1 + odd, message);
        }
        let text = self.range(start + 1, end - 1);
        let span = self.range(start, if closed { end } else { end - 1 });
        self.module.items.push(TopLevelItem::Extension(self.module.extensions.len() as u32));
        self.module.extensions.push(Extension { words, text, span });
    }

    /// `<fragment-definition> ::= <fragment-declaration> (<body> | ";")`
    fn fragment(&mut self, start: usize) -> usize {
        let (head, end) = self.fragment_head(start);
        let (body, after) = match self.kind(end) {
            Some(TokenKind::LBrace) => {
                let mut body = Body::default();
                let after = self.body(end, &mut body);
                (Some(body), after)
            }
            Some(TokenKind::Semicolon) => (None, end + 1),
            _ => {
                if head.is_some() {
                    let message = format!("expected `{{` or `;`, found {}", self.found(end));
                    self.report_unexpected(Code::DocumentStructure, end, message);
                }
                (None, self.next_item(end))
            }
        };
        if let Some(head) = head {
            let span = self.range(start, after.max(start + 1) - 1);
            self.module.items.push(TopLevelItem::Fragment(self.module.fragments.len() as u32));
            let (name, generic, params, results) = (head.name, head.generic, head.params, head.results);
            self.module.fragments.push(Fragment { name, generic, params, results, body, span });
        }
        after
    }

    /// The header of a fragment, if it is valid, and the token at its end.
    fn fragment_head(&mut self, start: usize) -> (Option<FragmentHead>, usize) {
        let end = self.header_end(start);
        let problem = match self.parse(declaration::fragment_head, start, end) {
            Ok(head) => return (Some(head), end),
            Err(problem) => problem,
        };
        self.explain_header(start, end, &problem);
        if self.kind(start + 1) == Some(TokenKind::Ident) {
            self.begin(start + 1);
            let name = self.state.ident(0).name;
            self.module.broken.push(name);
        }
        (None, if self.is_for_bracket(end) { self.next_item(end) } else { end })
    }

    /// Whether the brace that ends a header stands for a bracket in it: more than another item follows its counterpart.
    fn is_for_bracket(&self, open: usize) -> bool {
        if self.kind(open) != Some(TokenKind::LBrace) {
            return false;
        }
        let closing =
            |at: &usize| matches!(self.kinds()[*at], TokenKind::LBrace | TokenKind::RBrace | TokenKind::Semicolon);
        let close = (open + 1..self.kinds().len()).find(closing);
        close.is_some_and(|close| {
            let after = self.kind(close + 1);
            self.kind(close) == Some(TokenKind::RBrace) && after.is_some() && self.part(close + 1).is_none()
        })
    }

    /// `<graph-definition> ::= <graph-declaration> <body>`
    fn graph(&mut self, start: usize) -> usize {
        let end = self.header_end(start);
        let head = match self.parse(declaration::graph_head, start, end) {
            Ok(head) => Some(head),
            Err(problem) => {
                self.explain_header(start, end, &problem);
                if self.is_for_bracket(end) {
                    return self.next_item(end);
                }
                None
            }
        };
        if self.kind(end) != Some(TokenKind::LBrace) {
            if head.is_some() {
                let message = format!("expected `{{`, found {}: a graph has a body", self.found(end));
                self.report_unexpected(Code::EmptyBody, end, message);
            }
            return self.next_item(end);
        }
        let mut body = Body::default();
        if self.module.graphs.is_empty() {
            body.assignments.reserve(self.state.text.len().min(ROOM) / BYTES_PER_NAME);
        }
        self.in_graph = true;
        let after = self.body(end, &mut body);
        self.in_graph = false;
        let reassigned = std::mem::take(&mut self.targets).reassigned;
        if let Some(head) = head {
            let span = self.range(start, after - 1);
            self.module.items.push(TopLevelItem::Graph(self.module.graphs.len() as u32));
            let (name, params, results) = (head.name, head.params, head.results);
            self.module.graphs.push(GraphDecl { name, params, results, body, reassigned, span });
        }
        after
    }
}
