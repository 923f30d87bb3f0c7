//! Fragments that are told by their spelling.
//!
//! Generated documents have thousands of fragments that differ in nothing but their names and
//! those of the fragments that they call. Of such a fragment only these names are kept, and where
//! it stands: nodes, what the checks find out, and code are those of the first one, its model.
//! What is called is read already and declared with the same words, so that the model speaks for
//! all: see `grammar/plain/alike.rs`, which finds them.

use smallvec::SmallVec;

use crate::source::Span;
use crate::source::names::{Name, Names};

/// A name in the text of a model that others may have another one for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    /// Where it stands.
    pub span: Span,
    /// Which of the names of the pattern it is.
    pub name: u32,
}

/// The text of a fragment with holes for its own name and for those of fragments that it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The model, as an index into [`Module::fragments`](super::ast::Module::fragments).
    pub model: u32,
    /// The model from its keyword to its closing brace.
    pub span: Span,
    /// The names in the order of the text; its own is the first one.
    pub holes: SmallVec<[Hole; 2]>,
    /// What they are in the model, each one once; its own is the first one.
    pub names: SmallVec<[Name; 2]>,
}

/// A fragment that is told by its spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Alike {
    /// Its pattern.
    pub pattern: u32,
    /// Where its keyword stands.
    pub start: u32,
    /// Its names, in [`AlikeFragments::names`]: as many as the pattern has, in their order.
    pub names: u32,
}

/// The fragments of a text that are told by their spelling.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlikeFragments {
    pub(crate) patterns: Vec<Pattern>,
    pub(crate) list: Vec<Alike>,
    pub(crate) names: Vec<Name>,
}

impl AlikeFragments {
    /// The number of these fragments.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The name of a fragment.
    pub fn name(&self, index: usize) -> Name {
        self.names[self.list[index].names as usize]
    }

    /// The names of all, and where their keywords stand.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, Name)> {
        self.list.iter().map(|alike| (alike.start, self.names[alike.names as usize]))
    }

    /// The fragment that one is like, as an index into the fragments of the module.
    #[inline]
    pub(crate) fn model(&self, index: usize) -> usize {
        self.patterns[self.list[index].pattern as usize].model as usize
    }

    /// What a fragment calls where its model calls a fragment of this name; none where it is the
    /// same.
    #[inline]
    pub(crate) fn called(&self, index: usize, name: Name) -> Option<Name> {
        let alike = self.list[index];
        let names = &self.patterns[alike.pattern as usize].names;
        let position = names[1..].iter().position(|known| *known == name)? + 1;
        Some(self.names[alike.names as usize + position])
    }

    /// The place in a fragment that one in its model is.
    pub(crate) fn place(&self, index: usize, span: Span, names: &Names) -> Span {
        let alike = self.list[index];
        let pattern = &self.patterns[alike.pattern as usize];
        let own = &self.names[alike.names as usize..];
        let moved = alike.start.wrapping_sub(pattern.span.start);
        let mut place = Span { start: span.start.wrapping_add(moved), end: span.end.wrapping_add(moved) };
        for hole in pattern.holes.iter().take_while(|hole| hole.span.start < span.end) {
            let len = names.text_len(own[hole.name as usize]);
            let longer = len.wrapping_sub(hole.span.end - hole.span.start);
            place.end = place.end.wrapping_add(longer);
            if hole.span.start < span.start {
                place.start = place.start.wrapping_add(longer);
            }
        }
        place
    }

    /// The place of a fragment's name.
    pub(crate) fn name_place(&self, index: usize, names: &Names) -> Span {
        let pattern = &self.patterns[self.list[index].pattern as usize];
        self.place(index, pattern.holes[0].span, names)
    }
}
