//! The right sides of plain statements.

use smallvec::SmallVec;

use super::{PlainReader, Statement};
use crate::nnef::ast::{
    Arg, Ast, Call, CallId, Comprehension, ComprehensionId, Expr, ExprId, Ident, Iterator, ListRange, Primitive,
    UnaryOp,
};
use crate::nnef::grammar::build::{builtin, primitive};
use crate::nnef::grammar::depth::MAX_NESTING;
use crate::nnef::grammar::numbers;
use crate::nnef::lexer::Kind;
use crate::nnef::literals::plain_len;
use crate::nnef::operators::{BinaryInfo, UNARY};
use crate::room;
use crate::source::Span;

/// How deep expressions can nest without a look at the stack.
pub(super) const SHALLOW: u32 = 16;

impl Statement<'_, '_, '_> {
    /// An expression of any kind.
    pub(super) fn expression(&mut self) -> Option<ExprId> {
        let start = self.span;
        let value = self.binary(0)?;
        self.select(value, start)
    }

    /// What may follow an expression without one: `if` and the rest of a select.
    fn select(&mut self, yes: ExprId, start: Span) -> Option<ExprId> {
        if self.kind != Kind::If {
            return Some(yes);
        }
        self.behind(|statement| {
            statement.advance()?;
            let condition = statement.expression()?;
            statement.expect(Kind::Else)?;
            let no = statement.expression()?;
            Some(statement.push(Expr::Select { condition, yes, no }, statement.since(start)))
        })
    }

    /// Operands with operators that bind at least so tightly.
    fn binary(&mut self, loosest: u8) -> Option<ExprId> {
        let start = self.span;
        let operand = self.operand()?;
        self.operators(operand, start, loosest)
    }

    /// What follows an operand: operators, and their right sides. All associate to the left.
    fn operators(&mut self, mut operand: ExprId, start: Span, loosest: u8) -> Option<ExprId> {
        while let Some(row) = BinaryInfo::of_token(self.kind).filter(|row| row.precedence >= loosest) {
            let at = self.span.start;
            self.advance()?;
            let (lhs, rhs) = (operand, self.binary(row.precedence + 1)?);
            operand = self.push(Expr::Binary { op: row.op, lhs, rhs, at }, self.since(start));
        }
        Some(operand)
    }

    /// What operators apply to, subscripts included.
    fn operand(&mut self) -> Option<ExprId> {
        let start = self.span;
        let base = match self.kind {
            Kind::Ident => {
                let ident = self.ident()?;
                self.word(ident)?
            }
            Kind::LBracket => self.array()?,
            Kind::LParen => self.bracketed(Self::parentheses)?,
            Kind::Minus | Kind::Plus | Kind::Bang => return self.behind(Self::unary),
            kind if builtin(kind).is_some() => self.bracketed(Self::builtin)?,
            _ => {
                let expr = self.literal()?;
                let node = self.push(expr, self.span);
                self.advance()?;
                node
            }
        };
        self.subscripts(base, start)
    }

    /// What follows the base of an operand: any number of subscripts.
    fn subscripts(&mut self, mut base: ExprId, start: Span) -> Option<ExprId> {
        while self.kind == Kind::LBracket {
            base = self.bracketed(|statement| statement.subscript(base, start))?;
        }
        Some(base)
    }

    /// `[i]`, `[i:j]`, `[i:]`, `[:j]`, or `[:]`
    fn subscript(&mut self, base: ExprId, start: Span) -> Option<ExprId> {
        self.advance()?;
        let begin = if self.kind == Kind::Colon { None } else { Some(self.expression()?) };
        let expr = match begin {
            Some(index) if self.kind == Kind::RBracket => Expr::Index { base, index },
            _ => {
                self.expect(Kind::Colon)?;
                let end = if self.kind == Kind::RBracket { None } else { Some(self.expression()?) };
                Expr::Slice { base, begin, end }
            }
        };
        self.expect(Kind::RBracket)?;
        Some(self.push(expr, self.since(start)))
    }

    /// Reads what is in brackets.
    fn bracketed(&mut self, read: impl FnOnce(&mut Self) -> Option<ExprId>) -> Option<ExprId> {
        self.brackets += 1;
        let node = self.nested(read);
        self.brackets -= 1;
        node
    }

    /// Reads the rest of a select, or a prefix operator with its operand.
    fn behind(&mut self, read: impl FnOnce(&mut Self) -> Option<ExprId>) -> Option<ExprId> {
        self.others += 1;
        self.nested(read)
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Option<ExprId>) -> Option<ExprId> {
        self.depth += 1;
        let node = match self.depth {
            ..=SHALLOW => read(self),
            _ if self.levels() <= MAX_NESTING => stacker::maybe_grow(64 * 1024, 1024 * 1024, || read(self)),
            _ => None,
        };
        self.depth -= 1;
        node
    }

    /// No fewer levels than [`too_deep`] counts here, which adds up `if`s that stand beside each other.
    ///
    /// [`too_deep`]: crate::nnef::grammar::depth
    fn levels(&self) -> usize {
        self.brackets + self.others
    }

    pub(super) fn literal(&mut self) -> Option<Expr> {
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
        Some(self.push(Expr::Unary { op: row.op, operand }, self.since(start)))
    }

    fn builtin(&mut self) -> Option<ExprId> {
        let (function, start) = (builtin(self.kind)?, self.span);
        self.advance()?;
        self.expect(Kind::LParen)?;
        let argument = self.expression()?;
        self.expect(Kind::RParen)?;
        Some(self.push(Expr::Builtin { function, argument }, self.since(start)))
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
            return self.bracketed(|statement| statement.call(ident, generic));
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
        self.expect(Kind::RParen)?;
        let span = self.since(name.span);
        let PlainReader { ast, args, .. } = &mut *self.reader;
        let range = ListRange { start: ast.args.len() as u32, len: (args.len() - base) as u32 };
        room::reserve(&mut ast.args, args.len() - base);
        ast.args.extend(args.drain(base..));
        room::push(&mut ast.calls, Call { name, generic, args: range });
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
        let base = self.word(ident)?;
        let operand = self.subscripts(base, ident.span)?;
        let value = self.operators(operand, ident.span, 0)?;
        Some(Arg { name: None, value: self.select(value, ident.span)? })
    }

    /// An array or a comprehension from its opening bracket.
    fn array(&mut self) -> Option<ExprId> {
        let start = self.span;
        // The bracket and a sign in it are levels, too.
        let room = self.levels() + 2 <= MAX_NESTING;
        let rest = self.lexer.remainder();
        if let Some((expr, len)) = room.then(|| numbers::array(rest, &mut self.reader.ast)).flatten() {
            self.lexer.bump(len);
            let span = Span { start: start.start, end: start.end + len as u32 };
            self.span = span;
            self.advance()?;
            return Some(self.push(expr, span));
        }
        self.bracketed(|statement| {
            statement.advance()?;
            match statement.kind {
                Kind::For => statement.comprehension(start),
                _ => statement.items(start),
            }
        })
    }

    /// The items of an array from the first one.
    fn items(&mut self, start: Span) -> Option<ExprId> {
        let base = self.reader.items.len();
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

    /// A comprehension, whose bracket opened at `start`, from `for` on.
    fn comprehension(&mut self, start: Span) -> Option<ExprId> {
        let mut iterators: SmallVec<[Iterator; 2]> = SmallVec::new();
        loop {
            self.advance()?;
            let name = self.ident()?;
            self.expect(Kind::In)?;
            // An `if` after it is the filter, so the iterable is not a select.
            iterators.push(Iterator { name, iterable: self.binary(0)? });
            if self.kind != Kind::Comma {
                break;
            }
        }
        let filter = match self.kind {
            Kind::If => {
                self.advance()?;
                Some(self.expression()?)
            }
            _ => None,
        };
        self.expect(Kind::Yield)?;
        let item = self.expression()?;
        self.expect(Kind::RBracket)?;
        let ast = &mut self.reader.ast;
        let range = ListRange { start: ast.iterators.len() as u32, len: iterators.len() as u32 };
        ast.iterators.extend(iterators);
        ast.comprehensions.push(Comprehension { iterators: range, filter, item });
        let id = ComprehensionId(ast.comprehensions.len() as u32 - 1);
        Some(self.push(Expr::Comprehension(id), self.since(start)))
    }

    /// A tuple, or an expression in parentheses.
    fn parentheses(&mut self) -> Option<ExprId> {
        let (start, base) = (self.span, self.reader.items.len());
        loop {
            self.advance()?;
            let item = self.expression()?;
            self.reader.items.push(item);
            if self.kind != Kind::Comma {
                break;
            }
        }
        if self.reader.items.len() > base + 1 {
            return self.list(Kind::LParen, start, base);
        }
        self.expect(Kind::RParen)?;
        self.reader.items.pop()
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
