//! Expressions (3.2.3) and assignments (3.2.2).
//!
//! The first tokens of an expression determine its rule, so that nothing is parsed twice and parsing
//! takes linear time.

use chumsky::error::EmptyErr;
use chumsky::primitive::{choice, custom};
use chumsky::{IterParser as _, Parser as _};
use smallvec::SmallVec;

use super::build::{GrammarResult, Parser, Reader, fails, ident, nested, place, push, rest, take, takes, token};
use crate::diagnostics::Code;
use crate::graph::operators::{BinaryInfo, BuiltinInfo, UnaryInfo};
use crate::nnef::ast::{Arg, BinaryOp, Comprehension, ComprehensionId, Expr, ExprId, Iterator, ListRange};
use crate::nnef::lexer::TokenKind;

/// The items of a list.
pub(super) type Several<O> = SmallVec<[O; 4]>;

/// The two sides of a parsed assignment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides {
    pub(crate) target: ExprId,
    pub(crate) value: ExprId,
}

/// `<assignment> ::= <lvalue-expr> "=" <rvalue-expr> ";"`, without the semicolon.
pub(super) fn assignment(input: &mut Reader) -> GrammarResult<Sides> {
    let target = targets(input)?;
    take(input, TokenKind::Assign)?;
    let start = place(input);
    let mut value = expression(input)?;
    // <tuple-rvalue> without parentheses, in the draft only.
    if input.state().rules.bare_tuples {
        let rest = token(TokenKind::Comma).ignore_then(several(custom(expression)));
        if let Some(mut items) = input.parse(rest.or_not())? {
            items.insert(0, value);
            value = tuple(input, start, &items);
        }
    }
    Ok(Sides { target, value })
}

/// One or more items separated by commas.
pub(super) fn several<'t, 's, O>(item: impl Parser<'t, 's, O>) -> impl Parser<'t, 's, Several<O>> {
    item.separated_by(token(TokenKind::Comma)).at_least(1).collect()
}

/// Items in parentheses. An empty list is noted as a deviation.
pub(super) fn list<O>(input: &mut Reader, item: fn(&mut Reader) -> GrammarResult<O>) -> GrammarResult<Several<O>> {
    take(input, TokenKind::LParen)?;
    let at = place(input);
    if takes(input, TokenKind::RParen) {
        input.state().remark(Code::EmptyList, at);
        return Ok(Several::new());
    }
    up_to(input, item, TokenKind::RParen, 1)
}

/// At least `least` items separated by commas, up to a closing bracket.
///
/// This is a loop instead of a chumsky parser, which would take more stack: calls and brackets can nest
/// deeply, and each level touches new stack memory.
fn up_to<O>(
    input: &mut Reader,
    item: fn(&mut Reader) -> GrammarResult<O>,
    close: TokenKind,
    least: usize,
) -> GrammarResult<Several<O>> {
    let mut items = Several::new();
    loop {
        items.push(item(input)?);
        if takes(input, TokenKind::Comma) {
            continue;
        }
        if items.len() < least {
            return Err(EmptyErr::default());
        }
        return take(input, close).map(|()| items);
    }
}

/// At least `least` items between brackets or parentheses.
pub(super) fn enclosed<O>(
    input: &mut Reader,
    item: fn(&mut Reader) -> GrammarResult<O>,
    open: TokenKind,
    least: usize,
) -> GrammarResult<Several<O>> {
    let close = if open == TokenKind::LParen { TokenKind::RParen } else { TokenKind::RBracket };
    take(input, open)?;
    if least == 0 && takes(input, close) {
        return Ok(Several::new());
    }
    nested(input, |input| up_to(input, item, close, least))
}

/// `<lvalue-expr> ::= <identifier> | <array-lvalue-expr> | <tuple-lvalue-expr>`, where the
/// parentheses of the outermost tuple can be absent.
pub(super) fn targets(input: &mut Reader) -> GrammarResult<ExprId> {
    let start = place(input);
    if let [TokenKind::Ident, TokenKind::Assign, ..] = rest(input) {
        return name(input);
    }
    let items: Several<ExprId> = input.parse(several(custom(target)))?;
    Ok(tuple(input, start, &items))
}

