//! Plain statements: all but loops and the odd corners of the syntax.
//!
//! Flat text has no others, and has millions of them. They are read from the lexer without tokens
//! between, into the nodes that the grammar makes of them. Where anything else stands, right or
//! wrong, the reader gives up, and the grammar reads the statement and explains what is wrong.
//! Right sides are in `expression.rs`; headers of fragments are read in the same way (`head.rs`).

mod expression;
mod head;
mod open;

use logos::Lexer;

use super::declaration::FragmentHead;
use super::sink::Sink;
use crate::nnef::ast::{Arg, Assignment, Ast, Expr, ExprId, Ident, Iterator, Marks};
use crate::nnef::lexer::{Kind, ReadStatements};
use crate::nnef::statements::Targets;
use crate::source::Span;
use crate::source::names::Names;
use head::TreeEnds;
use open::{Levels, Open};

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
    /// The run that is being read.
    run: Option<Sink>,
    /// What was begun of the expression at hand.
    open: Vec<Open>,
    /// Items, arguments and iterators of the lists that are open.
    items: Vec<ExprId>,
    args: Vec<Arg>,
    iterators: Vec<Iterator>,
}

impl<'n> PlainReader<'n> {
    pub fn new(names: &'n mut Names, ast: Ast) -> Self {
        PlainReader {
            names,
            ast,
            runs: Vec::new(),
            heads: Vec::new(),
            targets: Targets::default(),
            run: None,
            open: Vec::new(),
            items: Vec::new(),
            args: Vec::new(),
            iterators: Vec::new(),
        }
    }

    fn run(run: &mut Option<Sink>, graph: bool) -> &mut Sink {
        run.get_or_insert_with(|| Sink::new(graph))
    }
}

impl<'t> ReadStatements<'t> for PlainReader<'_> {
    fn read(&mut self, lexer: &mut Lexer<'t, Kind>, comments: &mut Vec<Span>, graph: bool) -> Option<Span> {
        let marks = Marks::of(&self.ast);
        let mut statement = Statement::new(lexer, self, comments);
        let Some(assignment) = statement.assignment() else {
            marks.rewind(&mut self.ast);
            self.open.clear();
            self.items.clear();
            self.args.clear();
            self.iterators.clear();
            return None;
        };
        Self::run(&mut self.run, graph).push(&mut self.ast, marks, &mut self.targets, assignment);
        Some(assignment.span)
    }

    fn end_run(&mut self) {
        self.runs.extend(self.run.take());
    }

    fn read_head(&mut self, lexer: &mut Lexer<'t, Kind>, comments: &mut Vec<Span>) -> Option<(Kind, Span)> {
        let ends = TreeEnds::of(&self.ast);
        let mut statement = Statement::new(lexer, self, comments);
        let end = statement.head().map(|head| (head, statement.kind, statement.span));
        match end {
            Some((head, kind @ (Kind::LBrace | Kind::Semicolon), span)) => {
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
    /// Where the token before it ends.
    end: u32,
    /// How deep the expression at hand is nested.
    levels: Levels,
}

impl<'s, 't, 'n> Statement<'s, 't, 'n> {
    fn new(lexer: &'s mut Lexer<'t, Kind>, reader: &'s mut PlainReader<'n>, comments: &'s mut Vec<Span>) -> Self {
        let (kind, span) = (Kind::Stray, Span::default());
        Statement { lexer, reader, comments, kind, span, end: 0, levels: Levels::default() }
    }

    #[inline]
    fn advance(&mut self) -> Option<()> {
        loop {
            let kind = self.lexer.next()?.ok()?;
            let range = self.lexer.span();
            let span = Span { start: range.start as u32, end: range.end as u32 };
            if kind != Kind::Comment {
                self.end = self.span.end;
                (self.kind, self.span) = (kind, span);
                return Some(());
            }
            self.comments.push(span);
        }
    }

    fn expect(&mut self, kind: Kind) -> Option<()> {
        if self.kind == kind { self.advance() } else { None }
    }

    /// From a place to the end of the token before that at hand.
    fn since(&self, start: u32) -> Span {
        Span { start, end: self.end }
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
        let ident =
            Ident { name: self.reader.names.intern_within(self.lexer.source(), self.lexer.span()), span: self.span };
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
        let (open, start) = (self.kind, self.span.start);
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

    /// The list of the items from `base` on, at its closing bracket.
    fn list(&mut self, open: Kind, start: u32, base: usize) -> Option<ExprId> {
        let span = Span { start, end: self.span.end };
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

#[cfg(test)]
mod tests;
