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

/// The configuration of a law: a number of cases, the same in each run, three times as many with
/// `NNEF_FLATTEN_EXHAUSTIVE=1`, and any number by `PROPTEST_CASES`.
pub fn cases(count: u32) -> ProptestConfig {
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let exhaustive = std::env::var_os("NNEF_FLATTEN_EXHAUSTIVE").is_some_and(|value| value == "1");
    let cases = wanted.unwrap_or(if exhaustive { 3 * count } else { count });
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() }
}
