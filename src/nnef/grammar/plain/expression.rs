//! The right sides of plain statements.
//!
//! They are read without recursion: what was begun stands on a stack of its own. Levels of the
//! processor's stack are ten times as large, and where there are thousands of them, memory that
//! nothing touched before costs more time than all reading.

use super::open::Open;
use super::{PlainReader, Statement};
use crate::graph::operators::{BinaryInfo, UnaryInfo};
use crate::nnef::ast::{
    Arg, Ast, Call, CallId, Comprehension, ComprehensionId, Expr, ExprId, Ident, Iterator, ListRange, UnaryOp,
};
use crate::nnef::grammar::build::{builtin, primitive};
use crate::nnef::grammar::numbers;
use crate::nnef::lexer::Kind;
use crate::room;
use crate::source::Span;
use crate::source::literals::plain_len;

/// What comes next. Nothing that reads calls itself, not even by way of others.
pub(super) enum Step {
    /// An operand is read.
    Operand,
    /// An argument is read, from the parenthesis or comma before it.
    Argument,
    /// An operand was read that starts there, subscripts behind it not yet.
    Value(ExprId, u32),
    /// Everything was read.
    Done(ExprId),
}

impl Statement<'_, '_, '_> {
    /// An expression of any kind.
    pub(super) fn expression(&mut self) -> Option<ExprId> {
        let mut step = Step::Operand;
        loop {
            step = match step {
                Step::Operand => self.operand()?,
                Step::Argument => self.argument()?,
                Step::Value(value, start) => self.behind(value, start)?,
                Step::Done(value) => return Some(value),
            };
        }
    }

    /// Begins what operators apply to.
    fn operand(&mut self) -> Option<Step> {
        let start = self.span.start;
        match self.kind {
            Kind::Ident => {
                let ident = self.ident()?;
                self.word(ident)
            }
            Kind::LBracket => self.array(),
            Kind::LParen => self.enter(Open::Parentheses { start, base: self.reader.items.len() as u32 }),
            Kind::Minus | Kind::Plus | Kind::Bang => {
                let row = UnaryInfo::of_token(self.kind)?;
                self.enter(Open::Unary { op: row.op, start })
            }
            kind => match builtin(kind) {
                Some(function) => {
                    self.advance()?;
                    if self.kind == Kind::LParen { self.enter(Open::Builtin { function, start }) } else { None }
                }
                None => {
                    let expr = self.literal()?;
                    let node = self.push(expr, self.span);
                    self.advance()?;
                    Some(Step::Value(node, start))
                }
            },
        }
    }

    /// Notes what a token begins, and goes on behind that.
    fn enter(&mut self, open: Open) -> Option<Step> {
        self.advance()?;
        self.open(open)?;
        Some(Step::Operand)
    }

    /// Reads what follows an operand. Subscripts bind most tightly, then prefix operators, then the
    /// others, which all associate to the left.
    fn behind(&mut self, mut value: ExprId, mut start: u32) -> Option<Step> {
        if self.kind == Kind::LBracket {
            self.advance()?;
            self.open(Open::Subscript { base: value, start })?;
            return if self.kind == Kind::Colon { self.range(value, start, None) } else { Some(Step::Operand) };
        }
        while let Some(&Open::Unary { op, start: sign }) = self.reader.open.last() {
            self.close();
            value = self.push(Expr::Unary { op, operand: value }, self.since(sign));
            start = sign;
        }
        let row = BinaryInfo::of_token(self.kind);
        let precedence = row.map_or(0, |row| row.precedence);
        while let Some(&Open::Operator { op, lhs, start: left, at }) = self.reader.open.last()
            && op.info().precedence >= precedence
        {
            self.reader.open.pop();
            value = self.push(Expr::Binary { op, lhs, rhs: value, at }, self.since(left));
            start = left;
        }
        match row {
            Some(row) => {
                let at = self.span.start;
                self.advance()?;
                room::push(&mut self.reader.open, Open::Operator { op: row.op, lhs: value, start, at });
                Some(Step::Operand)
            }
            None => self.end(value, start),
        }
    }

    /// Reads what follows operands and operators: what they are part of decides.
    fn end(&mut self, mut value: ExprId, mut start: u32) -> Option<Step> {
        // A select may be the end of another one.
        while let Some(&Open::Otherwise { condition, yes, start: first }) = self.reader.open.last()
            && self.kind != Kind::If
        {
            self.close();
            value = self.push(Expr::Select { condition, yes, no: value }, self.since(first));
            start = first;
        }
        let around = self.reader.open.last().copied();
        // An `if` after an iterable is the filter, so the iterable is not a select.
        if let Some(Open::Iterable { name, start, base }) = around {
            return self.end_of_iterable(Iterator { name, iterable: value }, start, base);
        }
        if self.kind == Kind::If {
            return self.enter(Open::Condition { yes: value, start });
        }
        match around {
            None => Some(Step::Done(value)),
            Some(Open::Condition { yes, start }) => {
                self.expect(Kind::Else)?;
                self.replace(Open::Otherwise { condition: value, yes, start });
                Some(Step::Operand)
            }
            Some(Open::Parentheses { start, base }) => self.end_of_item(value, Kind::LParen, start, base as usize),
            Some(Open::Array { start, base }) => self.end_of_item(value, Kind::LBracket, start, base as usize),
            Some(Open::Call { .. }) => self.end_of_argument(value),
            Some(Open::Builtin { function, start }) => {
                self.expect(Kind::RParen)?;
                self.closed(Expr::Builtin { function, argument: value }, start)
            }
            Some(Open::Subscript { base, start }) if self.kind == Kind::RBracket => {
                self.advance()?;
                self.closed(Expr::Index { base, index: value }, start)
            }
            Some(Open::Subscript { base, start }) => self.range(base, start, Some(value)),
            Some(Open::Range { base, start, begin }) => {
                self.expect(Kind::RBracket)?;
                self.closed(Expr::Slice { base, begin, end: Some(value) }, start)
            }
            Some(Open::Filter { start, base }) => {
                self.expect(Kind::Yield)?;
                self.replace(Open::Item { start, base, filter: Some(value) });
                Some(Step::Operand)
            }
            Some(Open::Item { start, base, filter }) => self.end_of_comprehension(start, base as usize, filter, value),
            // These have ended before.
            Some(Open::Unary { .. } | Open::Operator { .. } | Open::Otherwise { .. } | Open::Iterable { .. }) => None,
        }
    }

    /// Ends what was begun last, of which this is the node.
    fn closed(&mut self, expr: Expr, start: u32) -> Option<Step> {
        self.close();
        let node = self.push(expr, self.since(start));
        Some(Step::Value(node, start))
    }

    /// What follows the colon of `[i:j]`, `[i:]`, `[:j]`, or `[:]`.
    fn range(&mut self, base: ExprId, start: u32, begin: Option<ExprId>) -> Option<Step> {
        self.expect(Kind::Colon)?;
        if self.kind == Kind::RBracket {
            self.advance()?;
            return self.closed(Expr::Slice { base, begin, end: None }, start);
        }
        self.replace(Open::Range { base, start, begin });
        Some(Step::Operand)
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

    /// A name, or the beginning of a call with it; a comparison after a name is left to the
    /// grammar, as it starts like a type argument.
    fn word(&mut self, ident: Ident) -> Option<Step> {
        let mut generic = None;
        if self.kind == Kind::Lt {
            self.advance()?;
            generic = Some((primitive(self.kind)?, self.span));
            self.advance()?;
            self.expect(Kind::Gt)?;
        }
        if self.kind == Kind::LParen {
            let base = self.reader.args.len() as u32;
            self.open(Open::Call { name: ident, generic, base, named: false })?;
            return Some(Step::Argument);
        }
        match generic {
            Some(_) => None,
            None => Some(Step::Value(self.push(Expr::Name(ident.name), ident.span), ident.span.start)),
        }
    }

    /// Begins an argument.
    fn argument(&mut self) -> Option<Step> {
        self.advance()?;
        if self.kind != Kind::Ident {
            return Some(Step::Operand);
        }
        let ident = self.ident()?;
        if self.kind != Kind::Assign {
            return self.word(ident);
        }
        self.advance()?;
        // It gets its value when that was read.
        room::push(&mut self.reader.args, Arg { name: Some(ident), value: ExprId::new(0) });
        if let Some(Open::Call { named, .. }) = self.reader.open.last_mut() {
            *named = true;
        }
        Some(Step::Operand)
    }

    fn end_of_argument(&mut self, value: ExprId) -> Option<Step> {
        let PlainReader { ast, args, open, .. } = &mut *self.reader;
        let Some(Open::Call { name, generic, base, named }) = open.last_mut() else { return None };
        match args.last_mut().filter(|_| std::mem::take(named)) {
            Some(arg) => arg.value = value,
            None => room::push(args, Arg { name: None, value }),
        }
        if self.kind == Kind::Comma {
            return Some(Step::Argument);
        }
        if self.kind != Kind::RParen {
            return None;
        }
        let (name, count) = (*name, args.len() - *base as usize);
        let range = ListRange { start: ast.args.len() as u32, len: count as u32 };
        room::reserve(&mut ast.args, count);
        ast.args.extend(args.drain(*base as usize..));
        room::push(&mut ast.calls, Call { name, generic: *generic, args: range });
        let call = CallId(ast.calls.len() as u32 - 1);
        self.advance()?;
        self.closed(Expr::Call(call), name.span.start)
    }

    /// An array of numbers, or the beginning of another one or of a comprehension.
    fn array(&mut self) -> Option<Step> {
        let start = self.span;
        if self.has_room_for_numbers()
            && let Some((expr, len)) = numbers::array(self.lexer.remainder(), &mut self.reader.ast)
        {
            self.lexer.bump(len);
            let span = Span { start: start.start, end: start.end + len as u32 };
            self.span = span;
            self.advance()?;
            return Some(Step::Value(self.push(expr, span), start.start));
        }
        self.advance()?;
        let (start, base) = (start.start, self.reader.items.len());
        match self.kind {
            Kind::For => self.iterator(start, self.reader.iterators.len() as u32, true),
            Kind::RBracket => Some(Step::Value(self.list(Kind::LBracket, start, base)?, start)),
            _ => {
                self.open(Open::Array { start, base: base as u32 })?;
                Some(Step::Operand)
            }
        }
    }

    /// Reads what follows an item of an array or in parentheses, which are a tuple if there are
    /// several.
    fn end_of_item(&mut self, item: ExprId, bracket: Kind, start: u32, base: usize) -> Option<Step> {
        room::push(&mut self.reader.items, item);
        if self.kind == Kind::Comma {
            self.advance()?;
            return Some(Step::Operand);
        }
        self.close();
        let PlainReader { ast, items, .. } = &mut *self.reader;
        let node = match bracket {
            Kind::LParen if items.len() == base + 1 => {
                items.pop();
                self.expect(Kind::RParen)?;
                item
            }
            // Numbers alone are packed, which the grammar does.
            Kind::LBracket if items[base..].iter().all(|item| is_number(ast, *item)) => return None,
            _ => self.list(bracket, start, base)?,
        };
        Some(Step::Value(node, start))
    }

    /// Begins an iterator of a comprehension, from `for` or the comma before it.
    fn iterator(&mut self, start: u32, base: u32, first: bool) -> Option<Step> {
        self.advance()?;
        let name = self.ident()?;
        self.expect(Kind::In)?;
        let open = Open::Iterable { name, start, base };
        if first {
            self.open(open)?;
        } else {
            self.replace(open);
        }
        Some(Step::Operand)
    }

    fn end_of_iterable(&mut self, iterator: Iterator, start: u32, base: u32) -> Option<Step> {
        self.reader.iterators.push(iterator);
        match self.kind {
            Kind::Comma => return self.iterator(start, base, false),
            Kind::If => self.replace(Open::Filter { start, base }),
            Kind::Yield => self.replace(Open::Item { start, base, filter: None }),
            _ => return None,
        }
        self.advance()?;
        Some(Step::Operand)
    }

    fn end_of_comprehension(&mut self, start: u32, base: usize, filter: Option<ExprId>, item: ExprId) -> Option<Step> {
        self.expect(Kind::RBracket)?;
        let PlainReader { ast, iterators, .. } = &mut *self.reader;
        let range = ListRange { start: ast.iterators.len() as u32, len: (iterators.len() - base) as u32 };
        ast.iterators.extend(iterators.drain(base..));
        ast.comprehensions.push(Comprehension { iterators: range, filter, item });
        let id = ComprehensionId(ast.comprehensions.len() as u32 - 1);
        self.closed(Expr::Comprehension(id), start)
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
