//! Generation from a tape of choices.
//!
//! Proptest makes and shrinks a vector of small numbers; generators read it and take the simplest
//! choice, number 0, when it is used up. So a shorter tape with smaller numbers is a simpler
//! expression or document, whatever the generator, and shrinking works without further code.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

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

/// Checks a law on a number of generated values. It tells whether it had anything to compare, which is so for at least one
/// value in `of`.
pub fn checked<S: Strategy>(count: u32, values: S, of: u32, law: impl Fn(S::Value) -> Result<bool, String>) {
    let config = cases(count);
    let (least, compared) = (config.cases / of, Cell::new(0));
    let done = TestRunner::new(config).run(&values, |value| {
        let has_compared = law(value).map_err(TestCaseError::fail)?;
        compared.set(compared.get() + u32::from(has_compared));
        Ok(())
    });
    done.unwrap_or_else(|broken| panic!("{broken}"));
    assert!(compared.get() >= least, "{} values were compared, not {least}", compared.get());
}