fn target(input: &mut Reader) -> GrammarResult<ExprId> {
    let start = place(input);
    let open = match input.peek() {
        Some(open @ (TokenKind::LBracket | TokenKind::LParen)) => open,
        Some(TokenKind::Ident) => return name(input),
        _ => return fails(input, &[TokenKind::Ident, TokenKind::LBracket, TokenKind::LParen].map(TokenKind::text)),
    };
    let items = enclosed(input, target, open, 1)?;
    if open == TokenKind::LParen {
        return Ok(tuple(input, start, &items));
    }
    let list = input.state().ast.push_list(&items);
    Ok(push(input, start, Expr::Array(list)))
}

/// A tuple of several items; a single item is returned as it is.
fn tuple(input: &mut Reader, start: usize, items: &[ExprId]) -> ExprId {
    match *items {
        [item] => item,
        _ => {
            let list = input.state().ast.push_list(items);
            push(input, start, Expr::Tuple(list))
        }
    }
}

fn name(input: &mut Reader) -> GrammarResult<ExprId> {
    let ident = ident(input)?;
    Ok(input.state().ast.push(Expr::Name(ident.name), ident.span))
}

/// `<rvalue-expr>`, in compositional syntax.
pub(super) fn expression(input: &mut Reader) -> GrammarResult<ExprId> {
    nested(input, |input| {
        let start = place(input);
        let value = operators(input)?;
        match input.peek() {
            Some(TokenKind::If) => selects(input, start, value),
            _ => Ok(value),
        }
    })
}

/// `<rvalue-expr> "if" <rvalue-expr> "else" <rvalue-expr>`, after the first branch. Selects in `else`
/// branches are collected in a list, so that a long chain takes no stack.
#[inline(never)]
fn selects(input: &mut Reader, mut start: usize, mut yes: ExprId) -> GrammarResult<ExprId> {
    let mut open: Several<(usize, ExprId, ExprId)> = Several::new();
    let mut no = loop {
        take(input, TokenKind::If)?;
        let condition = expression(input)?;
        take(input, TokenKind::Else)?;
        open.push((start, condition, yes));
        start = place(input);
        let value = operators(input)?;
        if input.peek() != Some(TokenKind::If) {
            break value;
        }
        yes = value;
    };
    while let Some((start, condition, yes)) = open.pop() {
        no = push(input, start, Expr::Select { condition, yes, no });
    }
    Ok(no)
}

/// `<binary-expr>`: from loosest to tightest `in`, `&& ||`, comparisons, `+ -`, `* /`, `^`, all
/// left-associative.
fn binary(input: &mut Reader) -> GrammarResult<ExprId> {
    nested(input, operators)
}

/// Operands and operators, by precedence climbing.
fn operators(input: &mut Reader) -> GrammarResult<ExprId> {
    let start = place(input);
    let first = operand(input)?;
    behind_operand(input, start, first, 0)
}

/// Operators of at least the precedence `least` and their right operands, after the first operand.
fn behind_operand(input: &mut Reader, start: usize, mut lhs: ExprId, least: u8) -> GrammarResult<ExprId> {
    while let Some(row) = input.peek().and_then(BinaryInfo::of_token)
        && row.precedence >= least
        && (row.op != BinaryOp::In || input.state().rules.in_operator)
    {
        let at = place(input);
        input.skip();
        let right = operand(input)?;
        let rhs = behind_operand(input, at + 1, right, row.precedence + 1)?;
        let state = input.state();
        let at = state.tokens.spans[state.base + at].start;
        lhs = push(input, start, Expr::Binary { op: row.op, lhs, rhs, at });
    }
    Ok(lhs)
}

/// `<unary-expr>` and subscripts.
fn operand(input: &mut Reader) -> GrammarResult<ExprId> {
    let start = place(input);
    if let Some(row) = input.peek().and_then(UnaryInfo::of_token) {
        return prefixed(input, row);
    }
    let mut base = primary(input)?;
    while input.peek() == Some(TokenKind::LBracket) {
        base = subscript(input, start, base)?;
    }
    Ok(base)
}

/// A prefix operator, which binds tighter than all others, and its operand.
#[inline(never)]
fn prefixed(input: &mut Reader, row: &UnaryInfo) -> GrammarResult<ExprId> {
    let start = place(input);
    input.skip();
    let operand = nested(input, operand)?;
    let end = place(input);
    Ok(input.state().unary(row.op, operand, start..end))
}

