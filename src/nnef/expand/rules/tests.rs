use super::*;

#[test]
fn labels_of_one_hash_are_told_apart() {
    let mut labels = Labels::default();
    let variable = OperationId::at;
    assert_eq!(labels.first("a", variable(0), |_| false), None);
    assert_eq!(labels.first("a", variable(1), |other| other == variable(0)), Some(variable(0)));
    // As if the first one had another label of the same hash.
    assert_eq!(labels.first("a", variable(2), |_| false), None);
    assert_eq!(labels.first("a", variable(3), |_| false), Some(variable(2)));
}

#[test]
fn the_draft_tells_cases_apart() {
    assert_eq!(same_case("Conv/\u{c9}1", false), "conv/\u{e9}1");
    assert_eq!(same_case("Conv", true), "Conv");
    assert!(matches!(same_case("conv_1", false), Cow::Borrowed(_)));
}
