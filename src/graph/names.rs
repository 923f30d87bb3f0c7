//! Names of tensors: those of the document, and paths for what the expansion makes.
//!
//! A fresh name is a path: the name of the call's target, then what it is there (`h_r_t` for the
//! local `r_t` of the call assigned to `h`, `h_add1` for an operation without a name). Names are
//! kept as links to their prefix and spelled out only when written. [`TensorNames::resolve`] makes
//! them distinct in the end, so that a name depends on nothing but the call it comes from.

use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::nnef::names::{Name, Names};

/// Identifies a tensor name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameId(u32);

impl NameId {
    /// The prefix of names that have none.
    pub const ROOT: NameId = NameId(u32::MAX);
}

/// Paths longer than this continue from their first part.
const MAX_PARTS: u8 = 12;

#[derive(Clone, Copy, Debug)]
struct Entry {
    parent: NameId,
    segment: Name,
    /// Which of several of this name in a body; 0 prints nothing.
    ordinal: u32,
    /// Added by `resolve` where the path alone is not unique; 0 prints nothing.
    suffix: u32,
    parts: u8,
    /// Written in the document: kept to the letter.
    user: bool,
    /// From inside a standard operation: yields to other names.
    inner: bool,
    /// Holds a tensor, so that it must be unique.
    used: bool,
}

/// The table of tensor names.
#[derive(Clone, Debug, Default)]
pub struct TensorNames {
    entries: Vec<Entry>,
}

impl TensorNames {
    /// A name of the document.
    pub fn user(&mut self, segment: Name) -> NameId {
        self.push(Entry {
            parent: NameId::ROOT,
            segment,
            ordinal: 0,
            suffix: 0,
            parts: 1,
            user: true,
            inner: false,
            used: false,
        })
    }

    /// A name under another one; `inner` when it arises inside a standard operation.
    pub fn child(&mut self, parent: NameId, segment: Name, ordinal: u32, inner: bool) -> NameId {
        let mut parent = parent;
        if self.parts(parent) >= MAX_PARTS {
            while self.parts(parent) > 1 {
                parent = self.entries[parent.0 as usize].parent;
            }
        }
        let parts = self.parts(parent) + 1;
        self.push(Entry { parent, segment, ordinal, suffix: 0, parts, user: false, inner, used: false })
    }

    fn parts(&self, id: NameId) -> u8 {
        self.entries.get(id.0 as usize).map_or(0, |entry| entry.parts)
    }

    fn push(&mut self, entry: Entry) -> NameId {
        self.entries.push(entry);
        NameId(self.entries.len() as u32 - 1)
    }

    /// Whether a name stands in the document.
    pub fn is_user(&self, id: NameId) -> bool {
        self.entries.get(id.0 as usize).is_some_and(|entry| entry.user)
    }

    /// The document's name, if it is one.
    pub fn user_name(&self, id: NameId) -> Option<Name> {
        self.entries.get(id.0 as usize).filter(|entry| entry.user).map(|entry| entry.segment)
    }

    /// Turns a fresh name into one of the document; what was named after it follows.
    pub fn rename(&mut self, id: NameId, name: Name) {
        let entry = &mut self.entries[id.0 as usize];
        (entry.parent, entry.segment, entry.ordinal, entry.parts, entry.user) = (NameId::ROOT, name, 0, 1, true);
    }

    /// Notes that a tensor has this name.
    pub fn mark_used(&mut self, id: NameId) {
        self.entries[id.0 as usize].used = true;
    }

    /// Forgets which names tensors have.
    pub fn unmark(&mut self) {
        self.entries.iter_mut().for_each(|entry| entry.used = false);
    }

    /// The number of names made so far.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Makes the names of all tensors distinct: names of the document first, then fresh ones, and
    /// last those from inside standard operations, each in the order of their making.
    pub fn resolve(&mut self, names: &Names) {
        if !self.entries.iter().any(|entry| entry.used && !entry.user) {
            return;
        }
        let mut taken = Taken::default();
        for entry in self.entries.iter().filter(|entry| entry.user && entry.used) {
            taken.set.insert(hash_text(FNV_START, names.text(entry.segment)));
        }
        let mut hashes = vec![0u64; self.entries.len()];
        for inner in [false, true] {
            for i in 0..self.entries.len() {
                let entry = self.entries[i];
                let hash = match entry.parent {
                    NameId::ROOT => FNV_START,
                    parent => hash_text(hashes[parent.0 as usize], "_"),
                };
                let mut hash = hash_text(hash, names.text(entry.segment));
                if entry.ordinal > 0 {
                    hash = hash_number(hash, entry.ordinal);
                }
                if entry.inner != inner {
                    // A later pass hashes it anew; an earlier one has settled it.
                    if inner {
                        continue;
                    }
                } else if entry.used && !entry.user {
                    (self.entries[i].suffix, hash) = taken.claim(hash);
                }
                hashes[i] = hash;
            }
        }
    }

