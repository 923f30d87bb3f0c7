//! The suffixes to try next for names that others have already.

use super::hashing::{Numbers, Spelling, push_byte};
use crate::room;

/// How many names are remembered. A power of two.
const RECENT: usize = 64;

/// No counter.
const NONE: u32 = u32::MAX;

/// From this suffix on it is counted which one is next: few names need it. Less than 10.
pub const FIRST_COUNTED: u32 = 5;

/// A counter for each name that many ask for.
pub struct Counters {
    list: Vec<Counter>,
    /// An open table of the counters by their names, each one more than its place; 0 is free. There
    /// may be a counter for every second name, so this is made of nothing but places.
    places: Vec<u32>,
    /// Those met last, with their names: the list may be large, and most names have no counter.
    recent: [(Spelling, u32); RECENT],
}

/// A name that many ask for.
struct Counter {
    spelling: Spelling,
    /// The suffix to try next.
    next: u32,
    /// The name with this suffix but for its last digit.
    stem: Spelling,
}

impl Default for Counters {
    fn default() -> Self {
        Counters { list: Vec::new(), places: Vec::new(), recent: [(0, NONE); RECENT] }
    }
}

impl Counters {
    /// The counter of a name, if it was met not long ago.
    #[inline]
    pub fn recent(&self, spelling: Spelling) -> Option<u32> {
        let (known, counter) = self.recent[spelling as usize % RECENT];
        (known == spelling && counter != NONE).then_some(counter)
    }

    /// The counter of a name, a new one if it has none.
    pub fn of(&mut self, spelling: Spelling) -> u32 {
        if self.places.len() < 2 * (self.list.len() + 1) {
            self.grow();
        }
        let (place, new) = (self.place(spelling), self.list.len() as u32);
        let counter = self.places[place].checked_sub(1).unwrap_or(new);
        if counter == new {
            room::push(&mut self.list, Counter { spelling, next: FIRST_COUNTED, stem: push_byte(spelling, b'_') });
            self.places[place] = counter + 1;
        }
        self.recent[spelling as usize % RECENT] = (spelling, counter);
        counter
    }

    /// The next suffix of a counter, and the name with it.
    #[inline]
    pub fn suffix(&mut self, counter: u32, numbers: &mut Numbers) -> (u32, Spelling) {
        let counter = &mut self.list[counter as usize];
        let suffix = counter.next;
        let (front, digit) = (suffix / 10, suffix % 10);
        if digit == 0 {
            counter.stem = numbers.push(push_byte(counter.spelling, b'_'), front);
        }
        counter.next += 1;
        (suffix, push_byte(counter.stem, b'0' + digit as u8))
    }

    /// Where a name has its counter in the table, or would have it.
    fn place(&self, spelling: Spelling) -> usize {
        let mask = self.places.len() - 1;
        let mut at = (spelling.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while let Some(counter) = self.places[at].checked_sub(1)
            && self.list[counter as usize].spelling != spelling
        {
            at = (at + 1) & mask;
        }
        at
    }

    /// Makes the table twice as large, at least.
    fn grow(&mut self) {
        self.places = vec![0; (self.places.len() * 2).max(64)];
        for i in 0..self.list.len() {
            let place = self.place(self.list[i].spelling);
            self.places[place] = i as u32 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_counts_for_itself() {
        let mut counters = Counters::default();
        let mut numbers = Numbers::new();
        let names: Vec<Spelling> = (0..1000u64).map(|i| (0..i % 7).fold(i, |hash, _| push_byte(hash, b'x'))).collect();
        for round in FIRST_COUNTED..15 {
            for (i, &name) in names.iter().enumerate() {
                let counter = counters.of(name);
                assert_eq!(counter as usize, i);
                assert_eq!(counters.recent(name), Some(counter));
                let expected = round.to_string().bytes().fold(push_byte(name, b'_'), push_byte);
                assert_eq!(counters.suffix(counter, &mut numbers), (round, expected));
            }
        }
    }
}
