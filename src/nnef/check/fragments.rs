//! The fragments of a document that is checked.

use std::ops::Index;

use super::{Checked, FragmentInfo};
use crate::core::unit::UnitId;
use crate::nnef::ast::{Fragment, Module};
use crate::nnef::document::ModuleId;
use crate::source::FileId;

/// The fragments of all modules: first those of the standard library, which all documents share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fragments {
    standard: &'static [FragmentInfo],
    others: Vec<FragmentInfo>,
}

impl Fragments {
    /// Only the fragments of the standard library.
    pub(super) fn beside(standard: &'static [FragmentInfo]) -> Self {
        Fragments { standard, others: Vec::new() }
    }

    /// Removes and returns all fragments outside the shared standard library.
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
    pub(crate) fn len(&self) -> usize {
        self.standard.len() + self.others.len()
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &FragmentInfo> {
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
    /// All fragments.
    pub(crate) fn fragment_ids(&self) -> impl Iterator<Item = UnitId> + use<> {
        (0..self.fragments.len()).map(UnitId::at)
    }

    /// A fragment's signature.
    pub(crate) fn fragment(&self, id: UnitId) -> &FragmentInfo {
        &self.fragments[id.index()]
    }

    /// A module.
    pub(crate) fn module(&self, id: ModuleId) -> &'d Module {
        self.document.module(id)
    }

    /// The file that declares a fragment.
    #[inline]
    pub(crate) fn file_of(&self, id: UnitId) -> FileId {
        self.module(self.fragment(id).module).file
    }

    /// The declaration of a fragment.
    pub(crate) fn declaration(&self, info: &FragmentInfo) -> &'d Fragment {
        &self.module(info.module).fragments[info.index as usize]
    }
}
