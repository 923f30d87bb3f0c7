//! Calls of operators of machine learning.

use super::call::{Call, LEARNING};
use super::draw::*;
use super::makers::Maker;

pub const MAKERS: &[Maker] = &[
    ("Binarizer Scaler Normalizer Imputer ArrayFeatureExtractor FeatureVectorizer", features),
    ("LabelEncoder OneHotEncoder", labels),
    ("LinearRegressor LinearClassifier", linear),
    ("TreeEnsembleRegressor", trees),
    ("TreeEnsembleClassifier", classes),
    ("TreeEnsemble", ensemble),
    ("CategoryMapper", categories),
    ("SVMClassifier SVMRegressor", vectors),
];

fn numbers(s: &mut Draw, count: usize) -> Vec<f32> {
    (0..count).map(|_| s.int(-8, 8) as f32 / 4.0).collect()
}

fn features(s: &mut Draw, op: &'static str) -> Option<Call> {
    let (rows, columns) = (s.size(1, 3), s.size(1, 4));
    let call = Call::within(op, LEARNING, s.array(F32, &[rows, columns]));
    let (one, other) = (s.pick(&[1, columns]), s.pick(&[1, columns]));
    let norm = s.pick(&["MAX", "L1", "L2"]);
    Some(match op {
        "Binarizer" => call.maybe("threshold", s.maybe(0.25f32)),
        "Scaler" => call.with("offset", numbers(s, one)).with("scale", numbers(s, other)),
        "Normalizer" => call.maybe("norm", s.maybe(norm)),
        "Imputer" => {
            let replaced = s.pick(&[f32::NAN, 0.5]);
            call.with("imputed_value_floats", numbers(s, one)).with("replaced_value_float", replaced)
        }
        "ArrayFeatureExtractor" => {
            let (count, known) = (s.size(1, 3), s.flag());
            call.knowing_if(known, s.indices(I64, &[count], columns, false))
        }
        _ => {
            let more = s.size(1, 3);
            call.on(s.array(F32, &[rows, more])).with("inputdimensions", vec![columns as i64, more as i64])
        }
    })
}

fn labels(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape = s.some(1, 2, 4);
    let call = Call::within(op, LEARNING, s.indices(I64, &shape, 4, false));
    if op == "OneHotEncoder" {
        return Some(call.with("cats_int64s", vec![0, 1, 2]).maybe("zeros", s.maybe(1)));
    }
    let call = call.with("keys_int64s", vec![0, 1, 3]).with("values_floats", numbers(s, 3));
    Some(call.maybe("default_float", s.maybe(-1.5f32)))
}

fn linear(s: &mut Draw, op: &'static str) -> Option<Call> {
    s.edge = false;
    let (rows, columns, targets) = (s.size(1, 3), s.size(1, 3), s.size(2, 4));
    let call = Call::within(op, LEARNING, s.array(F32, &[rows, columns]));
    let call = call.with("coefficients", numbers(s, columns * targets)).with("intercepts", numbers(s, targets));
    let transform = s.pick(&["NONE", "LOGISTIC", "SOFTMAX"]);
    Some(match op {
        "LinearRegressor" => call.with("targets", targets as i64),
        _ => {
            let classes: Vec<i64> = (0..targets as i64).collect();
            call.with("classlabels_ints", classes).maybe("post_transform", s.maybe(transform)).results(2)
        }
    })
}

