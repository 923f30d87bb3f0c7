//! Forms: statements that are spelled alike but for their names and labels.
//!
//! Flat text has millions of statements of a few forms. Of a statement whose form is known only
//! these are kept; its nodes are made of those of the first one where they are asked for.

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::Hasher;

use super::pack::Packer;
use super::spelling::{Callees, HoleKind, Key, Spelling};
use crate::nnef::ast::{Assignment, Ast, Expr, ExprId, Marks, Numbers};
use crate::source::Span;
use crate::source::names::{Name, Names};

/// The most forms of a text. A text with more has hardly two statements of one.
const MAX_FORMS: usize = 4096;
/// How many statements of unknown forms there may be before reading looks whether it is worth it.
const TRIALS: usize = 4096;

/// Identifies a [`Form`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormId(u32);

impl FormId {
    /// The form at a position.
    pub(super) fn at(index: usize) -> Self {
        FormId(index as u32)
    }

    /// The position in its table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A name or label of a statement whose form is known, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The name.
    pub name: Name,
    /// How many bytes it has, without quotes.
    pub len: u32,
}

impl Word {
    /// How many bytes it takes, packed.
    pub(super) const SIZE: usize = 5;

    pub(super) fn to_bytes(self) -> [u8; Word::SIZE] {
        let [a, b, c, d] = (self.name.index() as u32).to_le_bytes();
        // No longer name is looked at.
        [a, b, c, d, self.len as u8]
    }

    pub(super) fn from_bytes([a, b, c, d, len]: [u8; Word::SIZE]) -> Self {
        Word { name: Name::new(u32::from_le_bytes([a, b, c, d]) as usize), len: u32::from(len) }
    }
}

/// Where a name or label stands in the statement that a form was learnt from, and its node: an
/// expression, or a call if it is what that calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hole {
    pub start: u32,
    pub end: u32,
    pub node: u32,
    pub kind: HoleKind,
}

/// A statement with holes for its names and labels, the first of them on the left side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Form {
    /// How it is spelled.
    key: Key,
    /// The nodes, packed as if the statement stood at the start of the text.
    pub(super) packed: Vec<u8>,
    /// The long literal arrays among them.
    pub(super) numbers: Vec<Numbers>,
    pub(super) holes: SmallVec<[Hole; 4]>,
    /// How many bytes the statement has.
    pub(super) len: u32,
    targets: u32,
}

impl Form {
    /// How many names and labels it has.
    pub fn names(&self) -> usize {
        self.holes.len()
    }

    /// How many of the names are on the left side.
    pub fn targets(&self) -> usize {
        self.targets as usize
    }

    /// Whether it has labels.
    pub fn has_labels(&self) -> bool {
        self.holes.iter().any(|hole| hole.kind == HoleKind::Label)
    }

    /// Which of the names and labels stand for tensors, and their nodes.
    pub fn tensors(&self) -> impl Iterator<Item = (u32, ExprId)> {
        let tensors = self.holes.iter().zip(0..).filter(|(hole, _)| hole.kind == HoleKind::Name);
        tensors.map(|(hole, i)| (i, ExprId::new(hole.node as usize)))
    }

    /// Which of the names are those of fragments that are called, and their places in the first
    /// statement.
    pub fn called(&self) -> impl Iterator<Item = (u32, Span)> {
        let called = self.holes.iter().zip(0..).filter(|(hole, _)| hole.kind == HoleKind::Called);
        called.map(|(hole, i)| (i, Span { start: hole.start, end: hole.end }))
    }

    /// The place of a name in a statement of this form.
    pub fn hole_span(&self, hole: usize, start: u32, words: &[Word]) -> Span {
        let start = start + self.shifted(self.holes[hole].start, words);
        Span { start, end: start + words[hole].len }
    }

    /// Which of the names and labels a node of the first statement is.
    pub fn hole(&self, node: ExprId) -> Option<u32> {
        let is_it = |hole: &Hole| hole.kind != HoleKind::Called && hole.node as usize == node.index();
        self.holes.iter().position(is_it).map(|hole| hole as u32)
    }

