//! Names of tensors: names of the document, and generated names for the tensors of an expansion.
//!
//! A generated name is a path: the name of the call's target, then that of the tensor in the call (`h_r_t` for
//! the local `r_t` of the call assigned to `h`, `h_add1` for an operation without a target). Names are stored
//! as links to their prefix and spelled only when they are written. [`TensorNames::resolve`] makes them
//! distinct at the end, so that a name depends only on the call that produced the tensor.

use std::num::NonZeroU32;

use rustc_hash::FxHashSet;

use crate::room;
use crate::source::literals::push_int;
use crate::source::names::{Name, Names};

mod distinct;
mod hash;
mod spell;

pub(crate) use spell::{SpelledLengths, Speller, Spellings};

room::position_id! {
    /// Identifies a tensor name.
    NameId
}

impl NameId {
    /// Stands for the missing prefix of a name with one part.
    pub(crate) const ROOT: NameId = NameId(NonZeroU32::MAX);
}

/// The maximum number of parts of a path. Longer ones continue after their first part.
const MAX_PARTS: u32 = 12;

/// Bits of [`NameEntry::bits`].
mod bits {
    /// The number of parts.
    pub(crate) const PARTS: u32 = 0xf;
    /// Written in the document: never changed.
    pub(crate) const USER: u32 = 1 << 4;
    /// Generated inside of a standard operation: gets a suffix rather than other names do.
    pub(crate) const INNER: u32 = 1 << 5;
    /// The name of a tensor, so it must be unique.
    pub(crate) const USED: u32 = 1 << 6;
    /// Has a suffix, because the path is not unique.
    pub(crate) const SUFFIXED: u32 = 1 << 7;
}

#[derive(Clone, Copy, Debug)]
struct NameEntry {
    parent: NameId,
    segment: Name,
    /// A number that distinguishes equal segments in a body; 0 is not written. For a name with a suffix, the
    /// index of ordinal and suffix in [`TensorNames::suffixed`].
    ordinal: u32,
    bits: u32,
}

/// The numbers of a name with a suffix.
#[derive(Clone, Copy, Debug)]
struct Suffixed {
    ordinal: u32,
    suffix: u32,
}

impl NameEntry {
    fn parts(self) -> u32 {
        self.bits & bits::PARTS
    }

    fn is(self, bit: u32) -> bool {
        self.bits & bit != 0
    }

    /// Whether it is made distinct in the pass for names inside of standard operations (`inner`), or in the one
    /// for other names.
    fn claims(self, inner: bool) -> bool {
        self.bits & (bits::USED | bits::USER | bits::INNER) == bits::USED | if inner { bits::INNER } else { 0 }
    }
}

/// The table of tensor names.
#[derive(Clone, Debug, Default)]
pub(crate) struct TensorNames {
    entries: Vec<NameEntry>,
    /// The numbers of names with a suffix, added by [`TensorNames::resolve`].
    suffixed: Vec<Suffixed>,
    /// The number of names that are names of tensors.
    used: usize,
}

impl TensorNames {
    /// The most bytes that a name takes: its entry, twice since vectors grow by doubling, and while names are made
    /// distinct a hash and less than three slots of a table.
    pub(crate) const BYTES: usize = 2 * size_of::<NameEntry>() + size_of::<hash::Hash>() + 3 * size_of::<u32>();

    /// The bytes of all names.
    #[inline]
    pub(crate) fn bytes(&self) -> usize {
        self.entries.len() * size_of::<NameEntry>()
    }

    /// All names, in the order of their creation.
    pub(crate) fn ids(&self) -> impl Iterator<Item = NameId> + use<> {
        (0..self.entries.len()).map(NameId::at)
    }

