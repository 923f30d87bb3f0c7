//! Flat statements, read from the bytes of a text: `a = f(b, c = [1, 2]);`.
//!
//! Exported documents consist of millions of them. The specification's flat syntax is an operation
//! applied to identifiers and literals, whose results are assigned to identifiers. Where anything
//! else stands, right or wrong, the reader gives up on the statement and leaves it to the grammar,
//! which makes the same nodes of flat statements as this reader does.

use super::build::primitive_named;
use super::numbers;
use super::sink::Sink;
use crate::graph::Primitive;
use crate::nnef::ast::{Arg, Assignment, Ast, Call, CallId, Expr, ExprId, Ident, ListRange, Marks, UnaryOp};
use crate::nnef::lexer::{Kind, Lexer, is_reserved};
use crate::nnef::statements::Targets;
use crate::room;
use crate::source::Span;
use crate::source::literals::plain_len;
use crate::source::names::Names;

/// How deep lists can nest in flat statements.
const MAX_NESTING: usize = 16;

/// Reads flat statements into a tree.
pub(super) struct FlatReader<'n> {
    pub names: &'n mut Names,
    pub ast: Ast,
    /// What was read: one body for each token [`Kind::Flat`].
    pub runs: Vec<Sink>,
    /// What the graph assigns.
    pub targets: Targets,
    /// Items and arguments of the lists that are open.
    items: Vec<ExprId>,
    args: Vec<Arg>,
}

impl<'n> FlatReader<'n> {
    pub fn new(names: &'n mut Names, ast: Ast) -> Self {
        let (runs, targets) = (Vec::new(), Targets::default());
        FlatReader { names, ast, runs, targets, items: Vec::new(), args: Vec::new() }
    }

    /// Reads as many statements of a graph or a fragment as are flat, and adds one token for them.
    pub fn read(&mut self, text: &str, lexer: &mut Lexer, graph: bool) {
        let mut run: Option<(Span, Sink)> = None;
        let mut at = lexer.position();
        loop {
            let (marks, comments) = (Marks::of(&self.ast), lexer.tokens.comments.len());
            let loops = lexer.tokens.loops;
            let mut statement =
                Statement { text, at, loops, depth: 0, reader: &mut *self, comments: &mut lexer.tokens.comments };
            let Some(assignment) = statement.assignment() else {
                marks.rewind(&mut self.ast);
                self.items.clear();
                self.args.clear();
                lexer.tokens.comments.truncate(comments);
                break;
            };
            at = assignment.span.end as usize;
            let (span, sink) = run.get_or_insert_with(|| (assignment.span, Sink::new(graph)));
            *span = span.to(assignment.span);
            sink.push(&mut self.ast, marks, &mut self.targets, assignment);
        }
        if let Some((span, sink)) = run {
            self.runs.push(sink);
            lexer.skip_to(at);
            lexer.tokens.push(Kind::Flat, span);
        }
    }
}

/// A statement that is being read. Every method gives up with `None`.
struct Statement<'r, 't, 'n> {
    text: &'t str,
    /// The next byte.
    at: usize,
    /// Whether there are words of loops.
    loops: bool,
    /// How many lists are open.
    depth: usize,
    reader: &'r mut FlatReader<'n>,
    comments: &'r mut Vec<Span>,
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

