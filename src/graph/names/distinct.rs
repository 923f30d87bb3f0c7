//! Which of many names are spelled alike.
//!
//! Names are compared by a hash of their spelling that can be continued from that of a prefix: the
//! value of the letters as digits of a number, modulo a prime. Should two names ever collide, one
//! of them gets a suffix that it would not have needed.

use super::counters::{Counters, FIRST_COUNTED};
use crate::nnef::names::{Name, Names};
use crate::room;

/// The hash of a spelling.
pub type Spelling = u64;

/// 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;
/// The base in which letters are digits.
const BASE: u64 = 0x0a3b_1c5d_7e9f_2461 % PRIME;

/// `a * b + c`, modulo the prime.
fn multiply_add(a: u64, b: u64, c: u64) -> u64 {
    let product = u128::from(a) * u128::from(b) + u128::from(c);
    let folded = (product as u64 & PRIME) + (product >> 61) as u64;
    if folded >= PRIME { folded - PRIME } else { folded }
}

pub(super) fn push_byte(hash: Spelling, byte: u8) -> Spelling {
    multiply_add(hash, BASE, u64::from(byte) + 1)
}

/// How many numbers are remembered. A power of two.
const RECENT_NUMBERS: usize = 64;
/// How many segments are remembered. A power of two.
const RECENT_SEGMENTS: usize = 256;
/// Numbers below this are remembered with their segments.
const SMALL_NUMBERS: u32 = 10;
/// The last bits of a hash, in which names differ that differ in their last letter.
const GROUP_BITS: u32 = 4;
/// How far the slots of such names are from each other.
const GROUP_STEP: u64 = 5;
/// The first suffix of names that others have already.
const FIRST_SUFFIX: u32 = 2;

/// Numbers at the end of names, with the hashes of those that were met last. Numbers mostly count
/// up, so all digits but the last are those of an earlier number.
pub struct Numbers {
    recent: Box<[Digits; RECENT_NUMBERS]>,
}

/// The digits of a number, as if they were all there is. Zero has none.
#[derive(Clone, Copy)]
struct Digits {
    number: u32,
    hash: Spelling,
    /// The base to the power of how many they are.
    power: u64,
}

impl Digits {
    const NONE: Digits = Digits { number: 0, hash: 0, power: 1 };

    fn of(number: u32) -> Self {
        if number == 0 {
            return Digits::NONE;
        }
        let before = Digits::of(number / 10);
        let hash = push_byte(before.hash, b'0' + (number % 10) as u8);
        Digits { number, hash, power: multiply_add(before.power, BASE, 0) }
    }
}

impl Numbers {
    pub fn new() -> Self {
        Numbers { recent: Box::new([Digits::NONE; RECENT_NUMBERS]) }
    }

    /// The spelling of a name with a number behind it, which is not 0.
    #[inline]
    pub fn push(&mut self, hash: Spelling, number: u32) -> Spelling {
        let front = number / 10;
        let digits = &mut self.recent[front as usize % RECENT_NUMBERS];
        if digits.number != front {
            *digits = Digits::of(front);
        }
        push_byte(multiply_add(hash, digits.power, digits.hash), b'0' + (number % 10) as u8)
    }
}

/// The segments of paths, with the hashes of those that were met last.
pub struct Segments<'n> {
    names: &'n Names,
    recent: Box<[Segment; RECENT_SEGMENTS]>,
    numbers: Numbers,
}

/// A segment, with `_` before it and a small number behind it, unless that is 0.
#[derive(Clone, Copy)]
struct Segment {
    name: Option<Name>,
    number: u32,
    hash: Spelling,
    /// The base to the power of its length.
    power: u64,
}

impl Segment {
    const NONE: Segment = Segment { name: None, number: 0, hash: 0, power: 1 };

    #[inline(never)]
    fn of(name: Name, number: u32, text: &str) -> Self {
        let start = Segment { name: Some(name), number, ..Segment::NONE };
        let digit = (number > 0).then_some(b'0' + number as u8);
        [b'_'].into_iter().chain(text.bytes()).chain(digit).fold(start, |segment, byte| Segment {
            hash: push_byte(segment.hash, byte),
            power: multiply_add(segment.power, BASE, 0),
            ..segment
        })
    }
}