/// Everything that operators and subscripts apply to.
fn primary(input: &mut Reader) -> GrammarResult<ExprId> {
    match input.peek() {
        Some(TokenKind::Ident) => invocation(input),
        Some(kind) if kind.is_literal() => literal(input),
        Some(TokenKind::LBracket) => array(input),
        Some(TokenKind::LParen) => parentheses(input),
        found => match found.and_then(BuiltinInfo::of_token) {
            Some(row) => builtin(input, row),
            None => fails(input, &["expression"]),
        },
    }
}

/// An expression in parentheses, or `<tuple-rvalue-expr> ::= "(" <rvalue-expr> ("," <rvalue-expr>)+ ")"`
fn parentheses(input: &mut Reader) -> GrammarResult<ExprId> {
    let start = place(input);
    input.skip();
    let first = expression(input)?;
    match takes(input, TokenKind::RParen) {
        true => Ok(first),
        false => further_items(input, start, first),
    }
}

/// The items of a tuple after the first one. This is a separate function so that deeply nested
/// parentheses around one expression take no stack for a list.
#[inline(never)]
fn further_items(input: &mut Reader, start: usize, first: ExprId) -> GrammarResult<ExprId> {
    take(input, TokenKind::Comma)?;
    let mut items = up_to(input, expression, TokenKind::RParen, 1)?;
    items.insert(0, first);
    Ok(tuple(input, start, &items))
}

/// `<builtin> "(" <rvalue-expr> ")"`
#[inline(never)]
fn builtin(input: &mut Reader, row: &BuiltinInfo) -> GrammarResult<ExprId> {
    let start = place(input);
    input.skip();
    take(input, TokenKind::LParen)?;
    let argument = expression(input)?;
    take(input, TokenKind::RParen)?;
    Ok(push(input, start, Expr::Builtin { function: row.op, argument }))
}

/// A literal of one token.
pub(super) fn literal(input: &mut Reader) -> GrammarResult<ExprId> {
    let start = place(input);
    let Some(kind) = input.peek() else { return fails(input, &[]) };
    input.skip();
    let literal = input.state().literal(kind, start);
    Ok(push(input, start, literal))
}

/// `<subscript-expr> ::= <rvalue-expr> "[" (<rvalue-expr> | [<rvalue-expr>] ":" [<rvalue-expr>]) "]"`,
/// after its base.
#[inline(never)]
fn subscript(input: &mut Reader, start: usize, base: ExprId) -> GrammarResult<ExprId> {
    let end = choice((token(TokenKind::RBracket).rewind().to(None), custom(expression).map(Some)));
    let range = token(TokenKind::Colon).ignore_then(end);
    let open = range.map(|end| (None, Some(end)));
    let closed = custom(expression).map(Some).then(range.or_not());
    let subscript = choice((open, closed)).delimited_by(token(TokenKind::LBracket), token(TokenKind::RBracket));
    let expr = match input.parse(subscript)? {
        (Some(index), None) => Expr::Index { base, index },
        (begin, end) => Expr::Slice { base, begin, end: end.flatten() },
    };
    Ok(push(input, start, expr))
}

/// `<invocation> ::= <identifier> ["<" <type-name> ">"] "(" <argument-list> ")"`, or a name.
///
/// `<` and a type are a type argument only if `>` and `(` follow: `a < integer(b)` is a comparison.
fn invocation(input: &mut Reader) -> GrammarResult<ExprId> {
    let start = place(input);
    let primitive = match *rest(input) {
        [_, TokenKind::Lt, kind, TokenKind::Gt, TokenKind::LParen, ..]
            if kind.primitive().is_some() && input.state().rules.generics =>
        {
            kind.primitive()
        }
        [_, TokenKind::LParen, ..] => None,
        _ => return name(input),
    };
    let name = ident(input)?;
    let generic = primitive.map(|primitive| (primitive, input.state().token_span(start + 2)));
    if generic.is_some() {
        (0..3).for_each(|_| input.skip());
    }
    let arguments = list(input, argument)?;
    let end = place(input);
    let state = input.state();
    let end = state.bytes(start..end).end;
    Ok(state.ast.push_call(name, generic, &arguments, end))
}

