//! The statements of a graph, packed.
//!
//! A graph of a million statements has millions of nodes, which are needed once, some at a time.
//! They are kept as bytes – the nodes in their order, numbers as short as they are – and unpacked
//! into a small tree again and again. What is packed needs a fifth of the memory, and what works
//! on the small tree stays in the cache of the processor.

mod pack;
mod unpack;

use rustc_hash::FxHashMap;

use super::ast::{Assignment, Ast};
use super::names::Name;
use crate::source::Span;

/// How many bytes are unpacked at a time, and a statement more.
const CHUNK: usize = 32 * 1024;

/// The statements of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statements {
    bytes: Vec<u8>,
    count: usize,
    /// Where the last statement starts.
    last: u32,
    /// From brace to brace.
    pub span: Span,
    /// How often names are assigned that are assigned more than once.
    reassigned: FxHashMap<Name, u32>,
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
    fn assign(&mut self, name: Name) {
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
pub struct Chunk {
    /// The nodes.
    pub ast: Ast,
    /// The statements.
    pub assignments: Vec<Assignment>,
}

/// Unpacks statements from the first to the last.
#[derive(Clone, Debug)]
pub struct Reader<'s> {
    bytes: &'s [u8],
    last: u32,
}

impl Statements {
    /// The number of statements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How often a name is assigned, where that is more than once.
    pub fn reassigned(&self) -> &FxHashMap<Name, u32> {
        &self.reassigned
    }

    /// Unpacks them, some at a time.
    pub fn reader(&self) -> Reader<'_> {
        Reader { bytes: &self.bytes, last: 0 }
    }

    /// Calls a function with the statements, some at a time.
    pub fn each_chunk(&self, mut f: impl FnMut(&Chunk)) {
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
        let start = reader.start();
        pack::push_signed(&mut self.bytes, i64::from(start) - i64::from(self.last));
        self.bytes.extend_from_slice(reader.bytes);
        (self.count, self.last) = (self.count + other.count, other.last);
    }

    /// Unpacks all statements behind what a tree has already.
    pub(crate) fn unpack_into(&self, ast: &mut Ast) -> Vec<Assignment> {
        let mut reader = self.reader();
        (0..self.count).map(|_| reader.statement(ast)).collect()
    }

    /// Ends the body.
    pub(crate) fn finish(&mut self, targets: Targets) {
        self.reassigned = targets.reassigned;
    }
}

impl Reader<'_> {
    /// Replaces the contents of a chunk by the next statements; false where there are no more.
    pub fn next(&mut self, chunk: &mut Chunk) -> bool {
        chunk.ast.clear();
        chunk.assignments.clear();
        let goal = self.bytes.len().saturating_sub(CHUNK);
        let before = self.bytes.len();
        while !self.bytes.is_empty() && (self.bytes.len() > goal || self.bytes.len() == before) {
            let assignment = self.statement(&mut chunk.ast);
            chunk.assignments.push(assignment);
        }
        self.bytes.len() < before
    }
}