impl<'n> Segments<'n> {
    pub fn new(names: &'n Names) -> Self {
        Segments { names, recent: Box::new([Segment::NONE; RECENT_SEGMENTS]), numbers: Numbers::new() }
    }

    /// The spelling of a segment, after that of its parent and with its ordinal.
    #[inline]
    pub fn spell(&mut self, parent: Option<Spelling>, name: Name, ordinal: u32) -> Spelling {
        let Some(parent) = parent else { return self.spell_first(name, ordinal) };
        let (small, large) = if ordinal < SMALL_NUMBERS { (ordinal, 0) } else { (0, ordinal) };
        let segment = &mut self.recent[(name.index() + 29 * small as usize) % RECENT_SEGMENTS];
        if segment.name != Some(name) || segment.number != small {
            *segment = Segment::of(name, small, self.names.text(name));
        }
        let hash = multiply_add(parent, segment.power, segment.hash);
        if large == 0 { hash } else { self.numbers.push(hash, large) }
    }

    /// The same for a segment that has no parent.
    #[inline(never)]
    fn spell_first(&mut self, name: Name, ordinal: u32) -> Spelling {
        let hash = self.names.text(name).bytes().fold(0, push_byte);
        if ordinal == 0 { hash } else { self.numbers.push(hash, ordinal) }
    }
}

/// Finds out whether names are distinct. Mostly they are, and a table of bits that fits into the
/// cache of the processor shows it for nearly all of them.
pub struct Sieve {
    once: Vec<u64>,
    /// The bits that more than one name has.
    twice: Vec<u64>,
    suspects: usize,
    /// With so many suspects it is clear that names are equal.
    most: usize,
}

impl Sieve {
    /// A sieve for so many names.
    pub fn new(count: usize) -> Self {
        let size = (count * 16).next_power_of_two().max(64);
        Sieve { once: vec![0; size / 64], twice: vec![0; size / 64], suspects: 0, most: count / 8 + 8 }
    }

    /// The place of a name in the tables, and its bit there.
    fn place(&self, spelling: Spelling) -> (usize, u64) {
        ((spelling / 64) as usize & (self.once.len() - 1), 1 << (spelling % 64))
    }

    /// Adds a name. False where there is no doubt any more that names are equal.
    #[inline]
    pub fn add(&mut self, spelling: Spelling) -> bool {
        let (place, bit) = self.place(spelling);
        let known = &mut self.once[place];
        if *known & bit != 0 {
            self.suspects += 1;
            self.twice[place] |= bit;
        }
        *known |= bit;
        self.suspects <= self.most
    }

    /// Whether no two of the names are equal, which are those that were added.
    pub fn all_distinct(&self, spellings: impl Iterator<Item = Spelling>) -> bool {
        if self.suspects == 0 {
            return true;
        }
        let suspect = |spelling: &Spelling| {
            let (place, bit) = self.place(*spelling);
            self.twice[place] & bit != 0
        };
        let mut rest: Vec<Spelling> = spellings.filter(suspect).collect();
        rest.sort_unstable();
        rest.windows(2).all(|pair| pair[0] != pair[1])
    }
}

/// The names given out, with the suffixes to try next for names that are there.
pub struct Taken {
    table: Table,
    counters: Counters,
    numbers: Numbers,
}

/// An open table of names, with a third of its slots free at least. A slot has half of the mixed
/// hash, which tells as much as its position does not; 0 is free.
struct Table {
    slots: Vec<u32>,
    len: usize,
}

impl Table {
    /// Adds a name; false where it is there already.
    fn insert(&mut self, spelling: Spelling) -> bool {
        debug_assert!(self.len < self.slots.len());
        let mask = self.slots.len() - 1;
        // Names that differ in their last letter differ in the last bits. They have slots near each
        // other, since they mostly come together, but no neighbouring ones: those would be in the
        // way of others. Their tags must tell them apart.
        let tag = (spelling.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 | 1;
        let group = (spelling >> GROUP_BITS).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32;
        let mut at = (group + (spelling & ((1 << GROUP_BITS) - 1)) * GROUP_STEP) as usize & mask;
        loop {
            match self.slots[at] {
                0 => {
                    self.slots[at] = tag;
                    self.len += 1;
                    return true;
                }
                known if known == tag => return false,
                _ => at = (at + 1) & mask,
            }
        }
    }
}

impl Taken {
    /// A table with room for so many names, in the room of another one if there is enough.
    pub fn with_capacity(names: usize, room: Vec<u32>) -> Self {
        let size = (names + names / 2).next_power_of_two().max(64);
        let table = Table { slots: room::zeroed(room, size), len: 0 };
        Taken { table, counters: Counters::default(), numbers: Numbers::new() }
    }

