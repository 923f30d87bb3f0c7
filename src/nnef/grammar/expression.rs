//! Expressions (3.2.3) and assignments (3.2.2).
//!
//! Two rules keep these grammars linear: no two alternatives share a prefix that holds an
//! expression, and a missing operand ends the parse (see [`Build::failed`]).

use chumsky::error::LabelError;
use chumsky::pratt::{infix, left, prefix};
use chumsky::prelude::*;
use smallvec::SmallVec;

use super::build::{Build, Extra, Failure, Grammar, Input, builtin, primitive};
use crate::diagnostics::Code;
use crate::graph::Primitive;
use crate::graph::operators::{BinaryInfo, UNARY_PRECEDENCE, UnaryInfo};
use crate::nnef::ast::{
    Arg, BinaryOp, Call, CallId, Comprehension, ComprehensionId, Expr, ExprId, Iterator, ListRange,
};
use crate::nnef::dialect::Rules;
use crate::nnef::lexer::Kind;
use crate::source::Span;

type Items = SmallVec<[ExprId; 4]>;

/// What `map_with` hands to its closure.
pub(super) type With<'s, 'p, E> = chumsky::input::MapExtra<'s, 'p, Input, Extra<'s, E>>;

/// What hand-written parsers read from.
type Reader<'s, 'p, E> = chumsky::input::InputRef<'s, 'p, Input, Extra<'s, E>>;

/// The tokens of what `map_with` was called on, and the state.
pub(super) fn here<'a, 's, E: Failure<'s>>(e: &'a mut With<'s, '_, E>) -> (SimpleSpan, &'a mut Build<'s>) {
    (e.span(), e.state())
}

/// What a successfully parsed assignment consists of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides {
    pub(crate) target: ExprId,
    pub(crate) value: ExprId,
}

/// `<assignment> ::= <lvalue-expr> "=" <rvalue-expr> ";"`, without the semicolon.
pub(super) fn assignment<'s, E: Failure<'s>>(rules: &'static Rules) -> Grammar<'s, Sides, E> {
    let value = expression(rules);
    // <tuple-rvalue> without parentheses, in the draft only.
    let rest = value.clone().separated_by(just(Kind::Comma)).at_least(1).collect::<Items>();
    let bare = just(Kind::Comma).ignore_then(rest).or_not();
    let value = match rules.bare_tuples {
        false => value,
        true => value
            .then(bare)
            .map_with(|(first, rest), e| match rest {
                None => first,
                Some(mut items) => {
                    items.insert(0, first);
                    let (span, state) = here(e);
                    let list = state.ast.push_list(&items);
                    state.push(Expr::Tuple(list), span)
                }
            })
            .boxed(),
    };
    let target = choice((lone(|kind| kind == Kind::Ident, |next| next == Kind::Assign), targets()));
    target.then_ignore(just(Kind::Assign)).then(value).map(|(target, value)| Sides { target, value }).boxed()
}

/// `<lvalue-expr> ::= <identifier> | <array-lvalue-expr> | <tuple-lvalue-expr>`, where the
/// parentheses of the outermost tuple can be absent.
pub(super) fn targets<'s, E: Failure<'s>>() -> Grammar<'s, ExprId, E> {
    let target = recursive(|target| {
        let items = target.separated_by(just(Kind::Comma)).at_least(1).collect::<Items>();
        let array = items.clone().delimited_by(just(Kind::LBracket), just(Kind::RBracket)).map_with(|items, e| {
            let (span, state) = here(e);
            let list = state.ast.push_list(&items);
            state.push(Expr::Array(list), span)
        });
        let tuple = items.delimited_by(just(Kind::LParen), just(Kind::RParen)).map_with(tuple);
        choice((name(), array, tuple))
    });
    target.separated_by(just(Kind::Comma)).at_least(1).collect::<Items>().map_with(tuple).boxed()
}

