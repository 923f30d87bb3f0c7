//! Interned identifiers: every name of a run is a number, compared and hashed as such.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// An interned identifier or string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(u32);

impl Name {
    /// The index in order of first appearance.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The table of interned names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    set: IndexSet<Box<str>, FxBuildHasher>,
}

impl Names {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The name of a text, added when new.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(index) = self.set.get_index_of(text) {
            return Name(index as u32);
        }
        Name(self.set.insert_full(text.into()).0 as u32)
    }

    /// The name of a text, if it was ever interned.
    pub fn get(&self, text: &str) -> Option<Name> {
        self.set.get_index_of(text).map(|index| Name(index as u32))
    }

    /// The text of a name.
    pub fn text(&self, name: Name) -> &str {
        self.set.get_index(name.index()).map_or("", |text| text)
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
