//! Storage of the nodes of expressions: 16 bytes each.
//!
//! Nodes are most of the memory of a large document, and writing to memory costs as much time as parsing.
//! A node has a position, a kind, and two words of data. Kinds with more data keep the rest in a table of words.

use super::stored::{Bytes, TreePart, structures};
use super::{Arg, BinaryOp, Builtin, Call, CallId, ComprehensionId, Expr, ExprId, Ident, ListRange, LoopId};
use super::{NumbersId, UnaryOp};
use crate::graph::Primitive;
use crate::graph::operators::{BINARY, BUILTINS, UNARY};
use crate::room;
use crate::source::Span;
use crate::source::names::Name;

/// A node as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
struct StoredNode {
    /// The byte offset of its text.
    start: u32,
    /// Its kind, one of [`tag`], in the low bits; above them the length of its text.
    head: u32,
    a: u32,
    b: u32,
}

const _: () = assert!(size_of::<StoredNode>() == 16);

/// The kinds of nodes.
mod tag {
    pub(super) const BITS: u32 = 8;
    pub(super) const MASK: u32 = (1 << BITS) - 1;
    pub(super) const ERROR: u32 = 0;
    pub(super) const NAME: u32 = 1;
    pub(super) const INT: u32 = 2;
    pub(super) const SCALAR: u32 = 3;
    pub(super) const LOGICAL: u32 = 4;
    pub(super) const STRING: u32 = 5;
    pub(super) const ARRAY: u32 = 6;
    pub(super) const INT_ARRAY: u32 = 7;
    pub(super) const SCALAR_ARRAY: u32 = 8;
    pub(super) const NUMBERS: u32 = 9;
    pub(super) const TUPLE: u32 = 10;
    pub(super) const UNARY: u32 = 11;
    pub(super) const SELECT: u32 = 13;
    pub(super) const INDEX: u32 = 14;
    pub(super) const SLICE: u32 = 15;
    pub(super) const COMPREHENSION: u32 = 16;
    pub(super) const LOOP: u32 = 17;
    pub(super) const BUILTIN: u32 = 18;
    pub(super) const CALL: u32 = 19;
    /// The first of the binary operators, whose tags follow the order of their table.
    pub(super) const BINARY: u32 = 32;
}

/// Texts of this length or more have their length in [`Nodes::long`].
const LONG: u32 = u32::MAX >> tag::BITS;

/// The second word of a call in the table of words: the number of arguments, the length of the
/// operation's name, and flags for the words that follow.
mod shape {
    pub(super) const COUNT_BITS: u32 = 12;
    pub(super) const COUNT: u32 = (1 << COUNT_BITS) - 1;
    pub(super) const NAME_BITS: u32 = 16;
    pub(super) const NAME: u32 = (1 << NAME_BITS) - 1;
    /// The count or the length is too large; both follow in separate words.
    pub(super) const WIDE: u32 = 1 << 28;
    /// The type argument follows: its number and its span.
    pub(super) const GENERIC: u32 = 1 << 29;
    /// The name and span of each argument follow; zeros for positional arguments.
    pub(super) const NAMED: u32 = 1 << 30;
}

/// The number of words for the name of an argument.
const NAME_WORDS: usize = 3;

/// The table of nodes, children first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Nodes {
    nodes: Vec<StoredNode>,
    words: Vec<u32>,
    /// The nodes with long texts, in node order, and the lengths of these texts.
    long: Vec<(u32, u32)>,
}

/// What [`super::stored`] reads and writes: texts of libraries are never long.
impl TreePart for Nodes {
    fn read(from: &mut Bytes) -> Self {
        Nodes { nodes: TreePart::read(from), words: TreePart::read(from), long: Vec::new() }
    }

    #[cfg(test)]
    fn write(&self, to: &mut Vec<u8>) {
        assert!(self.long.is_empty());
        self.nodes.write(to);
        self.words.write(to);
    }
}

structures! {
    StoredNode { start, head, a, b }
}

