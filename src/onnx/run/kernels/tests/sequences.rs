//! Sequences and optionals, in several nodes.

use super::trial::{check, refused};
use crate::diagnostics::Code;

const X: &str = "float[2] a = {1, 2}, float[2] b = {3, 4}, int64 i = {-1}, int64 z = {0}";

#[test]
fn sequences_are_made_and_read() {
    for (nodes, shape, wanted) in [
        ("s = SequenceConstruct (a, b) y = SequenceAt (s, i)", &[2][..], &[3.0, 4.0][..]),
        ("s = SequenceConstruct (a, b) t = SequenceErase (s) y = SequenceLength (t)", &[], &[1.0]),
        (
            "s = SequenceEmpty () t = SequenceInsert (s, a) u = SequenceInsert (t, b, z) y = SequenceAt (u, z)",
            &[2],
            &[3.0, 4.0],
        ),
        ("s = SequenceConstruct (a, b) y = ConcatFromSequence <axis = 0> (s)", &[4], &[1.0, 2.0, 3.0, 4.0]),
        (
            "s = SequenceConstruct (a, b) y = ConcatFromSequence <axis = 1, new_axis = 1> (s)",
            &[2, 2],
            &[1.0, 3.0, 2.0, 4.0],
        ),
        ("s = SplitToSequence <keepdims = 0> (a) y = SequenceAt (s, i)", &[], &[2.0]),
    ] {
        check(13, X, &format!("y <- {nodes}"), shape, wanted);
    }
    assert_eq!(refused(13, X, "y = SequenceAt (a, i)"), Some(Code::EvalArgument));
}

#[test]
fn optionals_have_a_value_or_none() {
    check(18, X, "y = OptionalHasElement ()", &[], &[0.0]);
    check(18, X, "y <- o = Optional (a) y = OptionalGetElement (o)", &[2], &[1.0, 2.0]);
    check(18, X, "y <- o = Optional (a) y = OptionalHasElement (o)", &[], &[1.0]);
    assert_eq!(refused(18, X, "y <- o = Optional () y = OptionalGetElement (o)"), Some(Code::EvalValue));
}
