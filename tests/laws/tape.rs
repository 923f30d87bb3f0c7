//! Generation from a tape of choices.
//!
//! Proptest makes and shrinks a vector of small numbers; generators read it and take the simplest
//! choice, number 0, when it is used up. So a shorter tape with smaller numbers is a simpler
//! expression or document, whatever the generator, and shrinking works without further code.

use proptest::prelude::*;

#[path = "choices.rs"]
mod choices;
pub use choices::Tape;

/// The strategy of values that a generator makes from tapes of up to `length` choices.
pub fn generated<T: std::fmt::Debug>(length: usize, make: impl Fn(&mut Tape) -> T) -> impl Strategy<Value = T> {
    prop::collection::vec(any::<u16>(), 0..length).prop_map(move |choices| make(&mut Tape::new(choices)))
}

/// The configuration of a law: a number of cases unless `PROPTEST_CASES` says otherwise.
pub fn cases(count: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(count);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() }
}
