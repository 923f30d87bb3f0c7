//! Generation from a tape of choices.
//!
//! Proptest makes and shrinks a vector of small numbers; generators read it and take the simplest
//! choice, number 0, when it is used up. So a shorter tape with smaller numbers is a simpler
//! expression or document, whatever the generator, and shrinking works without further code.

use proptest::prelude::*;

/// The choices, and how many are used.
pub struct Tape {
    choices: Vec<u16>,
    at: usize,
}

impl Tape {
    /// A tape to read from the start.
    pub fn new(choices: Vec<u16>) -> Self {
        Tape { choices, at: 0 }
    }

    /// A choice among `count`, which is not 0.
    pub fn below(&mut self, count: usize) -> usize {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(choice) % count
    }

    /// True in `chances` of 16 cases.
    pub fn chance(&mut self, chances: usize) -> bool {
        self.below(16) >= 16 - chances
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// The strategy of values that a generator makes from tapes of up to `length` choices.
pub fn generated<T: std::fmt::Debug>(length: usize, make: impl Fn(&mut Tape) -> T) -> impl Strategy<Value = T> {
    prop::collection::vec(any::<u16>(), 0..length).prop_map(move |choices| make(&mut Tape::new(choices)))
}

/// The configuration of a law: a number of cases unless `PROPTEST_CASES` says otherwise.
pub fn cases(count: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() }
}