/// A tuple of several items; one item stands for itself.
fn tuple<'s, E: Failure<'s>>(items: Items, e: &mut With<'s, '_, E>) -> ExprId {
    match items[..] {
        [item] => item,
        _ => {
            let (span, state) = here(e);
            let list = state.ast.push_list(&items);
            state.push(Expr::Tuple(list), span)
        }
    }
}

fn name<'s, E: Failure<'s>>() -> impl Parser<'s, Input, ExprId, Extra<'s, E>> + Clone {
    just(Kind::Ident).map_with(|_, e| {
        let (span, state) = here(e);
        let ident = state.ident(span.start);
        state.ast.push(Expr::Name(ident.name), ident.span)
    })
}

/// `<rvalue-expr>`, in compositional syntax.
pub(super) fn expression<'s, E: Failure<'s>>(rules: &'static Rules) -> Grammar<'s, ExprId, E> {
    recursive(move |expr| {
        let expr = expr.boxed();
        let binary = recursive(|binary| operators(atom(rules, expr.clone(), binary.boxed()), rules));
        // <select-expr> ::= <rvalue-expr> "if" <rvalue-expr> "else" <rvalue-expr>
        let tail = just(Kind::If).ignore_then(expr.clone()).then_ignore(just(Kind::Else)).then(expr);
        binary.then(tail.or_not()).map_with(|(yes, tail), e| match tail {
            None => yes,
            Some((condition, no)) => {
                let (span, state) = here(e);
                state.push(Expr::Select { condition, yes, no }, span)
            }
        })
    })
    .boxed()
}

/// A name or literal with nothing to its right that could continue it: the most frequent
/// expression by far, recognized by its two tokens.
fn lone<'s, E: Failure<'s>>(
    first: fn(Kind) -> bool,
    next: fn(Kind) -> bool,
) -> impl Parser<'s, Input, ExprId, Extra<'s, E>> + Clone {
    custom(move |input: &mut Reader<'s, '_, E>| {
        let at = *input.cursor().inner();
        let found = input.peek();
        if let Some(kind) = found.filter(|kind| first(*kind)) {
            let state: &mut Build<'s> = input.state();
            let token = state.base + at;
            if state.tokens.kinds.get(token + 1).is_some_and(|kind| next(*kind)) {
                let expr = match kind {
                    Kind::Ident => Expr::Name(state.ident(at).name),
                    _ => state.literal(kind, at),
                };
                let id = state.ast.push(expr, state.tokens.spans[token]);
                input.skip();
                return Ok(id);
            }
        }
        Err(unexpected(None, at, found))
    })
}

/// A name or literal before a token that ends it, or else any expression.
fn item<'s, E: Failure<'s>>(expr: Grammar<'s, ExprId, E>) -> Grammar<'s, ExprId, E> {
    let first = |kind| matches!(kind, Kind::Ident | Kind::Int | Kind::Real | Kind::Str | Kind::True | Kind::False);
    let next = |kind| matches!(kind, Kind::Comma | Kind::RParen | Kind::RBracket | Kind::Semicolon);
    choice((lone(first, next), expr)).boxed()
}

/// `<unary-expr>` and `<binary-expr>`: from loosest to tightest `in`, `&& ||`, comparisons,
/// `+ -`, `* /`, `^`, all left-associative, then the prefix operators.
fn operators<'s, E: Failure<'s>>(atom: Grammar<'s, ExprId, E>, rules: &'static Rules) -> Grammar<'s, ExprId, E> {
    let sign = operator(|kind| UnaryInfo::of_token(kind).map(|row| row.op));
    let signed = prefix(u16::from(UNARY_PRECEDENCE), sign, |(op, _), operand, e: &mut With<'s, '_, E>| {
        let (span, state) = here(e);
        state.unary(op, operand, span)
    });
    macro_rules! level {
        ($level:literal) => {
            infix(
                left($level),
                operator(move |kind| {
                    let row = BinaryInfo::of_token(kind).filter(|row| row.precedence == $level)?;
                    (row.op != BinaryOp::In || rules.in_operator).then_some(row.op)
                }),
                binary,
            )
        };
    }
    atom.pratt((signed, level!(1), level!(2), level!(3), level!(4), level!(5), level!(6))).boxed()
}

fn binary<'s, E: Failure<'s>>(
    lhs: ExprId,
    (op, token): (BinaryOp, usize),
    rhs: ExprId,
    e: &mut With<'s, '_, E>,
) -> ExprId {
    let (span, state) = here(e);
    let at = state.tokens.spans[state.base + token].start;
    state.push(Expr::Binary { op, lhs, rhs, at }, span)
}

/// An operator with its token; none once an operand was missing.
fn operator<'s, O: 's, E: Failure<'s>>(
    pick: impl Fn(Kind) -> Option<O> + Clone,
) -> impl Parser<'s, Input, (O, usize), Extra<'s, E>> + Clone {
    custom(move |input: &mut Reader<'s, '_, E>| {
        let before = input.cursor();
        let found = input.peek();
        if let Some(op) = found.and_then(&pick)
            && !input.state().failed
        {
            input.skip();
            return Ok((op, *before.inner()));
        }
        Err(unexpected(Some("operator"), *before.inner(), found))
    })
}

