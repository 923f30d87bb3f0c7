//! The state of the check of a body between its statements.

use rustc_hash::FxHashMap;

use super::Slot;
use super::scope::Scope;
use crate::core::unit::UnitId;
use crate::nnef::ast::{Body, GraphDecl};
use crate::source::Span;
use crate::source::names::Name;

/// Which body is being checked.
#[derive(Clone, Copy)]
pub(super) enum CheckedBody<'c> {
    Graph(&'c GraphDecl),
    Fragment(UnitId, &'c Body),
}

/// The maximum number of slots whose memory is kept for the next body.
const ROOM: usize = 1 << 10;

/// The state of a body between its statements. Those of the graph are checked in groups.
#[derive(Default)]
pub(super) struct BodyState {
    /// The slots of names.
    pub(super) scope: Scope,
    pub(super) slots: Vec<Slot>,
    /// The positions of the results of a fragment, or of the inputs of a graph.
    pub(super) declared: Scope,
    /// Names that the body assigns somewhere, filled when a name is missing.
    pub(super) assigned_anywhere: Option<FxHashMap<Name, Span>>,
}

impl BodyState {
    /// An empty state for a number of names. `declared` grows as needed: few names are declared, and most
    /// of these have low positions.
    pub(super) fn new(names: usize) -> Self {
        BodyState { scope: Scope::new(names), ..BodyState::default() }
    }

    /// The names of the locals in scope.
    pub(super) fn names(&self) -> impl Iterator<Item = Name> {
        self.slots.iter().map(|slot| slot.name).filter(|&name| self.scope.get(name).is_some())
    }

    /// Clears the state after a fragment with these results, but keeps memory for the next body.
    pub(super) fn clear(&mut self, results: impl Iterator<Item = Name>) {
        self.slots.iter().for_each(|slot| self.scope.remove(slot.name));
        results.for_each(|name| self.declared.remove(name));
        self.slots.clear();
        self.slots.shrink_to(ROOM);
        self.assigned_anywhere = None;
    }
}