impl Statement<'_, '_, '_> {
    /// The next byte; 0 at the end.
    #[inline]
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// The next byte that is not white space or in a comment.
    #[inline]
    fn next(&mut self) -> u8 {
        loop {
            match self.byte() {
                b'#' => self.comment(),
                byte if numbers::is_space(byte) => self.at += 1,
                byte => return byte,
            }
        }
    }

    #[cold]
    fn comment(&mut self) {
        let rest = &self.text[self.at..];
        let len = rest.find(['\n', '\r', '\x0C']).unwrap_or(rest.len());
        self.comments.push(self.since(self.at + len, self.at));
        self.at += len;
    }

    /// From a place to the next byte.
    fn span(&self, start: usize) -> Span {
        self.since(self.at, start)
    }

    fn since(&self, end: usize, start: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// Whether this byte comes next, behind space; goes behind it.
    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let found = self.next() == byte;
        self.at += usize::from(found);
        found
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// A word, keywords included.
    #[inline]
    fn word(&mut self) -> Option<Span> {
        let first = self.next();
        if !is_word(first) || first.is_ascii_digit() {
            return None;
        }
        let start = self.at;
        while is_word(self.byte()) {
            self.at += 1;
        }
        Some(self.span(start))
    }

    fn ident(&mut self) -> Option<Ident> {
        let span = self.word()?;
        self.named(span)
    }

    #[inline]
    fn named(&mut self, span: Span) -> Option<Ident> {
        let word = &self.text[span.range()];
        let taken = is_reserved(word.as_bytes()) || (self.loops && Kind::of_loops(word).is_some());
        (!taken).then(|| Ident { name: self.reader.names.intern_within(self.text, span.range()), span })
    }

    fn push(&mut self, expr: Expr, start: usize) -> ExprId {
        let span = self.span(start);
        self.reader.ast.push(expr, span)
    }

    fn assignment(&mut self) -> Option<Assignment> {
        let open = self.next();
        let start = self.at;
        let target = match open {
            b'[' => self.list(Self::name, 1)?,
            b'(' => self.list(Self::name, 2)?,
            _ => self.name()?,
        };
        self.expect(b'=')?;
        let value = self.invocation()?;
        self.expect(b';')?;
        Some(Assignment { target, value, span: self.span(start) })
    }

    fn name(&mut self) -> Option<ExprId> {
        let ident = self.ident()?;
        Some(self.reader.ast.push(Expr::Name(ident.name), ident.span))
    }

    /// `f<type>(argument, ..)`, with one argument at least.
    fn invocation(&mut self) -> Option<ExprId> {
        let name = self.ident()?;
        let generic = if self.take(b'<') { Some(self.generic()?) } else { None };
        self.expect(b'(')?;
        loop {
            let arg = self.argument()?;
            room::push(&mut self.reader.args, arg);
            if !self.take(b',') {
                break;
            }
        }
        self.expect(b')')?;
        let FlatReader { ast, args, .. } = &mut *self.reader;
        let range = ListRange { start: ast.args.len() as u32, len: args.len() as u32 };
        room::reserve(&mut ast.args, args.len());
        ast.args.append(args);
        room::push(&mut ast.calls, Call { name, generic, args: range });
        let call = CallId(ast.calls.len() as u32 - 1);
        Some(self.push(Expr::Call(call), name.span.start as usize))
    }

    fn generic(&mut self) -> Option<(Primitive, Span)> {
        let span = match self.next() {
            b'?' => {
                self.at += 1;
                self.span(self.at - 1)
            }
            _ => self.word()?,
        };
        let primitive = primitive_named(&self.text[span.range()])?;
        self.expect(b'>')?;
        Some((primitive, span))
    }

    fn argument(&mut self) -> Option<Arg> {
        let byte = self.next();
        if !is_word(byte) || byte.is_ascii_digit() {
            return Some(Arg { name: None, value: self.value()? });
        }
        let word = self.word()?;
        if !self.take(b'=') {
            return Some(Arg { name: None, value: self.leaf(word)? });
        }
        let name = Some(self.named(word)?);
        Some(Arg { name, value: self.value()? })
    }

    /// An identifier, a literal, or a list of these.
    fn value(&mut self) -> Option<ExprId> {
        let byte = self.next();
        let start = self.at;
        match byte {
            b'0'..=b'9' => self.number(),
            b'-' => {
                self.at += 1;
                self.next();
                let operand = self.number()?;
                Some(self.push(Expr::Unary { op: UnaryOp::Minus, operand }, start))
            }
            b'\'' | b'"' => {
                let inner = &self.text[start + 1..];
                let len = plain_len(byte, inner.as_bytes());
                if inner.as_bytes().get(len) != Some(&byte) {
                    return None;
                }
                let name = self.reader.names.intern(&inner[..len]);
                self.at += len + 2;
                Some(self.push(Expr::String(name), start))
            }
            b'[' => match numbers::array(&self.text[start + 1..], &mut self.reader.ast) {
                Some((array, len)) => {
                    self.at += len + 1;
                    Some(self.push(array, start))
                }
                None => self.list(Self::value, 0),
            },
            b'(' => self.list(Self::value, 2),
            _ => {
                let word = self.word()?;
                self.leaf(word)
            }
        }
    }

    /// An identifier or a logical literal.
    fn leaf(&mut self, word: Span) -> Option<ExprId> {
        let expr = match &self.text.as_bytes()[word.range()] {
            b"true" => Expr::Logical(true),
            b"false" => Expr::Logical(false),
            _ => Expr::Name(self.named(word)?.name),
        };
        Some(self.reader.ast.push(expr, word))
    }

    /// A number without a sign.
    fn number(&mut self) -> Option<ExprId> {
        let start = self.at;
        let (expr, len) = numbers::literal(&self.text[start..])?;
        self.at += len;
        Some(self.push(expr, start))
    }

    /// `[..]` or `(..)` with so many items at least. Numbers alone are packed, which the grammar
    /// does where they are not read as a whole.
    fn list(&mut self, item: fn(&mut Self) -> Option<ExprId>, least: usize) -> Option<ExprId> {
        let (start, base, tuple) = (self.at, self.reader.items.len(), self.byte() == b'(');
        let close = if tuple { b')' } else { b']' };
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return None;
        }
        if least > 0 || self.next() != close {
            loop {
                let item = item(self)?;
                self.reader.items.push(item);
                if !self.take(b',') {
                    break;
                }
            }
        }
        self.expect(close)?;
        self.depth -= 1;
        let FlatReader { ast, items, .. } = &mut *self.reader;
        let list = &items[base..];
        let packed = !tuple && !list.is_empty() && list.iter().all(|item| is_number(ast, *item));
        if packed || list.len() < least {
            return None;
        }
        let list = ast.push_list(list);
        items.truncate(base);
        Some(self.push(if tuple { Expr::Tuple(list) } else { Expr::Array(list) }, start))
    }
}

/// Whether an expression is a number, with a minus sign or without.
fn is_number(ast: &Ast, id: ExprId) -> bool {
    match ast.expr(id) {
        Expr::Unary { operand, .. } => is_number(ast, operand),
        expr => matches!(expr, Expr::Int(_) | Expr::Scalar(_)),
    }
}

#[cfg(test)]
mod tests;