/// The error at a token.
fn unexpected<'s, E: Failure<'s>>(expected: Option<&'static str>, at: usize, found: Option<Kind>) -> E {
    let span = SimpleSpan::from(at..at + usize::from(found.is_some()));
    <E as LabelError<'s, Input, &'static str>>::expected_found(expected, found.map(Into::into), span)
}

/// Everything that operators apply to, subscripts included.
fn atom<'s, E: Failure<'s>>(
    rules: &'static Rules,
    expr: Grammar<'s, ExprId, E>,
    binary: Grammar<'s, ExprId, E>,
) -> Grammar<'s, ExprId, E> {
    let expr = item(expr);
    let literal = select! {
        kind @ (Kind::Int | Kind::Real | Kind::Str | Kind::Bad | Kind::True | Kind::False) = e => {
            let (span, state) = here(e);
            let literal = state.literal(kind, span.start);
            state.push(literal, span)
        },
    };
    // <tuple-rvalue-expr> ::= "(" <rvalue-expr> ("," <rvalue-expr>)+ ")", and parentheses
    let parens = expr
        .clone()
        .separated_by(just(Kind::Comma))
        .at_least(1)
        .collect::<Items>()
        .delimited_by(just(Kind::LParen), just(Kind::RParen))
        .map_with(tuple)
        .boxed();
    // <builtin> "(" <rvalue-expr> ")"
    let function = select! { kind if builtin(kind).is_some() => kind };
    let builtins = function.then(expr.clone().delimited_by(just(Kind::LParen), just(Kind::RParen))).map_with(
        |(kind, argument), e| {
            let (span, state) = here(e);
            let expr = builtin(kind).map_or(Expr::Error, |function| Expr::Builtin { function, argument });
            state.push(expr, span)
        },
    );
    let builtins = builtins.boxed();
    let arrays = array(rules, expr.clone(), binary);
    let base = choice((invocation(rules, expr.clone()), literal, packed(), arrays, parens, builtins, missing()));
    base.foldl_with(subscript(expr).repeated(), |base, (begin, end, range), e| {
        let (span, state) = here(e);
        let expr = match (begin, range) {
            (Some(index), false) => Expr::Index { base, index },
            _ => Expr::Slice { base, begin, end },
        };
        state.push(expr, span)
    })
    .boxed()
}

/// The last alternative of an operand: fails, and ends the parse.
fn missing<'s, E: Failure<'s>>() -> impl Parser<'s, Input, ExprId, Extra<'s, E>> + Clone {
    custom(|input: &mut Reader<'s, '_, E>| {
        let at = *input.cursor().inner();
        let found = input.peek();
        input.state().failed = true;
        Err(unexpected(Some("expression"), at, found))
    })
}

