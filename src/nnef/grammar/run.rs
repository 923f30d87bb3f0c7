//! A run of the parser over a file: how statements and bodies are read, by the flat reader or the grammar.

use chumsky::Parser;
use chumsky::primitive::custom;

use super::build::{GrammarRule, State, TableLengths};
use super::depth::MAX_NESTING;
use super::explain::Problem;
use super::expression::Sides;
use super::flat::Lists;
use super::parse::ModuleKind;
use super::{build, depth, expression, flat, loops};
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::nnef::ast::{Assignment, Body, Expr, Marks, Module, Targets};
use crate::nnef::lexer::{Lexer, TokenKind};
use crate::progress;
use crate::source::{Location, Span};

/// One run of the parser over one file.
pub(super) struct ParserRun<'s> {
    pub(super) lexer: Lexer<'s>,
    /// Whether the reader of flat statements is used, and other statements are divided into tokens one by one.
    pub(super) flat: bool,
    pub(super) lists: Lists,
    /// Whether the current body is that of a graph.
    pub(super) in_graph: bool,
    /// The names that the graph assigns.
    pub(super) targets: Targets,
    pub(super) kind: ModuleKind,
    pub(super) module: Module,
    pub(super) diagnostics: Diagnostics,
    pub(super) state: State<'s>,
}

impl<'s> ParserRun<'s> {
    /// Parses the slice from one token to another by a rule of the grammar. If it fails, the state is
    /// restored.
    pub(super) fn parse<O>(&mut self, rule: GrammarRule<'s, O>, from: usize, to: usize) -> Result<O, Problem> {
        let mark = self.begin(from);
        let kinds = std::mem::take(&mut self.state.tokens.kinds);
        let rule = custom(rule).then_ignore(custom(build::end));
        let output = rule.parse_with_state(&kinds[from..to], &mut self.state).into_output();
        self.state.tokens.kinds = kinds;
        if let Some(output) = output {
            self.flush();
            return Ok(output);
        }
        self.state.rewind(mark);
        let expected = std::mem::take(&mut self.state.expected);
        Err(Problem { at: from + self.state.failure, expected })
    }

    /// Whether the text is to be parsed again, without the reader of flat statements.
    pub(super) fn gives_up(&self) -> bool {
        self.flat && (self.diagnostics.has_errors() || self.lexer.diagnostics.has_errors())
    }

    pub(super) fn report(&mut self, code: Code, at: usize, message: impl Into<String>) {
        self.diagnostics.report(Diagnostic::new(code, self.location(at), message));
    }

    /// Reports a token that is not allowed where it is.
    pub(super) fn report_unexpected(&mut self, code: Code, at: usize, message: String) {
        self.diagnostics.report(self.surprise(code, at, message));
    }

    /// Divides the whole text into tokens. Returns false if it is nested too deeply.
    pub(super) fn lex_all(&mut self) -> bool {
        while self.lexer.next(&mut self.state.0.tokens).is_some() {}
        self.check_depth()
    }

    /// Replaces the tokens from an index on by those of the next header or statement.
    pub(super) fn window(&mut self, from: usize) {
        self.state.tokens.truncate(from);
        let mut braces = 0usize;
        while let Some(kind) = self.lexer.next(&mut self.state.0.tokens) {
            match kind {
                TokenKind::LBrace if from > 0 => braces += 1,
                TokenKind::RBrace if braces > 0 => braces -= 1,
                TokenKind::Semicolon | TokenKind::LBrace | TokenKind::RBrace if braces == 0 => break,
                _ => {}
            }
        }
        if self.kinds().len() > depth::SHALLOW {
            self.check_depth();
        }
    }

    fn check_depth(&mut self) -> bool {
        let deep = depth::too_deep(&self.state.tokens.kinds, MAX_NESTING);
        if let Some((at, nested)) = deep {
            self.report(Code::TooDeep, at, nested.told());
        }
        deep.is_none()
    }

