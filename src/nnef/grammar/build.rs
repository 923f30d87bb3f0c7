//! The state of a parse: tokens to read from, tables to write to.

use chumsky::Boxed;
use chumsky::error::LabelError;
use chumsky::extra::Full;
use chumsky::input::Stream;
use chumsky::inspector::SimpleState;
use chumsky::span::SimpleSpan;

use super::numbers;
use crate::diagnostics::Code;
use crate::graph::Primitive;
use crate::nnef::ast::{Ast, Builtin, Expr, ExprId, Ident, Marks, TypeSpec, TypeSpecId, UnaryOp};
use crate::nnef::lexer::{Kind, Tokens};
use crate::source::Span;
use crate::source::names::Names;

/// What the grammars read: the kinds of one item or statement. It is a copy, so that the tokens can
/// be given up as soon as they were read.
pub(super) type Input = Stream<std::vec::IntoIter<Kind>>;
/// What the grammars write to.
pub(super) type State<'s> = SimpleState<Build<'s>>;
/// The configuration of a grammar with errors of type `E`.
pub(super) type Extra<'s, E> = Full<E, State<'s>, ()>;

/// A parser of this module: of `O`, with errors `E`. The types of combinators are hidden: nested in
/// each other they would make most of the size of a debug build.
pub(super) type Grammar<'s, O, E> = Boxed<'s, 's, Input, O, Extra<'s, E>>;

/// Errors that the grammars can be built for: nothing at all on the fast pass, and everything
/// about what was expected on the second.
pub(super) trait Failure<'s>:
    chumsky::error::Error<'s, Input> + LabelError<'s, Input, &'static str> + 's
{
}

impl<'s, E> Failure<'s> for E where E: chumsky::error::Error<'s, Input> + LabelError<'s, Input, &'static str> + 's {}

/// The lengths of all tables, to return to.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    nodes: Marks,
    types: usize,
    type_lists: usize,
    findings: usize,
}

/// The state itself.
pub(super) struct Build<'s> {
    pub(crate) text: &'s str,
    pub(crate) tokens: Tokens,
    /// The token at which the slice that is being parsed starts.
    pub(crate) base: usize,
    pub(crate) names: &'s mut Names,
    pub(crate) ast: Ast,
    /// Deviations that do not stop the parser, with their tokens.
    pub(crate) findings: Vec<(Code, usize)>,
    /// Set once an operand is missing: no alternative can succeed any more, and none is tried.
    /// Without it, every operator level would parse the same operand again, at every nesting.
    pub(crate) failed: bool,
}

