//! The statements of a graph, packed.
//!
//! A graph of a million statements has millions of nodes, which are needed once, some at a time.
//! They are kept as bytes – the nodes in their order, numbers as short as they are – and unpacked
//! into a small tree again and again. What is packed needs a fifth of the memory, and what works
//! on the small tree stays in the cache of the processor. Of a statement that differs from an
//! earlier one in nothing but its names, no more than these are kept (`forms.rs`). A statement of
//! so many nodes that they are in no cache anyway keeps its tree.

mod forms;
mod pack;
mod spelling;
mod unpack;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::ast::{Assignment, Ast, Marks, Numbers};
use crate::room;
use crate::source::Span;
use crate::source::names::Name;
pub(crate) use forms::{Form, FormId, FormReader, Forms, Look, Word};
use pack::How;

/// How many bytes are unpacked at a time, and a statement more: few at first, as what is learnt
/// from one chunk makes the next ones cheaper, and then more and more.
const FIRST_CHUNK: usize = 256;
const CHUNK: usize = 32 * 1024;

/// The statements of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statements {
    bytes: Vec<u8>,
    /// The long literal arrays, in their order.
    numbers: Vec<Numbers>,
    /// The statements that are not packed, in their order.
    large: Vec<Large>,
    count: usize,
    /// Where the last statement starts.
    last: u32,
    /// From brace to brace.
    pub span: Span,
    /// How often names are assigned that are assigned more than once.
    reassigned: FxHashMap<Name, u32>,
    /// The forms of the text.
    forms: Arc<Forms>,
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
pub struct Chunk {
    /// The nodes.
    pub ast: Arc<Ast>,
    /// The statements.
    pub(crate) statements: Vec<Statement>,
    /// The names of those that have a form.
    pub(crate) words: Vec<Word>,
}

/// A statement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Statement {
    /// With nodes, and with the form if it has one.
    Whole(Assignment, Option<Like>),
    /// Without nodes.
    Like(Like),
}

/// A statement that has a form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Like {
    /// The form.
    pub form: FormId,
    /// Where the statement stands.
    pub start: u32,
    /// The first of its names among those of the chunk.
    pub words: u32,
}

impl Chunk {
    /// The statements that have nodes: all but those that the reader was told to leave as they are.
    pub fn assignments(&self) -> impl Iterator<Item = &Assignment> {
        self.statements.iter().filter_map(|statement| match statement {
            Statement::Whole(assignment, _) => Some(assignment),
            Statement::Like(_) => None,
        })
    }

    /// Whether it is a statement of many nodes, which has no other beside it.
    pub(crate) fn is_long(&self) -> bool {
        self.ast.exprs.len() >= LARGE && self.statements.len() == 1
    }

    /// The names of a statement that has a form, those of later ones behind them.
    pub(crate) fn words_of(&self, like: &Like) -> &[Word] {
        &self.words[like.words as usize..]
    }

    /// Gives a statement its nodes.
    pub(crate) fn make_whole(&mut self, index: usize, forms: &Forms) {
        if let Statement::Like(like) = self.statements[index] {
            self.statements[index] = self.whole(like, forms);
        }
    }

    fn whole(&mut self, like: Like, forms: &Forms) -> Statement {
        let words = &self.words[like.words as usize..];
        Statement::Whole(forms.get(like.form).whole(like.start, words, Arc::make_mut(&mut self.ast)), Some(like))
    }
}

/// Unpacks statements from the first to the last.
#[derive(Clone, Debug)]
pub struct Reader<'s> {
    bytes: &'s [u8],
    numbers: &'s [Numbers],
    large: &'s [Large],
    last: u32,
    forms: &'s Forms,
    chunk: usize,
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
        self.reader_with(&self.forms)
    }

    fn reader_with<'s>(&'s self, forms: &'s Forms) -> Reader<'s> {
        Reader { bytes: &self.bytes, numbers: &self.numbers, large: &self.large, last: 0, forms, chunk: FIRST_CHUNK }
    }

    /// The forms of the text that they are of.
    pub(crate) fn forms(&self) -> &Forms {
        &self.forms
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
        let first = reader.begin();
        self.begin(first.how, first.start);
        self.bytes.extend_from_slice(reader.bytes);
        self.numbers.extend_from_slice(reader.numbers);
        self.large.extend(other.large);
        (self.count, self.last) = (self.count - 1 + other.count, other.last);
    }

    /// Unpacks all statements, of a text with these forms, behind what a tree has already.
    pub(crate) fn unpack_into(&self, forms: &Forms, ast: &mut Ast) -> Vec<Assignment> {
        let (mut reader, mut words) = (self.reader_with(forms), Vec::new());
        (0..self.count).map_while(|_| reader.whole(ast, &mut words)).collect()
    }

    /// Ends the body.
    pub(crate) fn finish(&mut self, targets: Targets, forms: Arc<Forms>) {
        (self.reassigned, self.forms) = (targets.reassigned, forms);
    }
}

impl Reader<'_> {
    /// Replaces the contents of a chunk by the next statements; false where there are no more.
    pub fn next(&mut self, chunk: &mut Chunk) -> bool {
        self.next_unless(chunk, |_| false)
    }

    /// The same, without making nodes of statements of some forms.
    pub(crate) fn next_unless(&mut self, chunk: &mut Chunk, leaves: impl Fn(FormId) -> bool) -> bool {
        match Arc::get_mut(&mut chunk.ast) {
            Some(ast) => ast.clear(),
            None => chunk.ast = Arc::default(),
        }
        chunk.statements.clear();
        chunk.words.clear();
        let goal = self.bytes.len().saturating_sub(self.chunk);
        self.chunk = (self.chunk * 2).min(CHUNK);
        let before = self.bytes.len();
        while !self.bytes.is_empty() && (self.bytes.len() > goal || self.bytes.len() == before) {
            let (rest, last) = (self.bytes, self.last);
            let begin = self.begin();
            let statement = match begin.how {
                How::Whole => Statement::Whole(self.nodes(begin.start, Arc::make_mut(&mut chunk.ast)), None),
                How::Large if chunk.statements.is_empty() => return self.take_large(chunk),
                How::Large => {
                    // It is a chunk of its own, the next one.
                    (self.bytes, self.last) = (rest, last);
                    return true;
                }
                How::Like(form) => {
                    let like = Like { form, start: begin.start, words: chunk.words.len() as u32 };
                    self.words(self.forms.get(form), &mut chunk.words);
                    if leaves(form) { Statement::Like(like) } else { chunk.whole(like, self.forms) }
                }
            };
            room::push(&mut chunk.statements, statement);
        }
        self.bytes.len() < before
    }

    /// Makes the next statement that is not packed all of a chunk.
    fn take_large(&mut self, chunk: &mut Chunk) -> bool {
        let Some((Large { ast, assignment }, rest)) = self.large.split_first() else { return false };
        self.large = rest;
        chunk.ast = Arc::clone(ast);
        chunk.statements.push(Statement::Whole(*assignment, None));
        true
    }

    /// Unpacks one statement behind what a tree has already.
    fn whole(&mut self, ast: &mut Ast, words: &mut Vec<Word>) -> Option<Assignment> {
        let begin = self.begin();
        Some(match begin.how {
            How::Whole => self.nodes(begin.start, ast),
            How::Large => {
                let (large, rest) = self.large.split_first()?;
                self.large = rest;
                ast.append(&large.ast, Marks::default(), &large.assignment)
            }
            How::Like(form) => {
                let form = self.forms.get(form);
                words.clear();
                self.words(form, words);
                form.whole(begin.start, words, ast)
            }
        })
    }
}
