//! Sets of names, one after another.

use crate::graph::names::NameId;

/// A set of names that can be emptied at no cost: functions are looked at one by one, and most are small.
#[derive(Debug, Default)]
pub(in crate::onnx) struct NameMarks {
    /// The last set that each name was in, see [`place`].
    last: Vec<u32>,
    /// The number of the current set.
    set: u32,
}

impl NameMarks {
    /// Starts an empty set.
    pub(in crate::onnx) fn start(&mut self) {
        match self.set.checked_add(1) {
            Some(next) => self.set = next,
            None => *self = NameMarks { last: Vec::new(), set: 1 },
        }
    }

    /// Adds names.
    pub(in crate::onnx) fn extend(&mut self, names: &[NameId]) {
        for name in names {
            self.insert(*name);
        }
    }

    /// Adds a name; whether it is new.
    pub(in crate::onnx) fn insert(&mut self, name: NameId) -> bool {
        let at = place(name);
        if self.last.len() <= at {
            self.last.resize(at + 1, 0);
        }
        std::mem::replace(&mut self.last[at], self.set) != self.set
    }

    /// Whether a name is in the set.
    pub(in crate::onnx) fn contains(&self, name: NameId) -> bool {
        self.last.get(place(name)) == Some(&self.set)
    }
}

/// The place of a name: the first one is that of the empty name, whose number is the largest.
fn place(name: NameId) -> usize {
    if name == NameId::ROOT { 0 } else { name.index() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_apart() {
        let mut marks = NameMarks::default();
        for name in [NameId::at(3), NameId::at(70), NameId::ROOT] {
            marks.start();
            assert!(!marks.contains(name));
            assert!(marks.insert(name) && !marks.insert(name));
            assert!(marks.contains(name));
            assert!(!marks.contains(NameId::at(1)));
        }
    }
}
