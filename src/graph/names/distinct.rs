//! Which of many names are spelled alike.
//!
//! Names are compared by a hash of their spelling that can be continued from that of a prefix: the
//! value of the letters as digits of a number, modulo a prime. Should two names ever collide, one
//! of them gets a suffix that it would not have needed.

use rustc_hash::FxHashMap;

use crate::nnef::names::{Name, Names};

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

fn push_byte(hash: Spelling, byte: u8) -> Spelling {
    multiply_add(hash, BASE, u64::from(byte) + 1)
}

fn push_number(hash: Spelling, number: u32) -> Spelling {
    if number < 10 {
        return push_byte(hash, b'0' + number as u8);
    }
    push_byte(push_number(hash, number / 10), b'0' + (number % 10) as u8)
}

/// The segments of paths, with the hashes of those that were met last.
pub struct Segments<'n> {
    names: &'n Names,
    recent: Box<[Segment; 256]>,
    /// All digits but the last of the number met last: numbers mostly count up.
    digits: Digits,
}

/// The digits of a number, as if they were all there is.
#[derive(Clone, Copy)]
struct Digits {
    number: u32,
    hash: Spelling,
    /// The base to the power of how many they are.
    power: u64,
}

impl Digits {
    fn of(number: u32) -> Self {
        let mut power = 1;
        let mut rest = number;
        while rest > 0 {
            (rest, power) = (rest / 10, multiply_add(power, BASE, 0));
        }
        let hash = if number > 0 { push_number(0, number) } else { 0 };
        Digits { number, hash, power }
    }
}

#[derive(Clone, Copy)]
struct Segment {
    name: Option<Name>,
    hash: Spelling,
    /// The base to the power of its length.
    power: u64,
}

impl<'n> Segments<'n> {
    pub fn new(names: &'n Names) -> Self {
        Segments { names, recent: Box::new([Segment { name: None, hash: 0, power: 1 }; 256]), digits: Digits::of(0) }
    }

    fn segment(&mut self, name: Name) -> Segment {
        let recent = &mut self.recent[name.index() % 256];
        if recent.name != Some(name) {
            let (mut hash, mut power) = (0, 1);
            for byte in self.names.text(name).bytes() {
                hash = push_byte(hash, byte);
                power = multiply_add(power, BASE, 0);
            }
            *recent = Segment { name: Some(name), hash, power };
        }
        *recent
    }

    /// The spelling of a segment, after that of its parent and with its ordinal.
    pub fn spell(&mut self, parent: Option<Spelling>, name: Name, ordinal: u32) -> Spelling {
        let segment = self.segment(name);
        let hash = match parent {
            None => segment.hash,
            Some(parent) => multiply_add(push_byte(parent, b'_'), segment.power, segment.hash),
        };
        if ordinal == 0 {
            return hash;
        }
        if self.digits.number != ordinal / 10 {
            self.digits = Digits::of(ordinal / 10);
        }
        let hash = multiply_add(hash, self.digits.power, self.digits.hash);
        push_byte(hash, b'0' + (ordinal % 10) as u8)
    }
}

/// Whether no two are equal. Mostly that is so, and a table of bits that fits into the cache of the
/// processor shows it for nearly all of them.
pub fn all_distinct(spellings: impl Iterator<Item = Spelling> + Clone) -> bool {
    let count = spellings.clone().count();
    let size = (count * 16).next_power_of_two().max(64);
    let (mut once, mut twice) = (vec![0u64; size / 64], vec![0u64; size / 64]);
    let place = |spelling: Spelling| (spelling as usize & (size - 1)) / 64;
    let bit = |spelling: Spelling| 1u64 << (spelling % 64);
    let mut suspects = 0;
    for spelling in spellings.clone() {
        let known = &mut once[place(spelling)];
        if *known & bit(spelling) != 0 {
            suspects += 1;
            if suspects > count / 8 + 8 {
                return false;
            }
            twice[place(spelling)] |= bit(spelling);
        }
        *known |= bit(spelling);
    }
    if suspects == 0 {
        return true;
    }
    let mut rest: Vec<Spelling> = spellings.filter(|&spelling| twice[place(spelling)] & bit(spelling) != 0).collect();
    rest.sort_unstable();
    rest.windows(2).all(|pair| pair[0] != pair[1])
}

/// The names given out: an open table, with half of its slots free. A slot has half of the mixed
/// hash, which tells as much as its position does not; 0 is free.
pub struct Taken {
    slots: Vec<u32>,
    len: usize,
    /// The suffix to try next for names that are there.
    next: FxHashMap<Spelling, u32>,
}

impl Taken {
    /// A table with room for so many names.
    pub fn with_capacity(names: usize) -> Self {
        let size = (names * 2).next_power_of_two().max(64);
        Taken { slots: vec![0; size], len: 0, next: FxHashMap::default() }
    }

    /// Adds a name; false where it is there already.
    pub fn insert(&mut self, spelling: Spelling) -> bool {
        debug_assert!(self.len < self.slots.len());
        let mask = self.slots.len() - 1;
        // Names that differ in their last letter differ in the last bits, and so have neighbouring
        // slots: their tags must tell them apart.
        let tag = (spelling.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 | 1;
        let mut at = spelling as usize & mask;
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

    /// The suffix that makes a name new, and the hash with it.
    pub fn claim(&mut self, spelling: Spelling) -> (u32, Spelling) {
        if self.insert(spelling) {
            return (0, spelling);
        }
        let mut suffix = self.next.get(&spelling).copied().unwrap_or(2);
        loop {
            let suffixed = push_number(push_byte(spelling, b'_'), suffix);
            suffix += 1;
            if self.insert(suffixed) {
                self.next.insert(spelling, suffix);
                return (suffix - 1, suffixed);
            }
        }
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
    fn neighbours_are_told_apart() {
        let mut taken = Taken::with_capacity(1000);
        for i in 0..1000 {
            assert!(taken.insert(push_number(push_byte(0, b't'), i)), "t{i}");
        }
        assert!((0..1000).all(|i| !taken.insert(push_number(push_byte(0, b't'), i))));
    }

    #[test]
    fn equal_spellings_are_found() {
        let spread = |i: u64| multiply_add(i, BASE, 7);
        assert!(all_distinct((0..10_000).map(spread)));
        assert!(!all_distinct((0..10_000).chain([77]).map(spread)));
        assert!(!all_distinct((0..100).map(|_| 5)));
        assert!(all_distinct([].into_iter()));
    }
}
