//! Scopes: what names refer to in the body that is being checked.

use crate::source::names::Name;

/// The number of each name: its slot or its fragment. The table is indexed by all names of the run;
/// after a body only the entries of the names in that body are cleared.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Each number plus one; 0 for a name without a number, so that memory of unused names stays untouched.
    slots: Vec<u32>,
}

impl Scope {
    /// An empty scope with entries for a number of names.
    pub(super) fn new(names: usize) -> Self {
        Scope { slots: vec![0; names] }
    }

    /// The number of a name.
    pub(super) fn get(&self, name: Name) -> Option<u32> {
        self.slots.get(name.index()).copied()?.checked_sub(1)
    }

    /// Sets the number of a name.
    pub(super) fn insert(&mut self, name: Name, slot: u32) {
        if self.slots.len() <= name.index() {
            self.slots.resize(name.index() + 1, 0);
        }
        self.slots[name.index()] = slot + 1;
    }

    /// Removes the number of a name.
    pub(super) fn remove(&mut self, name: Name) {
        if let Some(entry) = self.slots.get_mut(name.index()) {
            *entry = 0;
        }
    }
}
