//! From words to nodes. The words are our own, so what cannot be is not looked for; nothing worse
//! than an [`Expr::Error`] would come of it.

use super::Reader;
use super::pack::{how, parts, place, tag};
use crate::graph::Primitive;
use crate::graph::operators::{BINARY, BUILTINS, UNARY};
use crate::nnef::ast::{
    Arg, Assignment, Ast, Call, CallId, Comprehension, ComprehensionId, Expr, ExprId, Ident, Iterator, ListRange, Loop,
    LoopId, Marks, Numbers, Recurrence, TypeSpecId,
};
use crate::room;
use crate::source::Span;
use crate::source::names::Name;

impl Reader<'_> {
    /// Unpacks the next statement behind what the tree has already; none where it is kept as a tree.
    pub(super) fn statement(&mut self, ast: &mut Ast) -> Option<Assignment> {
        let [first, second, start, end] = *self.words.first_chunk()?;
        if first >> 24 == how::TREE {
            return None;
        }
        let (words, numbers) = (&self.words[4..], self.numbers);
        let mut unpacker = Unpacker { words, numbers, start, marks: Marks::of(ast) };
        let (target, value) = unpacker.nodes(ast, first, second);
        let span = Span { start, end: start + end };
        (self.words, self.numbers) = (unpacker.words, unpacker.numbers);
        Some(Assignment { target, value, span })
    }
}

struct Unpacker<'w> {
    words: &'w [u32],
    /// The next long literal arrays.
    numbers: &'w [Numbers],
    start: u32,
    marks: Marks,
}