/// `<subscript-expr> ::= <rvalue-expr> "[" (<rvalue-expr> | [<rvalue-expr>] ":" [<rvalue-expr>]) "]"`
fn subscript<'s, E: Failure<'s>>(
    expr: Grammar<'s, ExprId, E>,
) -> Grammar<'s, (Option<ExprId>, Option<ExprId>, bool), E> {
    let end = choice((just(Kind::RBracket).rewind().to(None), expr.clone().map(Some)));
    let range = just(Kind::Colon).ignore_then(end).boxed();
    let open = range.clone().map(|end| (None, end, true));
    let closed = expr.then(range.or_not()).map(|(begin, end)| (Some(begin), end.flatten(), end.is_some()));
    choice((open, closed)).delimited_by(just(Kind::LBracket), just(Kind::RBracket)).boxed()
}

/// `<invocation> ::= <identifier> ["<" <type-name> ">"] "(" <argument-list> ")"`, or a name.
fn invocation<'s, E: Failure<'s>>(rules: &'static Rules, expr: Grammar<'s, ExprId, E>) -> Grammar<'s, ExprId, E> {
    // <argument> ::= <rvalue-expr> | <identifier> "=" <rvalue-expr>
    let parameter = just(Kind::Ident).then_ignore(just(Kind::Assign)).map_with(|_, e| {
        let (span, state) = here(e);
        state.ident(span.start)
    });
    let named = parameter.then(expr.clone()).map(|(name, value)| Arg { name: Some(name), value });
    let argument = choice((named, expr.map(|value| Arg { name: None, value })));
    let arguments = argument.separated_by(just(Kind::Comma)).at_least(1).collect::<SmallVec<[Arg; 4]>>();
    let none = just(Kind::RParen).rewind().map_with(|_, e| {
        let (span, state) = here(e);
        state.findings.push((Code::EmptyList, state.base + span.start));
        SmallVec::new()
    });
    let arguments = choice((none, arguments)).delimited_by(just(Kind::LParen), just(Kind::RParen)).boxed();
    let call = generic(rules).then(arguments).or_not();
    just(Kind::Ident)
        .map_with(|_, e| here(e).0.start)
        .then(call)
        .map_with(|(token, call), e| {
            let (span, state) = here(e);
            let name = state.ident(token);
            let Some((generic, arguments)) = call else { return state.ast.push(Expr::Name(name.name), name.span) };
            let args = ListRange { start: state.ast.args.len() as u32, len: arguments.len() as u32 };
            state.ast.args.extend_from_slice(&arguments);
            state.ast.calls.push(Call { name, generic, args });
            let call = CallId(state.ast.calls.len() as u32 - 1);
            state.push(Expr::Call(call), span)
        })
        .boxed()
}

/// The type argument of a call; only where `>` and `(` follow, so that `a < integer(b)` stays a
/// comparison.
fn generic<'s, E: Failure<'s>>(
    rules: &'static Rules,
) -> impl Parser<'s, Input, Option<(Primitive, Span)>, Extra<'s, E>> + Clone {
    let generics = rules.generics;
    custom(move |input: &mut Reader<'s, '_, E>| {
        let at = *input.cursor().inner();
        if input.peek() != Some(Kind::Lt) || !generics {
            return Ok(None);
        }
        let state: &mut Build<'s> = input.state();
        let kinds = state.tokens.kinds.get(state.base + at..).unwrap_or_default();
        let [Kind::Lt, kind, Kind::Gt, Kind::LParen, ..] = *kinds else { return Ok(None) };
        let Some(primitive) = primitive(kind) else { return Ok(None) };
        let span = state.tokens.spans[state.base + at + 1];
        for _ in 0..3 {
            input.skip();
        }
        Ok(Some((primitive, span)))
    })
}

