//! Interned identifiers: every name of a run is a number, compared and hashed as such.

use std::hash::BuildHasher;

use indexmap::IndexMap;
use indexmap::map::raw_entry_v1::{RawEntryApiV1, RawEntryMut};
use rustc_hash::FxBuildHasher;

/// An interned identifier or string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(u32);

impl Name {
    /// The name of an index.
    pub(crate) fn from_index(index: usize) -> Name {
        Name(index as u32)
    }

    /// The index in order of first appearance.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The table of interned names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    set: IndexMap<Box<str>, (), FxBuildHasher>,
}

impl Names {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The name of a text, added when new.
    pub fn intern(&mut self, text: &str) -> Name {
        // Most names of a large text are met once: one hash serves the look-up and the insertion.
        let hash = FxBuildHasher.hash_one(text);
        match self.set.raw_entry_mut_v1().from_key_hashed_nocheck(hash, text) {
            RawEntryMut::Occupied(entry) => Name(entry.index() as u32),
            RawEntryMut::Vacant(entry) => {
                let index = entry.index();
                entry.insert_hashed_nocheck(hash, text.into(), ());
                Name(index as u32)
            }
        }
    }

    /// The name of a text, if it was ever interned.
    pub fn get(&self, text: &str) -> Option<Name> {
        self.set.get_index_of(text).map(|index| Name(index as u32))
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        self.set.get_index(name.index()).map_or("", |(text, ())| text)
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.set.len()
    }

    /// Whether no name was interned.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
}