    /// The number of names.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Removes all names but the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        let given_up = self.entries.get(len..).unwrap_or_default();
        self.used -= given_up.iter().filter(|entry| entry.is(bits::USED)).count();
        self.entries.truncate(len);
    }

    /// A name of the document.
    pub(crate) fn user(&mut self, segment: Name) -> NameId {
        self.push(NameEntry { parent: NameId::ROOT, segment, ordinal: 0, bits: 1 | bits::USER })
    }

    /// A name with a prefix; `inner` if it is generated inside of a standard operation.
    #[inline(always)]
    pub(crate) fn child(&mut self, parent: NameId, segment: Name, ordinal: u32, inner: bool) -> NameId {
        let (mut parent, mut parts) = (parent, self.parts(parent));
        if parts >= MAX_PARTS {
            (parent, parts) = self.first_part(parent);
        }
        let inner = if inner { bits::INNER } else { 0 };
        self.push(NameEntry { parent, segment, ordinal, bits: (parts + 1) | inner })
    }

    /// The first part of a path, and the number of its parts.
    #[inline(never)]
    fn first_part(&self, path: NameId) -> (NameId, u32) {
        let (mut parent, mut parts) = (path, self.parts(path));
        while parts > 1 {
            parent = self.entries[parent.index()].parent;
            parts = self.parts(parent);
        }
        (parent, parts)
    }

    /// The prefix of a name; none for a name with one part.
    pub(crate) fn parent(&self, id: NameId) -> Option<NameId> {
        self.entries.get(id.index()).map(|entry| entry.parent).filter(|parent| *parent != NameId::ROOT)
    }

    /// The length of the last part of a name.
    pub(crate) fn part_len(&self, names: &Names, id: NameId) -> u32 {
        let Some(entry) = self.entries.get(id.index()) else { return 0 };
        let digits = |number: u32| number.checked_ilog10().map_or(0, |log| log + 1);
        let Suffixed { ordinal, suffix } = self.numbers(entry);
        let suffix = if suffix > 0 { digits(suffix) + 1 } else { 0 };
        names.text(entry.segment).len() as u32 + digits(ordinal) + suffix
    }

    /// The prefix, the last part and its number, and whether the name is generated inside of a standard operation.
    pub(crate) fn link(&self, id: NameId) -> Option<(NameId, Name, u32, bool)> {
        let entry = self.entries.get(id.index())?;
        Some((entry.parent, entry.segment, self.numbers(entry).ordinal, entry.is(bits::INNER)))
    }

    /// Another name with the same spelling, which gets a suffix rather than the original.
    pub(crate) fn sibling(&mut self, id: NameId) -> NameId {
        match self.entries.get(id.index()).copied() {
            Some(entry) => {
                let ordinal = self.numbers(&entry).ordinal;
                self.push(NameEntry { ordinal, bits: entry.parts() | bits::INNER, ..entry })
            }
            None => id,
        }
    }

    /// Changes the ordinal of a name, if it is the last one, so that it is not a prefix of any other. Returns
    /// whether it is.
    pub(crate) fn renumber_last(&mut self, id: NameId, ordinal: u32) -> bool {
        let last = self.entries.len().checked_sub(1).is_some_and(|last| last == id.index());
        if last {
            self.entries[id.index()].ordinal = ordinal;
        }
        last
    }

    #[inline]
    fn parts(&self, id: NameId) -> u32 {
        self.entries.get(id.index()).map_or(0, |entry| entry.parts())
    }

    #[inline(always)]
    fn push(&mut self, entry: NameEntry) -> NameId {
        room::push(&mut self.entries, entry);
        NameId::at(self.entries.len() - 1)
    }

    /// Whether a name is written in the document.
    pub(crate) fn is_user(&self, id: NameId) -> bool {
        self.entries.get(id.index()).is_some_and(|entry| entry.is(bits::USER))
    }

    /// The interned name, if it is written in the document.
    pub(crate) fn user_name(&self, id: NameId) -> Option<Name> {
        self.entries.get(id.index()).filter(|entry| entry.is(bits::USER)).map(|entry| entry.segment)
    }

    /// The last part of a name.
    pub(crate) fn last_part(&self, id: NameId) -> Option<Name> {
        self.entries.get(id.index()).map(|entry| entry.segment)
    }

    /// The name of a tensor in the graph or fragment that assigns it; none if it is not assigned to a name.
    pub(crate) fn source_name(&self, id: NameId) -> Option<Name> {
        let entry = self.entries.get(id.index())?;
        (self.numbers(entry).ordinal == 0).then_some(entry.segment)
    }

    /// Turns a generated name into one of the document. Names with this prefix change, too.
    pub(crate) fn rename(&mut self, id: NameId, name: Name) {
        let entry = &mut self.entries[id.index()];
        let rest = entry.bits & !(bits::PARTS | bits::SUFFIXED);
        *entry = NameEntry { parent: NameId::ROOT, segment: name, ordinal: 0, bits: rest | 1 | bits::USER };
    }

    /// Marks a name as the name of a tensor.
    pub(crate) fn mark_used(&mut self, id: NameId) {
        let entry = &mut self.entries[id.index()];
        self.used += usize::from(!entry.is(bits::USED));
        entry.bits |= bits::USED;
    }

    /// Removes all marks of [`TensorNames::mark_used`].
    pub(crate) fn unmark(&mut self) {
        if std::mem::take(&mut self.used) > 0 {
            self.entries.iter_mut().for_each(|entry| entry.bits &= !bits::USED);
        }
    }

    /// Makes the names of all tensors distinct. Names of the document take precedence, then other names, and
    /// last names generated inside of standard operations; each in the order of their creation. Generated names are
    /// never one of the `reserved` words.
    pub(crate) fn resolve(&mut self, names: &Names, reserved: &FxHashSet<String>) {
        let fresh = |entry: &NameEntry| entry.is(bits::USED) && !entry.is(bits::USER);
        if self.entries.iter().any(fresh) {
            self.drop_suffixes();
            self.suffixed = distinct::settle(&mut self.entries, self.used, names, reserved);
        }
    }

    fn drop_suffixes(&mut self) {
        let suffixed = std::mem::take(&mut self.suffixed);
        if !suffixed.is_empty() {
            for entry in self.entries.iter_mut().filter(|entry| entry.is(bits::SUFFIXED)) {
                entry.ordinal = suffixed[entry.ordinal as usize].ordinal;
                entry.bits &= !bits::SUFFIXED;
            }
        }
    }

    /// The ordinal and the suffix of a name.
    fn numbers(&self, entry: &NameEntry) -> Suffixed {
        match entry.is(bits::SUFFIXED) {
            true => self.suffixed[entry.ordinal as usize],
            false => Suffixed { ordinal: entry.ordinal, suffix: 0 },
        }
    }

    /// The length of each name when it is written.
    pub(crate) fn lengths(&self, names: &Names) -> Vec<u32> {
        let digits = |number: u32| number.checked_ilog10().map_or(0, |log| log + 1);
        let mut lengths: Vec<u32> = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let Suffixed { ordinal, suffix } = self.numbers(entry);
            let segment = u32::try_from(names.text(entry.segment).len()).unwrap_or(u32::MAX);
            let own = segment.saturating_add(digits(ordinal)).saturating_add(digits(suffix) + u32::from(suffix > 0));
            // A prefix was added before the names that have it.
            let prefix = lengths.get(entry.parent.index()).map_or(0, |length| length.saturating_add(1));
            lengths.push(own.saturating_add(prefix));
        }
        lengths
    }

    /// Appends a name to a text.
    pub(crate) fn write(&self, names: &Names, id: NameId, out: &mut String) {
        let Some(entry) = self.entries.get(id.index()) else { return };
        if entry.parent != NameId::ROOT {
            self.write(names, entry.parent, out);
            out.push('_');
        }
        self.write_part(names, entry, out);
    }

    /// Appends the last part of a name to a text.
    fn write_part(&self, names: &Names, entry: &NameEntry, out: &mut String) {
        out.push_str(names.text(entry.segment));
        let Suffixed { ordinal, suffix } = self.numbers(entry);
        if ordinal > 0 {
            push_int(out, i64::from(ordinal));
        }
        if suffix > 0 {
            out.push('_');
            push_int(out, i64::from(suffix));
        }
    }
}

#[cfg(test)]
mod tests;
