//! What recording and replaying of statements needs of names, and nobody else.

use super::{NameId, TensorNames, bits};
use crate::source::names::Name;

impl TensorNames {
    /// The number of names made so far.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets names that were made later.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
    }

    /// How a name is made, if it is not one of the document: the name that it is under, the
    /// segment and the number of that, and whether it arises inside a standard operation.
    pub(crate) fn path(&self, id: usize) -> Option<(NameId, Name, u32, bool)> {
        let entry = self.entries.get(id).filter(|entry| !entry.is(bits::USER))?;
        Some((entry.parent, entry.segment, entry.ordinal, entry.is(bits::INNER)))
    }
}
