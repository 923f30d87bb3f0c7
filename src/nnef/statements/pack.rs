//! From nodes to bytes.
//!
//! A statement is where it stands, how many entries it has in each table of the tree, and these
//! entries in order. Ids are relative to the statement's first entry, and places to its start. Long
//! literal arrays are kept beside the bytes, in their order.

use std::sync::Arc;

use super::{LARGE, Large, Statements, Targets};
use crate::graph::Primitive;
use crate::nnef::ast::{Arg, Assignment, Ast, Call, Expr, ExprId, Ident, ListRange, Loop, Marks, Numbers};
use crate::source::Span;

/// What an expression is, as a byte.
pub(super) mod tag {
    pub(crate) const ERROR: u8 = 0;
    pub(crate) const NAME: u8 = 1;
    pub(crate) const INT: u8 = 2;
    pub(crate) const SCALAR: u8 = 3;
    pub(crate) const FALSE: u8 = 4;
    pub(crate) const TRUE: u8 = 5;
    pub(crate) const STRING: u8 = 6;
    pub(crate) const ARRAY: u8 = 7;
    pub(crate) const INT_ARRAY: u8 = 8;
    pub(crate) const SCALAR_ARRAY: u8 = 9;
    pub(crate) const TUPLE: u8 = 10;
    pub(crate) const UNARY: u8 = 11;
    pub(crate) const BINARY: u8 = 12;
    pub(crate) const SELECT: u8 = 13;
    pub(crate) const INDEX: u8 = 14;
    pub(crate) const SLICE: u8 = 15;
    pub(crate) const COMPREHENSION: u8 = 16;
    pub(crate) const BUILTIN: u8 = 17;
    pub(crate) const CALL: u8 = 18;
    pub(crate) const LOOP: u8 = 19;
    pub(crate) const NUMBERS: u8 = 20;
}

/// What a loop has of what it may have, as bits of a byte.
pub(super) mod parts {
    pub(crate) const UNROLL: u8 = 1;
    pub(crate) const BLOCK: u8 = 2;
    pub(crate) const INDEX: u8 = 4;
}
/// The bit for loops among those for tables that are there.
pub(super) const LOOPS: u8 = 1 << 7;
/// Likewise; 0 stands for none of them.
pub(super) const PRIMITIVES: &[Primitive] =
    &[Primitive::Integer, Primitive::Scalar, Primitive::Logical, Primitive::String, Primitive::Generic];

/// How a statement is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Its nodes follow.
    Packed = 0,
    /// As a tree, beside the bytes.
    Tree = 1,
}

impl Statements {
    /// Adds a statement whose nodes are all that a tree has from the marks on.
    /// Of many nodes the tree is kept, for which they may be taken out.
    pub(crate) fn push(&mut self, ast: &mut Ast, marks: Marks, targets: &mut Targets, assignment: &Assignment) {
        ast.each_target(assignment.target, |_, name| targets.assign(name));
        let start = assignment.span.start;
        if ast.exprs.len() - marks.exprs >= LARGE {
            self.begin(How::Tree, start);
            let (tree, assignment) = ast.take_statement(marks, assignment);
            self.large.push(Large { ast: Arc::new(tree), assignment });
            return;
        }
        self.begin(How::Packed, start);
        let mut packer = Packer::new(&mut self.bytes, &mut self.numbers, start, marks);
        packer.number(u64::from(assignment.span.end - start));
        packer.nodes(ast, assignment);
    }

    /// What every statement starts with: how it is kept, and where it stands.
    pub(super) fn begin(&mut self, how: How, start: u32) {
        self.bytes.push(how as u8);
        push_signed(&mut self.bytes, i64::from(start) - i64::from(self.last));
        self.last = start;
        self.count += 1;
    }
}

/// Seven bits a byte, the least ones first.
fn push_number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A number whose sign is its lowest bit.
pub(super) fn push_signed(out: &mut Vec<u8>, value: i64) {
    push_number(out, ((value << 1) ^ (value >> 63)) as u64);
}

pub(super) struct Packer<'o> {
    out: &'o mut Vec<u8>,
    numbers: &'o mut Vec<Numbers>,
    start: u32,
    marks: Marks,
}

