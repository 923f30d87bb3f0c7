//! Interned identifiers: names are represented by numbers, for fast comparison and hashing.
//!
//! A large document has a new name in every statement, so interning does not allocate memory for each name: all
//! texts are concatenated in one string, and a hash table of numbers finds them.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::num::NonZeroU32;
use std::ops::Range;

use super::words::{self, WORD};
use crate::room;

/// Whether a text is an identifier: ASCII letters, digits and `_`, not starting with a digit.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The size of the first hash table. Allocators take longer for a block of a kilobyte than for one of this size.
const FIRST_SLOTS: usize = 128;

/// An interned identifier or string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name(NonZeroU32);

impl Name {
    /// The name at an index.
    pub(crate) fn new(index: usize) -> Self {
        Name(NonZeroU32::MIN.saturating_add(index as u32))
    }

    /// The index in order of first appearance.
    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// The table of interned names.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// All texts.
    text: String,
    /// The start of each text, which is the end of the previous one, and finally the end of the last text.
    starts: Vec<u32>,
    /// A hash table with open addressing, whose size is a power of two. If an index of the table has n bits,
    /// the n low bits of a slot are the number of a name and the others are bits of its hash; 0 is a free slot.
    slots: Vec<u32>,
    /// The initial state of all hashes. It is random, so that names with equal hashes cannot be constructed.
    seed: u64,
}

impl Default for Names {
    fn default() -> Self {
        Self::new()
    }
}

impl Names {
    /// An empty table.
    pub(crate) fn new() -> Self {
        let seed = RandomState::new().build_hasher().finish();
        Names { text: String::new(), starts: vec![0], slots: Vec::new(), seed }
    }

    /// Reserves capacity for further names.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.starts.reserve(count);
        self.text.reserve(count.saturating_mul(8));
        self.resize(self.len().saturating_add(count));
    }

    /// Interns a text, which is added if it is new.
    pub(crate) fn intern(&mut self, text: &str) -> Name {
        let hash = Hash::of(text.as_bytes(), self.seed);
        self.find(text.as_bytes(), hash).unwrap_or_else(|slot| self.add(text, hash, slot))
    }

    /// Interns the identifier at an offset of a text, and returns its end, too. Short identifiers, as most are,
    /// are read, hashed and compared as one word.
    #[inline]
    pub(crate) fn intern_word(&mut self, text: &str, at: usize) -> (Name, usize) {
        let bytes = text.as_bytes();
        let (mut end, mut state) = (at, self.seed);
        let mut word = words::load(bytes, at);
        let mut len = words::identifier_len(word);
        while len == WORD {
            let next = words::load(bytes, end + WORD);
            let next_len = words::identifier_len(next);
            if next_len == 0 {
                break;
            }
            state = mix(state, word);
            (word, len, end) = (next, next_len, end + WORD);
        }
        end += len;
        let word = words::first(word, len);
        let hash = Hash::new(state, word, len);
        let found = match end - at == len {
            true => self.find_by(hash, |found| {
                found.len() == len && words::first(words::load(self.text.as_bytes(), found.start), len) == word
            }),
            false => self.find(bytes.get(at..end).unwrap_or_default(), hash),
        };
        (found.unwrap_or_else(|slot| self.add(text.get(at..end).unwrap_or_default(), hash, slot)), end)
    }

    fn add(&mut self, text: &str, hash: Hash, mut slot: usize) -> Name {
        let name = Name::new(self.len());
        if is_full(self.len() + 1, self.slots.len()) {
            self.resize(self.len() + 1);
            slot = self.free(hash);
        }
        self.text.push_str(text);
        room::push(&mut self.starts, self.text.len() as u32);
        self.slots[slot] = self.entry(hash, name);
        name
    }

    /// The name of a text, if it is interned.
    pub(crate) fn get(&self, text: &str) -> Option<Name> {
        self.find(text.as_bytes(), Hash::of(text.as_bytes(), self.seed)).ok()
    }

    /// The text of a name.
    pub(crate) fn text(&self, name: Name) -> &str {
        self.text.get(self.range(name)).unwrap_or("")
    }

    #[inline]
    fn range(&self, name: Name) -> Range<usize> {
        match self.starts.get(name.index()..).and_then(<[u32]>::first_chunk) {
            Some(&[start, end]) => start as usize..end as usize,
            None => 0..0,
        }
    }

    /// The number of names.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// All texts, one after another.
    pub(crate) fn joined(&self) -> &str {
        &self.text
    }

    /// The total length of all texts in bytes, at most 4 GB.
    pub(crate) fn bytes(&self) -> usize {
        self.starts[self.len()] as usize
    }

    /// The name of a text, or the free slot for it.
    fn find(&self, text: &[u8], hash: Hash) -> Result<Name, usize> {
        self.find_by(hash, |found| &self.text.as_bytes()[found] == text)
    }

    /// The name whose text satisfies `is`, which gets the range of the text; or the free slot for it.
    #[inline]
    fn find_by(&self, hash: Hash, is: impl Fn(Range<usize>) -> bool) -> Result<Name, usize> {
        let Some(mask) = self.slots.len().checked_sub(1) else { return Err(0) };
        let tag = hash.tag & !(mask as u32);
        let mut at = hash.position & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            if slot & !(mask as u32) == tag {
                let name = Name::new((slot & mask as u32) as usize - 1);
                if is(self.range(name)) {
                    return Ok(name);
                }
            }
            at = (at + hash.step()) & mask;
        }
    }

    /// The content of a slot with a name and its hash.
    fn entry(&self, hash: Hash, name: Name) -> u32 {
        hash.tag & !(self.slots.len() as u32 - 1) | name.0.get()
    }

    /// Enlarges the table for a number of names.
    fn resize(&mut self, count: usize) {
        if self.slots.is_empty() {
            // Small documents have fewer names than this.
            self.starts.reserve(FIRST_SLOTS / 2);
            self.text.reserve(FIRST_SLOTS * 4);
        }
        let mut size = self.slots.len().max(FIRST_SLOTS);
        while is_full(count, size) {
            size *= 2;
        }
        if size == self.slots.len() {
            return;
        }
        self.slots = vec![0; size];
        for index in 0..self.len() {
            let name = Name::new(index);
            let hash = Hash::of(&self.text.as_bytes()[self.range(name)], self.seed);
            let slot = self.free(hash);
            self.slots[slot] = self.entry(hash, name);
        }
    }

    /// The first free slot for a hash.
    fn free(&self, hash: Hash) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = hash.position & mask;
        while self.slots[at] != 0 {
            at = (at + hash.step()) & mask;
        }
        at
    }
}