    /// How many names and labels stand before a place in the first statement, and how long they are there.
    pub fn before(&self, at: u32) -> (u32, u32) {
        let before = self.holes.iter().take_while(|hole| hole.start < at);
        before.fold((0, 0), |(count, len), hole| (count + 1, len + hole.end - hole.start))
    }

    /// The place in a statement of this form with other names that a place in the first one is.
    pub fn shifted(&self, at: u32, words: &[Word]) -> u32 {
        let before = self.holes.iter().zip(words).take_while(|(hole, _)| hole.start < at);
        before.fold(at, |place, (hole, word)| place + word.len - (hole.end - hole.start))
    }

    /// Gives nodes of the first statement, from `marks` on, other names.
    pub(super) fn rename(&self, words: &[Word], ast: &mut Ast, marks: Marks) {
        for (hole, word) in self.holes.iter().zip(words) {
            let node = hole.node as usize;
            match hole.kind {
                HoleKind::Name => ast.exprs[marks.exprs + node] = Expr::Name(word.name),
                HoleKind::Label => ast.exprs[marks.exprs + node] = Expr::String(word.name),
                HoleKind::Called => ast.calls[marks.calls + node].name.name = word.name,
            }
        }
    }

    /// Makes nodes of the first statement those of one with other names: nodes from `marks` on,
    /// with places relative to `start`.
    pub(super) fn adapt(&self, words: &[Word], start: u32, ast: &mut Ast, marks: Marks) {
        self.rename(words, ast, marks);
        if self.holes.iter().zip(words).all(|(hole, word)| hole.end - hole.start == word.len) {
            return;
        }
        let place = |at: u32| start + self.shifted(at - start, words);
        let shift = |span: &mut Span| *span = Span { start: place(span.start), end: place(span.end) };
        ast.spans[marks.exprs..].iter_mut().for_each(shift);
        for call in &mut ast.calls[marks.calls..] {
            shift(&mut call.name.span);
            call.generic.iter_mut().for_each(|(_, span)| shift(span));
        }
        ast.args[marks.args..].iter_mut().filter_map(|arg| arg.name.as_mut()).for_each(|name| shift(&mut name.span));
        ast.iterators[marks.iterators..].iter_mut().for_each(|iterator| shift(&mut iterator.name.span));
        for expr in &mut ast.exprs[marks.exprs..] {
            if let Expr::Binary { at, .. } = expr {
                *at = place(*at);
            }
        }
    }

    /// The form of a statement that was read; none where its nodes are not those of its names.
    fn of(spelling: &Spelling, ast: &Ast, marks: Marks, assignment: &Assignment) -> Option<Self> {
        let (start, len) = (assignment.span.start, assignment.span.end - assignment.span.start);
        if len != spelling.len() {
            return None;
        }
        let mut holes = SmallVec::new();
        for (from, to, kind) in spelling.holes() {
            let (from, to) = (from - spelling.start(), to - spelling.start());
            // The node of a string has the quotes, too.
            let quote = u32::from(kind == HoleKind::Label);
            let span = Span { start: start + from - quote, end: start + to + quote };
            let is_it = |id: &usize| match (kind, ast.exprs[*id]) {
                (HoleKind::Name, Expr::Name(_)) | (HoleKind::Label, Expr::String(_)) => ast.spans[*id] == span,
                _ => false,
            };
            let node = match kind {
                HoleKind::Called => ast.calls[marks.calls..].iter().position(|call| call.name.span == span)?,
                _ => (marks.exprs..ast.exprs.len()).find(is_it)? - marks.exprs,
            };
            holes.push(Hole { start: from, end: to, node: node as u32, kind });
        }
        let (mut packed, mut numbers) = (Vec::new(), Vec::new());
        Packer::new(&mut packed, &mut numbers, start, marks).nodes(ast, assignment);
        Some(Form { key: spelling.to_key(), packed, numbers, holes, len, targets: spelling.targets() })
    }
}

/// The forms of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Forms {
    list: Vec<Form>,
}

impl Forms {
    /// A form.
    pub fn get(&self, id: FormId) -> &Form {
        &self.list[id.index()]
    }
}