impl<'o> Packer<'o> {
    /// Packs nodes behind the marks, of a statement that starts there.
    pub(crate) fn new(out: &'o mut Vec<u8>, numbers: &'o mut Vec<Numbers>, start: u32, marks: Marks) -> Self {
        Packer { out, numbers, start, marks }
    }

    /// Packs the nodes of a statement, and which of them are its sides.
    pub(crate) fn nodes(&mut self, ast: &Ast, assignment: &Assignment) {
        self.tables(ast);
        self.expr_id(assignment.target);
        self.expr_id(assignment.value);
    }

    fn number(&mut self, value: u64) {
        push_number(self.out, value);
    }

    fn signed(&mut self, value: i64) {
        push_signed(self.out, value);
    }

    fn span(&mut self, span: Span) {
        let (offset, len) = (span.start.wrapping_sub(self.start), span.end - span.start);
        if offset < 0x40 && len < 0x80 {
            // The most frequent numbers of all, each a byte.
            self.out.extend_from_slice(&[(offset << 1) as u8, len as u8]);
            return;
        }
        self.signed(i64::from(span.start) - i64::from(self.start));
        self.number(u64::from(len));
    }

    fn ident(&mut self, ident: Ident) {
        self.number(ident.name.index() as u64);
        self.span(ident.span);
    }

    fn expr_id(&mut self, id: ExprId) {
        self.number((id.index() - self.marks.exprs) as u64);
    }

    /// An id, or none.
    fn maybe(&mut self, id: Option<ExprId>) {
        self.number(id.map_or(0, |id| id.index() - self.marks.exprs + 1) as u64);
    }

    fn range(&mut self, range: ListRange, first: usize) {
        self.number((range.start as usize - first) as u64);
        self.number(u64::from(range.len));
    }

    fn tables(&mut self, ast: &Ast) {
        let marks = self.marks;
        self.number((ast.exprs.len() - marks.exprs) as u64);
        let rest = [
            ast.lists.len() - marks.lists,
            ast.ints.len() - marks.ints,
            ast.scalars.len() - marks.scalars,
            ast.calls.len() - marks.calls,
            ast.args.len() - marks.args,
            ast.comprehensions.len() - marks.comprehensions,
            ast.iterators.len() - marks.iterators,
        ];
        let present = rest.iter().enumerate().fold(0u8, |bits, (i, len)| bits | u8::from(*len > 0) << i);
        let loops = [ast.loops.len() - marks.loops, ast.recurrences.len() - marks.recurrences];
        self.out.push(if loops[0] > 0 { present | LOOPS } else { present });
        rest.iter().filter(|len| **len > 0).for_each(|len| self.number(*len as u64));
        loops.iter().filter(|_| loops[0] > 0).for_each(|len| self.number(*len as u64));
        self.numbers.extend_from_slice(&ast.numbers[marks.numbers..]);
        for (expr, span) in ast.exprs[marks.exprs..].iter().zip(&ast.spans[marks.exprs..]) {
            self.expr(*expr);
            self.span(*span);
        }
        ast.lists[marks.lists..].iter().for_each(|id| self.expr_id(*id));
        ast.ints[marks.ints..].iter().for_each(|value| self.signed(*value));
        for value in &ast.scalars[marks.scalars..] {
            self.out.extend_from_slice(&value.to_le_bytes());
        }
        ast.calls[marks.calls..].iter().for_each(|call| self.call(call));
        ast.args[marks.args..].iter().for_each(|arg| self.arg(arg));
        for comprehension in &ast.comprehensions[marks.comprehensions..] {
            self.range(comprehension.iterators, marks.iterators);
            self.maybe(comprehension.filter);
            self.expr_id(comprehension.item);
        }
        for iterator in &ast.iterators[marks.iterators..] {
            self.ident(iterator.name);
            self.expr_id(iterator.iterable);
        }
        ast.loops[marks.loops..].iter().for_each(|of| self.loop_of(of));
        for recurrence in &ast.recurrences[marks.recurrences..] {
            self.ident(recurrence.name);
            self.number(recurrence.ty.map_or(0, |ty| u64::from(ty.0) + 1));
            self.expr_id(recurrence.initial);
        }
    }

