//! Declarations: type specifications (3.2.1), default values, and the headers of fragments and
//! graphs (3.2.2).

use super::build::{GrammarResult, Reader, fails, ident, note, place, push, take, takes};
use super::expression::{enclosed, list, literal};
use crate::graph::Primitive;
use crate::nnef::ast::{
    Element, Expr, ExprId, Generic, Ident, ListRange, Param, Params, ResultDecl, Results, TypeSpec, TypeSpecId, UnaryOp,
};
use crate::nnef::lexer::TokenKind;

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
pub(super) fn fragment_head(input: &mut Reader) -> GrammarResult<FragmentHead> {
    take(input, TokenKind::Fragment)?;
    let name = ident(input)?;
    let generic = match input.state().rules.generics && takes(input, TokenKind::Lt) {
        true => generic(input)?,
        false => Generic::No,
    };
    let params = list(input, param)?.into_iter().collect();
    take(input, TokenKind::Arrow)?;
    let results = list(input, result)?.into_iter().collect();
    Ok(FragmentHead { name, generic, params, results })
}

/// `<graph-declaration> ::= "graph" <identifier> "(" <identifier-list> ")" "->"
/// "(" <identifier-list> ")"`
pub(super) fn graph_head(input: &mut Reader) -> GrammarResult<GraphHead> {
    take(input, TokenKind::Graph)?;
    let name = ident(input)?;
    let params = list(input, ident)?.into_vec();
    take(input, TokenKind::Arrow)?;
    Ok(GraphHead { name, params, results: list(input, ident)?.into_vec() })
}

/// `<parameter> ::= <identifier> ":" <type-spec> ["=" <literal-expr>]`
fn param(input: &mut Reader) -> GrammarResult<Param> {
    let ResultDecl { name, ty } = result(input)?;
    let default = if takes(input, TokenKind::Assign) { Some(default_value(input)?) } else { None };
    Ok(Param { name, ty, default })
}

/// `<result> ::= <identifier> ":" <type-spec>`
fn result(input: &mut Reader) -> GrammarResult<ResultDecl> {
    let name = ident(input)?;
    take(input, TokenKind::Colon)?;
    Ok(ResultDecl { name, ty: type_spec(input)? })
}

/// `<generic-declaration> ::= "<" "?" ["=" <type-name>] ">"`, after the `<`.
fn generic(input: &mut Reader) -> GrammarResult<Generic> {
    take(input, TokenKind::Question)?;
    let default = if takes(input, TokenKind::Assign) { Some(type_name(input)?) } else { None };
    take(input, TokenKind::Gt)?;
    Ok(Generic::Yes(default))
}

/// `<type-name> ::= "integer" | "scalar" | "logical" | "string"`
fn type_name(input: &mut Reader) -> GrammarResult<Primitive> {
    match input.peek().and_then(TokenKind::primitive) {
        None | Some(Primitive::Generic) => fails(input, &["type"]),
        Some(primitive) => {
            input.skip();
            Ok(primitive)
        }
    }
}

/// A type name or `?`, if one comes next.
fn plain(input: &mut Reader) -> Option<Primitive> {
    let found = input.peek().and_then(TokenKind::primitive);
    match found {
        Some(_) => input.skip(),
        None => note(input, &["type", TokenKind::Question.text()]),
    }
    found
}

/// `<type-spec> ::= <type-name> | <tensor-type-spec> | <array-type-spec> | <tuple-type-spec>`,
/// and `?` in generic fragments; `<array-type-spec> ::= <type-spec> "[" "]"`.
pub(super) fn type_spec(input: &mut Reader) -> GrammarResult<TypeSpecId> {
    let start = place(input);
    let spec = match input.peek() {
        Some(TokenKind::Tensor) => TypeSpec::Tensor(tensor(input)?),
        Some(TokenKind::LParen) => tuple_type(input)?,
        _ => match plain(input) {
            Some(primitive) => TypeSpec::Primitive(primitive),
            None => return fails(input, &[TokenKind::Tensor, TokenKind::LParen].map(TokenKind::text)),
        },
    };
    let end = place(input);
    let mut id = input.state().push_type(spec, start..end);
    while takes(input, TokenKind::LBracket) {
        take(input, TokenKind::RBracket)?;
        let end = place(input);
        id = input.state().push_type(TypeSpec::Array(id), start..end);
    }
    Ok(id)
}

/// `<tensor-type-spec> ::= "tensor" "<" [<type-name> | "?"] ">"`; a bare word in the draft.
fn tensor(input: &mut Reader) -> GrammarResult<Element> {
    input.skip();
    if input.state().rules.untyped_tensors {
        return Ok(Element::Unknown);
    }
    take(input, TokenKind::Lt)?;
    let element = plain(input).map_or(Element::Any, Element::Of);
    take(input, TokenKind::Gt)?;
    Ok(element)
}

/// `<tuple-type-spec> ::= "(" <type-spec> ("," <type-spec>)+ ")"`
fn tuple_type(input: &mut Reader) -> GrammarResult<TypeSpec> {
    let items = enclosed(input, type_spec, TokenKind::LParen, 2)?;
    Ok(TypeSpec::Tuple(ListRange::append(&mut input.state().ast.type_lists, &items)))
}

/// `<literal-expr> ::= <literal> | <array-literal-expr> | <tuple-literal-expr>`, where numbers
/// have signs except in the draft.
pub(super) fn default_value(input: &mut Reader) -> GrammarResult<ExprId> {
    let start = place(input);
    match input.peek() {
        Some(kind) if kind.is_literal() => literal(input),
        Some(sign @ (TokenKind::Minus | TokenKind::Plus)) if input.state().rules.signed_defaults => {
            input.skip();
            if !matches!(input.peek(), Some(TokenKind::Int | TokenKind::Real | TokenKind::Bad)) {
                return fails(input, &[]);
            }
            let operand = literal(input)?;
            let op = if sign == TokenKind::Minus { UnaryOp::Minus } else { UnaryOp::Plus };
            let end = place(input);
            Ok(input.state().unary(op, operand, start..end))
        }
        Some(TokenKind::LBracket) => {
            let items = enclosed(input, default_value, TokenKind::LBracket, 0)?;
            let end = place(input);
            Ok(input.state().array(&items, start..end))
        }
        Some(TokenKind::LParen) => {
            let items = enclosed(input, default_value, TokenKind::LParen, 2)?;
            let list = input.state().ast.push_list(&items);
            Ok(push(input, start, Expr::Tuple(list)))
        }
        _ => fails(input, &[TokenKind::LBracket, TokenKind::LParen].map(TokenKind::text)),
    }
}