/// Learns forms while a text is read, and finds them again.
#[derive(Debug, Default)]
pub(crate) struct FormReader {
    pub forms: Forms,
    spelling: Spelling,
    /// The forms by hashes of their spellings; none of a spelling that was met once.
    met: FxHashMap<u64, Option<FormId>>,
    found: usize,
    missed: usize,
    /// Whether a form can be made of the spelling.
    learns: bool,
    words: SmallVec<[Word; 8]>,
    guesses: Guesses,
}

/// What form comes after two others: networks repeat themselves.
#[derive(Debug)]
struct Guesses {
    after: Box<[Option<FormId>; GUESSES]>,
    last: Option<FormId>,
    place: usize,
}

/// How many guesses are kept; a power of two.
const GUESSES: usize = 256;

impl Default for Guesses {
    fn default() -> Self {
        Guesses { after: Box::new([None; GUESSES]), last: None, place: 0 }
    }
}

impl Guesses {
    fn next(&self) -> Option<FormId> {
        self.after[self.place]
    }

    /// Notes what came.
    fn came(&mut self, form: Option<FormId>) {
        self.after[self.place] = form;
        let number = |form: Option<FormId>| form.map_or(0, |form| form.index() + 1);
        self.place = (number(self.last) * 31 + number(form)) % GUESSES;
        self.last = form;
    }
}

/// A statement whose form is known.
pub(crate) struct Found<'f> {
    pub form: FormId,
    pub words: &'f [Word],
    /// How many of these are on the left side.
    pub targets: usize,
    /// Where it stands in the text.
    pub start: u32,
    pub end: u32,
}

/// What is known of a statement before it is read.
pub(crate) enum Look<'f> {
    /// Its form.
    Known(Found<'f>),
    /// Its form may be learnt, once it is read.
    New,
    /// Nothing.
    Odd,
}

impl FormReader {
    /// Looks at the statement with which a text starts. `declared` says with which words the
    /// fragments are declared that statements may call in place of each other, by name.
    pub fn look(&mut self, text: &str, names: &mut Names, declared: &[u32]) -> Look<'_> {
        if self.missed > TRIALS && self.found < self.missed {
            return Look::Odd;
        }
        let callees = Callees { names, words: declared };
        let Some((form, end)) = self.guess(text, callees).or_else(|| self.find(text, callees)) else {
            self.guesses.came(None);
            return if std::mem::take(&mut self.learns) { Look::New } else { Look::Odd };
        };
        self.guesses.came(Some(form));
        self.found += 1;
        self.words.clear();
        for &(from, to) in self.spelling.names() {
            let name = names.intern_within(text, from as usize..to as usize);
            self.words.push(Word { name, len: to - from });
        }
        let (start, targets) = (self.spelling.start(), self.forms.get(form).targets());
        Look::Known(Found { form, words: &self.words, targets, start, end })
    }

    /// The form that is likely to come, and where the statement ends if it came.
    fn guess(&mut self, text: &str, callees: Callees) -> Option<(FormId, u32)> {
        let guess = self.guesses.next()?;
        let end = self.spelling.fit(&self.forms.get(guess).key, text, callees)?;
        Some((guess, end))
    }

    fn find(&mut self, text: &str, callees: Callees) -> Option<(FormId, u32)> {
        let end = self.spelling.scan(text, callees)?;
        let hash = self.hash();
        match self.met.get(&hash) {
            Some(Some(form)) if self.forms.get(*form).key.is(&self.spelling) => return Some((*form, end)),
            Some(met) => self.learns = met.is_none(),
            None if self.met.len() < MAX_FORMS => {
                self.met.insert(hash, None);
            }
            None => {}
        }
        self.missed += 1;
        None
    }

    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        hasher.write(self.spelling.key());
        hasher.finish()
    }

    /// Learns the form of the statement that was looked at last, of the nodes behind the marks.
    pub fn learn(&mut self, ast: &Ast, marks: Marks, assignment: &Assignment) {
        if let Some(form) = Form::of(&self.spelling, ast, marks, assignment) {
            self.met.insert(self.hash(), Some(FormId::at(self.forms.list.len())));
            self.forms.list.push(form);
        }
    }
}
