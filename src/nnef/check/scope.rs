//! What names mean in the body that is being checked.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::state::ROOM;
use crate::core::unit::UnitId;
use crate::source::names::Name;

/// The slots of names: a table over all names of the run, so that a look-up is an index. It is
/// emptied after each body by what that body entered, not by its size.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// Each slot and one more; 0 for a name without a slot. Room that is never written to is not
    /// touched, then.
    slots: Vec<u32>,
    entered: Vec<Name>,
}

impl Scope {
    /// An empty scope for so many names.
    pub(super) fn new(names: usize) -> Self {
        Scope { slots: vec![0; names], entered: Vec::new() }
    }

    /// The slot of a name.
    pub(super) fn get(&self, name: Name) -> Option<u32> {
        self.slots.get(name.index()).copied()?.checked_sub(1)
    }

    /// Gives a name a slot.
    pub(super) fn insert(&mut self, name: Name, slot: u32) {
        if let Some(entry) = self.slots.get_mut(name.index()) {
            *entry = slot + 1;
            self.entered.push(name);
        }
    }

    /// Takes the slot of a name away.
    pub(super) fn remove(&mut self, name: Name) {
        if let Some(entry) = self.slots.get_mut(name.index()) {
            *entry = 0;
        }
    }

    /// The names that have slots.
    pub(super) fn names(&self) -> impl Iterator<Item = Name> {
        self.entered.iter().copied().filter(|&name| self.get(name).is_some())
    }

    /// Takes all names out.
    pub(super) fn clear(&mut self) {
        for name in self.entered.drain(..) {
            if let Some(entry) = self.slots.get_mut(name.index()) {
                *entry = 0;
            }
        }
        self.entered.shrink_to(ROOM);
    }
}

/// How many names are compared one by one rather than looked up.
pub(super) const FEW: usize = 8;

/// Where names stand in a list. Most lists have few names, and there are many of them.
#[derive(Debug, Default)]
pub(super) struct Positions {
    few: SmallVec<[Name; FEW]>,
    /// Filled where there are more.
    many: FxHashMap<Name, u32>,
}

impl Positions {
    /// The position of a name; the last one where it stands there several times.
    pub(super) fn get(&self, name: Name) -> Option<u32> {
        match self.few.spilled() {
            false => self.few.iter().rposition(|&other| other == name).map(|position| position as u32),
            true => self.many.get(&name).copied(),
        }
    }
}

impl FromIterator<Name> for Positions {
    fn from_iter<T: IntoIterator<Item = Name>>(names: T) -> Self {
        let few: SmallVec<[Name; FEW]> = names.into_iter().collect();
        let many = if few.spilled() { few.iter().copied().zip(0..).collect() } else { FxHashMap::default() };
        Positions { few, many }
    }
}

/// The fragments that names mean: a table over names, up to the last one that means any.
#[derive(Clone, Debug, Default)]
pub(super) struct Declared(Vec<Option<UnitId>>);

impl Declared {
    /// The fragment of a name.
    pub(super) fn get(&self, name: Name) -> Option<UnitId> {
        self.0.get(name.index()).copied().flatten()
    }

    /// Gives a name its fragment.
    pub(super) fn insert(&mut self, name: Name, fragment: UnitId) {
        if self.0.len() <= name.index() {
            self.0.resize(name.index() + 1, None);
        }
        self.0[name.index()] = Some(fragment);
    }
}
