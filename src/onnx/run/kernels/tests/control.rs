//! Branches, loops, scans, and graphs of other operators.

use super::trial::{check, tried};
use crate::diagnostics::Code;
use crate::eval::Limits;

#[test]
fn one_branch_runs() {
    for (truth, wanted) in [(1, 2.0), (0, 3.0)] {
        let constants = format!("bool c = {{{truth}}}, float a = {{2}}, float b = {{3}}");
        let node = "y = If <then_branch = t () => (float u) { u = Identity (a) }, \
            else_branch = e () => (float u) { u = Identity (b) }> (c)";
        check(21, &constants, node, &[], &[wanted]);
    }
}

const LOOP: &str = "<body = b (int64 i, bool c, float s) => (bool d, float t, float u) \
    { t = Add (s, one) d = Less (t, most) u = Identity (t) }> (n, , s)";

#[test]
fn loops_end_by_their_condition_or_their_trips() {
    for (trips, wanted) in [("9", &[1.0, 2.0, 3.0][..]), ("2", &[1.0, 2.0]), ("0", &[])] {
        let constants = format!("int64 n = {{{trips}}}, float s = {{0}}, float one = {{1}}, float most = {{3}}");
        check(21, &constants, &format!("y <- last, y = Loop {LOOP}"), &[wanted.len()], wanted);
        check(21, &constants, &format!("y = Loop {LOOP}"), &[], &[wanted.len() as f64]);
    }
}

/// A limit that is met soon.
const LIMITS: Limits = Limits { max_items: 1 << 20, max_work: 1_000_000 };

#[test]
fn endless_loops_meet_the_limit() {
    let constants = "float s = {0}, float one = {0}, float most = {1}";
    let error = tried(21, constants, &format!("y = Loop {}", LOOP.replace("(n,", "(,")), LIMITS);
    assert_eq!(error.unwrap_err().code, Code::EvalWork);
}

#[test]
fn slices_are_scanned_in_both_directions() {
    let constants = "float[1] s = {0}, float[2,1] x = {1, 2}";
    let body = "body = b (float[1] s, float[1] e) => (float[1] t, float[1] u) { t = Add (s, e) u = Identity (t) }";
    check(21, constants, &format!("y, all = Scan <{body}, num_scan_inputs = 1> (s, x)"), &[1], &[3.0]);
    let backwards = format!("y <- last, y = Scan <{body}, num_scan_inputs = 1, scan_input_directions = [1]> (s, x)");
    check(21, constants, &backwards, &[2, 1], &[2.0, 3.0]);
}

#[test]
fn graphs_run_on_items_of_sequences() {
    let nodes = "y <- s = SequenceConstruct (a, b) \
        t = SequenceMap <body = m (float[n] e) => (float[n] r) { r = Neg (e) }> (s) y = SequenceAt (t, i)";
    for (at, wanted) in [(0, &[-1.0, -2.0][..]), (1, &[-3.0])] {
        let constants = format!("float[2] a = {{1, 2}}, float[1] b = {{3}}, int64 i = {{{at}}}");
        check(17, &constants, nodes, &[wanted.len()], wanted);
    }
}

#[test]
fn graphs_change_the_scores_of_attention() {
    let constants = "float[1,1,1,1] q = {1}, float[1,1,2,1] k = {0, 0}, float[1,1,2,1] v = {2, 4}, \
        float[2] bias = {0, -1000}";
    let nodes = "y = ai.onnx.preview.FlexAttention (q, k, v)";
    check(28, constants, nodes, &[1, 1, 1, 1], &[3.0]);
    let masked = "y = ai.onnx.preview.FlexAttention \
        <score_mod = m (float[1,1,1,2] x) => (float[1,1,1,2] r) { r = Add (x, bias) }> (q, k, v)";
    check(28, constants, masked, &[1, 1, 1, 1], &[2.0]);
}
