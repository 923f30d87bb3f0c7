//! What the tests of several modules share.

#[allow(dead_code, unreachable_pub)] // Builds without some features use a part.
#[path = "../tests/common/numbers.rs"]
mod numbers;
#[path = "../tests/common/patterns.rs"]
mod patterns;
#[allow(dead_code, unreachable_pub)] // The other tests use the rest.
#[path = "../tests/common/real.rs"]
mod real;

#[allow(unused_imports)]
pub(crate) use numbers::{all_near, near};
pub(crate) use patterns::matching;
pub(crate) use real::{RealDocument, models, shared};

#[cfg(feature = "onnx")]
proptest::proptest! {
    #[test]
    fn generated_texts_match(text in matching("(a|bc{1,3})[x-z.é]{0,4}-?(12|\\.)")) {
        let pattern = regex::Regex::new("^(a|bc{1,3})[x-z.é]{0,4}-?(12|\\.)$").expect("a pattern");
        proptest::prop_assert!(pattern.is_match(&text), "{}", text);
    }
}