impl Unpacker<'_> {
    /// Takes words off; 0 where there are none.
    #[inline]
    fn get<const N: usize>(&mut self) -> [u32; N] {
        let Some((words, rest)) = self.words.split_first_chunk() else { return [0; N] };
        self.words = rest;
        *words
    }

    fn id(&self, number: u32) -> ExprId {
        ExprId::at(self.marks.exprs + number as usize)
    }

    fn maybe(&self, number: u32) -> Option<ExprId> {
        (number > 0).then(|| self.id(number - 1))
    }

    /// A place, and what is in the bits below.
    #[inline]
    fn place(&mut self) -> (Span, u32) {
        let [word] = self.get();
        let (at, with) = (word >> place::SHIFT, word & ((1 << place::SHIFT) - 1));
        let (start, len) = match at {
            place::WIDE => self.get::<2>().into(),
            at => (at >> place::BITS, at & place::MAX),
        };
        let start = self.start.wrapping_add(start);
        (Span { start, end: start + len }, with)
    }

    fn range(&mut self, mark: usize) -> ListRange {
        let [start, len] = self.get();
        range(start, len, mark)
    }

    /// Unpacks the nodes of a statement, and tells which of them are its sides.
    fn nodes(&mut self, ast: &mut Ast, first: u32, second: u32) -> (ExprId, ExprId) {
        let ((exprs, lists), (calls, args)) = (pair(first), pair(second));
        let [sides] = self.get();
        let room = self.words.len().min(exprs);
        room::reserve(&mut ast.exprs, room);
        room::reserve(&mut ast.spans, room);
        for _ in 0..exprs {
            let (expr, span) = self.expr(ast);
            ast.exprs.push(expr);
            ast.spans.push(span);
        }
        self.fill(&mut ast.lists, lists, |unpacker| {
            let [item] = unpacker.get();
            unpacker.id(item)
        });
        self.fill(&mut ast.calls, calls, Self::call);
        self.fill(&mut ast.args, args, Self::arg);
        if first >> 24 == how::COMPOUND {
            self.rare_tables(ast);
        }
        let (target, value) = pair(sides);
        (self.id(target as u32), self.id(value as u32))
    }

    fn rare_tables(&mut self, ast: &mut Ast) {
        let [ints, scalars] = self.get().map(|len| len as usize);
        let [comprehensions, iterators, loops, recurrences] = self.get().map(|len| len as usize);
        self.fill(&mut ast.ints, ints, |unpacker| joined(unpacker.get()) as i64);
        self.fill(&mut ast.scalars, scalars, |unpacker| f64::from_bits(joined(unpacker.get())));
        self.fill(&mut ast.comprehensions, comprehensions, Self::comprehension);
        self.fill(&mut ast.iterators, iterators, Self::iterator);
        self.fill(&mut ast.loops, loops, Self::loop_of);
        self.fill(&mut ast.recurrences, recurrences, Self::recurrence);
    }

    /// Adds so many items to a table.
    #[inline(always)]
    fn fill<T>(&mut self, table: &mut Vec<T>, items: usize, mut next: impl FnMut(&mut Self) -> T) {
        if items > 0 {
            // An item takes a word at least.
            room::reserve(table, self.words.len().min(items));
            table.extend((0..items).map(|_| next(self)));
        }
    }

    fn comprehension(&mut self) -> Comprehension {
        let iterators = self.range(self.marks.iterators);
        let [filter, item] = self.get();
        Comprehension { iterators, filter: self.maybe(filter), item: self.id(item) }
    }

    /// An identifier, and what is with its place.
    #[inline]
    fn ident(&mut self) -> (Ident, u32) {
        let (span, with) = self.place();
        let [name] = self.get();
        (Ident { name: Name::new(name as usize), span }, with)
    }

    fn iterator(&mut self) -> Iterator {
        let (name, _) = self.ident();
        let [iterable] = self.get();
        Iterator { name, iterable: self.id(iterable) }
    }

    fn recurrence(&mut self) -> Recurrence {
        let (name, _) = self.ident();
        let [ty, initial] = self.get();
        Recurrence { name, ty: ty.checked_sub(1).map(TypeSpecId), initial: self.id(initial) }
    }

    fn loop_of(&mut self) -> Loop {
        let marks = self.marks;
        let [has, before, count, after] = self.get();
        Loop {
            unroll: has & parts::UNROLL != 0,
            block: has & parts::BLOCK != 0,
            before: self.maybe(before),
            count: self.maybe(count),
            after: self.maybe(after),
            recurrences: self.range(marks.recurrences),
            iterators: self.range(marks.iterators),
            statements: self.range(marks.lists),
            results: self.range(marks.lists),
            index: (has & parts::INDEX != 0).then(|| self.ident().0),
        }
    }

    fn call(&mut self) -> Call {
        let (name, generic) = self.ident();
        let [args] = self.get();
        let (start, len) = pair(args);
        let generic = Primitive::of_number(generic).map(|primitive| (primitive, self.place().0));
        Call { name, generic, args: range(start as u32, len as u32, self.marks.args) }
    }

    fn arg(&mut self) -> Arg {
        let [word] = self.get();
        let name = (word & 1 != 0).then(|| self.ident().0);
        Arg { name, value: self.id(word >> 1) }
    }

    #[inline]
    fn expr(&mut self, ast: &mut Ast) -> (Expr, Span) {
        let (span, tag) = self.place();
        let mut words = [0; 4];
        match self.words.first_chunk() {
            Some(next) => words = *next,
            // Near the end of the words.
            None => words[..self.words.len()].copy_from_slice(self.words),
        }
        let count = tag::WORDS.get(tag as usize).copied().unwrap_or_default();
        self.words = self.words.get(count..).unwrap_or_default();
        (self.of_words(tag, words, ast), span)
    }

    #[inline]
    fn of_words(&mut self, tag: u32, [a, b, c, d]: [u32; 4], ast: &mut Ast) -> Expr {
        let marks = self.marks;
        match tag {
            tag::NAME => Expr::Name(Name::new(a as usize)),
            tag::INT => Expr::Int(joined([a, b]) as i64),
            tag::SCALAR => Expr::Scalar(f64::from_bits(joined([a, b]))),
            tag::LOGICAL => Expr::Logical(a != 0),
            tag::STRING => Expr::String(Name::new(a as usize)),
            tag::ARRAY => Expr::Array(range(a, b, marks.lists)),
            tag::INT_ARRAY => Expr::IntArray(range(a, b, marks.ints)),
            tag::SCALAR_ARRAY => Expr::ScalarArray(range(a, b, marks.scalars)),
            tag::NUMBERS => self.shared_array(ast),
            tag::TUPLE => Expr::Tuple(range(a, b, marks.lists)),
            tag::UNARY => Expr::Unary { op: row(UNARY, a).op, operand: self.id(b) },
            tag::BINARY => {
                let (lhs, rhs, at) = (self.id(a), self.id(b), self.start.wrapping_add(d));
                Expr::Binary { op: row(BINARY, c).op, lhs, rhs, at }
            }
            tag::SELECT => Expr::Select { condition: self.id(a), yes: self.id(b), no: self.id(c) },
            tag::INDEX => Expr::Index { base: self.id(a), index: self.id(b) },
            tag::SLICE => Expr::Slice { base: self.id(a), begin: self.maybe(b), end: self.maybe(c) },
            tag::COMPREHENSION => Expr::Comprehension(ComprehensionId(marks.comprehensions as u32 + a)),
            tag::BUILTIN => Expr::Builtin { function: row(BUILTINS, a).op, argument: self.id(b) },
            tag::CALL => Expr::Call(CallId(marks.calls as u32 + a)),
            tag::LOOP => Expr::Loop(LoopId(marks.loops as u32 + a)),
            _ => Expr::Error,
        }
    }

    #[inline(never)]
    fn shared_array(&mut self, ast: &mut Ast) -> Expr {
        let Some((next, rest)) = self.numbers.split_first() else { return Expr::Error };
        self.numbers = rest;
        ast.shared_array(next.clone())
    }
}

fn range(start: u32, len: u32, mark: usize) -> ListRange {
    ListRange { start: mark as u32 + start, len }
}

/// Two numbers of 12 bits.
fn pair(word: u32) -> (usize, usize) {
    ((word & 0xFFF) as usize, (word >> 12 & 0xFFF) as usize)
}

fn joined([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// The row of a table of operators by its number.
fn row<T>(table: &'static [T], number: u32) -> &'static T {
    table.get(number as usize).unwrap_or(&table[0])
}
