//! The texts of the standard libraries, and their declarations.

use std::sync::OnceLock;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::declared::Declared;
use super::read::declarations;
use crate::graph::Dialect;

/// Declarations by name, in the order of their text.
type Declarations = IndexMap<&'static str, Declared, FxBuildHasher>;

/// A text of declarations.
#[derive(Debug)]
pub(crate) struct Library {
    /// The name of the text in messages.
    pub(crate) file: &'static str,
    /// The text.
    pub(crate) text: &'static str,
    /// What a standard library has, and a registry has not.
    pub(crate) standard: Option<Standard>,
    /// What the text declares; it is read once per process.
    read: OnceLock<Declarations>,
}

/// What a standard library is besides its text.
#[derive(Debug)]
pub(crate) struct Standard {
    /// The dialect.
    pub(super) dialect: Dialect,
    /// The names and the syntax tree of the text: a test of `nnef::document` makes them.
    pub(crate) tree: &'static [u8],
}

impl Library {
    pub(super) const fn new(file: &'static str, text: &'static str, standard: Option<Standard>) -> Self {
        Library { file, text, standard, read: OnceLock::new() }
    }

    fn read(&self) -> &Declarations {
        self.read.get_or_init(|| {
            let declared = declarations(self.text, self.standard.as_ref().map(|standard| standard.dialect));
            declared.map(|declared| (declared.name, declared)).collect()
        })
    }

    /// All declarations, in the order of the text.
    pub(crate) fn declarations(&self) -> impl Iterator<Item = &Declared> {
        self.read().values()
    }

    /// The declaration of an operation.
    pub(crate) fn find(&self, operation: &str) -> Option<&Declared> {
        self.read().get(operation)
    }
}

static V1: Library = Library::new(
    "<standard library>",
    include_str!("std/nnef-1.0.nnef"),
    Some(Standard { dialect: Dialect::V1, tree: include_bytes!("std/nnef-1.0.tree") }),
);
static DRAFT: Library = Library::new(
    "<draft standard library>",
    include_str!("std/nnef-draft.nnef"),
    Some(Standard { dialect: Dialect::Draft, tree: include_bytes!("std/nnef-draft.tree") }),
);

/// The standard library of a dialect.
pub(crate) fn standard(dialect: Dialect) -> &'static Library {
    match dialect {
        Dialect::V1 => &V1,
        Dialect::Draft => &DRAFT,
    }
}
