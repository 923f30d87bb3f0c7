//! Loops, where the extension `flatten_loops` enables them: the whole right side of an assignment.
//!
//! Each clause starts with a keyword of its own, so parsing takes linear time.

use chumsky::primitive::{choice, custom};
use chumsky::{IterParser as _, Parser as _};

use super::build::{GrammarResult, Reader, fails, ident, nested, place, push, token};
use super::declaration::type_spec;
use super::expression::{Several, Sides, expression, several, targets};
use crate::nnef::ast::{Expr, ExprId, Ident, Iterator, ListRange, Loop, LoopId, Recurrence};
use crate::nnef::lexer::TokenKind;

/// `..(i -> n)`
#[derive(Clone, Copy, Default)]
struct Limit {
    index: Option<Ident>,
    count: Option<ExprId>,
}

/// The statements and results of a body.
struct ParsedBody {
    block: bool,
    statements: Vec<ExprId>,
    results: Several<ExprId>,
}

/// `<assignment> ::= <lvalue-expr> "=" (<rvalue-expr> | <loop>) ";"`, without the semicolon.
pub(super) fn assignment(input: &mut Reader) -> GrammarResult<Sides> {
    let target = input.parse(custom(targets).then_ignore(token(TokenKind::Assign)))?;
    let value = match input.peek() {
        Some(kind) if FIRST.contains(&kind) => nested(input, looping)?,
        _ => input.parse(choice((custom(expression), custom(no_loop))))?,
    };
    Ok(Sides { target, value })
}

/// The first words of a loop.
const FIRST: [TokenKind; 5] = [TokenKind::With, TokenKind::For, TokenKind::While, TokenKind::Do, TokenKind::Unroll];

/// Notes that a loop could start here, and fails.
fn no_loop(input: &mut Reader) -> GrammarResult<ExprId> {
    fails(input, &FIRST.map(TokenKind::text))
}

/// `<loop> ::= [<with>] [<for>] [<while>] ("do" | "unroll") [<count>] <body> [<while>]`
fn looping(input: &mut Reader) -> GrammarResult<ExprId> {
    let start = place(input);
    // <with> ::= "with" <identifier> [":" <type-spec>] "=" <rvalue-expr> ("," ..)*
    let recurrences = token(TokenKind::With).ignore_then(several(custom(recurrence))).or_not();
    // <for> ::= "for" <identifier> ":" <rvalue-expr> ("," ..)*
    let iterators = token(TokenKind::For).ignore_then(several(custom(iterator))).or_not();
    let recurrences: Several<Recurrence> = input.parse(recurrences)?.unwrap_or_default();
    let iterators: Several<Iterator> = input.parse(iterators)?.unwrap_or_default();
    let condition = token(TokenKind::While).ignore_then(custom(expression)).or_not();
    let before = input.parse(condition)?;
    let unroll = input.parse(choice((token(TokenKind::Do).to(false), token(TokenKind::Unroll).to(true))))?;
    let limit = input.parse(token(TokenKind::Dots).ignore_then(custom(limit)).or_not())?.unwrap_or_default();
    let body = body(input)?;
    let after = input.parse(condition)?;
    let ast = &mut input.state().ast;
    let of = Loop {
        recurrences: ListRange::append(&mut ast.recurrences, &recurrences),
        iterators: ListRange::append(&mut ast.iterators, &iterators),
        before,
        unroll,
        index: limit.index,
        count: limit.count,
        block: body.block,
        statements: ast.push_list(&body.statements),
        results: ast.push_list(&body.results),
        after,
    };
    ast.loops.push(of);
    let id = LoopId(ast.loops.len() as u32 - 1);
    Ok(push(input, start, Expr::Loop(id)))
}

fn recurrence(input: &mut Reader) -> GrammarResult<Recurrence> {
    let ty = token(TokenKind::Colon).ignore_then(custom(type_spec)).or_not();
    let (name, ty) = input.parse(custom(ident).then(ty).then_ignore(token(TokenKind::Assign)))?;
    Ok(Recurrence { name, ty, initial: expression(input)? })
}

fn iterator(input: &mut Reader) -> GrammarResult<Iterator> {
    let name = input.parse(custom(ident).then_ignore(token(TokenKind::Colon)))?;
    Ok(Iterator { name, iterable: expression(input)? })
}

/// `<count> ::= ".." "(" [<identifier> "->"] [<rvalue-expr>] ")"`, after the dots.
fn limit(input: &mut Reader) -> GrammarResult<Limit> {
    let index = custom(ident).then_ignore(token(TokenKind::Arrow)).or_not();
    let limit =
        index.then(custom(expression).or_not()).delimited_by(token(TokenKind::LParen), token(TokenKind::RParen));
    let (index, count) = input.parse(limit)?;
    Ok(Limit { index, count })
}

/// `<body> ::= <invocation> | "{" <assignment>* "yield" <rvalue-expr> ("," <rvalue-expr>)* ";" "}"`
fn body(input: &mut Reader) -> GrammarResult<ParsedBody> {
    // The rule of left sides fails at `yield` without consuming a token.
    let statements = custom(assignment).then_ignore(token(TokenKind::Semicolon)).repeated().collect::<Vec<Sides>>();
    let results =
        token(TokenKind::Yield).ignore_then(several(custom(expression))).then_ignore(token(TokenKind::Semicolon));
    let block = statements.then(results).delimited_by(token(TokenKind::LBrace), token(TokenKind::RBrace));
    let block = block.map(|(statements, results)| ParsedBody {
        block: true,
        statements: statements.into_iter().flat_map(|sides| [sides.target, sides.value]).collect(),
        results,
    });
    let single = custom(expression);
    let single =
        single.map(|expr| ParsedBody { block: false, statements: Vec::new(), results: smallvec::smallvec![expr] });
    input.parse(choice((block, single)))
}