/// `<argument> ::= <rvalue-expr> | <identifier> "=" <rvalue-expr>`
fn argument(input: &mut Reader) -> GrammarResult<Arg> {
    let name = match rest(input) {
        [TokenKind::Ident, TokenKind::Comma | TokenKind::RParen, ..] => None,
        [TokenKind::Ident, TokenKind::Assign, ..] => {
            let name = ident(input)?;
            input.skip();
            Some(name)
        }
        [TokenKind::Ident, ..] => {
            let behind = place(input) + 1;
            input.state().expects(behind, &[TokenKind::Assign.text()]);
            None
        }
        _ => None,
    };
    Ok(Arg { name, value: expression(input)? })
}

/// `<array-rvalue-expr> ::= "[" [<rvalue-expr> ("," <rvalue-expr>)*] "]"` and `<comprehension-expr>`.
#[inline(never)]
fn array(input: &mut Reader) -> GrammarResult<ExprId> {
    let start = place(input);
    // An array of integers only or of scalars only is read without a node for each item.
    if let Some((expr, tokens)) = input.state().packed_array(start) {
        (0..tokens).for_each(|_| input.skip());
        return Ok(push(input, start, expr));
    }
    if input.state().rules.postfix_comprehension {
        return postfix_array(input);
    }
    if let [_, TokenKind::For, ..] = rest(input) {
        return comprehension(input);
    }
    let items = enclosed(input, expression, TokenKind::LBracket, 0)?;
    let end = place(input);
    Ok(input.state().array(&items, start..end))
}

/// `"[" "for" <loop-iter> ("," <loop-iter>)* ["if" <rvalue-expr>] "yield" <rvalue-expr> "]"`
fn comprehension(input: &mut Reader) -> GrammarResult<ExprId> {
    let start = place(input);
    input.parse(token(TokenKind::LBracket).then(token(TokenKind::For)))?;
    let iterators: Several<Iterator> = input.parse(several(custom(iterator)))?;
    let filter = input.parse(filter().then_ignore(token(TokenKind::Yield)))?;
    let item = input.parse(custom(expression).then_ignore(token(TokenKind::RBracket)))?;
    Ok(looped(input, start, &iterators, filter, item))
}

/// An array or `"[" <rvalue-expr> "for" <loop-iter> ["if" <rvalue-expr>] "]"`, in the draft only.
fn postfix_array(input: &mut Reader) -> GrammarResult<ExprId> {
    let start = place(input);
    let tail = token(TokenKind::For).ignore_then(custom(iterator)).then(filter());
    let none = token(TokenKind::RBracket).rewind().to((Several::new(), None));
    let all = choice((none, several(custom(expression)).then(tail.or_not())));
    let (items, tail) = input.parse(all.delimited_by(token(TokenKind::LBracket), token(TokenKind::RBracket)))?;
    let (Some((iterator, filter)), Some(item)) = (tail, items.last()) else {
        let end = place(input);
        return Ok(input.state().array(&items, start..end));
    };
    if items.len() > 1 {
        input.state().remark(Code::BadComprehension, start);
    }
    Ok(looped(input, start, &[iterator], filter, *item))
}

/// `<loop-iter> ::= <identifier> "in" <rvalue-expr>`; an `if` after it starts the filter, so the array
/// cannot be a select.
fn iterator(input: &mut Reader) -> GrammarResult<Iterator> {
    let (name, iterable) = input.parse(custom(ident).then_ignore(token(TokenKind::In)).then(custom(binary)))?;
    Ok(Iterator { name, iterable })
}

fn filter<'t, 's>() -> impl Parser<'t, 's, Option<ExprId>> {
    token(TokenKind::If).ignore_then(custom(expression)).or_not()
}

fn looped(input: &mut Reader, start: usize, iterators: &[Iterator], filter: Option<ExprId>, item: ExprId) -> ExprId {
    let ast = &mut input.state().ast;
    let iterators = ListRange::append(&mut ast.iterators, iterators);
    ast.comprehensions.push(Comprehension { iterators, filter, item });
    let id = ComprehensionId(ast.comprehensions.len() as u32 - 1);
    push(input, start, Expr::Comprehension(id))
}