    /// Adds a name; false where it is there already.
    pub fn insert(&mut self, spelling: Spelling) -> bool {
        self.table.insert(spelling)
    }

    /// The suffix that makes a name new, and the hash with it.
    pub fn claim(&mut self, spelling: Spelling) -> (u32, Spelling) {
        let counter = match self.counters.recent(spelling) {
            Some(recent) => recent,
            None if self.table.insert(spelling) => return (0, spelling),
            None => match self.counters.known(spelling) {
                Some(known) => known,
                None => match self.claim_small(spelling) {
                    Some(claimed) => return claimed,
                    None => self.counters.add(spelling),
                },
            },
        };
        loop {
            let (suffix, suffixed) = self.counters.suffix(counter, &mut self.numbers);
            if self.table.insert(suffixed) {
                return (suffix, suffixed);
            }
        }
    }

    /// One of the first suffixes, if one of these makes a name new. Most names are asked for a few
    /// times at most, which is not worth a counter.
    fn claim_small(&mut self, spelling: Spelling) -> Option<(u32, Spelling)> {
        let stem = push_byte(spelling, b'_');
        let mut names = (FIRST_SUFFIX..FIRST_COUNTED).map(|suffix| (suffix, push_byte(stem, b'0' + suffix as u8)));
        names.find(|(_, name)| self.table.insert(*name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_do_not_depend_on_how_a_name_is_made_of_segments() {
        let mut names = Names::new();
        let whole = names.intern("h_add12_x");
        let (h, add, x) = (names.intern("h"), names.intern("add"), names.intern("x"));
        let mut segments = Segments::new(&names);
        let root = segments.spell(None, h, 0);
        let call = segments.spell(Some(root), add, 12);
        let path = segments.spell(Some(call), x, 0);
        assert_eq!(path, segments.spell(None, whole, 0));
        assert_ne!(path, call);
        for ordinal in [1, 9, 10, 11, 109, 110, u32::MAX, 7] {
            let whole = format!("h_add{ordinal}").bytes().fold(0, push_byte);
            assert_eq!(segments.spell(Some(root), add, ordinal), whole, "{ordinal}");
        }
    }

    #[test]
    fn suffixes_are_spelled_as_they_are_written() {
        let spell = |text: String| text.bytes().fold(0, push_byte);
        let mut taken = Taken::with_capacity(2000, Vec::new());
        for i in 1..1500 {
            let (suffix, hash) = taken.claim(spell("y_t1".to_string()));
            let expected = if i == 1 { "y_t1".to_string() } else { format!("y_t1_{i}") };
            assert_eq!((suffix, hash), (if i == 1 { 0 } else { i }, spell(expected)));
        }
    }

    #[test]
    fn neighbours_are_told_apart() {
        let mut taken = Taken::with_capacity(1000, Vec::new());
        let spell = |i: u32| format!("t{i}").bytes().fold(0, push_byte);
        for i in 0..1000 {
            assert!(taken.insert(spell(i)), "t{i}");
        }
        assert!((0..1000).all(|i| !taken.insert(spell(i))));
    }

    #[test]
    fn equal_spellings_are_found() {
        let spread = |i: u64| multiply_add(i, BASE, 7);
        let all_distinct = |numbers: Vec<u64>| {
            let spellings = || numbers.iter().copied().map(spread);
            let mut sieve = Sieve::new(numbers.len());
            spellings().all(|spelling| sieve.add(spelling)) && sieve.all_distinct(spellings())
        };
        assert!(all_distinct((0..10_000).collect()));
        assert!(!all_distinct((0..10_000).chain([77]).collect()));
        assert!(!all_distinct(vec![5; 100]));
        assert!(!all_distinct(vec![5; 2]));
        assert!(all_distinct(Vec::new()));
    }
}
