//! Declarations: type specifications (3.2.1), default values, and the headers of fragments and
//! graphs (3.2.2).

use chumsky::Parser as _;
use chumsky::primitive::{choice, custom};

use super::build::{Parsed, Reader, fails, ident, place, push, token};
use super::expression::{enclosed, list, literal};
use crate::graph::Primitive;
use crate::nnef::ast::{
    Element, Expr, ExprId, Generic, Ident, ListRange, Param, Params, ResultDecl, Results, TypeSpec, TypeSpecId, UnaryOp,
};
use crate::nnef::lexer::Kind;

/// `fragment name<?>( .. ) -> ( .. )`.
#[derive(Clone, Debug)]
pub(super) struct FragmentHead {
    pub(crate) name: Ident,
    pub(crate) generic: Generic,
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
pub(super) fn fragment_head(input: &mut Reader) -> Parsed<FragmentHead> {
    let name = input.parse(token(Kind::Fragment).ignore_then(custom(ident)))?;
    let generic = if input.state().rules.generics { input.parse(custom(generic).or_not())? } else { None };
    let generic = generic.unwrap_or(Generic::No);
    let params = list(input, param)?.into_iter().collect();
    input.parse(token(Kind::Arrow))?;
    let results = list(input, result)?.into_iter().collect();
    Ok(FragmentHead { name, generic, params, results })
}

/// `<graph-declaration> ::= "graph" <identifier> "(" <identifier-list> ")" "->"
/// "(" <identifier-list> ")"`
pub(super) fn graph_head(input: &mut Reader) -> Parsed<GraphHead> {
    let name = input.parse(token(Kind::Graph).ignore_then(custom(ident)))?;
    let params = list(input, ident)?.into_vec();
    input.parse(token(Kind::Arrow))?;
    Ok(GraphHead { name, params, results: list(input, ident)?.into_vec() })
}

/// `<parameter> ::= <identifier> ":" <type-spec> ["=" <literal-expr>]`
fn param(input: &mut Reader) -> Parsed<Param> {
    let default = token(Kind::Assign).ignore_then(custom(default_value)).or_not();
    let (ResultDecl { name, ty }, default) = input.parse(custom(result).then(default))?;
    Ok(Param { name, ty, default })
}

/// `<result> ::= <identifier> ":" <type-spec>`
fn result(input: &mut Reader) -> Parsed<ResultDecl> {
    let (name, ty) = input.parse(custom(ident).then_ignore(token(Kind::Colon)).then(custom(type_spec)))?;
    Ok(ResultDecl { name, ty })
}

/// `<generic-declaration> ::= "<" "?" ["=" <type-name>] ">"`
fn generic(input: &mut Reader) -> Parsed<Generic> {
    let default = token(Kind::Assign).ignore_then(custom(type_name)).or_not();
    let default = token(Kind::Question).ignore_then(default);
    input.parse(default.delimited_by(token(Kind::Lt), token(Kind::Gt)).map(Generic::Yes))
}

/// `<type-name> ::= "integer" | "scalar" | "logical" | "string"`
fn type_name(input: &mut Reader) -> Parsed<Primitive> {
    match input.peek().and_then(Kind::primitive) {
        None | Some(Primitive::Generic) => fails(input, &["type"]),
        Some(primitive) => {
            input.skip();
            Ok(primitive)
        }
    }
}

/// A type name or `?`.
fn plain(input: &mut Reader) -> Parsed<Primitive> {
    input.parse(choice((custom(type_name), token(Kind::Question).to(Primitive::Generic))))
}

/// `<type-spec> ::= <type-name> | <tensor-type-spec> | <array-type-spec> | <tuple-type-spec>`,
/// and `?` in generic fragments; `<array-type-spec> ::= <type-spec> "[" "]"`.
pub(super) fn type_spec(input: &mut Reader) -> Parsed<TypeSpecId> {
    let start = place(input);
    let spec = match input.peek() {
        Some(Kind::Tensor) => TypeSpec::Tensor(tensor(input)?),
        Some(Kind::LParen) => tuple_type(input)?,
        _ => input.parse(choice((
            custom(plain).map(TypeSpec::Primitive),
            custom(|input: &mut Reader| fails(input, &[Kind::Tensor, Kind::LParen].map(Kind::text))),
        )))?,
    };
    let end = place(input);
    let mut id = input.state().push_type(spec, start..end);
    let brackets = token(Kind::LBracket).then(token(Kind::RBracket));
    while input.parse(brackets.or_not())?.is_some() {
        let end = place(input);
        id = input.state().push_type(TypeSpec::Array(id), start..end);
    }
    Ok(id)
}

/// `<tensor-type-spec> ::= "tensor" "<" [<type-name> | "?"] ">"`; a bare word in the draft.
fn tensor(input: &mut Reader) -> Parsed<Element> {
    input.skip();
    if input.state().rules.untyped_tensors {
        return Ok(Element::Unknown);
    }
    let element = custom(plain).or_not().delimited_by(token(Kind::Lt), token(Kind::Gt));
    Ok(input.parse(element)?.map_or(Element::Any, Element::Of))
}

/// `<tuple-type-spec> ::= "(" <type-spec> ("," <type-spec>)+ ")"`
fn tuple_type(input: &mut Reader) -> Parsed<TypeSpec> {
    let items = enclosed(input, type_spec, Kind::LParen, 2)?;
    Ok(TypeSpec::Tuple(ListRange::append(&mut input.state().ast.type_lists, &items)))
}

/// `<literal-expr> ::= <literal> | <array-literal-expr> | <tuple-literal-expr>`, where numbers
/// have signs except in the draft.
pub(super) fn default_value(input: &mut Reader) -> Parsed<ExprId> {
    let start = place(input);
    match input.peek() {
        Some(kind) if kind.is_literal() => literal(input),
        Some(sign @ (Kind::Minus | Kind::Plus)) if input.state().rules.signed_defaults => {
            input.skip();
            if !matches!(input.peek(), Some(Kind::Int | Kind::Real | Kind::Bad)) {
                return fails(input, &[]);
            }
            let operand = literal(input)?;
            let op = if sign == Kind::Minus { UnaryOp::Minus } else { UnaryOp::Plus };
            let end = place(input);
            Ok(input.state().unary(op, operand, start..end))
        }
        Some(Kind::LBracket) => {
            let items = enclosed(input, default_value, Kind::LBracket, 0)?;
            let end = place(input);
            Ok(input.state().array(&items, start..end))
        }
        Some(Kind::LParen) => {
            let items = enclosed(input, default_value, Kind::LParen, 2)?;
            let list = input.state().ast.push_list(&items);
            Ok(push(input, start, Expr::Tuple(list)))
        }
        _ => fails(input, &[Kind::LBracket, Kind::LParen].map(Kind::text)),
    }
}