    fn loop_of(&mut self, of: &Loop) {
        let bit = |holds: bool, bit: u8| if holds { bit } else { 0 };
        let index = bit(of.index.is_some(), parts::INDEX);
        self.out.push(bit(of.unroll, parts::UNROLL) | bit(of.block, parts::BLOCK) | index);
        of.index.into_iter().for_each(|index| self.ident(index));
        self.range(of.recurrences, self.marks.recurrences);
        self.range(of.iterators, self.marks.iterators);
        self.range(of.statements, self.marks.lists);
        self.range(of.results, self.marks.lists);
        [of.before, of.count, of.after].into_iter().for_each(|id| self.maybe(id));
    }

    fn call(&mut self, call: &Call) {
        self.ident(call.name);
        match call.generic {
            None => self.out.push(0),
            Some((primitive, span)) => {
                self.out.push(position(PRIMITIVES, primitive) + 1);
                self.span(span);
            }
        }
        self.range(call.args, self.marks.args);
    }

    fn arg(&mut self, arg: &Arg) {
        match arg.name {
            None => self.out.push(0),
            Some(name) => {
                self.out.push(1);
                self.ident(name);
            }
        }
        self.expr_id(arg.value);
    }

    fn tagged_range(&mut self, tag: u8, range: ListRange, first: usize) {
        self.out.push(tag);
        self.range(range, first);
    }

    fn expr(&mut self, expr: Expr) {
        let marks = self.marks;
        match expr {
            Expr::Error => self.out.push(tag::ERROR),
            Expr::Name(name) => {
                self.out.push(tag::NAME);
                self.number(name.index() as u64);
            }
            Expr::Int(value) => {
                self.out.push(tag::INT);
                self.signed(value);
            }
            Expr::Scalar(value) => {
                self.out.push(tag::SCALAR);
                self.out.extend_from_slice(&value.to_le_bytes());
            }
            Expr::Logical(value) => self.out.push(if value { tag::TRUE } else { tag::FALSE }),
            Expr::String(name) => {
                self.out.push(tag::STRING);
                self.number(name.index() as u64);
            }
            Expr::Array(range) => self.tagged_range(tag::ARRAY, range, marks.lists),
            Expr::IntArray(range) => self.tagged_range(tag::INT_ARRAY, range, marks.ints),
            Expr::ScalarArray(range) => self.tagged_range(tag::SCALAR_ARRAY, range, marks.scalars),
            Expr::Numbers(_) => self.out.push(tag::NUMBERS),
            Expr::Tuple(range) => self.tagged_range(tag::TUPLE, range, marks.lists),
            Expr::Call(id) => {
                self.out.push(tag::CALL);
                self.number((id.index() - marks.calls) as u64);
            }
            Expr::Comprehension(id) => {
                self.out.push(tag::COMPREHENSION);
                self.number((id.index() - marks.comprehensions) as u64);
            }
            Expr::Loop(id) => {
                self.out.push(tag::LOOP);
                self.number((id.index() - marks.loops) as u64);
            }
            compound => self.compound(compound),
        }
    }

    /// Operators, selects and subscripts.
    fn compound(&mut self, expr: Expr) {
        match expr {
            Expr::Unary { op, operand } => {
                self.out.extend([tag::UNARY, op as u8]);
                self.expr_id(operand);
            }
            Expr::Binary { op, lhs, rhs, at } => {
                self.out.extend([tag::BINARY, op as u8]);
                self.expr_id(lhs);
                self.expr_id(rhs);
                self.signed(i64::from(at) - i64::from(self.start));
            }
            Expr::Select { condition, yes, no } => {
                self.out.push(tag::SELECT);
                [condition, yes, no].into_iter().for_each(|id| self.expr_id(id));
            }
            Expr::Index { base, index } => {
                self.out.push(tag::INDEX);
                self.expr_id(base);
                self.expr_id(index);
            }
            Expr::Slice { base, begin, end } => {
                self.out.push(tag::SLICE);
                self.expr_id(base);
                self.maybe(begin);
                self.maybe(end);
            }
            Expr::Builtin { function, argument } => {
                self.out.extend([tag::BUILTIN, function as u8]);
                self.expr_id(argument);
            }
            _ => self.out.push(tag::ERROR),
        }
    }
}

/// The byte that stands for an item of one of the lists above.
fn position<T: PartialEq>(all: &[T], item: T) -> u8 {
    all.iter().position(|known| *known == item).unwrap_or_default() as u8
}