/// Trees with a root and two leaves each.
fn trees(s: &mut Draw, op: &'static str) -> Option<Call> {
    s.edge = false;
    let (rows, columns, targets, count) = (s.size(1, 3), s.size(1, 3), s.size(1, 3), s.size(1, 3));
    let mode = s.pick(&["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]);
    let call = Call::within(op, LEARNING, s.array(F32, &[rows, columns]));
    let (each, leaves) = (3 * count, 2 * count);
    let root = |node: usize| node.is_multiple_of(3);
    let of_root = |item: i64| move |node: usize| if node.is_multiple_of(3) { item } else { 0 };
    let column: Vec<i64> = (0..each).map(|node| if root(node) { s.size(0, columns - 1) as i64 } else { 0 }).collect();
    let split: Vec<f32> = (0..each).map(|node| if root(node) { s.int(-4, 4) as f32 / 4.0 } else { 0.0 }).collect();
    let target: Vec<i64> = (0..leaves).map(|_| s.size(0, targets - 1) as i64).collect();
    let how = s.pick(&["SUM", "AVERAGE", "MIN", "MAX"]);
    let call = call
        .with("nodes_treeids", (0..each).map(|node| node as i64 / 3).collect::<Vec<_>>())
        .with("nodes_nodeids", (0..each).map(|node| node as i64 % 3).collect::<Vec<_>>())
        .with("nodes_modes", (0..each).map(|node| if root(node) { mode } else { "LEAF" }).collect::<Vec<_>>())
        .with("nodes_truenodeids", (0..each).map(of_root(1)).collect::<Vec<_>>())
        .with("nodes_falsenodeids", (0..each).map(of_root(2)).collect::<Vec<_>>())
        .with("nodes_featureids", column)
        .with("nodes_values", split);
    let call = call
        .with("target_treeids", (0..leaves).map(|leaf| leaf as i64 / 2).collect::<Vec<_>>())
        .with("target_nodeids", (0..leaves).map(|leaf| leaf as i64 % 2 + 1).collect::<Vec<_>>())
        .with("target_ids", target)
        .with("target_weights", numbers(s, leaves))
        .with("n_targets", targets as i64);
    Some(call.maybe("aggregate_function", s.maybe(how)))
}

fn categories(s: &mut Draw, op: &'static str) -> Option<Call> {
    let shape = s.some(1, 2, 4);
    let call = Call::within(op, LEARNING, s.indices(I64, &shape, 4, false)).with("cats_int64s", vec![0, 1, 2]);
    Some(call.with("cats_strings", vec!["a", "Ab", ""]).maybe("default_string", s.maybe("none")))
}

/// Vectors of two columns that support classes or a regression.
fn vectors(s: &mut Draw, op: &'static str) -> Option<Call> {
    s.edge = false;
    let rows = s.size(1, 3);
    let call = Call::within(op, LEARNING, s.array(F32, &[rows, 2]));
    let call = call.with("kernel_type", s.pick(&["LINEAR", "POLY", "RBF", "SIGMOID"]));
    let call = call.with("kernel_params", vec![0.5f32, s.pick(&[0.0, 0.25]), s.pick(&[2.0, 3.0])]);
    let (one, transform) = (s.flag(), s.pick(&["NONE", "LOGISTIC", "SOFTMAX"]));
    if op == "SVMRegressor" {
        let call =
            call.with("coefficients", numbers(s, 2)).with("support_vectors", numbers(s, 4)).with("n_supports", 2);
        return Some(call.with("rho", numbers(s, 1)).maybe("one_class", one.then_some(1)));
    }
    let call = call.with("support_vectors", numbers(s, 8)).maybe("post_transform", s.maybe(transform)).results(2);
    Some(match s.flag() {
        true => {
            let call = call.with("coefficients", numbers(s, 4)).with("vectors_per_class", vec![2, 2]);
            call.with("rho", numbers(s, 1)).with("classlabels_ints", vec![3, 7])
        }
        false => {
            let call = call.with("coefficients", numbers(s, 8)).with("vectors_per_class", vec![1, 2, 1]);
            call.with("rho", numbers(s, 3)).with("classlabels_ints", vec![3, 7, 5])
        }
    })
}

/// A tree with a root and two leaves, which vote for classes.
fn classes(s: &mut Draw, op: &'static str) -> Option<Call> {
    s.edge = false;
    let rows = s.size(1, 4);
    let mode = s.pick(&["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]);
    let (split, transform) = (s.int(-4, 4) as f32 / 4.0, s.pick(&["NONE", "LOGISTIC", "SOFTMAX"]));
    let call = Call::within(op, LEARNING, s.array(F32, &[rows, 2])).results(2);
    let call = call.with("nodes_treeids", vec![0, 0, 0]).with("nodes_nodeids", vec![0, 1, 2]);
    let call = call.with("nodes_featureids", vec![s.int(0, 1), 0, 0]).with("nodes_values", vec![split, 0.0, 0.0]);
    let call = call.with("nodes_modes", vec![mode, "LEAF", "LEAF"]).with("nodes_truenodeids", vec![1, 0, 0]);
    let call = call.with("nodes_falsenodeids", vec![2, 0, 0]).with("class_treeids", vec![0, 0, 0]);
    let call = call.with("class_nodeids", vec![1, 2, 2]).with("class_ids", vec![0, 1, 2]);
    let call = call.with("class_weights", numbers(s, 3)).with("classlabels_int64s", vec![4, 5, 6]);
    Some(call.maybe("post_transform", s.maybe(transform)))
}

/// Two trees with a root and two leaves each.
fn ensemble(s: &mut Draw, op: &'static str) -> Option<Call> {
    s.edge = false;
    let (rows, of) = (s.size(1, 4), s.pick(&[F32, F64]));
    let (splits, weights) = (s.array(of, &[2]), s.array(of, &[4]));
    let (how, transform) = (s.int(0, 3), s.pick(&[0, 1, 2]));
    let modes: Vec<i128> = (0..2).map(|_| s.int(0, 5).into()).collect();
    let call = Call::within(op, LEARNING, s.array(of, &[rows, 2])).with("n_targets", 2).version(22);
    let call = call.with("tree_roots", vec![0, 1]).with("nodes_featureids", vec![s.int(0, 1), s.int(0, 1)]);
    let call = call.with("nodes_splits", splits).with("nodes_modes", integers(U8, &[2], &modes));
    let call = call.with("nodes_truenodeids", vec![0, 2]).with("nodes_trueleafs", vec![1, 1]);
    let call = call.with("nodes_falsenodeids", vec![1, 3]).with("nodes_falseleafs", vec![1, 1]);
    let call = call.with("leaf_targetids", vec![0, s.int(0, 1), 1, s.int(0, 1)]).with("leaf_weights", weights);
    Some(call.maybe("aggregate_function", s.maybe(how)).maybe("post_transform", s.maybe(transform)))
}
