//! Plain statements: names, literals, calls and lists, with operators that associate as they stand.
//!
//! Flat text has no others, and has millions of them. They are read from the lexer without tokens
//! between, into the nodes that the grammar makes of them. Where anything else stands, right or
//! wrong, the reader gives up, and the grammar reads the statement and explains what is wrong.
//! Headers of fragments are read in the same way (`head.rs`).

mod alike;
mod head;

use logos::Lexer;

use super::build::primitive;
use super::declaration::FragmentHead;
use super::numbers;
use super::sink::Sink;
use crate::nnef::ast::{Arg, Assignment, Ast, Call, CallId, Expr, ExprId, Ident, ListRange, Marks, Primitive, UnaryOp};
use crate::nnef::lexer::{Kind, ReadStatements};
use crate::nnef::literals::plain_len;
use crate::nnef::names::Names;
use crate::nnef::operators::{BinaryInfo, UNARY};
use crate::nnef::statements::{FormReader, Look, Targets};
use crate::source::Span;
use alike::AlikeReader;
use head::TreeEnds;

/// How deep calls, lists and prefix operators can nest in a plain statement.
const MAX_DEPTH: u32 = 16;

/// Reads plain statements into a tree.
pub(super) struct PlainReader<'n> {
    pub names: &'n mut Names,
    pub ast: Ast,
    /// What was read: as many bodies as there are runs of statements.
    pub runs: Vec<Sink>,
    /// Headers of fragments.
    pub heads: Vec<FragmentHead>,
    /// What the graph assigns.
    pub targets: Targets,
    /// How statements of graphs are spelled.
    pub forms: FormReader,
    /// How fragments are spelled, where these are told by it.
    pub alike: Option<AlikeReader>,
    /// The first call of the fragment that is being read.
    first_call: usize,
    /// The run that is being read.
    run: Option<Sink>,
    /// Items and arguments of the lists that are open.
    items: Vec<ExprId>,
    args: Vec<Arg>,
}

impl<'n> PlainReader<'n> {
    pub fn new(names: &'n mut Names, ast: Ast, alike: bool) -> Self {
        PlainReader {
            names,
            ast,
            runs: Vec::new(),
            heads: Vec::new(),
            targets: Targets::default(),
            forms: FormReader::default(),
            alike: alike.then(AlikeReader::default),
            first_call: 0,
            run: None,
            items: Vec::new(),
            args: Vec::new(),
        }
    }

    fn run(run: &mut Option<Sink>, graph: bool) -> &mut Sink {
        run.get_or_insert_with(|| Sink::new(graph))
    }
}

impl<'t> ReadStatements<'t> for PlainReader<'_> {
    fn read(&mut self, lexer: &mut Lexer<'t, Kind>, comments: &mut Vec<Span>, graph: bool) -> Option<Span> {
        let mut new = false;
        if graph {
            match self.forms.look(lexer.remainder(), self.names) {
                Look::Known(found) => {
                    let before = lexer.span().end as u32;
                    let span = Span { start: before + found.start, end: before + found.end };
                    found.words[..found.targets].iter().for_each(|target| self.targets.assign(target.name));
                    Self::run(&mut self.run, graph).push_like(found.form, span.start, found.words);
                    lexer.bump(found.end as usize);
                    return Some(span);
                }
                Look::New => new = true,
                Look::Odd => {}
            }
        }
        let marks = Marks::of(&self.ast);
        let mut statement =
            Statement { lexer, reader: self, comments, kind: Kind::Stray, span: Span::default(), depth: 0 };
        let Some(assignment) = statement.assignment() else {
            marks.rewind(&mut self.ast);
            self.items.clear();
            self.args.clear();
            return None;
        };
        if new {
            self.forms.learn(&self.ast, marks, &assignment);
        }
        Self::run(&mut self.run, graph).push(&mut self.ast, marks, &mut self.targets, assignment);
        Some(assignment.span)
    }

    fn end_run(&mut self) {
        self.runs.extend(self.run.take());
    }

    fn read_alike(&mut self, lexer: &mut Lexer<'t, Kind>, keyword: Span) -> Option<Span> {
        let end = self.alike.as_mut()?.look(lexer.source(), keyword, self.names)?;
        lexer.bump((end - keyword.end) as usize);
        Some(Span { start: end - 1, end })
    }

    fn end_fragment(&mut self, lexer: &Lexer<'t, Kind>, keyword: Span) {
        let rest = lexer.remainder();
        let brace = rest.len() - rest.trim_ascii_start().len();
        if let (Some(alike), Some(head), Some(b'}')) = (&mut self.alike, self.heads.last(), rest.as_bytes().get(brace))
        {
            let span = Span { start: keyword.start, end: (lexer.span().end + brace) as u32 + 1 };
            alike.learn(lexer.source(), span, head.name, &self.ast.calls[self.first_call..], self.names);
        }
    }

    fn read_head(&mut self, lexer: &mut Lexer<'t, Kind>, comments: &mut Vec<Span>) -> Option<(Kind, Span)> {
        let ends = TreeEnds::of(&self.ast);
        let mut statement =
            Statement { lexer, reader: self, comments, kind: Kind::Stray, span: Span::default(), depth: 0 };
        let end = statement.head().map(|head| (head, statement.kind, statement.span));
        match end {
            Some((head, kind @ (Kind::LBrace | Kind::Semicolon), span)) => {
                if let (Some(alike), Kind::LBrace) = (&mut self.alike, kind) {
                    alike.declare(lexer.source(), head.name);
                    self.first_call = self.ast.calls.len();
                }
                self.heads.push(head);
                Some((kind, span))
            }
            _ => {
                ends.rewind(&mut self.ast);
                None
            }
        }
    }
}

