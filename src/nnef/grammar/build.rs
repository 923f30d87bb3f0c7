//! The state of a parse: tokens to read from, tables to write to.

use std::ops::Range;

use chumsky::error::EmptyErr;
use chumsky::extra::Full;
use chumsky::input::InputRef;
use chumsky::inspector::SimpleState;
use chumsky::primitive::custom;

use super::explain::END;
use super::numbers;
use crate::diagnostics::Code;
use crate::nnef::ast::{Ast, Expr, ExprId, Ident, Marks, TypeSpec, TypeSpecId, UnaryOp};
use crate::nnef::dialect::Rules;
use crate::nnef::lexer::{TokenKind, Tokens};
use crate::room::with_stack;
use crate::source::Span;
use crate::source::names::Names;

/// The input of the grammar: the kinds of the tokens of one header or statement.
pub(super) type TokenInput<'t> = &'t [TokenKind];
/// The state of the grammar, which receives its output.
pub(super) type State<'s> = SimpleState<Build<'s>>;
/// The configuration of the grammar. Its errors are empty: the state records what was expected.
pub(super) type Extra<'s> = Full<EmptyErr, State<'s>, ()>;
/// The remaining tokens, and the state.
pub(super) type Reader<'t, 'p, 's> = InputRef<'t, 'p, TokenInput<'t>, Extra<'s>>;
/// The result of a rule of the grammar.
///
/// Rules are functions from a [`Reader`] to this, with chumsky parsers inside; they refer to each other
/// by `custom(rule)`. So the type of a parser does not contain the types of other rules, nothing is
/// boxed, and no parser is built before a text is parsed.
pub(super) type GrammarResult<O> = Result<O, EmptyErr>;

/// A rule of the grammar.
pub(super) type GrammarRule<'s, O> = for<'t, 'p> fn(&mut Reader<'t, 'p, 's>) -> GrammarResult<O>;

/// A parser of chumsky for this grammar.
pub(super) trait Parser<'t, 's, O>: chumsky::Parser<'t, TokenInput<'t>, O, Extra<'s>> {}

impl<'t, 's, O, P: chumsky::Parser<'t, TokenInput<'t>, O, Extra<'s>>> Parser<'t, 's, O> for P {}

/// A token of one kind.
pub(super) fn token<'t, 's>(kind: TokenKind) -> impl Parser<'t, 's, ()> + Copy {
    custom(taking(kind))
}

/// The rule of a token. Versions of Rust before 1.95 need a rule for all lifetimes.
fn taking(kind: TokenKind) -> impl Fn(&mut Reader<'_, '_, '_>) -> GrammarResult<()> + Copy {
    move |input: &mut Reader<'_, '_, '_>| take(input, kind)
}

/// Reads a token of one kind.
pub(super) fn take(input: &mut Reader, kind: TokenKind) -> GrammarResult<()> {
    match takes(input, kind) {
        true => Ok(()),
        false => Err(EmptyErr::default()),
    }
}

/// Reads a token if it is of one kind; otherwise notes that kind as expected.
#[inline]
pub(super) fn takes(input: &mut Reader, kind: TokenKind) -> bool {
    let found = input.peek() == Some(kind);
    match found {
        true => input.skip(),
        false => note(input, &[kind.text()]),
    }
    found
}

/// Notes what was expected at the next token.
pub(super) fn note(input: &mut Reader, expected: &[&'static str]) {
    let at = place(input);
    input.state().expects(at, expected);
}

/// Notes what was expected at the next token, and fails.
pub(super) fn fails<O>(input: &mut Reader, expected: &[&'static str]) -> GrammarResult<O> {
    note(input, expected);
    Err(EmptyErr::default())
}

/// Succeeds at the end of the slice.
pub(super) fn end(input: &mut Reader) -> GrammarResult<()> {
    match input.peek() {
        Some(_) => fails(input, &[END]),
        None => Ok(()),
    }
}

/// The number of tokens read so far.
#[inline]
pub(super) fn place(input: &mut Reader) -> usize {
    *input.cursor().inner()
}

/// The remaining tokens.
#[inline]
pub(super) fn rest<'t>(input: &mut Reader<'t, '_, '_>) -> TokenInput<'t> {
    let cursor = input.cursor();
    input.slice_from(&cursor..)
}

/// Adds an expression from a token to the current position.
#[inline(always)]
pub(super) fn push(input: &mut Reader, start: usize, expr: Expr) -> ExprId {
    let tokens = start..place(input);
    input.state().push(expr, tokens)
}