/// The positions of the arguments of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Args {
    /// The values, in [`super::Ast::lists`].
    pub(super) values: ListRange,
    /// The position of the first word of their names; 0 if no argument is named.
    names: u32,
}

/// The arguments of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments<'a> {
    pub(super) values: &'a [ExprId],
    /// The name of each argument in three words; empty if no argument is named.
    pub(super) names: &'a [u32],
}

impl<'a> Arguments<'a> {
    /// How many there are.
    pub(crate) fn len(self) -> usize {
        self.values.len()
    }

    /// Whether any argument is named.
    #[inline]
    pub(crate) fn have_names(self) -> bool {
        !self.names.is_empty()
    }

    /// The values if all arguments are positional, otherwise empty.
    pub(crate) fn by_position(self) -> &'a [ExprId] {
        if self.names.is_empty() { self.values } else { &[] }
    }

    /// The argument at a position.
    #[inline]
    pub(crate) fn get(self, index: usize) -> Option<Arg> {
        let value = *self.values.get(index)?;
        let name = self.names.get(NAME_WORDS * index..).and_then(<[u32]>::first_chunk);
        let name = name.and_then(|&[name, start, end]: &[u32; NAME_WORDS]| {
            Some(Ident { name: Name::new(name.checked_sub(1)? as usize), span: Span { start, end } })
        });
        Some(Arg { name, value })
    }

    /// All of them in their order.
    pub(crate) fn iter(self) -> impl Iterator<Item = Arg> + Clone + 'a {
        (0..self.len()).filter_map(move |index| self.get(index))
    }
}

