//! Reading and writing at indices.

use super::trial::{check, refused};
use crate::diagnostics::Code;

const X: &str = "float[2,2] x = {1, 2, 3, 4}";

fn with(constants: &str) -> String {
    format!("{X}, {constants}")
}

#[test]
fn items_are_read() {
    check(13, &with("int64[1,2] i = {-1, 0}"), "y = Gather (x, i)", &[1, 2, 2], &[3.0, 4.0, 1.0, 2.0]);
    check(13, &with("int64[2,1] i = {1, 0}"), "y = GatherElements <axis = 1> (x, i)", &[2, 1], &[2.0, 3.0]);
    check(13, &with("int64[2,2] i = {0, 0, 1, -1}"), "y = GatherND (x, i)", &[2], &[1.0, 4.0]);
    check(13, &with("int64[2,1] i = {1, 0}"), "y = GatherND <batch_dims = 1> (x, i)", &[2], &[2.0, 3.0]);
    check(13, "float[2,2] x = {0, 2, 0, 4}", "y = NonZero (x)", &[2, 2], &[0.0, 1.0, 1.0, 1.0]);
    check(11, &with("bool[2] c = {0, 1}"), "y = Compress <axis = 0> (x, c)", &[1, 2], &[3.0, 4.0]);
    check(11, &with("bool[3] c = {0, 1, 1}"), "y = Compress (x, c)", &[2], &[2.0, 3.0]);
    for node in ["Gather (x, i)", "GatherND (x, i)", "GatherElements (x, i)"] {
        assert_eq!(refused(13, &with("int64[1,1] i = {5}"), &format!("y = {node}")), Some(Code::EvalValue), "{node}");
    }
}

#[test]
fn items_are_written_in_order() {
    let scatter = with("int64[1,2] i = {1, 1}, float[1,2] u = {10, 20}");
    for (reduction, wanted) in [
        ("none", [1.0, 2.0, 10.0, 20.0]),
        ("add", [1.0, 2.0, 13.0, 24.0]),
        ("mul", [1.0, 2.0, 30.0, 80.0]),
        ("max", [1.0, 2.0, 10.0, 20.0]),
        ("min", [1.0, 2.0, 3.0, 4.0]),
    ] {
        check(18, &scatter, &format!("y = ScatterElements <reduction = \"{reduction}\"> (x, i, u)"), &[2, 2], &wanted);
    }
    // Of logicals, the greater one of two is true where one is.
    let logicals = "bool[4] x = {0, 1, 0, 1}, bool[2] u = {1, 0}, int64[2] i = {0, 1}";
    for (reduction, wanted) in [
        ("max", [1.0, 1.0, 0.0, 1.0]),
        ("add", [1.0, 1.0, 0.0, 1.0]),
        ("min", [0.0, 0.0, 0.0, 1.0]),
        ("mul", [0.0, 0.0, 0.0, 1.0]),
    ] {
        check(18, logicals, &format!("y = ScatterElements <reduction = \"{reduction}\"> (x, i, u)"), &[4], &wanted);
    }
    let slices = with("int64[2,1] i = {1, 1}, float[2,2] u = {1, 1, 2, 2}");
    check(18, &slices, "y = ScatterND <reduction = \"add\"> (x, i, u)", &[2, 2], &[1.0, 2.0, 6.0, 7.0]);
    check(18, &slices, "y = ScatterND (x, i, u)", &[2, 2], &[1.0, 2.0, 2.0, 2.0]);
    let cache = "float[1,3,1] x = {1, 2, 3}, float[1,2,1] u = {8, 9}, int64[1] i = {2}";
    check(24, cache, "y = TensorScatter <mode = \"circular\"> (x, u, i)", &[1, 3, 1], &[9.0, 2.0, 8.0]);
    assert_eq!(refused(24, cache, "y = TensorScatter (x, u, i)"), Some(Code::EvalValue));
}

#[test]
fn one_place_has_another_value() {
    let x = "int64[3] i = {1, -1, 9}, int64 d = {2}, float[2] v = {5, 7}";
    check(11, x, "y = OneHot (i, d, v)", &[3, 2], &[5.0, 7.0, 5.0, 7.0, 5.0, 5.0]);
    check(11, x, "y = OneHot <axis = 0> (i, d, v)", &[2, 3], &[5.0, 5.0, 5.0, 7.0, 7.0, 5.0]);
}
