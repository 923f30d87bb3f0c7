//! From bytes to nodes. The bytes are our own, so what cannot be is not looked for; nothing worse
//! than an [`Expr::Error`] would come of it.

use super::Reader;
use super::pack::{How, LOOPS, PRIMITIVES, parts, tag};
use crate::graph::operators::{BINARY, BUILTINS, UNARY};
use crate::nnef::ast::{
    Arg, Assignment, Ast, Call, CallId, Comprehension, ComprehensionId, Expr, ExprId, Ident, Iterator, ListRange, Loop,
    LoopId, Marks, Numbers, Recurrence, TypeSpecId,
};
use crate::room;
use crate::source::Span;
use crate::source::names::Name;

/// How a statement begins: how it is kept, and where it stands.
pub(super) struct Begin {
    pub(crate) how: How,
    pub(crate) start: u32,
}

impl Reader<'_> {
    /// Takes the beginning of the next statement off the bytes.
    pub(super) fn begin(&mut self) -> Begin {
        let mut unpacker = Unpacker::new(self.bytes, self.numbers, self.last, Marks::default());
        let how = if unpacker.byte() == How::Tree as u8 { How::Tree } else { How::Packed };
        let start = unpacker.offset();
        (self.bytes, self.last) = (unpacker.bytes, start);
        Begin { how, start }
    }

    /// Unpacks the rest of a statement, behind what the tree has already.
    pub(super) fn nodes(&mut self, start: u32, ast: &mut Ast) -> Assignment {
        let mut unpacker = Unpacker::new(self.bytes, self.numbers, start, Marks::of(ast));
        let len = unpacker.number() as u32;
        let (target, value) = unpacker.sides(ast);
        (self.bytes, self.numbers) = (unpacker.bytes, unpacker.numbers);
        Assignment { target, value, span: Span { start, end: start + len } }
    }
}

struct Unpacker<'b> {
    bytes: &'b [u8],
    /// The next long literal arrays.
    numbers: &'b [Numbers],
    start: u32,
    marks: Marks,
}

impl<'b> Unpacker<'b> {
    fn new(bytes: &'b [u8], numbers: &'b [Numbers], start: u32, marks: Marks) -> Self {
        Unpacker { bytes, numbers, start, marks }
    }

    /// Unpacks the nodes of a statement, and tells which of them are its sides.
    fn sides(&mut self, ast: &mut Ast) -> (ExprId, ExprId) {
        self.tables(ast);
        (self.expr_id(), self.expr_id())
    }

    fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((byte, rest)) => {
                self.bytes = rest;
                *byte
            }
            None => 0,
        }
    }

    #[inline]
    fn number(&mut self) -> u64 {
        let byte = self.byte();
        if byte < 0x80 { u64::from(byte) } else { self.long_number(byte) }
    }

    /// A number of several bytes, from its first one.
    fn long_number(&mut self, mut byte: u8) -> u64 {
        let mut value = u64::from(byte & 0x7f);
        let mut shift = 7;
        while byte >= 0x80 && shift < 64 {
            byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
        }
        value
    }

    fn signed(&mut self) -> i64 {
        let value = self.number();
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }

    fn scalar(&mut self) -> f64 {
        match self.bytes.split_first_chunk() {
            Some((bytes, rest)) => {
                self.bytes = rest;
                f64::from_le_bytes(*bytes)
            }
            None => 0.0,
        }
    }

    /// A place, given relative to the start.
    fn offset(&mut self) -> u32 {
        (i64::from(self.start) + self.signed()) as u32
    }

    fn span(&mut self) -> Span {
        if let Some(([offset, len], rest)) = self.bytes.split_first_chunk()
            && (offset | len) < 0x80
            && offset & 1 == 0
        {
            self.bytes = rest;
            let start = self.start + u32::from(offset >> 1);
            return Span { start, end: start + u32::from(*len) };
        }
        let start = self.offset();
        Span { start, end: start + self.number() as u32 }
    }

    fn name(&mut self) -> Name {
        Name::new(self.number() as usize)
    }

    fn ident(&mut self) -> Ident {
        Ident { name: self.name(), span: self.span() }
    }

    fn id(&mut self, first: usize) -> u32 {
        first as u32 + self.number() as u32
    }

    fn expr_id(&mut self) -> ExprId {
        ExprId::new(self.id(self.marks.exprs) as usize)
    }

    fn maybe(&mut self) -> Option<ExprId> {
        let id = self.number();
        (id > 0).then(|| ExprId::new(self.marks.exprs + id as usize - 1))
    }

    fn range(&mut self, first: usize) -> ListRange {
        ListRange { start: self.id(first), len: self.number() as u32 }
    }

    fn tables(&mut self, ast: &mut Ast) {
        let exprs = self.number();
        let present = self.byte();
        let mut count = |bit: u8| if present & (1 << bit) != 0 { self.number() } else { 0 };
        let (lists, ints, scalars, calls) = (count(0), count(1), count(2), count(3));
        let (args, comprehensions, iterators) = (count(4), count(5), count(6));
        let (loops, recurrences) = if present & LOOPS != 0 { (self.number(), self.number()) } else { (0, 0) };
        let room = self.bytes.len().min(exprs as usize);
        room::reserve(&mut ast.exprs, room);
        room::reserve(&mut ast.spans, room);
        for _ in 0..exprs {
            let expr = self.expr(ast);
            ast.exprs.push(expr);
            ast.spans.push(self.span());
        }
        self.fill(&mut ast.lists, lists, Self::expr_id);
        self.fill(&mut ast.ints, ints, Self::signed);
        self.fill(&mut ast.scalars, scalars, Self::scalar);
        self.fill(&mut ast.calls, calls, Self::call);
        self.fill(&mut ast.args, args, Self::arg);
        self.fill(&mut ast.comprehensions, comprehensions, Self::comprehension);
        self.fill(&mut ast.iterators, iterators, Self::iterator);
        self.fill(&mut ast.loops, loops, Self::loop_of);
        self.fill(&mut ast.recurrences, recurrences, Self::recurrence);
    }

    /// Adds so many items to a table.
    #[inline(always)]
    fn fill<T>(&mut self, table: &mut Vec<T>, items: u64, mut next: impl FnMut(&mut Self) -> T) {
        if items > 0 {
            // An item takes a byte at least.
            room::reserve(table, self.bytes.len().min(items as usize));
            table.extend((0..items).map(|_| next(self)));
        }
    }

    fn comprehension(&mut self) -> Comprehension {
        let iterators = self.range(self.marks.iterators);
        Comprehension { iterators, filter: self.maybe(), item: self.expr_id() }
    }

    fn iterator(&mut self) -> Iterator {
        Iterator { name: self.ident(), iterable: self.expr_id() }
    }

    fn recurrence(&mut self) -> Recurrence {
        let name = self.ident();
        let ty = self.number().checked_sub(1).map(|ty| TypeSpecId(ty as u32));
        Recurrence { name, ty, initial: self.expr_id() }
    }

    fn loop_of(&mut self) -> Loop {
        let marks = self.marks;
        let has = self.byte();
        Loop {
            unroll: has & parts::UNROLL != 0,
            block: has & parts::BLOCK != 0,
            index: (has & parts::INDEX != 0).then(|| self.ident()),
            recurrences: self.range(marks.recurrences),
            iterators: self.range(marks.iterators),
            statements: self.range(marks.lists),
            results: self.range(marks.lists),
            before: self.maybe(),
            count: self.maybe(),
            after: self.maybe(),
        }
    }

    fn call(&mut self) -> Call {
        let name = self.ident();
        let generic = match self.byte() {
            0 => None,
            primitive => {
                let span = self.span();
                PRIMITIVES.get(usize::from(primitive) - 1).map(|&primitive| (primitive, span))
            }
        };
        Call { name, generic, args: self.range(self.marks.args) }
    }

    fn arg(&mut self) -> Arg {
        let name = (self.byte() != 0).then(|| self.ident());
        Arg { name, value: self.expr_id() }
    }

    fn expr(&mut self, ast: &mut Ast) -> Expr {
        let marks = self.marks;
        match self.byte() {
            tag::NAME => Expr::Name(self.name()),
            tag::INT => Expr::Int(self.signed()),
            tag::SCALAR => Expr::Scalar(self.scalar()),
            tag::FALSE => Expr::Logical(false),
            tag::TRUE => Expr::Logical(true),
            tag::STRING => Expr::String(self.name()),
            tag::ARRAY => Expr::Array(self.range(marks.lists)),
            tag::INT_ARRAY => Expr::IntArray(self.range(marks.ints)),
            tag::SCALAR_ARRAY => Expr::ScalarArray(self.range(marks.scalars)),
            tag::NUMBERS => self.shared_array(ast),
            tag::TUPLE => Expr::Tuple(self.range(marks.lists)),
            tag::CALL => Expr::Call(CallId(self.id(marks.calls))),
            tag::COMPREHENSION => Expr::Comprehension(ComprehensionId(self.id(marks.comprehensions))),
            tag::LOOP => Expr::Loop(LoopId(self.id(marks.loops))),
            tag => self.compound(tag),
        }
    }

    #[inline(never)]
    fn shared_array(&mut self, ast: &mut Ast) -> Expr {
        let Some((next, rest)) = self.numbers.split_first() else { return Expr::Error };
        self.numbers = rest;
        ast.shared_array(next.clone())
    }

    fn compound(&mut self, tag: u8) -> Expr {
        match tag {
            tag::UNARY => {
                let op = self.row(UNARY).op;
                Expr::Unary { op, operand: self.expr_id() }
            }
            tag::BINARY => {
                let op = self.row(BINARY).op;
                Expr::Binary { op, lhs: self.expr_id(), rhs: self.expr_id(), at: self.offset() }
            }
            tag::SELECT => Expr::Select { condition: self.expr_id(), yes: self.expr_id(), no: self.expr_id() },
            tag::INDEX => Expr::Index { base: self.expr_id(), index: self.expr_id() },
            tag::SLICE => Expr::Slice { base: self.expr_id(), begin: self.maybe(), end: self.maybe() },
            tag::BUILTIN => {
                let function = self.row(BUILTINS).op;
                Expr::Builtin { function, argument: self.expr_id() }
            }
            _ => Expr::Error,
        }
    }

    /// The row of a table of operators whose number comes next.
    fn row<T>(&mut self, table: &'static [T]) -> &'static T {
        table.get(usize::from(self.byte())).unwrap_or(&table[0])
    }
}