impl Nodes {
    pub(super) fn reserve(&mut self, nodes: usize, words: usize) {
        self.nodes.reserve(nodes);
        self.words.reserve(words);
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The lengths of the tables, for [`Nodes::truncate`].
    #[inline]
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.nodes.len(), self.words.len())
    }

    /// Removes all nodes that were added after the mark.
    pub(super) fn truncate(&mut self, (nodes, words): (usize, usize)) {
        self.nodes.truncate(nodes);
        self.words.truncate(words);
        while self.long.last().is_some_and(|(node, _)| *node as usize >= nodes) {
            self.long.pop();
        }
    }

    #[inline]
    fn add(&mut self, tag: u32, a: u32, b: u32, span: Span) -> ExprId {
        let len = span.end.wrapping_sub(span.start);
        if len >= LONG {
            self.long.push((self.nodes.len() as u32, len));
        }
        room::push(&mut self.nodes, StoredNode { start: span.start, head: len.min(LONG) << tag::BITS | tag, a, b });
        ExprId::at(self.nodes.len() - 1)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, expr: Expr, span: Span) -> ExprId {
        let (tag, a, b) = self.encode(expr);
        self.add(tag, a, b, span)
    }

    /// The tag and the words of an expression. Mostly inlined where the kind of the expression is known.
    #[inline(always)]
    fn encode(&mut self, expr: Expr) -> (u32, u32, u32) {
        let halves = |tag: u32, bits: u64| (tag, bits as u32, (bits >> 32) as u32);
        let range = |tag: u32, range: ListRange| (tag, range.start, range.len);
        match expr {
            Expr::Error => (tag::ERROR, 0, 0),
            Expr::Name(name) => (tag::NAME, name.index() as u32, 0),
            Expr::Int(value) => halves(tag::INT, value as u64),
            Expr::Scalar(value) => halves(tag::SCALAR, value.to_bits()),
            Expr::Logical(value) => (tag::LOGICAL, u32::from(value), 0),
            Expr::String(name) => (tag::STRING, name.index() as u32, 0),
            Expr::Array(items) => range(tag::ARRAY, items),
            Expr::IntArray(items) => range(tag::INT_ARRAY, items),
            Expr::ScalarArray(items) => range(tag::SCALAR_ARRAY, items),
            Expr::Numbers(id) => (tag::NUMBERS, id.0, 0),
            Expr::Tuple(items) => range(tag::TUPLE, items),
            Expr::Unary { op, operand } => (tag::UNARY, op as u32, word(operand)),
            Expr::Binary { op, lhs, rhs, at } => (tag::BINARY + op as u32, word(lhs), self.rest([word(rhs), at])),
            Expr::Select { condition, yes, no } => (tag::SELECT, 0, self.rest([condition, yes, no].map(word))),
            Expr::Index { base, index } => (tag::INDEX, word(base), word(index)),
            Expr::Slice { base, begin, end } => {
                (tag::SLICE, word(base), self.rest([begin, end].map(|bound| bound.map_or(0, |id| word(id) + 1))))
            }
            Expr::Comprehension(id) => (tag::COMPREHENSION, id.0, 0),
            Expr::Loop(id) => (tag::LOOP, id.0, 0),
            Expr::Builtin { function, argument } => (tag::BUILTIN, function as u32, word(argument)),
            // A further node of an existing call shares its words.
            Expr::Call(CallId(id)) => (tag::CALL, self.nodes[id as usize].a, self.nodes[id as usize].b),
        }
    }

    /// Adds words and returns the position of the first one.
    fn rest<const N: usize>(&mut self, words: [u32; N]) -> u32 {
        room::reserve(&mut self.words, N);
        self.words.extend_from_slice(&words);
        (self.words.len() - N) as u32
    }

    /// `N` words from a position on.
    #[inline]
    fn words<const N: usize>(&self, at: u32) -> [u32; N] {
        self.words.get(at as usize..).and_then(<[u32]>::first_chunk).copied().unwrap_or([0; N])
    }

    /// Decodes an expression. Only the most frequent kinds (names, calls, operators) are decoded inline.
    #[inline(always)]
    pub(super) fn expr(&self, id: ExprId) -> Expr {
        let node = self.nodes[id.index()];
        match node.head & tag::MASK {
            tag::NAME => Expr::Name(Name::new(node.a as usize)),
            tag::CALL => Expr::Call(CallId(id.index() as u32)),
            tag if tag >= tag::BINARY => {
                let [rhs, at] = self.words(node.b);
                Expr::Binary { op: binary(tag - tag::BINARY), lhs: self::node(node.a), rhs: self::node(rhs), at }
            }
            _ => self.other_expr(node),
        }
    }

    /// The left operand of a binary operator, or the base of a subscript.
    #[inline]
    pub(super) fn left(&self, id: ExprId) -> Option<ExprId> {
        let StoredNode { head, a, .. } = self.nodes[id.index()];
        match head & tag::MASK {
            tag::INDEX | tag::SLICE => Some(node(a)),
            tag if tag >= tag::BINARY => Some(node(a)),
            _ => None,
        }
    }

    #[inline(never)]
    fn other_expr(&self, StoredNode { head, a, b, .. }: StoredNode) -> Expr {
        let range = ListRange { start: a, len: b };
        let bits = u64::from(b) << 32 | u64::from(a);
        match head & tag::MASK {
            tag::INT => Expr::Int(bits as i64),
            tag::SCALAR => Expr::Scalar(f64::from_bits(bits)),
            tag::LOGICAL => Expr::Logical(a != 0),
            tag::STRING => Expr::String(Name::new(a as usize)),
            tag::ARRAY => Expr::Array(range),
            tag::INT_ARRAY => Expr::IntArray(range),
            tag::SCALAR_ARRAY => Expr::ScalarArray(range),
            tag::NUMBERS => Expr::Numbers(NumbersId(a)),
            tag::TUPLE => Expr::Tuple(range),
            tag::UNARY => Expr::Unary { op: unary(a), operand: node(b) },
            tag::SELECT => {
                let [condition, yes, no] = self.words(b).map(node);
                Expr::Select { condition, yes, no }
            }
            tag::INDEX => Expr::Index { base: node(a), index: node(b) },
            tag::SLICE => {
                let [begin, end] = self.words(b).map(|word| word.checked_sub(1).map(node));
                Expr::Slice { base: node(a), begin, end }
            }
            tag::COMPREHENSION => Expr::Comprehension(ComprehensionId(a)),
            tag::LOOP => Expr::Loop(LoopId(a)),
            tag::BUILTIN => Expr::Builtin { function: builtin(a), argument: node(b) },
            _ => Expr::Error,
        }
    }

    #[inline]
    pub(super) fn span(&self, id: ExprId) -> Span {
        let StoredNode { start, head, .. } = self.nodes[id.index()];
        let len = head >> tag::BITS;
        Span { start, end: start.wrapping_add(if len < LONG { len } else { self.long_len(id) }) }
    }

    #[cold]
    fn long_len(&self, id: ExprId) -> u32 {
        let found = self.long.binary_search_by_key(&(id.index() as u32), |(node, _)| *node);
        found.map_or(0, |found| self.long[found].1)
    }

    /// Adds a call. Its text begins with its name.
    #[inline]
    pub(super) fn push_call(
        &mut self,
        name: Ident,
        generic: Option<(Primitive, Span)>,
        (args, values): (&[Arg], ListRange),
        end: u32,
    ) -> ExprId {
        let name_len = name.span.end - name.span.start;
        let named = args.iter().any(|arg| arg.name.is_some());
        let wide = values.len > shape::COUNT || name_len > shape::NAME;
        let flag = |holds: bool, flag: u32| if holds { flag } else { 0 };
        let flags = flag(wide, shape::WIDE) | flag(generic.is_some(), shape::GENERIC) | flag(named, shape::NAMED);
        let at = match wide {
            true => self.rest([values.start, flags, values.len, name_len]),
            false => self.rest([values.start, flags | name_len << shape::COUNT_BITS | values.len]),
        };
        if let Some((primitive, span)) = generic {
            self.rest([Primitive::number_of(Some(primitive)), span.start, span.end]);
        }
        for arg in args.iter().filter(|_| named) {
            let name = |Ident { name, span }: Ident| [name.index() as u32 + 1, span.start, span.end];
            self.rest(arg.name.map_or([0; NAME_WORDS], name));
        }
        let span = Span { start: name.span.start, end };
        self.add(tag::CALL, name.name.index() as u32, at, span)
    }

    #[inline]
    pub(super) fn call(&self, CallId(id): CallId) -> Call {
        let StoredNode { start, a, b, .. } = self.nodes[id as usize];
        let [first, shape] = self.words(b);
        let (mut count, mut name_len, mut next) =
            (shape & shape::COUNT, shape >> shape::COUNT_BITS & shape::NAME, b + 2);
        if shape & shape::WIDE != 0 {
            [count, name_len] = self.words(next);
            next += 2;
        }
        let mut generic = None;
        if shape & shape::GENERIC != 0 {
            let [number, start, end] = self.words(next);
            generic = Primitive::of_number(number).map(|primitive| (primitive, Span { start, end }));
            next += 3;
        }
        let name = Ident { name: Name::new(a as usize), span: Span { start, end: start + name_len } };
        let names = if shape & shape::NAMED == 0 { 0 } else { next };
        Call { name, generic, args: Args { values: ListRange { start: first, len: count }, names } }
    }

    /// The names of the arguments of a call.
    #[inline]
    pub(super) fn argument_names(&self, args: Args) -> &[u32] {
        let len = if args.names == 0 { 0 } else { NAME_WORDS * args.values.len as usize };
        self.words.get(args.names as usize..args.names as usize + len).unwrap_or_default()
    }
}

fn word(id: ExprId) -> u32 {
    id.index() as u32
}

fn node(word: u32) -> ExprId {
    ExprId::at(word as usize)
}

/// The operator with a number, which is its position in the table.
fn unary(number: u32) -> UnaryOp {
    UNARY.get(number as usize).unwrap_or(&UNARY[0]).op
}

fn binary(number: u32) -> BinaryOp {
    BINARY.get(number as usize).unwrap_or(&BINARY[0]).op
}

fn builtin(number: u32) -> Builtin {
    BUILTINS.get(number as usize).unwrap_or(&BUILTINS[0]).op
}

#[cfg(test)]
mod tests;
