//! What names mean in the body that is being checked.

use crate::nnef::names::Name;

/// Stands for a name without a slot.
const NONE: u32 = u32::MAX;

/// The slots of names: a table over all names of the run, so that a look-up is an index. It is
/// emptied after each body by what that body entered, not by its size.
#[derive(Debug, Default)]
pub(super) struct Scope {
    slots: Vec<u32>,
    entered: Vec<Name>,
}

impl Scope {
    /// An empty scope for so many names.
    pub(super) fn new(names: usize) -> Self {
        Scope { slots: vec![NONE; names], entered: Vec::new() }
    }

    /// The slot of a name.
    pub(super) fn get(&self, name: Name) -> Option<u32> {
        self.slots.get(name.index()).copied().filter(|&slot| slot != NONE)
    }

    /// Gives a name a slot.
    pub(super) fn insert(&mut self, name: Name, slot: u32) {
        if let Some(entry) = self.slots.get_mut(name.index()) {
            *entry = slot;
            self.entered.push(name);
        }
    }

    /// Takes the slot of a name away.
    pub(super) fn remove(&mut self, name: Name) {
        if let Some(entry) = self.slots.get_mut(name.index()) {
            *entry = NONE;
        }
    }

    /// The names that have slots.
    pub(super) fn names(&self) -> impl Iterator<Item = Name> {
        self.entered.iter().copied().filter(|&name| self.get(name).is_some())
    }

    /// The scope without names.
    pub(super) fn emptied(mut self) -> Self {
        for name in std::mem::take(&mut self.entered) {
            self.remove(name);
        }
        self
    }
}
