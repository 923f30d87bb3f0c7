//! Tests of extents and shapes.

use super::*;

#[test]
fn unknown_extents_agree_with_everything() {
    let (one, two, three, open) = (Extent::ONE, Extent::new(2), Extent::new(3), Extent::UNKNOWN);
    assert_eq!(two.unify(&two).as_ref(), Some(&two));
    assert_eq!(two.unify(&three), None);
    assert_eq!(open.unify(&three).as_ref(), Some(&three));
    assert_eq!(one.broadcast(&three).as_ref(), Some(&three));
    assert_eq!(two.broadcast(&three), None);
    // An unknown extent that is broadcast with 3 is 1 or 3; with 1, it can be anything.
    assert_eq!(open.broadcast(&three).as_ref(), Some(&three));
    assert_eq!(open.broadcast(&one).as_ref(), Some(&open));
}

#[test]
fn a_shape_is_known_when_all_its_extents_are() {
    assert_eq!(Shape::of(&[2, 3]).known(), Some(vec![2, 3]));
    assert_eq!(Shape::new(&[Extent::new(2), Extent::UNKNOWN]).known(), None);
    assert_eq!(format!("{:?}", Shape::new(&[Extent::new(2), Extent::UNKNOWN])), "[2, ?]");
    assert_eq!(Shape::default().known(), Some(vec![]));
}

#[test]
fn texts_that_are_not_extents_say_what_is() {
    assert_eq!("2*S+1".parse::<Extent>().map(|extent| extent.to_string()), Ok("2*S+1".to_owned()));
    for text in ["-2", "", "S+"] {
        let error = text.parse::<Extent>().unwrap_err().to_string();
        let wanted = "an extent is an integer that is not negative, or an expression on symbols such as 2*S+1";
        assert_eq!(error, wanted, "{text}");
    }
}
