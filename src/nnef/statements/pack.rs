//! From nodes to words.
//!
//! A statement is where it stands, how many entries it has in each table of the tree, and these
//! entries in order, each in a few words. Ids are relative to the statement's first entry, and places
//! to its start. Long literal arrays are kept beside the words, in their order.

use std::sync::Arc;

use super::{LARGE, Large, Statements, Targets};
use crate::graph::Primitive;
use crate::nnef::ast::{Arg, Assignment, Ast, Call, Expr, ExprId, Ident, ListRange, Loop, Marks, Numbers};
use crate::room;
use crate::source::Span;

/// What an expression is, and how many words it takes besides that and its place.
pub(super) mod tag {
    /// How many words, by tag.
    pub(crate) const WORDS: [usize; 20] = [0, 1, 2, 2, 1, 1, 2, 2, 2, 0, 2, 2, 4, 3, 2, 3, 1, 2, 1, 1];
    pub(crate) const ERROR: u32 = 0;
    pub(crate) const NAME: u32 = 1;
    pub(crate) const INT: u32 = 2;
    pub(crate) const SCALAR: u32 = 3;
    pub(crate) const LOGICAL: u32 = 4;
    pub(crate) const STRING: u32 = 5;
    pub(crate) const ARRAY: u32 = 6;
    pub(crate) const INT_ARRAY: u32 = 7;
    pub(crate) const SCALAR_ARRAY: u32 = 8;
    pub(crate) const NUMBERS: u32 = 9;
    pub(crate) const TUPLE: u32 = 10;
    pub(crate) const UNARY: u32 = 11;
    pub(crate) const BINARY: u32 = 12;
    pub(crate) const SELECT: u32 = 13;
    pub(crate) const INDEX: u32 = 14;
    pub(crate) const SLICE: u32 = 15;
    pub(crate) const COMPREHENSION: u32 = 16;
    pub(crate) const BUILTIN: u32 = 17;
    pub(crate) const CALL: u32 = 18;
    pub(crate) const LOOP: u32 = 19;
}

/// What a loop has of what it may have, as bits.
pub(super) mod parts {
    pub(crate) const UNROLL: u32 = 1;
    pub(crate) const BLOCK: u32 = 2;
    pub(crate) const INDEX: u32 = 4;
}

/// How a statement is kept, in the bits above two numbers.
pub(super) mod how {
    /// Its nodes follow.
    pub(crate) const PACKED: u32 = 0;
    /// Likewise, with entries of the tables that flat statements rarely have.
    pub(crate) const COMPOUND: u32 = 1;
    /// As a tree, beside the words.
    pub(crate) const TREE: u32 = 2;
}

/// A place in a word: start, length, and the bits that are left below. Where it does not fit, all
/// of its bits are set, and two words follow.
pub(super) mod place {
    pub(crate) const BITS: u32 = 13;
    pub(crate) const MAX: u32 = (1 << BITS) - 1;
    pub(crate) const SHIFT: u32 = 32 - 2 * BITS;
    pub(crate) const WIDE: u32 = MAX << BITS | MAX;
}

/// Two numbers below [`LARGE`] in a word, with eight bits to spare.
fn pair(first: usize, second: usize) -> u32 {
    (first | second << 12) as u32
}

impl Statements {
    /// Adds a statement whose nodes are all that a tree has from the marks on.
    /// Of many nodes the tree is kept, for which they may be taken out.
    pub(crate) fn push(&mut self, ast: &mut Ast, marks: Marks, targets: &mut Targets, assignment: &Assignment) {
        ast.each_target(assignment.target, |_, name| targets.assign(name));
        let added = Marks::of(ast).since(marks);
        if is_large(added) {
            self.words.push(how::TREE << 24);
            let (tree, assignment) = ast.take_statement(marks, assignment);
            self.large.push(Large { ast: Arc::new(tree), assignment });
            return;
        }
        let start = assignment.span.start;
        Packer { out: &mut self.words, numbers: &mut self.numbers, start, marks }.statement(ast, added, assignment);
    }
}

/// Whether the numbers of a statement do not fit into words, or its nodes into the cache of the processor.
fn is_large(added: Marks) -> bool {
    added.exprs.max(added.lists).max(added.args) >= LARGE
}

