//! Flat statements, read from the bytes of a text: `a = f(b, c = [1, 2]);`.
//!
//! Exported documents consist of millions of them. The specification's flat syntax is an operation
//! applied to identifiers and literals, whose results are assigned to identifiers. Any other statement,
//! valid or not, is left to the grammar, which makes the same nodes of flat statements as this reader.

use super::build::Build;
use super::numbers;
use crate::graph::Primitive;
use crate::nnef::ast::{Arg, Assignment, Ast, Expr, ExprId, Ident, Marks, UnaryOp};
use crate::nnef::lexer::TokenKind;
use crate::room;
use crate::source::Span;
use crate::source::literals::plain_len;

/// How deep lists can nest in flat statements.
const MAX_NESTING: usize = 16;

/// Items and arguments of the lists that are open.
#[derive(Debug, Default)]
pub(super) struct Lists {
    items: Vec<ExprId>,
    args: Vec<Arg>,
}

/// Reads the statement at a byte offset, if it is flat. Otherwise the tree is truncated to the marks,
/// which are its lengths before the statement.
pub(super) fn statement(at: usize, marks: Marks, build: &mut Build, lists: &mut Lists) -> Option<Assignment> {
    let comments = build.tokens.comments.len();
    let assignment = Statement { at, depth: 0, build, lists }.assignment();
    if assignment.is_none() {
        marks.rewind(&mut build.ast);
        build.tokens.comments.truncate(comments);
        lists.items.clear();
        lists.args.clear();
    }
    assignment
}

/// A statement that is being read. Every method returns `None` if the statement is not flat.
struct Statement<'r, 's> {
    /// The next byte.
    at: usize,
    /// How many lists are open.
    depth: usize,
    build: &'r mut Build<'s>,
    lists: &'r mut Lists,
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

impl Statement<'_, '_> {
    /// The next byte; 0 at the end.
    #[inline]
    fn byte(&self) -> u8 {
        self.build.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// The next byte that is not white space or in a comment.
    #[inline]
    fn next(&mut self) -> u8 {
        let byte = self.byte();
        if byte > b'#' { byte } else { self.behind_space() }
    }

    #[inline(never)]
    fn behind_space(&mut self) -> u8 {
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
        let rest = &self.build.text[self.at..];
        let len = rest.find(['\n', '\r', '\x0C']).unwrap_or(rest.len());
        let span = self.since(self.at + len, self.at);
        self.build.tokens.comments.push(span);
        self.at += len;
    }

    /// The span from a byte offset to the next byte.
    fn span(&self, start: usize) -> Span {
        self.since(self.at, start)
    }

    fn since(&self, end: usize, start: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// Skips white space, and a byte if it comes next. Returns whether it did.
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
    fn word(&mut self) -> Option<Ident> {
        let first = self.next();
        if !is_word(first) || first.is_ascii_digit() {
            return None;
        }
        let start = self.at;
        let name;
        (name, self.at) = self.build.names.intern_word(self.build.text, start);
        Some(Ident { name, span: self.span(start) })
    }

    fn ident(&mut self) -> Option<Ident> {
        self.word().filter(|word| self.build.keyword(*word).is_none())
    }

    fn push(&mut self, expr: Expr, start: usize) -> ExprId {
        let span = self.span(start);
        self.build.ast.push(expr, span)
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
        Some(self.build.ast.push(Expr::Name(ident.name), ident.span))
    }

    /// `f<type>(argument, ..)`, with at least one argument.
    fn invocation(&mut self) -> Option<ExprId> {
        let name = self.ident()?;
        let generic = if self.take(b'<') { Some(self.generic()?) } else { None };
        self.expect(b'(')?;
        loop {
            let arg = self.argument()?;
            room::push(&mut self.lists.args, arg);
            if !self.take(b',') {
                break;
            }
        }
        self.expect(b')')?;
        let call = self.build.ast.push_call(name, generic, &self.lists.args, self.at as u32);
        self.lists.args.clear();
        Some(call)
    }

    fn generic(&mut self) -> Option<(Primitive, Span)> {
        let word = match self.next() {
            b'?' => {
                self.at += 1;
                self.build.spelled(self.span(self.at - 1))
            }
            _ => self.word()?,
        };
        let primitive = TokenKind::named(word.name).and_then(TokenKind::primitive)?;
        self.expect(b'>')?;
        Some((primitive, word.span))
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
        if self.build.keyword(word).is_some() {
            return None;
        }
        Some(Arg { name: Some(word), value: self.value()? })
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
                let inner = &self.build.text[start + 1..];
                let len = plain_len(byte, inner.as_bytes());
                if inner.as_bytes().get(len) != Some(&byte) {
                    return None;
                }
                let name = self.build.names.intern(&inner[..len]);
                self.at += len + 2;
                Some(self.push(Expr::String(name), start))
            }
            b'[' => match numbers::array(&self.build.text[start + 1..], &mut self.build.ast) {
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
    fn leaf(&mut self, word: Ident) -> Option<ExprId> {
        let expr = match self.build.keyword(word) {
            None => Expr::Name(word.name),
            Some(TokenKind::True) => Expr::Logical(true),
            Some(TokenKind::False) => Expr::Logical(false),
            _ => return None,
        };
        Some(self.build.ast.push(expr, word.span))
    }

    /// A number without a sign.
    fn number(&mut self) -> Option<ExprId> {
        let start = self.at;
        let (expr, len) = numbers::literal(&self.build.text[start..])?;
        self.at += len;
        Some(self.push(expr, start))
    }

    /// `[..]` or `(..)` with at least `least` items. Arrays of numbers that [`numbers::array`] could not
    /// read are left to the grammar.
    fn list(&mut self, item: fn(&mut Self) -> Option<ExprId>, least: usize) -> Option<ExprId> {
        let (start, base, tuple) = (self.at, self.lists.items.len(), self.byte() == b'(');
        let close = if tuple { b')' } else { b']' };
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return None;
        }
        if least > 0 || self.next() != close {
            loop {
                let item = item(self)?;
                self.lists.items.push(item);
                if !self.take(b',') {
                    break;
                }
            }
        }
        self.expect(close)?;
        self.depth -= 1;
        let (ast, items) = (&mut self.build.ast, &mut self.lists.items);
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
