//! Declarations: type specifications (3.2.1), default values, and the headers of fragments and
//! graphs (3.2.2).

use chumsky::prelude::*;
use smallvec::SmallVec;

use super::build::{Extra, Failure, Grammar, Input};
use super::expression::{With, here};
use crate::diagnostics::Code;
use crate::graph::Primitive;
use crate::nnef::ast::{
    ElementSpec, Expr, ExprId, GenericDecl, Ident, ListRange, Param, Params, ResultDecl, Results, TypeSpec, TypeSpecId,
    UnaryOp,
};
use crate::nnef::dialect::Rules;
use crate::nnef::lexer::Kind;

/// `fragment name<?>( .. ) -> ( .. )`.
#[derive(Clone, Debug)]
pub(super) struct FragmentHead {
    pub(crate) name: Ident,
    pub(crate) generic: Option<GenericDecl>,
    pub(crate) params: Params,
    pub(crate) results: Results,
}

/// `graph name( .. ) -> ( .. )`.
#[derive(Clone, Debug)]
pub(super) struct GraphHead {
    pub(crate) name: Ident,
    pub(crate) params: Vec<Ident>,
    pub(crate) results: Vec<Ident>,
}

/// `<fragment-declaration> ::= "fragment" <identifier> [<generic-declaration>]
/// "(" <parameter-list> ")" "->" "(" <result-list> ")"`
pub(super) fn fragment_head<'s, E: Failure<'s>>(rules: &'static Rules) -> Grammar<'s, FragmentHead, E> {
    // <parameter> ::= <identifier> ":" <type-spec> ["=" <literal-expr>]
    let typed = ident().then_ignore(just(Kind::Colon)).then(type_spec(rules)).boxed();
    let default = just(Kind::Assign).ignore_then(default_value(rules)).or_not();
    let param = typed.clone().then(default).map(|((name, ty), default)| Param { name, ty, default });
    // <result> ::= <identifier> ":" <type-spec>
    let result = typed.map(|(name, ty)| ResultDecl { name, ty });
    just(Kind::Fragment)
        .ignore_then(ident())
        .then(generic(rules))
        .then(list(param.boxed()))
        .then_ignore(just(Kind::Arrow))
        .then(list(result.boxed()))
        .map(|(((name, generic), params), results)| {
            let (params, results) = (params.into_iter().collect(), results.into_iter().collect());
            FragmentHead { name, generic, params, results }
        })
        .boxed()
}

/// `<graph-declaration> ::= "graph" <identifier> "(" <identifier-list> ")" "->"
/// "(" <identifier-list> ")"`
pub(super) fn graph_head<'s, E: Failure<'s>>() -> Grammar<'s, GraphHead, E> {
    just(Kind::Graph)
        .ignore_then(ident())
        .then(list(ident().boxed()))
        .then_ignore(just(Kind::Arrow))
        .then(list(ident().boxed()))
        .map(|((name, params), results)| GraphHead { name, params, results })
        .boxed()
}

/// A list in parentheses. An empty one is remarked on.
fn list<'s, O: 's, E: Failure<'s>>(item: Grammar<'s, O, E>) -> Grammar<'s, Vec<O>, E> {
    let none = just(Kind::RParen).rewind().map_with(|_, e| {
        let (span, state) = here(e);
        state.findings.push((Code::EmptyList, state.base + span.start));
        Vec::new()
    });
    let items = item.separated_by(just(Kind::Comma)).at_least(1).collect::<Vec<O>>();
    choice((none, items)).delimited_by(just(Kind::LParen), just(Kind::RParen)).boxed()
}

pub(super) fn ident<'s, E: Failure<'s>>() -> impl Parser<'s, Input, Ident, Extra<'s, E>> + Clone {
    just(Kind::Ident).map_with(|_, e| {
        let (span, state) = here(e);
        state.ident(span.start)
    })
}

