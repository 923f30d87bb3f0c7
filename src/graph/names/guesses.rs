//! Guesses of the suffixes that names are about to get.
//!
//! A name under a prefix is known when it is known what suffix the prefix gets. It is guessed, so that
//! what is asked for next can be read ahead. Nothing depends on a guess but time.

use super::distinct::FIRST_SUFFIX;
use super::hashing::Spelling;

/// The most names that are remembered. A power of two.
const REMEMBERED: usize = 4096;

/// Names that were met not long ago, and the suffixes that they got, or 1.
pub struct Guesses(Vec<(Spelling, u32)>);

impl Guesses {
    /// No guesses yet, in a table of so many names.
    pub fn new(names: usize) -> Self {
        Guesses(vec![(0, 0); names.next_power_of_two().min(REMEMBERED)])
    }

    /// What is remembered in the place of a name.
    #[inline]
    fn at(&mut self, name: Spelling) -> &mut (Spelling, u32) {
        let mask = self.0.len() - 1;
        &mut self.0[name as usize & mask]
    }

    /// The suffix that a name is about to get, or 0. The next one of this name gets the one after it.
    #[inline]
    pub fn next(&mut self, name: Spelling) -> u32 {
        let (known, suffix) = self.at(name);
        if *known == name {
            *suffix += 1;
            return *suffix;
        }
        (*known, *suffix) = (name, FIRST_SUFFIX - 1);
        0
    }

    /// Notes the suffix that a name got, or 0, where that was not guessed.
    pub fn correct(&mut self, name: Spelling, suffix: u32) {
        *self.at(name) = (name, suffix.max(FIRST_SUFFIX - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_expected_to_count_on() {
        let mut guesses = Guesses::new(16);
        assert_eq!([7, 8, 7, 7].map(|name| guesses.next(name)), [0, 0, 2, 3]);
        guesses.correct(7, 12);
        guesses.correct(8, 0);
        assert_eq!([7, 8].map(|name| guesses.next(name)), [13, 2]);
    }
}
