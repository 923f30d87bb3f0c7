//! The fragments of a document that is checked, those among them that are told by their spelling.

use std::ops::Index;

use super::{Checked, FragmentId, FragmentInfo};
use crate::nnef::alike::AlikeFragments;
use crate::nnef::ast::{Fragment, Module};
use crate::nnef::document::ModuleId;
use crate::source::names::Name;
use crate::source::{FileId, Span};

/// The fragments of all modules but those that are told by their spelling: first those of the
/// standard library, which all documents share.
#[derive(Debug, Default)]
pub struct Fragments {
    standard: &'static [FragmentInfo],
    others: Vec<FragmentInfo>,
}

impl Fragments {
    /// None but those of the standard library.
    pub(super) fn beside(standard: &'static [FragmentInfo]) -> Self {
        Fragments { standard, others: Vec::new() }
    }

    /// Takes all out but those of the standard library.
    pub(super) fn take(&mut self) -> Vec<FragmentInfo> {
        std::mem::take(&mut self.others)
    }

    pub(super) fn push(&mut self, info: FragmentInfo) {
        self.others.push(info);
    }

    pub(super) fn reserve(&mut self, count: usize) {
        self.others.reserve(count);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.standard.len() + self.others.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &FragmentInfo> {
        self.standard.iter().chain(&self.others)
    }
}

impl Index<usize> for Fragments {
    type Output = FragmentInfo;

    #[inline]
    fn index(&self, index: usize) -> &FragmentInfo {
        match index.checked_sub(self.standard.len()) {
            Some(other) => &self.others[other],
            None => &self.standard[index],
        }
    }
}

impl<'d> Checked<'d> {
    /// All fragments but those that are told by their spelling.
    pub fn fragment_ids(&self) -> impl Iterator<Item = FragmentId> + use<> {
        (0..self.fragments.len()).map(FragmentId::at)
    }

    /// How many fragments there are.
    pub fn fragment_count(&self) -> usize {
        self.fragments.len() + self.alike().len()
    }

    /// The fragments that are told by their spelling.
    pub(crate) fn alike(&self) -> &'d AlikeFragments {
        &self.main.alike
    }

    /// The position of a fragment among those that are told by their spelling, if it is one.
    #[inline]
    pub(crate) fn alike_index(&self, id: FragmentId) -> Option<usize> {
        id.index().checked_sub(self.fragments.len())
    }

    /// The position in [`Checked::fragments`] of a fragment, or of that which it is like.
    #[inline]
    pub fn declared(&self, id: FragmentId) -> usize {
        match self.alike_index(id) {
            Some(index) => self.before_main + self.alike().model(index),
            None => id.index(),
        }
    }

    /// A fragment's signature, in which the name may be that of one that it is like.
    pub fn fragment(&self, id: FragmentId) -> &FragmentInfo {
        &self.fragments[self.declared(id)]
    }

    /// A fragment's name.
    pub fn fragment_name(&self, id: FragmentId) -> Name {
        match self.alike_index(id) {
            Some(index) => self.alike().name(index),
            None => self.fragments[id.index()].name,
        }
    }

    /// The names of all fragments in the order of the texts.
    pub(crate) fn fragment_names(&self) -> Vec<Name> {
        let mut of_main: Vec<(u32, Name)> = self.alike().iter().collect();
        of_main.extend(self.main.fragments.iter().map(|fragment| (fragment.span.start, fragment.name.name)));
        of_main.sort_unstable();
        let others = self.fragments.iter().take(self.before_main).map(|info| info.name);
        others.chain(of_main.into_iter().map(|(_, name)| name)).collect()
    }

    /// A module as it is checked.
    pub(crate) fn module(&self, id: ModuleId) -> &'d Module {
        match id == self.document.main_id() {
            true => self.main,
            false => self.document.module(id),
        }
    }

    /// The file that a fragment stands in.
    #[inline]
    pub(crate) fn file_of(&self, id: FragmentId) -> FileId {
        self.module(self.fragment(id).module).file
    }

    /// The declaration of a fragment, or of that which it is like.
    pub(crate) fn declaration(&self, info: &FragmentInfo) -> &'d Fragment {
        &self.module(info.module).fragments[info.index as usize]
    }

    /// What a place stands for in a fragment, where that is told by its spelling.
    #[inline]
    pub(crate) fn place_in(&self, id: Option<FragmentId>, span: Span) -> Span {
        match id.and_then(|id| self.alike_index(id)) {
            Some(index) => self.alike().place(index, span, self.document.names()),
            None => span,
        }
    }
}