/// An identifier.
#[inline]
pub(super) fn ident(input: &mut Reader) -> GrammarResult<Ident> {
    if input.peek() != Some(TokenKind::Ident) {
        return fails(input, &[TokenKind::Ident.text()]);
    }
    let at = place(input);
    input.skip();
    Ok(input.state().ident(at))
}

/// Calls a rule that can recurse, with enough stack.
pub(super) fn nested<'t, 'p, 's, O>(
    input: &mut Reader<'t, 'p, 's>,
    rule: impl FnOnce(&mut Reader<'t, 'p, 's>) -> GrammarResult<O>,
) -> GrammarResult<O> {
    with_stack(|| rule(input))
}

/// A checkpoint: the lengths of all tables.
#[derive(Clone, Copy)]
pub(super) struct TableLengths {
    nodes: Marks,
    types: usize,
    type_lists: usize,
    findings: usize,
}

/// The state of a parse.
pub(super) struct Build<'s> {
    pub(crate) text: &'s str,
    pub(crate) tokens: Tokens,
    /// The first token of the current slice.
    pub(crate) base: usize,
    pub(crate) rules: &'static Rules,
    pub(crate) names: &'s mut Names,
    pub(crate) ast: Ast,
    /// Deviations that do not stop the parser, with their tokens.
    pub(crate) findings: Vec<(Code, usize)>,
    /// The farthest token of the current slice at which another token was expected.
    pub(crate) failure: usize,
    /// What was expected there.
    pub(crate) expected: Vec<&'static str>,
}

impl<'s> Build<'s> {
    pub(crate) fn new(text: &'s str, rules: &'static Rules, names: &'s mut Names) -> Self {
        let (tokens, ast, findings) = <(Tokens, Ast, Vec<_>)>::default();
        Build { text, tokens, base: 0, rules, names, ast, findings, failure: 0, expected: Vec::new() }
    }

