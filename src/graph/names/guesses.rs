//! Guesses of the suffixes that names are about to get.
//!
//! A name under a prefix is known when it is known what suffix the prefix gets. It is guessed, so that
//! what is asked for next can be read ahead. Nothing depends on a guess but time.

use super::distinct::FIRST_SUFFIX;
use super::hashing::Spelling;

/// How many names are remembered. A power of two.
const REMEMBERED: usize = 4096;

/// Names that were met not long ago, and the suffixes that they got, or 1.
pub struct Guesses(Box<[(Spelling, u32); REMEMBERED]>);

impl Guesses {
    pub fn new() -> Self {
        Guesses(Box::new([(0, 0); REMEMBERED]))
    }

    /// The suffix that a name is about to get, or 0. The next one of this name gets the one after it.
    #[inline]
    pub fn next(&mut self, name: Spelling) -> u32 {
        let (known, suffix) = &mut self.0[name as usize % REMEMBERED];
        if *known == name {
            *suffix += 1;
            return *suffix;
        }
        (*known, *suffix) = (name, FIRST_SUFFIX - 1);
        0
    }

    /// Notes the suffix that a name got, or 0, where that was not guessed.
    pub fn correct(&mut self, name: Spelling, suffix: u32) {
        self.0[name as usize % REMEMBERED] = (name, suffix.max(FIRST_SUFFIX - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_expected_to_count_on() {
        let mut guesses = Guesses::new();
        assert_eq!([7, 8, 7, 7].map(|name| guesses.next(name)), [0, 0, 2, 3]);
        guesses.correct(7, 12);
        guesses.correct(8, 0);
        assert_eq!([7, 8].map(|name| guesses.next(name)), [13, 2]);
    }
}