impl Build<'_> {
    /// The bytes of a range of tokens of the current slice.
    pub(crate) fn bytes(&self, tokens: SimpleSpan) -> Span {
        let start = self.tokens.spans.get(self.base + tokens.start).copied().unwrap_or_default();
        if tokens.end <= tokens.start {
            return Span::new(start.start, start.start);
        }
        Span { start: start.start, end: self.tokens.spans[self.base + tokens.end - 1].end }
    }

    /// The text of a token of the current slice.
    pub(crate) fn token_text(&self, token: usize) -> &str {
        &self.text[self.tokens.spans[self.base + token].range()]
    }

    pub(crate) fn push(&mut self, expr: Expr, tokens: SimpleSpan) -> ExprId {
        let span = self.bytes(tokens);
        self.ast.push(expr, span)
    }

    pub(crate) fn push_type(&mut self, spec: TypeSpec, tokens: SimpleSpan) -> TypeSpecId {
        let span = self.bytes(tokens);
        self.ast.push_type(spec, span)
    }

    /// The identifier at a token of the current slice.
    pub(crate) fn ident(&mut self, token: usize) -> Ident {
        let span = self.tokens.spans[self.base + token];
        Ident { name: self.names.intern(&self.text[span.range()]), span }
    }

    /// A literal of one token.
    pub(crate) fn literal(&mut self, kind: Kind, token: usize) -> Expr {
        match kind {
            Kind::True => Expr::Logical(true),
            Kind::False => Expr::Logical(false),
            Kind::Int => match self.token_text(token).parse::<u64>() {
                Ok(value) if value <= 1 << 63 => Expr::Int(value as i64),
                _ => Expr::Error,
            },
            Kind::Real => self.token_text(token).parse().map_or(Expr::Error, Expr::Scalar),
            Kind::Str => {
                let quoted = &self.text[self.tokens.spans[self.base + token].range()];
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
    /// The magnitude of the least integer is no integer by itself: there the sign joins it.
    pub(crate) fn unary(&mut self, op: UnaryOp, operand: ExprId, tokens: SimpleSpan) -> ExprId {
        let least = op == UnaryOp::Minus
            && self.ast.expr(operand) == Expr::Int(i64::MIN)
            && !self.text[self.ast.span(operand).range()].starts_with('-');
        let expr = if least { Expr::Int(i64::MIN) } else { Expr::Unary { op, operand } };
        self.push(expr, tokens)
    }

    /// An array; packed when it holds nothing but numbers of one kind.
    pub(crate) fn array(&mut self, items: &[ExprId], tokens: SimpleSpan) -> ExprId {
        let packed = self.pack_ints(items).or_else(|| self.pack_scalars(items));
        let expr = packed.unwrap_or_else(|| Expr::Array(self.ast.push_list(items)));
        self.push(expr, tokens)
    }

    fn pack_ints(&mut self, items: &[ExprId]) -> Option<Expr> {
        let values = self.numbers(items, |negative, item| match item {
            Expr::Int(value) => Some(if negative { value.wrapping_neg() } else { value }),
            _ => None,
        })?;
        let start = self.ast.ints.len();
        self.ast.ints.extend(values);
        Some(self.ast.int_array(start))
    }

    fn pack_scalars(&mut self, items: &[ExprId]) -> Option<Expr> {
        let values = self.numbers(items, |negative, item| match item {
            Expr::Scalar(value) => Some(if negative { -value } else { value }),
            _ => None,
        })?;
        let start = self.ast.scalars.len();
        self.ast.scalars.extend(values);
        Some(self.ast.scalar_array(start))
    }

    /// The items as numbers of one kind; none where there are none, or others among them.
    fn numbers<T>(&self, items: &[ExprId], number: impl Fn(bool, Expr) -> Option<T>) -> Option<Vec<T>> {
        let values: Option<Vec<T>> = items
            .iter()
            .map(|&item| {
                let (negative, item) = signed(&self.ast, item);
                number(negative, item)
            })
            .collect();
        values.filter(|values| !values.is_empty())
    }

    /// Reads an array of numbers of one kind from the opening bracket at a token. Gives the
    /// expression and how many tokens it takes.
    pub(crate) fn packed_array(&mut self, token: usize) -> Option<(Expr, usize)> {
        let tokens = &self.tokens.spans[self.base + token..];
        let start = tokens.first()?.end as usize;
        let (array, len) = numbers::array(&self.text[start..], &mut self.ast)?;
        Some((array, tokens.partition_point(|span| span.end as usize <= start + len)))
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark {
            nodes: Marks::of(&self.ast),
            types: self.ast.types.len(),
            type_lists: self.ast.type_lists.len(),
            findings: self.findings.len(),
        }
    }

    /// Takes back everything written since the mark.
    pub(crate) fn rewind(&mut self, mark: Mark) {
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

/// The value of a string literal given with its quotes.
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

/// The primitive type that a type name stands for.
pub(super) fn primitive(kind: Kind) -> Option<Primitive> {
    Some(match kind {
        Kind::Integer => Primitive::Integer,
        Kind::Scalar => Primitive::Scalar,
        Kind::Logical => Primitive::Logical,
        Kind::String => Primitive::String,
        Kind::Question => Primitive::Generic,
        _ => return None,
    })
}

/// The primitive type that a word stands for.
pub(super) fn primitive_named(word: &str) -> Option<Primitive> {
    Some(match word {
        "integer" => Primitive::Integer,
        "scalar" => Primitive::Scalar,
        "logical" => Primitive::Logical,
        "string" => Primitive::String,
        "?" => Primitive::Generic,
        _ => return None,
    })
}

/// The built-in function that a keyword stands for.
pub(super) fn builtin(kind: Kind) -> Option<Builtin> {
    Some(match kind {
        Kind::ShapeOf => Builtin::ShapeOf,
        Kind::LengthOf => Builtin::LengthOf,
        Kind::RangeOf => Builtin::RangeOf,
        Kind::Integer => Builtin::Integer,
        Kind::Scalar => Builtin::Scalar,
        Kind::Logical => Builtin::Logical,
        Kind::String => Builtin::String,
        _ => return None,
    })
}
