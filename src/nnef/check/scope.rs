//! What names mean in the body that is being checked.

use crate::source::names::Name;

/// The numbers of names, as those of slots and fragments: a table over all names of the run, so that a look-up is
/// an index. It is emptied after each body by the names of that body, not by its size.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// Each number and one more; 0 for a name without one. Room that is never written to is not
    /// touched, then.
    slots: Vec<u32>,
}

impl Scope {
    /// An empty scope for so many names.
    pub(super) fn new(names: usize) -> Self {
        Scope { slots: vec![0; names] }
    }

    /// The number of a name.
    pub(super) fn get(&self, name: Name) -> Option<u32> {
        self.slots.get(name.index()).copied()?.checked_sub(1)
    }

    /// Gives a name a number.
    pub(super) fn insert(&mut self, name: Name, slot: u32) {
        if self.slots.len() <= name.index() {
            self.slots.resize(name.index() + 1, 0);
        }
        self.slots[name.index()] = slot + 1;
    }

    /// Takes the number of a name away.
    pub(super) fn remove(&mut self, name: Name) {
        if let Some(entry) = self.slots.get_mut(name.index()) {
            *entry = 0;
        }
    }
}
