//! Which of many names are spelled alike.

use super::counters::{Counters, FIRST_COUNTED};
use super::hashing::{Numbers, Spelled, Spelling, push_byte};
use crate::room;

/// The first suffix of names that others have already.
pub const FIRST_SUFFIX: u32 = 2;

/// Finds out whether names are distinct. Mostly they are, and a table of bits that fits into the
/// cache of the processor shows it for nearly all of them.
pub struct Sieve {
    once: Vec<u64>,
    /// The bits that more than one name has.
    twice: Vec<u64>,
    suspects: usize,
    /// How many names were added.
    added: usize,
}

impl Sieve {
    /// A sieve for so many names.
    pub fn new(count: usize) -> Self {
        let size = (count * 16).next_power_of_two().max(64);
        Sieve { once: vec![0; size / 64], twice: vec![0; size / 64], suspects: 0, added: 0 }
    }

    /// The place of a name in the tables, and its bit there.
    fn place(&self, spelling: Spelling) -> (usize, u64) {
        ((spelling / 64) as usize & (self.once.len() - 1), 1 << (spelling % 64))
    }

    /// Adds names. False where there is no doubt any more that names are equal.
    pub fn add(&mut self, spellings: impl Iterator<Item = Spelling>) -> bool {
        for spelling in spellings {
            let (place, bit) = self.place(spelling);
            let known = &mut self.once[place];
            if *known & bit != 0 {
                self.suspects += 1;
                self.twice[place] |= bit;
            }
            *known |= bit;
            self.added += 1;
        }
        self.suspects <= self.added / 8 + 8
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

/// So many slots next to each other are searched before it goes on elsewhere. A power of two.
const NEAR: usize = 4;

/// A table of names, with a third of its slots free at least. A slot has half of a mixed hash, which
/// tells as much as its position does not; 0 is free. A name that finds others in its place and next
/// to it goes on in steps that depend on all its letters, since neighbours may be many.
struct Table {
    slots: Vec<u32>,
    len: usize,
}

impl Table {
    /// Adds a name; false where it is there already.
    #[inline]
    fn insert(&mut self, name: Spelled) -> bool {
        debug_assert!(self.len < self.slots.len());
        let mask = self.slots.len() - 1;
        let tag = (name.hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32 | 1;
        let (mut at, mut near) = (name.place as usize & mask, 0);
        loop {
            match &mut self.slots[at ^ near] {
                free @ 0 => {
                    *free = tag;
                    self.len += 1;
                    return true;
                }
                known if *known == tag => return false,
                _ => near = (near + 1) % NEAR,
            }
            if near == 0 {
                let step = (name.hash.wrapping_mul(0xc2b2_ae3d_27d4_eb4f) >> 32) as usize | 1;
                at = (at + step) & mask;
            }
        }
    }

    /// Reads the slots of names that will be asked for soon. The table is larger than the caches of
    /// the processor: slots that are read one after the other, before anything depends on what is in
    /// them, come at the same time.
    fn fetch(&self, places: &[u32]) {
        let mask = self.slots.len() - 1;
        std::hint::black_box(places.iter().fold(0, |all, &place| all ^ self.slots[place as usize & mask]));
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
    #[inline]
    pub fn insert(&mut self, name: Spelled) -> bool {
        self.table.insert(name)
    }

    /// Makes names ready to be asked for, by where they belong.
    pub fn fetch(&self, places: &[u32]) {
        self.table.fetch(places);
    }

    /// The suffix that makes a name new, and the hash with it.
    pub fn claim(&mut self, name: Spelled) -> (u32, Spelling) {
        let counter = match self.counters.recent(name.hash) {
            Some(recent) => recent,
            None if self.table.insert(name) => return (0, name.hash),
            None => match self.claim_small(name.hash) {
                Some(claimed) => return claimed,
                None => self.counters.of(name.hash),
            },
        };
        loop {
            let (suffix, hash) = self.counters.suffix(counter, &mut self.numbers);
            if self.table.insert(Spelled::new(hash, name.hash, suffix)) {
                return (suffix, hash);
            }
        }
    }

    /// One of the first suffixes, if one of these makes a name new, which is so until the name has a
    /// counter. Most names are asked for a few times at most, and what is asked for here is next to
    /// the name.
    fn claim_small(&mut self, name: Spelling) -> Option<(u32, Spelling)> {
        let stem = push_byte(name, b'_');
        let mut names = (FIRST_SUFFIX..FIRST_COUNTED).map(|suffix| (suffix, push_byte(stem, b'0' + suffix as u8)));
        names.find(|(suffix, hash)| self.table.insert(Spelled::new(*hash, name, *suffix)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::hashing::Segments;
    use super::*;
    use crate::source::names::Names;

    /// The names of a document that are spelled like these.
    fn spelled(texts: &[String]) -> Vec<Spelled> {
        let mut names = Names::new();
        let interned: Vec<_> = texts.iter().map(|text| names.intern(text)).collect();
        let mut segments = Segments::new(&names);
        interned.into_iter().map(|name| segments.spell(None, name, 0)).collect()
    }

    #[test]
    fn suffixes_are_spelled_as_they_are_written() {
        let texts: Vec<String> = (1..1500).map(|i| if i == 1 { "y_t1".into() } else { format!("y_t1_{i}") }).collect();
        let expected = spelled(&texts);
        let mut taken = Taken::with_capacity(2000, Vec::new());
        for (i, name) in (1..).zip(&expected) {
            assert_eq!(taken.claim(expected[0]), (if i == 1 { 0 } else { i }, name.hash));
        }
        assert!(expected.iter().all(|name| !taken.insert(*name)), "where a name belongs depends on its text only");
    }

    #[test]
    fn neighbours_are_told_apart() {
        let names = spelled(
            &(0..1000).flat_map(|i| [format!("t{i}"), format!("t_{i}"), format!("t{i}_2")]).collect::<Vec<_>>(),
        );
        let mut taken = Taken::with_capacity(names.len(), Vec::new());
        assert!(names.iter().all(|name| taken.insert(*name)));
        assert!(names.iter().all(|name| !taken.insert(*name)));
    }

    #[test]
    fn names_in_one_place_are_found() {
        let name = |i: u64| Spelled { hash: i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 3, place: i as u32 % 7 };
        let mut taken = Taken::with_capacity(10_000, Vec::new());
        assert!((0..10_000).all(|i| taken.insert(name(i))));
        assert!((0..10_000).all(|i| !taken.insert(name(i))));
    }

    #[test]
    fn equal_spellings_are_found() {
        let spread = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 3;
        let all_distinct = |numbers: Vec<u64>| {
            let spellings = || numbers.iter().copied().map(spread);
            let mut sieve = Sieve::new(numbers.len());
            sieve.add(spellings()) && sieve.all_distinct(spellings())
        };
        assert!(all_distinct((0..10_000).collect()));
        assert!(!all_distinct((0..10_000).chain([77]).collect()));
        assert!(!all_distinct(vec![5; 100]));
        assert!(!all_distinct(vec![5; 2]));
        assert!(all_distinct(Vec::new()));
    }
}
