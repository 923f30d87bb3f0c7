//! The statements of a graph, packed.
//!
//! A graph of a million statements has millions of nodes, which are needed once, some at a time.
//! They are kept as bytes – the nodes in their order, numbers as short as they are – and unpacked
//! into a small tree again and again. What is packed needs a fifth of the memory, and what works
//! on the small tree stays in the cache of the processor. A statement of so many nodes that they
//! are in no cache anyway keeps its tree.

mod pack;
mod unpack;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::ast::{Assignment, Ast, Marks, Numbers};
use crate::room;
use crate::source::Span;
use crate::source::names::Name;
use pack::How;

/// How many bytes are unpacked at a time, and a statement more.
const CHUNK: usize = 32 * 1024;

/// The statements of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Statements {
    bytes: Vec<u8>,
    /// The long literal arrays, in their order.
    numbers: Vec<Numbers>,
    /// The statements that are not packed, in their order.
    large: Vec<Large>,
    count: usize,
    /// Where the last statement starts.
    last: u32,
    /// From brace to brace.
    pub(crate) span: Span,
    /// How often names are assigned that are assigned more than once.
    reassigned: FxHashMap<Name, u32>,
}

/// From so many expressions on a statement is not packed.
const LARGE: usize = 1 << 11;

/// A statement of very many nodes.
#[derive(Clone, Debug, PartialEq)]
struct Large {
    /// All of them, and nothing else.
    ast: Arc<Ast>,
    assignment: Assignment,
}

/// The names that the statements of a graph assign.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Targets {
    /// Those of all, as bits.
    assigned: Vec<u64>,
    /// How often names are assigned that are assigned more than once.
    reassigned: FxHashMap<Name, u32>,
}

impl Targets {
    /// Notes that a name is assigned.
    pub(crate) fn assign(&mut self, name: Name) {
        let (word, bit) = (name.index() / 64, 1u64 << (name.index() % 64));
        if self.assigned.len() <= word {
            self.assigned.resize(word + 1, 0);
        }
        if self.assigned[word] & bit != 0 {
            *self.reassigned.entry(name).or_insert(1) += 1;
        }
        self.assigned[word] |= bit;
    }
}

/// Some statements, with a tree of their own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunk {
    /// The nodes.
    pub(crate) ast: Arc<Ast>,
    /// The statements.
    pub(crate) statements: Vec<Assignment>,
}

/// Unpacks statements from the first to the last.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'s> {
    bytes: &'s [u8],
    numbers: &'s [Numbers],
    large: &'s [Large],
    last: u32,
}

impl Statements {
    /// The number of statements.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How often a name is assigned, where that is more than once.
    pub(crate) fn reassigned(&self) -> &FxHashMap<Name, u32> {
        &self.reassigned
    }

    /// Unpacks them, some at a time.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { bytes: &self.bytes, numbers: &self.numbers, large: &self.large, last: 0 }
    }

    /// Calls a function with the statements, some at a time.
    pub(crate) fn each_chunk(&self, mut f: impl FnMut(&Chunk)) {
        let (mut reader, mut chunk) = (self.reader(), Chunk::default());
        while reader.next(&mut chunk) {
            f(&chunk);
        }
    }

    /// Adds the statements of another body, which stand behind these.
    pub(crate) fn append(&mut self, other: Statements) {
        if self.is_empty() {
            *self = Statements { span: self.span, ..other };
            return;
        }
        let mut reader = other.reader();
        // The first one says where it starts relative to the beginning of the text.
        let first = reader.begin();
        self.begin(first.how, first.start);
        self.bytes.extend_from_slice(reader.bytes);
        self.numbers.extend_from_slice(reader.numbers);
        self.large.extend(other.large);
        (self.count, self.last) = (self.count - 1 + other.count, other.last);
    }

    /// Unpacks all statements behind what a tree has already.
    pub(crate) fn unpack_into(&self, ast: &mut Ast) -> Vec<Assignment> {
        let mut reader = self.reader();
        (0..self.count).map_while(|_| reader.statement(ast)).collect()
    }

    /// Ends the body.
    pub(crate) fn finish(&mut self, targets: Targets) {
        self.reassigned = targets.reassigned;
    }
}

impl Reader<'_> {
    /// Replaces the contents of a chunk by the next statements; false where there are no more.
    pub(crate) fn next(&mut self, chunk: &mut Chunk) -> bool {
        match Arc::get_mut(&mut chunk.ast) {
            Some(ast) => ast.clear(),
            None => chunk.ast = Arc::default(),
        }
        chunk.statements.clear();
        let goal = self.bytes.len().saturating_sub(CHUNK);
        let before = self.bytes.len();
        while !self.bytes.is_empty() && (self.bytes.len() > goal || self.bytes.len() == before) {
            let (rest, last) = (self.bytes, self.last);
            let begin = self.begin();
            match begin.how {
                How::Packed => {
                    let statement = self.nodes(begin.start, Arc::make_mut(&mut chunk.ast));
                    room::push(&mut chunk.statements, statement);
                }
                How::Tree if chunk.statements.is_empty() => return self.take_large(chunk),
                How::Tree => {
                    // It is a chunk of its own, the next one.
                    (self.bytes, self.last) = (rest, last);
                    return true;
                }
            }
        }
        self.bytes.len() < before
    }

    /// Makes the next statement that is not packed all of a chunk.
    fn take_large(&mut self, chunk: &mut Chunk) -> bool {
        let Some((Large { ast, assignment }, rest)) = self.large.split_first() else { return false };
        self.large = rest;
        chunk.ast = Arc::clone(ast);
        chunk.statements.push(*assignment);
        true
    }

    /// Unpacks one statement behind what a tree has already.
    fn statement(&mut self, ast: &mut Ast) -> Option<Assignment> {
        let begin = self.begin();
        Some(match begin.how {
            How::Packed => self.nodes(begin.start, ast),
            How::Tree => {
                let (large, rest) = self.large.split_first()?;
                self.large = rest;
                ast.append(&large.ast, Marks::default(), &large.assignment)
            }
        })
    }
}
