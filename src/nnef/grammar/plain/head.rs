//! Plain headers of fragments: all but those with defaults that are lists with items.

use smallvec::SmallVec;

use super::Statement;
use crate::graph::Primitive;
use crate::nnef::ast::{
    Ast, ElementSpec, Expr, ExprId, GenericDecl, Ident, ListRange, Marks, Param, ResultDecl, TypeSpec, TypeSpecId,
    UnaryOp,
};
use crate::nnef::grammar::build::primitive;
use crate::nnef::grammar::declaration::FragmentHead;
use crate::nnef::lexer::Kind;

/// The ends of all tables of a tree, types included.
pub(super) struct TreeEnds {
    nodes: Marks,
    types: usize,
    type_lists: usize,
}

impl TreeEnds {
    pub fn of(ast: &Ast) -> Self {
        TreeEnds { nodes: Marks::of(ast), types: ast.types.len(), type_lists: ast.type_lists.len() }
    }

    /// Takes everything behind them out of a tree.
    pub fn rewind(self, ast: &mut Ast) {
        self.nodes.rewind(ast);
        ast.types.truncate(self.types);
        ast.type_spans.truncate(self.types);
        ast.type_lists.truncate(self.type_lists);
    }
}

impl Statement<'_, '_, '_> {
    /// `name<?>( .. ) -> ( .. )`, and the token behind it.
    pub(super) fn head(&mut self) -> Option<FragmentHead> {
        self.advance()?;
        let name = self.ident()?;
        let generic = if self.kind == Kind::Lt { Some(self.generic()?) } else { None };
        let params = self.parenthesized(Self::param)?;
        self.expect(Kind::Arrow)?;
        let results = self.parenthesized(Self::result)?;
        Some(FragmentHead { name, generic, params, results })
    }

    /// `<?>` or `<? = type>`
    fn generic(&mut self) -> Option<GenericDecl> {
        let start = self.span;
        self.advance()?;
        self.expect(Kind::Question)?;
        let mut default = None;
        if self.kind == Kind::Assign {
            self.advance()?;
            default = Some(primitive(self.kind).filter(|default| *default != Primitive::Generic)?);
            self.advance()?;
        }
        let span = start.to(self.span);
        self.expect(Kind::Gt)?;
        Some(GenericDecl { default, span })
    }

    /// A list in parentheses, with one item at least.
    fn parenthesized<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<SmallVec<[T; 1]>> {
        if self.kind != Kind::LParen {
            return None;
        }
        let mut items = SmallVec::new();
        loop {
            self.advance()?;
            items.push(item(self)?);
            if self.kind != Kind::Comma {
                self.expect(Kind::RParen)?;
                return Some(items);
            }
        }
    }

    fn param(&mut self) -> Option<Param> {
        let (name, ty) = self.typed()?;
        let default = if self.kind == Kind::Assign { Some(self.default()?) } else { None };
        Some(Param { name, ty, default })
    }

    fn result(&mut self) -> Option<ResultDecl> {
        let (name, ty) = self.typed()?;
        Some(ResultDecl { name, ty })
    }

    fn typed(&mut self) -> Option<(Ident, TypeSpecId)> {
        let name = self.ident()?;
        self.expect(Kind::Colon)?;
        Some((name, self.type_spec()?))
    }

    fn type_spec(&mut self) -> Option<TypeSpecId> {
        let start = self.span;
        let spec = match self.kind {
            Kind::Tensor => TypeSpec::Tensor(self.element()?),
            Kind::LParen => self.nested_type()?,
            kind => TypeSpec::Primitive(primitive(kind)?),
        };
        let mut ty = self.reader.ast.push_type(spec, start.to(self.span));
        self.advance()?;
        while self.kind == Kind::LBracket {
            self.advance()?;
            let span = start.to(self.span);
            self.expect(Kind::RBracket)?;
            ty = self.reader.ast.push_type(TypeSpec::Array(ty), span);
        }
        Some(ty)
    }

    /// `tensor<element>`, up to its last token.
    fn element(&mut self) -> Option<ElementSpec> {
        self.advance()?;
        self.expect(Kind::Lt)?;
        let element = primitive(self.kind).map_or(ElementSpec::Any, ElementSpec::Of);
        if element != ElementSpec::Any {
            self.advance()?;
        }
        (self.kind == Kind::Gt).then_some(element)
    }

    /// `(type, type)`, up to its last token.
    fn nested_type(&mut self) -> Option<TypeSpec> {
        let mut items: SmallVec<[TypeSpecId; 4]> = SmallVec::new();
        self.levels.depth += 1;
        while self.levels.depth <= super::open::SHALLOW && matches!(self.kind, Kind::LParen | Kind::Comma) {
            self.advance()?;
            items.push(self.type_spec()?);
        }
        self.levels.depth -= 1;
        let lists = &mut self.reader.ast.type_lists;
        let range = ListRange { start: lists.len() as u32, len: items.len() as u32 };
        lists.extend_from_slice(&items);
        (self.kind == Kind::RParen && items.len() > 1).then_some(TypeSpec::Tuple(range))
    }

    /// The default of a parameter, from its `=`.
    fn default(&mut self) -> Option<ExprId> {
        self.advance()?;
        let start = self.span;
        if self.kind == Kind::LBracket {
            self.advance()?;
            return self.list(Kind::LBracket, start.start, self.reader.items.len());
        }
        let op = match self.kind {
            Kind::Minus => Some(UnaryOp::Minus),
            Kind::Plus => Some(UnaryOp::Plus),
            _ => None,
        };
        if op.is_some() {
            self.advance()?;
        }
        let literal = self.literal()?;
        let number = matches!(literal, Expr::Int(_) | Expr::Scalar(_));
        let value = self.push(literal, self.span);
        let span = start.to(self.span);
        self.advance()?;
        match op {
            None => Some(value),
            Some(op) => number.then(|| self.push(Expr::Unary { op, operand: value }, span)),
        }
    }
}