/// `<generic-declaration> ::= "<" "?" ["=" <type-name>] ">"`
fn generic<'s, E: Failure<'s>>(rules: &'static Rules) -> Grammar<'s, Option<GenericDecl>, E> {
    if !rules.generics {
        return empty().to(None).boxed();
    }
    let default = just(Kind::Assign).ignore_then(type_name()).or_not();
    just(Kind::Question)
        .ignore_then(default)
        .delimited_by(just(Kind::Lt), just(Kind::Gt))
        .map_with(|default, e| {
            let (span, state) = here(e);
            GenericDecl { default, span: state.bytes(span) }
        })
        .or_not()
        .boxed()
}

/// `<type-name> ::= "integer" | "scalar" | "logical" | "string"`
fn type_name<'s, E: Failure<'s>>() -> impl Parser<'s, Input, Primitive, Extra<'s, E>> + Clone {
    select! {
        Kind::Integer => Primitive::Integer,
        Kind::Scalar => Primitive::Scalar,
        Kind::Logical => Primitive::Logical,
        Kind::String => Primitive::String,
    }
    .labelled("type")
}

/// `<type-spec> ::= <type-name> | <tensor-type-spec> | <array-type-spec> | <tuple-type-spec>`,
/// and `?` in generic fragments.
pub(super) fn type_spec<'s, E: Failure<'s>>(rules: &'static Rules) -> Grammar<'s, TypeSpecId, E> {
    recursive(move |spec| {
        let plain = type_name().or(just(Kind::Question).to(Primitive::Generic)).boxed();
        let primitives = plain.clone().map(TypeSpec::Primitive);
        // <tensor-type-spec> ::= "tensor" "<" [<type-name> | "?"] ">"; a bare word in the draft
        let element = plain.map(ElementSpec::Of).or_not().map(|element| element.unwrap_or(ElementSpec::Any));
        let tensor = match rules.untyped_tensors {
            true => just(Kind::Tensor).to(ElementSpec::Untyped).boxed(),
            false => just(Kind::Tensor).ignore_then(element.delimited_by(just(Kind::Lt), just(Kind::Gt))).boxed(),
        };
        // <tuple-type-spec> ::= "(" <type-spec> ("," <type-spec>)+ ")"
        let tuple = spec
            .clone()
            .then_ignore(just(Kind::Comma))
            .then(spec.separated_by(just(Kind::Comma)).at_least(1).collect::<SmallVec<[TypeSpecId; 4]>>())
            .delimited_by(just(Kind::LParen), just(Kind::RParen))
            .map_with(|(first, rest), e| {
                let (_, state) = here(e);
                let range = ListRange { start: state.ast.type_lists.len() as u32, len: rest.len() as u32 + 1 };
                state.ast.type_lists.push(first);
                state.ast.type_lists.extend_from_slice(&rest);
                TypeSpec::Tuple(range)
            });
        let base = choice((primitives, tensor.map(TypeSpec::Tensor), tuple)).map_with(|spec, e| {
            let (span, state) = here(e);
            state.push_type(spec, span)
        });
        // <array-type-spec> ::= <type-spec> "[" "]"
        let brackets = just(Kind::LBracket).then(just(Kind::RBracket));
        base.foldl_with(brackets.repeated(), |item, _, e| {
            let (span, state) = here(e);
            state.push_type(TypeSpec::Array(item), span)
        })
    })
    .boxed()
}

/// `<literal-expr> ::= <literal> | <array-literal-expr> | <tuple-literal-expr>`, where numbers
/// have signs except in the draft.
pub(super) fn default_value<'s, E: Failure<'s>>(rules: &'static Rules) -> Grammar<'s, ExprId, E> {
    recursive(move |value| {
        let literal = |kinds: &'static [Kind]| {
            any().filter(move |kind: &Kind| kinds.contains(kind)).map_with(|kind, e| {
                let (span, state) = here(e);
                let literal = state.literal(kind, span.start);
                state.push(literal, span)
            })
        };
        let number = literal(&[Kind::Int, Kind::Real, Kind::Bad]);
        let other = literal(&[Kind::Str, Kind::True, Kind::False]);
        let signs: &'static [Kind] = if rules.signed_defaults { &[Kind::Minus, Kind::Plus] } else { &[] };
        let sign = any().filter(move |kind: &Kind| signs.contains(kind));
        let signed = sign.then(number).map_with(|(sign, operand), e: &mut With<'s, '_, E>| {
            let (span, state) = here(e);
            let op = if sign == Kind::Minus { UnaryOp::Minus } else { UnaryOp::Plus };
            state.unary(op, operand, span)
        });
        let items = value.clone().separated_by(just(Kind::Comma)).collect::<SmallVec<[ExprId; 4]>>();
        let array = items.delimited_by(just(Kind::LBracket), just(Kind::RBracket)).map_with(|items, e| {
            let (span, state) = here(e);
            state.array(&items, span)
        });
        let items = value.separated_by(just(Kind::Comma)).at_least(2).collect::<SmallVec<[ExprId; 4]>>();
        let tuple = items.delimited_by(just(Kind::LParen), just(Kind::RParen)).map_with(|items, e| {
            let (span, state) = here(e);
            let list = state.ast.push_list(&items);
            state.push(Expr::Tuple(list), span)
        });
        choice((number, other, signed, array, tuple))
    })
    .boxed()
}