/// An array of nothing but literals of one type, read without a node for each.
fn packed<'s, E: Failure<'s>>() -> impl Parser<'s, Input, ExprId, Extra<'s, E>> + Clone {
    custom(|input: &mut Reader<'s, '_, E>| {
        let at = *input.cursor().inner();
        let found = input.peek();
        if found == Some(Kind::LBracket) {
            let state: &mut Build<'s> = input.state();
            if let Some((expr, tokens)) = state.packed_array(at) {
                let id = state.push(expr, (at..at + tokens).into());
                for _ in 0..tokens {
                    input.skip();
                }
                return Ok(id);
            }
        }
        Err(unexpected(None, at, found))
    })
}

/// `<array-rvalue-expr> ::= "[" [<rvalue-expr> ("," <rvalue-expr>)*] "]"` and `<comprehension-expr>`.
fn array<'s, E: Failure<'s>>(
    rules: &'static Rules,
    expr: Grammar<'s, ExprId, E>,
    binary: Grammar<'s, ExprId, E>,
) -> Grammar<'s, ExprId, E> {
    // <loop-iter> ::= <identifier> "in" <rvalue-expr>; an `if` after it is the filter, so the
    // iterable is not a select.
    let variable = just(Kind::Ident).map_with(|_, e| {
        let (span, state) = here(e);
        state.ident(span.start)
    });
    let iterator =
        variable.then_ignore(just(Kind::In)).then(binary).map(|(name, iterable)| Iterator { name, iterable }).boxed();
    let filter = just(Kind::If).ignore_then(expr.clone()).or_not();
    let items = expr.clone().separated_by(just(Kind::Comma)).collect::<Items>();
    let build_array = |items: Items, e: &mut With<'s, '_, E>| {
        let (span, state) = here(e);
        state.array(&items, span)
    };
    if rules.postfix_comprehension {
        // "[" <rvalue-expr> "for" <loop-iter> ["if" <rvalue-expr>] "]"
        let tail = just(Kind::For).ignore_then(iterator).then(filter);
        let items = expr.separated_by(just(Kind::Comma)).at_least(1).collect::<Items>();
        let items = items.then(tail.or_not());
        let empty = just(Kind::RBracket).rewind().to((Items::new(), None));
        return choice((empty, items))
            .delimited_by(just(Kind::LBracket), just(Kind::RBracket))
            .map_with(move |(items, tail), e| match tail {
                Some((iterator, filter)) => {
                    let item = items[items.len() - 1];
                    if items.len() > 1 {
                        let (span, state) = here(e);
                        state.findings.push((Code::BadComprehension, state.base + span.start));
                    }
                    comprehension(&[iterator], filter, item, e)
                }
                None => build_array(items, e),
            })
            .boxed();
    }
    // "[" "for" <loop-iter> ("," <loop-iter>)* ["if" <rvalue-expr>] "yield" <rvalue-expr> "]"
    let iterators = iterator.separated_by(just(Kind::Comma)).at_least(1).collect::<SmallVec<[Iterator; 2]>>();
    let looped = just(Kind::LBracket)
        .ignore_then(just(Kind::For))
        .ignore_then(iterators)
        .then(filter)
        .then_ignore(just(Kind::Yield))
        .then(expr)
        .then_ignore(just(Kind::RBracket))
        .map_with(|((iterators, filter), item), e| comprehension(&iterators, filter, item, e));
    let empty = just(Kind::RBracket).rewind().to(Items::new());
    let plain = choice((empty, items)).delimited_by(just(Kind::LBracket), just(Kind::RBracket)).map_with(build_array);
    choice((looped, plain)).boxed()
}

fn comprehension<'s, E: Failure<'s>>(
    iterators: &[Iterator],
    filter: Option<ExprId>,
    item: ExprId,
    e: &mut With<'s, '_, E>,
) -> ExprId {
    let (span, state) = here(e);
    let iterators = {
        let start = state.ast.iterators.len() as u32;
        state.ast.iterators.extend_from_slice(iterators);
        ListRange { start, len: iterators.len() as u32 }
    };
    state.ast.comprehensions.push(Comprehension { iterators, filter, item });
    let id = ComprehensionId(state.ast.comprehensions.len() as u32 - 1);
    state.push(Expr::Comprehension(id), span)
}