    /// Reads statements up to the next one that is not flat.
    fn flat_statements(&mut self, body: &mut Body) {
        let mut at = self.lexer.position();
        loop {
            let marks = Marks::of(&self.state.ast);
            let Some(assignment) = flat::statement(at, marks, &mut self.state.0, &mut self.lists) else { break };
            at = assignment.span.end as usize;
            self.add(body, assignment);
        }
        self.lexer.skip_to(at);
    }

    /// Adds a statement to a body.
    fn add(&mut self, body: &mut Body, assignment: Assignment) {
        progress::reached(assignment.span.end.into());
        if self.in_graph {
            let (ast, targets) = (&self.state.0.ast, &mut self.targets);
            ast.each_target(assignment.target, |_, name| targets.assign(name));
        }
        body.assignments.push(assignment);
    }

    pub(super) fn begin(&mut self, from: usize) -> TableLengths {
        self.state.base = from;
        self.state.failure = 0;
        self.state.expected.clear();
        self.state.mark()
    }

    /// Reports the deviations that the grammar noted.
    fn flush(&mut self) {
        while let Some((code, token)) = self.state.findings.pop() {
            let (message, label) = match code {
                Code::EmptyList => ("the list between these parentheses is empty", "no items"),
                _ => ("a comprehension has one item expression", "several item expressions"),
            };
            self.diagnostics.report(Diagnostic::new(code, self.location(token), message).label(label));
        }
    }

    /// The location of a token; past the last one, the empty location after it.
    pub(super) fn location(&self, token: usize) -> Location {
        Location::new(self.module.file, self.span(token))
    }

    pub(super) fn span(&self, token: usize) -> Span {
        match self.state.tokens.spans.get(token) {
            Some(span) => *span,
            None => self.state.tokens.spans.last().map_or(Span::default(), |last| last.after()),
        }
    }

    /// From the start of one token to the end of another.
    pub(super) fn range(&self, first: usize, last: usize) -> Span {
        self.span(first).to(self.span(last))
    }

    /// Parses the body that opens at a brace. Returns the token after it.
    pub(super) fn body(&mut self, open: usize, body: &mut Body) -> usize {
        let before = self.diagnostics.len() + self.diagnostics.suppressed();
        let mut at = open + 1;
        loop {
            if self.flat {
                at = open + 1;
                self.flat_statements(body);
                self.window(at);
            }
            match self.kind(at) {
                _ if self.gives_up() => return self.kinds().len(),
                Some(TokenKind::RBrace) => {
                    let silent = before == self.diagnostics.len() + self.diagnostics.suppressed();
                    if body.assignments.is_empty() && silent {
                        let message = "a body has at least one assignment";
                        self.report(Code::EmptyBody, at, message);
                    }
                    body.span = self.range(open, at);
                    return at + 1;
                }
                Some(_) if !self.item_starts(at) => {}
                _ => {
                    let message = format!("expected `}}`, found {}", self.found(at));
                    let opening = self.location(open);
                    self.diagnostics
                        .report(self.surprise(Code::BadAssignment, at, message).see(opening, "the body starts"));
                    body.span = self.range(open, at.saturating_sub(1));
                    return at;
                }
            }
            let end = self.whole_statement_end(at);
            self.statement(at, end, body);
            at = end + usize::from(self.kind(end) == Some(TokenKind::Semicolon));
        }
    }

    fn assignment(&mut self, start: usize, end: usize) -> Result<Sides, Problem> {
        let rule = if self.state.tokens.loops { loops::assignment } else { expression::assignment };
        self.parse(rule, start, end)
    }