/// Whether names would fill more than half of the slots.
fn is_full(count: usize, slots: usize) -> bool {
    count > slots / 2
}

/// The number of slots of a region, which is a cache line.
const REGION: usize = 16;

/// The hash of a text: the first slot to probe, and the bits that are stored in the slot.
///
/// Names that differ only in their last character start in the same region: documents number their names
/// consecutively, so ten of them are found in one cache line. The position in the region also depends on the
/// other characters, so that two groups of names in one region do not collide completely. The probing step is
/// large, since adjacent slots are mostly taken by names of the same group or another one.
#[derive(Clone, Copy)]
struct Hash {
    position: usize,
    tag: u32,
}

impl Hash {
    /// The hash of a text, given the state after all words but the last one, which has `len` bytes.
    #[inline]
    fn new(state: u64, word: u64, len: usize) -> Self {
        let others = words::first(word, len.saturating_sub(1));
        let last = (word ^ others) >> (8 * len.saturating_sub(1));
        let hash = mix(state, others);
        let tag = ((hash >> 32) as u32).wrapping_add((last as u32).wrapping_mul(0x9E37_79B1));
        Hash { position: hash as usize & !(REGION - 1) | tag as usize & (REGION - 1), tag }
    }

    /// The probing step. It is odd, so that all slots are reached.
    #[inline]
    fn step(self) -> usize {
        self.tag as usize | 1
    }

    fn of(text: &[u8], seed: u64) -> Self {
        let last = text.len().saturating_sub(1) / WORD * WORD;
        let before = (0..last).step_by(WORD);
        let state = before.fold(seed, |state, at| mix(state, words::load(text, at)));
        Hash::new(state, words::load(text, last), text.len() - last)
    }
}

/// Mixes a word into the state of a hash.
#[inline]
fn mix(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word) * 0x9E37_79B9_7F4A_7C15_u128;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again() {
        let mut names = Names::new();
        assert_eq!(names.len(), 0);
        assert_eq!(names.get("a"), None);
        let ends = ["", "_w", "w_conv_weight", "_conv_weight_of_a_layer"];
        let texts = (0..5000).map(|i| format!("{}{i}{}", "x".repeat(i % 40), ends[i % 4]));
        // Some names have no digits.
        let letters =
            (0..=u8::MAX).map(|i| format!("{}{}", "y".repeat(usize::from(i / 16)), char::from(b'a' + i % 16)));
        let texts: Vec<String> = texts.chain(letters).collect();
        for _ in 0..2 {
            for (i, text) in texts.iter().enumerate() {
                assert_eq!(names.intern(text).index(), i);
            }
        }
        names.reserve(100_000);
        for (i, text) in texts.iter().enumerate() {
            let name = names.get(text).expect("a name");
            assert_eq!((name.index(), names.text(name)), (i, text.as_str()));
        }
        assert_eq!((names.get("y1"), names.len()), (None, 5256));
        let empty = names.intern("");
        assert_eq!(names.intern(""), empty);
        assert_eq!(names.text(empty), "");
    }

    #[test]
    fn identifiers_in_a_text_are_the_names_of_their_texts() {
        let mut names = Names::new();
        let texts: Vec<String> = (1..60).map(|len| "_aZ09x".chars().cycle().take(len).collect()).collect();
        for text in &texts {
            for behind in ["", " ", "=1, 2, 3", "é", "\0", "@"] {
                let (name, end) = names.intern_word(&format!("({text}{behind}"), 1);
                assert_eq!((names.text(name), end), (text.as_str(), 1 + text.len()));
                assert_eq!((names.get(text), names.intern(text)), (Some(name), name));
            }
        }
        assert_eq!(names.len(), texts.len());
    }

    #[test]
    fn a_missing_name_takes_no_room() {
        assert_eq!(size_of::<Option<Name>>(), 4);
    }
}
