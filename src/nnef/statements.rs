//! The statements of a graph, packed.
//!
//! A graph of a million statements has millions of nodes, which are needed once, some at a time.
//! They are kept as words – the nodes in their order, most in two words – and unpacked
//! into a small tree again and again. What is packed needs two fifths of the memory, and what works
//! on the small tree stays in the cache of the processor. A statement of so many nodes that they
//! are in no cache anyway keeps its tree.

mod pack;
mod unpack;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::ast::{Assignment, Ast, Numbers};
use crate::room;
use crate::source::Span;
use crate::source::names::Name;

/// How many words are unpacked at a time, and a statement more.
const CHUNK: usize = 12 * 1024;

/// The statements of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Statements {
    words: Vec<u32>,
    /// The long literal arrays, in their order.
    numbers: Vec<Numbers>,
    /// The statements that are not packed, in their order.
    large: Vec<Large>,
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
    words: &'s [u32],
    numbers: &'s [Numbers],
    large: &'s [Large],
}

impl Statements {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How often a name is assigned, where that is more than once.
    pub(crate) fn reassigned(&self) -> &FxHashMap<Name, u32> {
        &self.reassigned
    }

    /// Unpacks them, some at a time.
    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { words: &self.words, numbers: &self.numbers, large: &self.large }
    }

    /// Calls a function with the statements, some at a time.
    pub(crate) fn each_chunk(&self, mut f: impl FnMut(&Chunk)) {
        let (mut reader, mut chunk) = (self.reader(), Chunk::default());
        while reader.next(&mut chunk) {
            f(&chunk);
        }
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
        let before = self.words.len();
        let goal = before.saturating_sub(CHUNK);
        let ast = Arc::make_mut(&mut chunk.ast);
        while !self.words.is_empty() && (self.words.len() > goal || self.words.len() == before) {
            match self.statement(ast) {
                Some(statement) => room::push(&mut chunk.statements, statement),
                // It is a chunk of its own, this one or the next.
                None if chunk.statements.is_empty() => return self.take_large(chunk),
                None => return true,
            }
        }
        self.words.len() < before
    }

    /// Makes the next statement that is not packed all of a chunk.
    fn take_large(&mut self, chunk: &mut Chunk) -> bool {
        let Some((Large { ast, assignment }, rest)) = self.large.split_first() else { return false };
        (self.large, self.words) = (rest, self.words.get(1..).unwrap_or_default());
        chunk.ast = Arc::clone(ast);
        chunk.statements.push(*assignment);
        true
    }
}