    /// Parses the statement of a slice, or several if semicolons between them are missing.
    fn statement(&mut self, mut start: usize, end: usize, body: &mut Body) {
        loop {
            let problem = match self.assignment(start, end) {
                Ok(sides) => {
                    let ended = self.kind(end) == Some(TokenKind::Semicolon);
                    if self.state.rules.semicolons && !ended {
                        self.missing_semicolon(start, end);
                    }
                    let span = self.range(start, if ended { end } else { end - 1 });
                    return self.add(body, Assignment { target: sides.target, value: sides.value, span });
                }
                Err(problem) => problem,
            };
            let at = problem.at;
            if (start + 1..end).contains(&at)
                && self.statement_starts(at)
                && self.enclosing(start, at).is_none()
                && let Ok(sides) = self.assignment(start, at)
            {
                self.missing_semicolon(start, at);
                let span = self.range(start, at - 1);
                self.add(body, Assignment { target: sides.target, value: sides.value, span });
                start = at;
                continue;
            }
            self.explain_statement(start, end, &problem);
            let resume = |next: &usize| self.statement_starts(*next) && self.starts_line(*next);
            let next = (at.max(start + 1)..end).find(resume);
            self.keep_target(start, next.unwrap_or(end), body);
            match next {
                Some(next) => start = next,
                None => return,
            }
        }
    }

    /// The end of the statement that starts here, with what follows semicolons in brackets.
    fn whole_statement_end(&self, start: usize) -> usize {
        let mut end = self.statement_end(start);
        // How many brackets are open, and the tokens that this counts: one statement can have many semicolons.
        let (mut depth, mut counted) = (0, start);
        while self.may_go_on(end) {
            depth = self.kinds()[counted..end].iter().fold(depth, |depth, kind| kind.depth_after(depth));
            if depth == 0 {
                break;
            }
            counted = end;
            end = self.statement_end(end + 1);
        }
        end
    }

    /// Whether a semicolon can be one in brackets, instead of a comma: the statement goes on in its line.
    fn may_go_on(&self, end: usize) -> bool {
        self.kind(end) == Some(TokenKind::Semicolon)
            && self.kind(end + 1).is_some_and(|next| next != TokenKind::RBrace)
            && !self.starts_line(end + 1)
            && !self.assigns(end + 1)
    }

    /// Keeps the names that a statement with an error assigns, so that they are not reported as undefined.
    fn keep_target(&mut self, start: usize, end: usize, body: &mut Body) {
        // A comparison can be written for `=`.
        use TokenKind::{Assign, EqEq, Ge, Le, NotEq};
        let is_equals = |at: &usize| matches!(self.kinds()[*at], Assign | EqEq | NotEq | Le | Ge);
        let Some(equals) = (start..end).find(is_equals) else { return };
        let span = self.range(start, end - 1);
        let at = self.span(equals + 1);
        for token in start..equals {
            if self.kinds()[token] == TokenKind::Ident {
                self.begin(token);
                let ident = self.state.ident(0);
                let target = self.state.ast.push(Expr::Name(ident.name), ident.span);
                let value = self.state.ast.push(Expr::Error, at);
                self.add(body, Assignment { target, value, span });
            }
        }
    }

    fn missing_semicolon(&mut self, start: usize, at: usize) {
        if !self.state.rules.semicolons || self.is_marred(start, at) {
            return;
        }
        let message = format!("expected `;`, found {}", self.found(at));
        let end = Location::new(self.module.file, self.span(at - 1).after());
        let label = match self.kind(at) {
            Some(TokenKind::RBrace) => "the body ends",
            Some(_) => "the next statement starts",
            None => "the text ends",
        };
        self.diagnostics.report(
            Diagnostic::new(Code::BadAssignment, self.location(at), message).label(label).see(end, "a `;` is missing"),
        );
    }

    /// Whether a token is the first one of its line.
    pub(super) fn starts_line(&self, at: usize) -> bool {
        let gap = self.span(at - 1).end as usize..self.span(at).start as usize;
        self.state.text.get(gap).is_some_and(|gap| gap.contains(['\n', '\r']))
    }
}
