//! Makes names distinct: the second one of two equal names gets a suffix.
//!
//! Names are compared by the hashes of their spellings. If two hashes collide, one name gets an unnecessary suffix.

use rustc_hash::{FxHashMap, FxHashSet};

use super::hash::{Hash, HashedText, hash_of, push_byte, push_number};
use super::{NameEntry, Suffixed, bits};
use crate::source::names::{Name, Names};

/// The suffix of the second one of equal names.
const FIRST_SUFFIX: u32 = 2;

/// Adds suffixes to the names of tensors that are spelled like earlier ones. Names of the document do not change; then
/// come other names in the order of their creation, and last those generated inside of standard operations. None of
/// these becomes one of the `reserved` words.
pub(crate) fn settle(
    entries: &mut [NameEntry],
    used: usize,
    names: &Names,
    reserved: &FxHashSet<String>,
) -> Vec<Suffixed> {
    let mut segments = Segments::new(names);
    let mut taken = Taken::with_capacity(used + reserved.len());
    for word in reserved {
        taken.insert(hash_of(word));
    }
    let mut hashes: Vec<Hash> = vec![0; entries.len()];
    let mut inner = false;
    for (hash, entry) in hashes.iter_mut().zip(entries.iter()) {
        inner |= entry.is(bits::INNER);
        if entry.is(bits::USER) {
            *hash = segments.hash(None, entry);
            if entry.is(bits::USED) {
                taken.insert(*hash);
            }
        }
    }
    let mut suffixed = Vec::new();
    let turns: &[bool] = if inner { &[false, true] } else { &[false] };
    for &inner in turns {
        for (i, entry) in entries.iter_mut().enumerate() {
            if entry.is(bits::USER) || inner && !entry.is(bits::INNER) {
                continue;
            }
            let parent = hashes.get(entry.parent.index()).copied();
            let mut hash = segments.hash(parent, entry);
            if entry.claims(inner) {
                let suffix = taken.claim(&mut hash);
                if suffix > 0 {
                    suffixed.push(Suffixed { ordinal: entry.ordinal, suffix });
                    (entry.ordinal, entry.bits) = (suffixed.len() as u32 - 1, entry.bits | bits::SUFFIXED);
                }
            }
            hashes[i] = hash;
        }
    }
    suffixed
}

/// A cache of the hashes of path segments.
struct Segments<'n> {
    names: &'n Names,
    /// Indexed by name. There are many names, but untouched pages take no memory.
    known: Vec<(Hash, u64)>,
}

impl<'n> Segments<'n> {
    fn new(names: &'n Names) -> Self {
        Segments { names, known: vec![(0, 0); names.len()] }
    }

    /// The hash of a name without a suffix, given that of its parent.
    #[inline]
    fn hash(&mut self, parent: Option<Hash>, entry: &NameEntry) -> Hash {
        let hash = match parent {
            Some(parent) => self.part(entry.segment).after(parent),
            None => hash_of(self.names.text(entry.segment)),
        };
        if entry.ordinal > 0 { push_number(hash, entry.ordinal) } else { hash }
    }

    /// A segment with a leading `_`.
    #[inline]
    fn part(&mut self, segment: Name) -> HashedText {
        let known = &mut self.known[segment.index()];
        if known.1 == 0 {
            let part = HashedText::EMPTY.then("_").then(self.names.text(segment));
            *known = (part.hash, part.power);
        }
        HashedText { hash: known.0, power: known.1 }
    }
}

/// The names in use, as a hash table with open addressing, and the next suffix to try for names that were
/// requested again.
struct Taken {
    /// The number of slots is a power of two, and at least a third of them are free. A slot contains half of the mixed
    /// hash; 0 is free. Names that differ only in their last digit have adjacent hashes, and so adjacent slots.
    slots: Vec<u32>,
    next: FxHashMap<Hash, u32>,
}

impl Taken {
    fn with_capacity(names: usize) -> Self {
        Taken { slots: vec![0; (names + names / 2).next_power_of_two().max(64)], next: FxHashMap::default() }
    }

    /// Adds a name; false if it is already in use.
    #[inline]
    fn insert(&mut self, hash: Hash) -> bool {
        insert(&mut self.slots, hash)
    }

    /// The suffix that makes a name unique, or 0. The hash becomes that of the name with its suffix.
    #[inline]
    fn claim(&mut self, hash: &mut Hash) -> u32 {
        if self.insert(*hash) { 0 } else { self.claim_next(hash) }
    }

    fn claim_next(&mut self, hash: &mut Hash) -> u32 {
        let stem = push_byte(*hash, b'_');
        let next = self.next.entry(*hash).or_insert(FIRST_SUFFIX);
        loop {
            let suffix = *next;
            *next += 1;
            *hash = push_number(stem, suffix);
            if insert(&mut self.slots, *hash) {
                return suffix;
            }
        }
    }
}

/// Adds a hash to a table that has free slots; false if it is already there.
#[inline]
fn insert(slots: &mut [u32], hash: Hash) -> bool {
    let mask = slots.len() - 1;
    let tag = (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 | 1;
    let mut at = hash as usize & mask;
    loop {
        match &mut slots[at] {
            free @ 0 => {
                *free = tag;
                return true;
            }
            known if *known == tag => return false,
            _ => at = (at + 1) & mask,
        }
    }
}

#[cfg(test)]
mod tests;
