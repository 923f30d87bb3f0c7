//! The outcome of the checks: a document with side tables by the ids of its syntax tree.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::fragments::Fragments;
use super::scope::Scope;
use super::tables::ModuleInfo;
use super::words::Words;
use crate::core::unit::UnitId;
use crate::graph::Extent;
use crate::nnef::document::{Document, ModuleId};
use crate::nnef::types::{Type, Types};
use crate::options::GivenShapes;
use crate::source::Location;
use crate::source::names::Name;

/// A local of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// Its name.
    pub(crate) name: Name,
    /// Its type.
    pub(crate) ty: Type,
    /// The byte offset of its name in its definition.
    pub(crate) start: u32,
    /// Whether an expression refers to it.
    pub(crate) used: bool,
}

/// The locals of a fragment's body, as positions in tables that all bodies share. Only the names of
/// locals are kept after the check.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BodyInfo {
    /// The first slot and the number of slots, in [`Checked::slot_names`].
    pub(super) slots: (u32, u32),
    /// The slot of the first result, in [`Checked::result_slots`].
    pub(super) results: u32,
}

/// The inputs and outputs of the graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct GraphInfo {
    /// The slot of each input; `None` if it is not assigned.
    pub(crate) inputs: Vec<Option<u32>>,
    /// The slot of each output.
    pub(crate) outputs: Vec<Option<u32>>,
}

/// A document with the results of its checks.
#[derive(Debug)]
pub(crate) struct Checked<'d> {
    /// The document.
    pub(crate) document: &'d Document,
    /// All fragments; complete before bodies are checked.
    pub(crate) fragments: Rc<Fragments>,
    /// The types that occur.
    pub(crate) types: Types,
    /// Side tables by module.
    pub(crate) modules: Vec<ModuleInfo>,
    /// Side tables of the statements of the graph that are checked now.
    pub(crate) statements: ModuleInfo,
    /// The bodies of fragments that were checked.
    pub(super) bodies: Vec<Option<BodyInfo>>,
    pub(super) slot_names: Vec<Name>,
    pub(super) result_slots: Vec<Option<u32>>,
    /// The inputs and outputs of the graph.
    pub(crate) graph: GraphInfo,
    /// Calls of `variable` whose literal label was reported already.
    pub(crate) wrong_labels: FxHashSet<Location>,
    pub(crate) words: Words,
    /// The shapes and values in the options, with the values of symbols in place of these symbols.
    pub(crate) given: GivenShapes,
    /// Values of dimension symbols in the options.
    pub(crate) symbols: FxHashMap<Name, Extent>,
    pub(super) document_scope: Scope,
    pub(super) standard_scope: Scope,
}

impl<'d> Checked<'d> {
    /// The fragment that a name refers to in a module. The standard library sees only its own fragments.
    pub(crate) fn find(&self, module: ModuleId, name: Name) -> Option<UnitId> {
        let found = self.document_scope.get(name).filter(|_| module != ModuleId::STANDARD);
        found.or_else(|| self.standard_scope.get(name)).map(|id| UnitId::at(id as usize))
    }

    /// A standard operation by its name.
    pub(crate) fn standard(&self, name: &str) -> Option<UnitId> {
        self.find(ModuleId::STANDARD, self.document.names().get(name)?)
    }

    /// The names of the slots of a fragment's body: parameters first, then locals and iterators in
    /// order of definition. Empty if no body was checked.
    pub(crate) fn slot_names(&self, id: UnitId) -> &[Name] {
        let (start, count) = self.bodies[id.index()].map_or((0, 0), |body| body.slots);
        &self.slot_names[start as usize..(start + count) as usize]
    }

    /// The slot of each result of a fragment's body; `None` if it is not assigned.
    pub(crate) fn result_slots(&self, id: UnitId) -> &[Option<u32>] {
        let Some(body) = self.bodies[id.index()] else { return &[] };
        let start = body.results as usize;
        &self.result_slots[start..start + self.fragment(id).results.len()]
    }

    /// The text of a name.
    pub(crate) fn text(&self, name: Name) -> &str {
        self.document.names().text(name)
    }
}
