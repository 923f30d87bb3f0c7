//! Declarations: type specifications (3.2.1), default values, and the headers of fragments and
//! graphs (3.2.2).

use super::build::{Parsed, Reader, fails, ident, note, place, push, take, takes};
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
    take(input, Kind::Fragment)?;
    let name = ident(input)?;
    let generic = match input.state().rules.generics && takes(input, Kind::Lt) {
        true => generic(input)?,
        false => Generic::No,
    };
    let params = list(input, param)?.into_iter().collect();
    take(input, Kind::Arrow)?;
    let results = list(input, result)?.into_iter().collect();
    Ok(FragmentHead { name, generic, params, results })
}

/// `<graph-declaration> ::= "graph" <identifier> "(" <identifier-list> ")" "->"
/// "(" <identifier-list> ")"`
pub(super) fn graph_head(input: &mut Reader) -> Parsed<GraphHead> {
    take(input, Kind::Graph)?;
    let name = ident(input)?;
    let params = list(input, ident)?.into_vec();
    take(input, Kind::Arrow)?;
    Ok(GraphHead { name, params, results: list(input, ident)?.into_vec() })
}

/// `<parameter> ::= <identifier> ":" <type-spec> ["=" <literal-expr>]`
fn param(input: &mut Reader) -> Parsed<Param> {
    let ResultDecl { name, ty } = result(input)?;
    let default = if takes(input, Kind::Assign) { Some(default_value(input)?) } else { None };
    Ok(Param { name, ty, default })
}

/// `<result> ::= <identifier> ":" <type-spec>`
fn result(input: &mut Reader) -> Parsed<ResultDecl> {
    let name = ident(input)?;
    take(input, Kind::Colon)?;
    Ok(ResultDecl { name, ty: type_spec(input)? })
}

/// `<generic-declaration> ::= "<" "?" ["=" <type-name>] ">"`, after the `<`.
fn generic(input: &mut Reader) -> Parsed<Generic> {
    take(input, Kind::Question)?;
    let default = if takes(input, Kind::Assign) { Some(type_name(input)?) } else { None };
    take(input, Kind::Gt)?;
    Ok(Generic::Yes(default))
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

/// A type name or `?`, if one comes next.
fn plain(input: &mut Reader) -> Option<Primitive> {
    let found = input.peek().and_then(Kind::primitive);
    match found {
        Some(_) => input.skip(),
        None => note(input, &["type", Kind::Question.text()]),
    }
    found
}

/// `<type-spec> ::= <type-name> | <tensor-type-spec> | <array-type-spec> | <tuple-type-spec>`,
/// and `?` in generic fragments; `<array-type-spec> ::= <type-spec> "[" "]"`.
pub(super) fn type_spec(input: &mut Reader) -> Parsed<TypeSpecId> {
    let start = place(input);
    let spec = match input.peek() {
        Some(Kind::Tensor) => TypeSpec::Tensor(tensor(input)?),
        Some(Kind::LParen) => tuple_type(input)?,
        _ => match plain(input) {
            Some(primitive) => TypeSpec::Primitive(primitive),
            None => return fails(input, &[Kind::Tensor, Kind::LParen].map(Kind::text)),
        },
    };
    let end = place(input);
    let mut id = input.state().push_type(spec, start..end);
    while takes(input, Kind::LBracket) {
        take(input, Kind::RBracket)?;
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
    take(input, Kind::Lt)?;
    let element = plain(input).map_or(Element::Any, Element::Of);
    take(input, Kind::Gt)?;
    Ok(element)
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