    /// Notes what was expected at a token of the current slice.
    #[inline]
    pub(crate) fn expects(&mut self, token: usize, what: &[&'static str]) {
        if token > self.failure {
            self.failure = token;
            self.expected.clear();
        }
        if token == self.failure {
            self.expected.extend(what);
        }
    }

    /// Notes a deviation at a token of the current slice.
    pub(crate) fn remark(&mut self, code: Code, token: usize) {
        self.findings.push((code, self.base + token));
    }

    /// The span of a token of the current slice.
    #[inline]
    pub(crate) fn token_span(&self, token: usize) -> Span {
        self.tokens.spans[self.base + token]
    }

    /// The span of a range of tokens of the current slice.
    pub(crate) fn bytes(&self, tokens: Range<usize>) -> Span {
        self.token_span(tokens.start).to(self.token_span(tokens.end - 1))
    }

    /// The text of a token of the current slice.
    #[inline]
    pub(crate) fn token_text(&self, token: usize) -> &str {
        &self.text[self.token_span(token).range()]
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, expr: Expr, tokens: Range<usize>) -> ExprId {
        let span = self.bytes(tokens);
        self.ast.push(expr, span)
    }

    pub(crate) fn push_type(&mut self, spec: TypeSpec, tokens: Range<usize>) -> TypeSpecId {
        let span = self.bytes(tokens);
        self.ast.push_type(spec, span)
    }

    /// The identifier at a token of the current slice.
    pub(crate) fn ident(&mut self, token: usize) -> Ident {
        let span = self.token_span(token);
        let (name, end) = self.names.intern_word(self.text, span.start as usize);
        // A word with characters that no name can have keeps all of them.
        if end == span.end as usize { Ident { name, span } } else { self.spelled(span) }
    }

    /// The name that is written at a span, which may be a reserved word.
    pub(crate) fn spelled(&mut self, span: Span) -> Ident {
        Ident { name: self.names.intern(self.text.get(span.range()).unwrap_or_default()), span }
    }

    /// The reserved word, if an identifier is one.
    #[inline]
    pub(crate) fn keyword(&self, ident: Ident) -> Option<TokenKind> {
        match TokenKind::named(ident.name) {
            None if self.tokens.loops => TokenKind::of_loops(&self.text[ident.span.range()]),
            kind => kind,
        }
    }

    /// A literal of one token.
    pub(crate) fn literal(&mut self, kind: TokenKind, token: usize) -> Expr {
        match kind {
            TokenKind::True => Expr::Logical(true),
            TokenKind::False => Expr::Logical(false),
            TokenKind::Int | TokenKind::Real => {
                let text = self.token_text(token);
                // With the text after the number, its digits can be read eight at a time.
                match numbers::literal(&self.text[self.token_span(token).start as usize..]) {
                    Some((number, len)) if len == text.len() => number,
                    _ if kind == TokenKind::Real => text.parse().map_or(Expr::Error, Expr::Scalar),
                    _ => match text.parse::<u64>() {
                        Ok(value) if value <= 1 << 63 => Expr::Int(value as i64),
                        _ => Expr::Error,
                    },
                }
            }
            TokenKind::Str => {
                let quoted = &self.text[self.token_span(token).range()];
                let inner = quoted.get(1..quoted.len() - 1).unwrap_or("");
                Expr::String(match inner.contains('\\') {
                    true => self.names.intern(&unescape(quoted)),
                    false => self.names.intern(inner),
                })
            }
            _ => Expr::Error,
        }
    }

    /// A prefix operator with its operand.
    ///
    /// The magnitude of the least integer exceeds the greatest integer, so the sign becomes part of the literal.
    pub(crate) fn unary(&mut self, op: UnaryOp, operand: ExprId, tokens: Range<usize>) -> ExprId {
        let least = op == UnaryOp::Minus
            && self.ast.expr(operand) == Expr::Int(i64::MIN)
            && !self.text[self.ast.span(operand).range()].starts_with('-');
        let expr = if least { Expr::Int(i64::MIN) } else { Expr::Unary { op, operand } };
        self.push(expr, tokens)
    }

    /// An array; packed if all items are integers or all are scalars.
    pub(crate) fn array(&mut self, items: &[ExprId], tokens: Range<usize>) -> ExprId {
        let expr = self.packed(items).unwrap_or_else(|| Expr::Array(self.ast.push_list(items)));
        self.push(expr, tokens)
    }

    /// A packed array of these items, if there are any and all are integers or all are scalars.
    fn packed(&mut self, items: &[ExprId]) -> Option<Expr> {
        let (ints, scalars) = (self.ast.ints.len(), self.ast.scalars.len());
        for &item in items {
            match signed(&self.ast, item) {
                (false, Expr::Int(i)) => self.ast.ints.push(i),
                // The sign of the least integer belongs to it already; another one is an overflow.
                (true, Expr::Int(i)) if i != i64::MIN => self.ast.ints.push(-i),
                (negative, Expr::Scalar(s)) => self.ast.scalars.push(if negative { -s } else { s }),
                _ => break,
            }
        }
        if self.ast.ints.len() - ints == items.len() && !items.is_empty() {
            return Some(self.ast.int_array(ints));
        }
        if self.ast.scalars.len() - scalars == items.len() && !items.is_empty() {
            return Some(self.ast.scalar_array(scalars));
        }
        self.ast.ints.truncate(ints);
        self.ast.scalars.truncate(scalars);
        None
    }

    /// Reads an array of numbers of one kind from the opening bracket at a token. Returns the
    /// expression and the number of its tokens.
    pub(crate) fn packed_array(&mut self, token: usize) -> Option<(Expr, usize)> {
        let tokens = &self.tokens.spans[self.base + token..];
        let start = tokens.first()?.end as usize;
        let (array, len) = numbers::array(&self.text[start..], &mut self.ast)?;
        Some((array, tokens.partition_point(|span| span.end as usize <= start + len)))
    }

    pub(crate) fn mark(&self) -> TableLengths {
        TableLengths {
            nodes: Marks::of(&self.ast),
            types: self.ast.types.len(),
            type_lists: self.ast.type_lists.len(),
            findings: self.findings.len(),
        }
    }

    /// Removes everything added since the mark.
    pub(crate) fn rewind(&mut self, mark: TableLengths) {
        mark.nodes.rewind(&mut self.ast);
        self.ast.types.truncate(mark.types);
        self.ast.type_spans.truncate(mark.types);
        self.ast.type_lists.truncate(mark.type_lists);
        self.findings.truncate(mark.findings);
    }
}

/// A number without its minus sign, and whether it has one.
fn signed(ast: &Ast, item: ExprId) -> (bool, Expr) {
    match ast.expr(item) {
        Expr::Unary { op: UnaryOp::Minus, operand } => (true, ast.expr(operand)),
        expr => (false, expr),
    }
}

/// The value of a string literal, which is passed with its quotes.
pub(super) fn unescape(quoted: &str) -> String {
    let mut chars = quoted.chars();
    let quote = chars.next();
    let inner = chars.as_str();
    let mut value = String::with_capacity(inner.len());
    let mut chars = inner[..inner.len().saturating_sub(1)].chars().peekable();
    while let Some(c) = chars.next() {
        match chars.peek() {
            Some(&next) if c == '\\' && (next == '\\' || Some(next) == quote) => {
                value.push(next);
                chars.next();
            }
            _ => value.push(c),
        }
    }
    value
}