/// A statement that is being read. Every method gives up with `None`; those that read something
/// start at its first token and end at the token after it.
struct Statement<'s, 't, 'n> {
    lexer: &'s mut Lexer<'t, Kind>,
    reader: &'s mut PlainReader<'n>,
    comments: &'s mut Vec<Span>,
    /// The token at hand.
    kind: Kind,
    span: Span,
    depth: u32,
}

impl Statement<'_, '_, '_> {
    #[inline]
    fn advance(&mut self) -> Option<()> {
        loop {
            let kind = self.lexer.next()?.ok()?;
            let range = self.lexer.span();
            let span = Span { start: range.start as u32, end: range.end as u32 };
            if kind != Kind::Comment {
                (self.kind, self.span) = (kind, span);
                return Some(());
            }
            self.comments.push(span);
        }
    }

    fn expect(&mut self, kind: Kind) -> Option<()> {
        if self.kind == kind { self.advance() } else { None }
    }

    fn text(&self) -> &str {
        self.lexer.slice()
    }

    fn push(&mut self, expr: Expr, span: Span) -> ExprId {
        self.reader.ast.push(expr, span)
    }

    /// The identifier at hand.
    #[inline]
    fn ident(&mut self) -> Option<Ident> {
        if self.kind != Kind::Ident {
            return None;
        }
        let ident = Ident { name: self.reader.names.intern(self.lexer.slice()), span: self.span };
        self.advance()?;
        Some(ident)
    }

    fn assignment(&mut self) -> Option<Assignment> {
        self.advance()?;
        let start = self.span;
        let target = match self.kind {
            Kind::Ident => self.name()?,
            Kind::LParen | Kind::LBracket => self.targets()?,
            _ => return None,
        };
        self.expect(Kind::Assign)?;
        let value = self.expression()?;
        (self.kind == Kind::Semicolon).then(|| Assignment { target, value, span: start.to(self.span) })
    }

    fn name(&mut self) -> Option<ExprId> {
        let ident = self.ident()?;
        Some(self.push(Expr::Name(ident.name), ident.span))
    }

    /// `[a, b]` or `(a, b)` on the left side.
    fn targets(&mut self) -> Option<ExprId> {
        let (open, start) = (self.kind, self.span);
        let base = self.reader.items.len();
        loop {
            self.advance()?;
            let item = self.name()?;
            self.reader.items.push(item);
            if self.kind != Kind::Comma {
                return self.list(open, start, base);
            }
        }
    }

    fn expression(&mut self) -> Option<ExprId> {
        let operand = self.operand()?;
        self.operators(operand)
    }

    /// What follows an operand: operators, none of which binds tighter than the one before, with
    /// their right sides.
    fn operators(&mut self, mut operand: ExprId) -> Option<ExprId> {
        let mut tightest = u8::MAX;
        while let Some(row) = BinaryInfo::of_token(self.kind) {
            if row.precedence > tightest {
                return None;
            }
            tightest = row.precedence;
            let at = self.span.start;
            self.advance()?;
            let (lhs, rhs) = (operand, self.operand()?);
            let span = self.reader.ast.span(lhs).to(self.reader.ast.span(rhs));
            operand = self.push(Expr::Binary { op: row.op, lhs, rhs, at }, span);
        }
        Some(operand)
    }

    fn operand(&mut self) -> Option<ExprId> {
        match self.kind {
            Kind::Ident => {
                let ident = self.ident()?;
                self.word(ident)
            }
            Kind::LBracket => self.array(),
            Kind::LParen => self.nested(Self::tuple),
            Kind::Minus | Kind::Plus | Kind::Bang => self.nested(Self::unary),
            _ => {
                let expr = self.literal()?;
                let node = self.push(expr, self.span);
                self.advance()?;
                Some(node)
            }
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<ExprId>) -> Option<ExprId> {
        self.depth += 1;
        let node = if self.depth <= MAX_DEPTH { read(self) } else { None };
        self.depth -= 1;
        node
    }

    fn literal(&mut self) -> Option<Expr> {
        Some(match self.kind {
            Kind::Int => Expr::Int(numbers::integer(self.text())?),
            Kind::Real => Expr::Scalar(numbers::real(self.text())?),
            Kind::Str => self.string()?,
            Kind::True => Expr::Logical(true),
            Kind::False => Expr::Logical(false),
            _ => return None,
        })
    }

    /// A string of printable ASCII without escapes, from its opening quote.
    fn string(&mut self) -> Option<Expr> {
        let quote = *self.text().as_bytes().first()?;
        let rest = self.lexer.remainder();
        let len = plain_len(quote, rest.as_bytes());
        if rest.as_bytes().get(len) != Some(&quote) {
            return None;
        }
        let name = self.reader.names.intern(&rest[..len]);
        self.lexer.bump(len + 1);
        self.span.end += len as u32 + 1;
        Some(Expr::String(name))
    }

    fn unary(&mut self) -> Option<ExprId> {
        let row = UNARY.iter().find(|row| row.token == self.kind)?;
        let start = self.span;
        self.advance()?;
        let operand = self.operand()?;
        let span = start.to(self.reader.ast.span(operand));
        Some(self.push(Expr::Unary { op: row.op, operand }, span))
    }

    /// A name, or a call with it; a comparison after a name is left to the grammar, as it starts
    /// like a type argument.
    fn word(&mut self, ident: Ident) -> Option<ExprId> {
        let mut generic = None;
        if self.kind == Kind::Lt {
            self.advance()?;
            generic = Some((primitive(self.kind)?, self.span));
            self.advance()?;
            self.expect(Kind::Gt)?;
        }
        if self.kind == Kind::LParen {
            return self.nested(|statement| statement.call(ident, generic));
        }
        match generic {
            Some(_) => None,
            None => Some(self.push(Expr::Name(ident.name), ident.span)),
        }
    }

    /// A call from its opening parenthesis.
    fn call(&mut self, name: Ident, generic: Option<(Primitive, Span)>) -> Option<ExprId> {
        let base = self.reader.args.len();
        loop {
            self.advance()?;
            let arg = self.argument()?;
            self.reader.args.push(arg);
            if self.kind != Kind::Comma {
                break;
            }
        }
        let span = name.span.to(self.span);
        self.expect(Kind::RParen)?;
        let PlainReader { ast, args, .. } = &mut *self.reader;
        let range = ListRange { start: ast.args.len() as u32, len: (args.len() - base) as u32 };
        ast.args.extend(args.drain(base..));
        ast.calls.push(Call { name, generic, args: range });
        let call = CallId(ast.calls.len() as u32 - 1);
        Some(self.push(Expr::Call(call), span))
    }

    fn argument(&mut self) -> Option<Arg> {
        if self.kind != Kind::Ident {
            return Some(Arg { name: None, value: self.expression()? });
        }
        let ident = self.ident()?;
        if self.kind == Kind::Assign {
            self.advance()?;
            return Some(Arg { name: Some(ident), value: self.expression()? });
        }
        let operand = self.word(ident)?;
        Some(Arg { name: None, value: self.operators(operand)? })
    }

    /// An array from its opening bracket.
    fn array(&mut self) -> Option<ExprId> {
        let start = self.span;
        if let Some((expr, len)) = numbers::array(self.lexer.remainder(), &mut self.reader.ast) {
            self.lexer.bump(len);
            let span = Span { start: start.start, end: start.end + len as u32 };
            self.advance()?;
            return Some(self.push(expr, span));
        }
        self.nested(Self::items)
    }

    fn items(&mut self) -> Option<ExprId> {
        let (start, base) = (self.span, self.reader.items.len());
        self.advance()?;
        if self.kind == Kind::RBracket {
            return self.list(Kind::LBracket, start, base);
        }
        loop {
            let item = self.expression()?;
            self.reader.items.push(item);
            if self.kind != Kind::Comma {
                break;
            }
            self.advance()?;
        }
        let items = &self.reader.items[base..];
        // Numbers alone are packed, which the grammar does.
        if items.iter().all(|item| is_number(&self.reader.ast, *item)) {
            return None;
        }
        self.list(Kind::LBracket, start, base)
    }

    /// A tuple of at least two items from its opening parenthesis.
    fn tuple(&mut self) -> Option<ExprId> {
        let (start, base) = (self.span, self.reader.items.len());
        loop {
            self.advance()?;
            let item = self.expression()?;
            self.reader.items.push(item);
            if self.kind != Kind::Comma {
                return self.list(Kind::LParen, start, base);
            }
        }
    }

    /// The list of the items from `base` on, at its closing bracket.
    fn list(&mut self, open: Kind, start: Span, base: usize) -> Option<ExprId> {
        let span = start.to(self.span);
        self.expect(if open == Kind::LParen { Kind::RParen } else { Kind::RBracket })?;
        let PlainReader { ast, items, .. } = &mut *self.reader;
        if open == Kind::LParen && items.len() < base + 2 {
            return None;
        }
        let list = ast.push_list(&items[base..]);
        items.truncate(base);
        Some(self.push(if open == Kind::LParen { Expr::Tuple(list) } else { Expr::Array(list) }, span))
    }
}

/// Whether an expression is a number, with a minus sign or without.
fn is_number(ast: &Ast, id: ExprId) -> bool {
    match ast.expr(id) {
        Expr::Int(_) | Expr::Scalar(_) => true,
        Expr::Unary { op: UnaryOp::Minus, operand } => matches!(ast.expr(operand), Expr::Int(_) | Expr::Scalar(_)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
