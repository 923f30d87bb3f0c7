//! Positions of parameters and results by their names.

use rustc_hash::FxHashMap;

use crate::source::names::Name;

/// Up to this many names or searches, a linear search is used.
const FEW: usize = 16;

/// A way to find the positions of names in a list.
#[derive(Debug, Default)]
pub(crate) enum Positions {
    /// A linear search.
    #[default]
    Search,
    /// A table, for many searches in a long list.
    Table(FxHashMap<Name, usize>),
}

impl Positions {
    /// Chooses the way by the length of a list and the number of searches. Of equal names the first is found.
    pub(crate) fn new(names: impl DoubleEndedIterator<Item = Name> + ExactSizeIterator, searches: usize) -> Self {
        match names.len().min(searches) <= FEW {
            true => Self::Search,
            false => Self::Table(names.enumerate().rev().map(|(i, name)| (name, i)).collect()),
        }
    }

    /// The position of a name in the list that the table was made for.
    pub(crate) fn find(&self, mut names: impl Iterator<Item = Name>, name: Name) -> Option<usize> {
        match self {
            Self::Search => names.position(|other| other == name),
            Self::Table(table) => table.get(&name).copied(),
        }
    }
}
