//! Reductions, and functions of the items along an axis.

use super::trial::{check, refused, results};
use crate::diagnostics::Code;

const X: &str = "float[2,3] x = {1, 2, 3, 4, 5, 6}, int64[1] a = {1}, int64[0] none = {}";

#[test]
fn groups_become_items() {
    for (node, shape, wanted) in [
        ("ReduceSum (x, a)", &[2, 1][..], &[6.0, 15.0][..]),
        ("ReduceSum <keepdims = 0> (x)", &[], &[21.0]),
        ("ReduceSum <noop_with_empty_axes = 1> (x, none)", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ("ReduceMean <keepdims = 0> (x, a)", &[2], &[2.0, 5.0]),
        ("ReduceProd <keepdims = 0> (x, a)", &[2], &[6.0, 120.0]),
        ("ReduceMax <keepdims = 0> (x, a)", &[2], &[3.0, 6.0]),
        ("ReduceMin <keepdims = 0> (x, a)", &[2], &[1.0, 4.0]),
        ("ReduceL1 <keepdims = 0> (x, a)", &[2], &[6.0, 15.0]),
        ("ReduceL2 <keepdims = 0> (x, a)", &[2], &[3.741657, 8.774964]),
        ("ReduceSumSquare <keepdims = 0> (x, a)", &[2], &[14.0, 77.0]),
        ("ReduceLogSum <keepdims = 0> (x, a)", &[2], &[1.791759, 2.70805]),
        ("ReduceLogSumExp <keepdims = 0> (x, a)", &[2], &[3.407606, 6.407606]),
    ] {
        check(20, X, &format!("y = {node}"), shape, wanted);
    }
    check(12, X, "y = ReduceMean <axes = [-2], keepdims = 0> (x)", &[3], &[2.5, 3.5, 4.5]);
}

#[test]
fn groups_without_items() {
    let none = "float[0] x = {}, int8[0] i = {}, bool[0] b = {}";
    for (node, wanted) in [
        ("ReduceSum <keepdims = 0> (x)", 0.0),
        ("ReduceProd <keepdims = 0> (x)", 1.0),
        ("ReduceMax <keepdims = 0> (x)", f64::NEG_INFINITY),
        ("ReduceMax <keepdims = 0> (i)", -128.0),
        ("ReduceMin <keepdims = 0> (b)", 1.0),
    ] {
        check(20, none, &format!("y = {node}"), &[], &[wanted]);
    }
}

#[test]
fn softmax_and_its_axes() {
    check(13, X, "y = Softmax (x)", &[2, 3], &[0.090031, 0.244728, 0.665241, 0.090031, 0.244728, 0.665241]);
    check(
        13,
        X,
        "y = LogSoftmax <axis = 0> (x)",
        &[2, 3],
        &[-3.048587, -3.048587, -3.048587, -0.048587, -0.048587, -0.048587],
    );
    // All axes from one on are a single one in early versions.
    check(11, "float[1,2,2] x = {0, 0, 0, 0}", "y = Softmax (x)", &[1, 2, 2], &[0.25; 4]);
    check(13, "float[3] x = {1, 3, 3}", "y = Hardmax (x)", &[3], &[0.0, 1.0, 0.0]);
}

#[test]
fn sums_and_products_up_to_each_item() {
    let x = "float[3] x = {1, 2, 3}, int32[3] i = {1, 2, 3}, int64 a = {0}";
    check(14, x, "y = CumSum (x, a)", &[3], &[1.0, 3.0, 6.0]);
    check(14, x, "y = CumSum <exclusive = 1, reverse = 1> (i, a)", &[3], &[5.0, 3.0, 0.0]);
    check(26, x, "y = CumProd <exclusive = 1> (x, a)", &[3], &[1.0, 1.0, 2.0]);
    let rows = "float[2,3] x = {1, 2, 3, 4, 5, 6}, int64 a = {1}, int64 first = {-2}";
    check(14, rows, "y = CumSum (x, a)", &[2, 3], &[1.0, 3.0, 6.0, 4.0, 9.0, 15.0]);
    check(14, rows, "y = CumSum (x, first)", &[2, 3], &[1.0, 2.0, 3.0, 5.0, 7.0, 9.0]);
}

#[test]
fn best_items_and_their_indices() {
    let x = "float[2,3] x = {1, 3, 3, 2, 0, nan}, int64[1] k = {2}";
    check(13, x, "y = ArgMax <axis = 1, keepdims = 0> (x)", &[2], &[1.0, 2.0]);
    check(13, x, "y = ArgMax <axis = 1, keepdims = 0, select_last_index = 1> (x)", &[2], &[2.0, 2.0]);
    let found = results(11, "int32[4] x = {4, 1, 3, 1}, int64[1] k = {2}", "y, i = TopK (x, k)");
    assert_eq!((found[0].to_scalars(), found[1].to_scalars()), (vec![4.0, 3.0], vec![0.0, 2.0]));
    let found = results(11, "int32[4] x = {4, 1, 3, 1}, int64[1] k = {2}", "y, i = TopK <largest = 0> (x, k)");
    assert_eq!((found[0].to_scalars(), found[1].to_scalars()), (vec![1.0, 1.0], vec![1.0, 3.0]));
    assert_eq!(refused(11, "float[1] x = {1}, int64[1] k = {2}", "y, i = TopK (x, k)"), Some(Code::EvalShapes));
}

#[test]
fn distinct_items_and_slices() {
    let lists =
        |node: &str, x: &str| -> Vec<Vec<f64>> { results(11, x, node).iter().map(|of| of.to_scalars()).collect() };
    let x = "float[6] x = {2, 1, 1, 3, 4, 3}";
    let wanted = [vec![1.0, 2.0, 3.0, 4.0], vec![1.0, 0.0, 3.0, 4.0], vec![1.0, 0.0, 0.0, 2.0, 3.0, 2.0]];
    let found = lists("y, i, r, c = Unique (x)", x);
    assert_eq!((&found[..3], &found[3]), (&wanted[..], &vec![2.0, 1.0, 2.0, 1.0]));
    assert_eq!(lists("y = Unique <sorted = 0> (x)", x)[0], [2.0, 1.0, 3.0, 4.0]);
    let rows = "float[3,2] x = {2, 3, 1, 0, 1, 0}";
    assert_eq!(lists("y, i = Unique <axis = 0> (x)", rows), [vec![1.0, 0.0, 2.0, 3.0], vec![1.0, 0.0]]);
}