/// Whether a statement has entries of the tables that flat statements rarely have.
fn is_compound(added: Marks) -> bool {
    let Marks { ints, scalars, comprehensions, iterators, loops, recurrences, .. } = added;
    [ints, scalars, comprehensions, iterators, loops, recurrences].into_iter().any(|len| len > 0)
}

struct Packer<'o> {
    out: &'o mut Vec<u32>,
    numbers: &'o mut Vec<Numbers>,
    start: u32,
    marks: Marks,
}

impl Packer<'_> {
    #[inline]
    fn put<const N: usize>(&mut self, words: [u32; N]) {
        self.out.extend_from_slice(&words);
    }

    fn id(&self, id: ExprId) -> u32 {
        (id.index() - self.marks.exprs) as u32
    }

    fn maybe(&self, id: Option<ExprId>) -> u32 {
        id.map_or(0, |id| self.id(id) + 1)
    }

    fn offset(&self, place: u32) -> u32 {
        place.wrapping_sub(self.start)
    }

    /// A place, and fewer than 64 besides.
    #[inline]
    fn place(&mut self, span: Span, with: u32) {
        let (start, len) = (self.offset(span.start), span.end - span.start);
        if start < place::MAX && len < place::MAX {
            self.out.push((start << place::BITS | len) << place::SHIFT | with);
        } else {
            self.put([place::WIDE << place::SHIFT | with, start, len]);
        }
    }

    fn statement(&mut self, ast: &Ast, added: Marks, assignment: &Assignment) {
        let (marks, compound) = (self.marks, is_compound(added));
        let how = if compound { how::COMPOUND } else { how::PACKED };
        let Marks { exprs, lists, calls, args, .. } = added;
        room::reserve(self.out, 8 * (exprs + lists + calls + args) + 16);
        self.put([how << 24 | pair(exprs, lists), pair(calls, args), self.start, self.offset(assignment.span.end)]);
        let (target, value) = (self.id(assignment.target), self.id(assignment.value));
        self.put([pair(target as usize, value as usize)]);
        for at in marks.exprs..ast.exprs.len() {
            self.expr(ast, at);
        }
        ast.lists[marks.lists..].iter().for_each(|item| self.put([self.id(*item)]));
        ast.calls[marks.calls..].iter().for_each(|call| self.call(call));
        ast.args[marks.args..].iter().for_each(|arg| self.arg(arg));
        if compound {
            self.rare_tables(ast, added);
        }
    }

    fn rare_tables(&mut self, ast: &Ast, added: Marks) {
        let marks = self.marks;
        let Marks { ints, scalars, comprehensions, iterators, loops, recurrences, .. } = added;
        self.put([ints, scalars].map(|len| len as u32));
        self.put([comprehensions, iterators, loops, recurrences].map(|len| len as u32));
        ast.ints[marks.ints..].iter().for_each(|value| self.put(halves(*value as u64)));
        ast.scalars[marks.scalars..].iter().for_each(|value| self.put(halves(value.to_bits())));
        for of in &ast.comprehensions[marks.comprehensions..] {
            self.put(range(of.iterators, marks.iterators));
            self.put([self.maybe(of.filter), self.id(of.item)]);
        }
        for iterator in &ast.iterators[marks.iterators..] {
            self.ident(iterator.name, 0);
            self.put([self.id(iterator.iterable)]);
        }
        ast.loops[marks.loops..].iter().for_each(|of| self.loop_of(of));
        for recurrence in &ast.recurrences[marks.recurrences..] {
            self.ident(recurrence.name, 0);
            self.put([recurrence.ty.map_or(0, |ty| ty.0 + 1), self.id(recurrence.initial)]);
        }
    }

    /// An identifier, and fewer than 64 besides.
    #[inline]
    fn ident(&mut self, ident: Ident, with: u32) {
        self.place(ident.span, with);
        self.put([ident.name.index() as u32]);
    }

    fn call(&mut self, call: &Call) {
        self.ident(call.name, Primitive::number_of(call.generic.map(|(primitive, _)| primitive)));
        let [start, len] = range(call.args, self.marks.args);
        self.put([pair(start as usize, len as usize)]);
        if let Some((_, span)) = call.generic {
            self.place(span, 0);
        }
    }

    fn arg(&mut self, arg: &Arg) {
        self.put([self.id(arg.value) << 1 | u32::from(arg.name.is_some())]);
        if let Some(name) = arg.name {
            self.ident(name, 0);
        }
    }

    fn loop_of(&mut self, of: &Loop) {
        let marks = self.marks;
        let bit = |holds: bool, bit: u32| if holds { bit } else { 0 };
        let bits = bit(of.unroll, parts::UNROLL) | bit(of.block, parts::BLOCK) | bit(of.index.is_some(), parts::INDEX);
        self.put([bits, self.maybe(of.before), self.maybe(of.count), self.maybe(of.after)]);
        self.put(range(of.recurrences, marks.recurrences));
        self.put(range(of.iterators, marks.iterators));
        self.put(range(of.statements, marks.lists));
        self.put(range(of.results, marks.lists));
        of.index.into_iter().for_each(|index| self.ident(index, 0));
    }

    #[inline]
    fn expr(&mut self, ast: &Ast, at: usize) {
        let expr = ast.exprs[at];
        let (tag, words) = self.words(expr);
        self.place(ast.spans[at], tag);
        // All four, and back: no branch depends on how many are needed.
        let end = self.out.len() + tag::WORDS[tag as usize];
        self.put(words);
        self.out.truncate(end);
        if let Expr::Numbers(id) = expr {
            self.numbers.push(ast.numbers[id.index()].clone());
        }
    }

    /// What an expression has besides its place.
    fn words(&self, expr: Expr) -> (u32, [u32; 4]) {
        let marks = self.marks;
        let list = |range: ListRange, mark: usize| self::range(range, mark).into();
        let (tag, (a, b)) = match expr {
            Expr::Error => (tag::ERROR, (0, 0)),
            Expr::Name(name) => (tag::NAME, (name.index() as u32, 0)),
            Expr::Int(value) => (tag::INT, halves(value as u64).into()),
            Expr::Scalar(value) => (tag::SCALAR, halves(value.to_bits()).into()),
            Expr::Logical(value) => (tag::LOGICAL, (u32::from(value), 0)),
            Expr::String(name) => (tag::STRING, (name.index() as u32, 0)),
            Expr::Array(range) => (tag::ARRAY, list(range, marks.lists)),
            Expr::IntArray(range) => (tag::INT_ARRAY, list(range, marks.ints)),
            Expr::ScalarArray(range) => (tag::SCALAR_ARRAY, list(range, marks.scalars)),
            Expr::Numbers(_) => (tag::NUMBERS, (0, 0)),
            Expr::Tuple(range) => (tag::TUPLE, list(range, marks.lists)),
            Expr::Unary { op, operand } => (tag::UNARY, (op as u32, self.id(operand))),
            Expr::Index { base, index } => (tag::INDEX, (self.id(base), self.id(index))),
            Expr::Comprehension(id) => (tag::COMPREHENSION, ((id.index() - marks.comprehensions) as u32, 0)),
            Expr::Builtin { function, argument } => (tag::BUILTIN, (function as u32, self.id(argument))),
            Expr::Call(id) => (tag::CALL, ((id.index() - marks.calls) as u32, 0)),
            Expr::Loop(id) => (tag::LOOP, ((id.index() - marks.loops) as u32, 0)),
            Expr::Binary { op, lhs, rhs, at } => {
                return (tag::BINARY, [self.id(lhs), self.id(rhs), op as u32, self.offset(at)]);
            }
            Expr::Select { condition, yes, no } => {
                return (tag::SELECT, [self.id(condition), self.id(yes), self.id(no), 0]);
            }
            Expr::Slice { base, begin, end } => {
                return (tag::SLICE, [self.id(base), self.maybe(begin), self.maybe(end), 0]);
            }
        };
        (tag, [a, b, 0, 0])
    }
}

fn range(range: ListRange, mark: usize) -> [u32; 2] {
    [(range.start as usize - mark) as u32, range.len]
}

fn halves(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}
