//! Texts that match a pattern.

use proptest::prelude::*;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Texts that match a pattern without anchors. Proptest has such a strategy too, with a feature that would give the patterns
/// of all crates more classes.
pub(crate) fn matching(pattern: &str) -> BoxedStrategy<String> {
    texts(&regex_syntax::parse(pattern).expect("a pattern"))
}

fn texts(pattern: &Hir) -> BoxedStrategy<String> {
    match pattern.kind() {
        HirKind::Empty => Just(String::new()).boxed(),
        HirKind::Literal(literal) => Just(String::from_utf8(literal.0.to_vec()).expect("UTF-8")).boxed(),
        HirKind::Class(class) => character(class),
        HirKind::Repetition(repeated) => {
            let most = repeated.max.expect("a bound of the repetition") as usize;
            prop::collection::vec(texts(&repeated.sub), repeated.min as usize..=most)
                .prop_map(|all| all.concat())
                .boxed()
        }
        HirKind::Capture(group) => texts(&group.sub),
        HirKind::Concat(parts) => parts.iter().map(texts).collect::<Vec<_>>().prop_map(|all| all.concat()).boxed(),
        HirKind::Alternation(choices) => proptest::strategy::Union::new(choices.iter().map(texts)).boxed(),
        HirKind::Look(_) => panic!("{pattern} has an anchor"),
    }
}

/// The characters of a class, each as often as another.
fn character(class: &Class) -> BoxedStrategy<String> {
    let Class::Unicode(class) = class else { panic!("a class of bytes") };
    let ranges = class.ranges().iter().flat_map(|range| range.start()..=range.end());
    prop::sample::select(ranges.collect::<Vec<char>>()).prop_map(String::from).boxed()
}
