//! Positions of parameters and results by their names.

use rustc_hash::FxHashMap;

use crate::source::names::Name;

/// How many names are searched for one by one.
const FEW: usize = 16;

/// How names of a list are found.
#[derive(Debug, Default)]
pub(crate) enum Positions {
    /// One by one.
    #[default]
    Search,
    /// In a table, where many of many names are to be found.
    Table(FxHashMap<Name, usize>),
}

impl Positions {
    /// For a list and a number of searches in it. The first of two equal names counts.
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
