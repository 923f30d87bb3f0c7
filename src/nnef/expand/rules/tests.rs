use super::*;

#[test]
fn the_draft_tells_cases_apart() {
    assert_eq!(same_case("Conv/\u{c9}1", false), "conv/\u{e9}1");
    assert_eq!(same_case("Conv", true), "Conv");
    assert!(matches!(same_case("conv_1", false), Cow::Borrowed(_)));
}
