//! Loops, where the extension `flatten_loops` enables them: the whole right side of an assignment.
//!
//! The clauses are told apart by their first words, so the grammar stays linear.

use chumsky::prelude::*;
use smallvec::SmallVec;

use super::build::{Build, Failure, Grammar};
use super::declaration::{ident, type_spec};
use super::expression::{Sides, With, expression, here, targets};
use crate::nnef::ast::{Expr, ExprId, Ident, Iterator, ListRange, Loop, LoopId, Recurrence};
use crate::nnef::dialect::Rules;
use crate::nnef::lexer::Kind;

/// What stands before the body.
struct Head {
    recurrences: SmallVec<[Recurrence; 2]>,
    iterators: SmallVec<[Iterator; 2]>,
    before: Option<ExprId>,
    unroll: bool,
    limit: Limit,
}

/// `..(i -> n)`
#[derive(Clone, Copy, Default)]
struct Limit {
    index: Option<Ident>,
    count: Option<ExprId>,
}

/// What a body does and gives.
struct Body {
    block: bool,
    statements: Vec<ExprId>,
    results: SmallVec<[ExprId; 4]>,
}

/// `<assignment> ::= <lvalue-expr> "=" (<rvalue-expr> | <loop>) ";"`, without the semicolon.
pub(super) fn assignment<'s, E: Failure<'s>>(rules: &'static Rules) -> Grammar<'s, Sides, E> {
    recursive(move |assignment| {
        let value = choice((looping(rules, assignment.boxed()), expression(rules)));
        targets().then_ignore(just(Kind::Assign)).then(value).map(|(target, value)| Sides { target, value })
    })
    .boxed()
}

/// `<loop> ::= [<with>] [<for>] [<while>] ("do" | "unroll") [<count>] <body> [<while>]`
fn looping<'s, E: Failure<'s>>(rules: &'static Rules, assignment: Grammar<'s, Sides, E>) -> Grammar<'s, ExprId, E> {
    let expr = expression(rules);
    let condition = just(Kind::While).ignore_then(expr.clone()).or_not();
    let first = one_of([Kind::With, Kind::For, Kind::While, Kind::Do, Kind::Unroll]).rewind();
    let word = choice((just(Kind::Do).to(false), just(Kind::Unroll).to(true)));
    let head = first
        .ignore_then(recurrences(rules, expr.clone()))
        .then(iterators(expr.clone()))
        .then(condition.clone())
        .then(word)
        .then(limit(expr.clone()))
        .map(|((((recurrences, iterators), before), unroll), limit)| Head {
            recurrences,
            iterators,
            before,
            unroll,
            limit,
        });
    head.then(body(expr, assignment)).then(condition).map_with(build).boxed()
}

/// `<with> ::= "with" <identifier> [":" <type-spec>] "=" <rvalue-expr> ("," ..)*`
fn recurrences<'s, E: Failure<'s>>(
    rules: &'static Rules,
    expr: Grammar<'s, ExprId, E>,
) -> Grammar<'s, SmallVec<[Recurrence; 2]>, E> {
    let ty = just(Kind::Colon).ignore_then(type_spec(rules)).or_not();
    let recurrence = ident().then(ty).then_ignore(just(Kind::Assign)).then(expr);
    let recurrence = recurrence.map(|((name, ty), initial)| Recurrence { name, ty, initial });
    let list = recurrence.separated_by(just(Kind::Comma)).at_least(1).collect();
    just(Kind::With).ignore_then(list).or_not().map(Option::unwrap_or_default).boxed()
}

/// `<for> ::= "for" <identifier> ":" <rvalue-expr> ("," ..)*`
fn iterators<'s, E: Failure<'s>>(expr: Grammar<'s, ExprId, E>) -> Grammar<'s, SmallVec<[Iterator; 2]>, E> {
    let iterator = ident().then_ignore(just(Kind::Colon)).then(expr);
    let iterator = iterator.map(|(name, iterable)| Iterator { name, iterable });
    let list = iterator.separated_by(just(Kind::Comma)).at_least(1).collect();
    just(Kind::For).ignore_then(list).or_not().map(Option::unwrap_or_default).boxed()
}

/// `<count> ::= ".." "(" [<identifier> "->"] [<rvalue-expr>] ")"`
fn limit<'s, E: Failure<'s>>(expr: Grammar<'s, ExprId, E>) -> Grammar<'s, Limit, E> {
    let index = ident().then_ignore(just(Kind::Arrow)).or_not();
    // A missing operand ends the parse, so the bracket is looked for first.
    let count = choice((just(Kind::RParen).rewind().to(None), expr.map(Some)));
    let limit = index.then(count).delimited_by(just(Kind::LParen), just(Kind::RParen));
    let limit = limit.map(|(index, count)| Limit { index, count });
    just(Kind::Dots).ignore_then(limit).or_not().map(Option::unwrap_or_default).boxed()
}

/// `<body> ::= <invocation> | "{" <assignment>* "yield" <rvalue-expr> ("," <rvalue-expr>)* ";" "}"`
fn body<'s, E: Failure<'s>>(expr: Grammar<'s, ExprId, E>, assignment: Grammar<'s, Sides, E>) -> Grammar<'s, Body, E> {
    // The grammar of left sides fails at `yield`, before anything is taken.
    let statements = assignment.then_ignore(just(Kind::Semicolon)).repeated().collect::<Vec<Sides>>();
    let results = expr.clone().separated_by(just(Kind::Comma)).at_least(1).collect();
    let results = just(Kind::Yield).ignore_then(results).then_ignore(just(Kind::Semicolon));
    let block = statements.then(results).delimited_by(just(Kind::LBrace), just(Kind::RBrace));
    let block = block.map(|(statements, results)| Body {
        block: true,
        statements: statements.into_iter().flat_map(|sides| [sides.target, sides.value]).collect(),
        results,
    });
    let single = expr.map(|expr| Body { block: false, statements: Vec::new(), results: smallvec::smallvec![expr] });
    choice((block, single)).boxed()
}

fn build<'s, E: Failure<'s>>(((head, body), after): ((Head, Body), Option<ExprId>), e: &mut With<'s, '_, E>) -> ExprId {
    let (span, state): (_, &mut Build<'s>) = here(e);
    let ast = &mut state.ast;
    let recurrences = ListRange { start: ast.recurrences.len() as u32, len: head.recurrences.len() as u32 };
    ast.recurrences.extend(head.recurrences);
    let iterators = ListRange { start: ast.iterators.len() as u32, len: head.iterators.len() as u32 };
    ast.iterators.extend(head.iterators);
    let statements = ast.push_list(&body.statements);
    let results = ast.push_list(&body.results);
    ast.loops.push(Loop {
        recurrences,
        iterators,
        before: head.before,
        unroll: head.unroll,
        index: head.limit.index,
        count: head.limit.count,
        block: body.block,
        statements,
        results,
        after,
    });
    let id = LoopId(ast.loops.len() as u32 - 1);
    state.push(Expr::Loop(id), span)
}
