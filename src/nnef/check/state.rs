//! Which body is checked, and what is known of it between its statements.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Slot;
use super::scope::{Positions, Scope};
use crate::core::unit::UnitId;
use crate::nnef::ast::{Body, GraphDecl};
use crate::nnef::statements::Statements;
use crate::source::Span;
use crate::source::names::Name;

/// Which body is being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Graph,
    Fragment(UnitId),
}

/// Where the statements are.
#[derive(Clone, Copy)]
pub(super) enum Source<'c> {
    Fragment(&'c Body),
    Graph(&'c Statements),
}

/// The most locals for which room is kept from one body to the next.
pub(super) const ROOM: usize = 1 << 10;

/// What is known of a body between its statements. Those of the graph are checked some at a time.
#[derive(Default)]
pub(super) struct BodyState {
    pub(super) scope: Scope,
    pub(super) slots: Vec<Slot>,
    pub(super) results: Positions,
    pub(super) inputs: FxHashSet<Name>,
    pub(super) assigned_anywhere: Option<FxHashMap<Name, Span>>,
}

impl BodyState {
    /// That of any body, for so many names.
    pub(super) fn new(names: usize) -> Self {
        BodyState { scope: Scope::new(names), ..BodyState::default() }
    }

    pub(super) fn of_graph(graph: &GraphDecl, names: usize) -> Self {
        BodyState { inputs: graph.params.iter().map(|ident| ident.name).collect(), ..BodyState::new(names) }
    }

    /// How many slots there are so far.
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Forgets the body, but keeps room for the next one.
    pub(super) fn emptied(mut self) -> Self {
        self.scope.clear();
        self.slots.clear();
        self.slots.shrink_to(ROOM);
        BodyState { scope: self.scope, slots: self.slots, ..BodyState::default() }
    }
}