    /// Writes a name.
    pub fn write(&self, names: &Names, id: NameId, out: &mut impl fmt::Write) -> fmt::Result {
        let mut parts: smallvec::SmallVec<[Entry; 16]> = smallvec::SmallVec::new();
        let mut next = id;
        while let Some(entry) = self.entries.get(next.0 as usize) {
            parts.push(*entry);
            next = entry.parent;
        }
        for (i, entry) in parts.iter().rev().enumerate() {
            if i > 0 {
                out.write_char('_')?;
            }
            out.write_str(names.text(entry.segment))?;
            if entry.ordinal > 0 {
                write_number(out, entry.ordinal)?;
            }
            if entry.suffix > 0 {
                out.write_char('_')?;
                write_number(out, entry.suffix)?;
            }
        }
        Ok(())
    }
}

/// The hashes of names given out. Names are compared by a 64-bit hash of their spelling: should
/// two ever collide, one of them gets a suffix it would not have needed.
#[derive(Default)]
struct Taken {
    set: FxHashSet<u64>,
    next: FxHashMap<u64, u32>,
}

impl Taken {
    /// The suffix that makes a name new, and the hash with it.
    fn claim(&mut self, hash: u64) -> (u32, u64) {
        if self.set.insert(hash) {
            return (0, hash);
        }
        let next = self.next.entry(hash).or_insert(2);
        loop {
            let suffix = *next;
            *next += 1;
            let suffixed = hash_number(hash_text(hash, "_"), suffix);
            if self.set.insert(suffixed) {
                return (suffix, suffixed);
            }
        }
    }
}

/// FNV-1a, which can be continued from the hash of a prefix.
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

fn hash_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

fn hash_text(hash: u64, text: &str) -> u64 {
    text.bytes().fold(hash, hash_byte)
}

fn hash_number(hash: u64, number: u32) -> u64 {
    let (digits, start) = digits(number);
    digits[start..].iter().copied().fold(hash, hash_byte)
}

/// Writes a number without the machinery of formatting, which costs more than the number.
fn write_number(out: &mut impl fmt::Write, number: u32) -> fmt::Result {
    let (digits, start) = digits(number);
    digits[start..].iter().try_for_each(|&digit| out.write_char(char::from(digit)))
}

/// The decimal digits of a number, and where they start.
fn digits(number: u32) -> ([u8; 10], usize) {
    let mut digits = [b'0'; 10];
    let mut start = 10;
    let mut rest = number;
    while start == 10 || rest > 0 {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    (digits, start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spell(table: &TensorNames, names: &Names, id: NameId) -> String {
        let mut text = String::new();
        table.write(names, id, &mut text).unwrap();
        text
    }

    #[test]
    fn paths_are_spelled_and_made_distinct() {
        let mut names = Names::new();
        let (h, r, add) = (names.intern("h"), names.intern("r_t"), names.intern("add"));
        let taken = names.intern("h_add1");
        let mut table = TensorNames::default();
        let user = table.user(taken);
        let root = table.user(h);
        let local = table.child(root, r, 0, false);
        let unnamed = table.child(root, add, 1, false);
        let again = table.child(root, add, 1, false);
        [user, root, local, unnamed, again].iter().for_each(|&id| table.mark_used(id));
        table.resolve(&names);
        assert_eq!(spell(&table, &names, local), "h_r_t");
        assert_eq!(spell(&table, &names, unnamed), "h_add1_2");
        assert_eq!(spell(&table, &names, again), "h_add1_3");
        assert_eq!(spell(&table, &names, user), "h_add1");
    }

    #[test]
    fn names_inside_standard_operations_yield() {
        let mut names = Names::new();
        let (h, add) = (names.intern("h"), names.intern("add"));
        let mut table = TensorNames::default();
        let root = table.user(h);
        let inner = table.child(root, add, 1, true);
        let outer = table.child(root, add, 1, false);
        [root, inner, outer].iter().for_each(|&id| table.mark_used(id));
        table.resolve(&names);
        assert_eq!(spell(&table, &names, outer), "h_add1");
        assert_eq!(spell(&table, &names, inner), "h_add1_2");
    }

    #[test]
    fn long_paths_are_shortened() {
        let mut names = Names::new();
        let (root, part) = (names.intern("r"), names.intern("f"));
        let mut table = TensorNames::default();
        let mut id = table.user(root);
        for _ in 0..1000 {
            id = table.child(id, part, 1, false);
        }
        assert!(spell(&table, &names, id).len() < 60);
    }
}
