//! Graphs inside nodes, and calls.

use super::{HEADER, check, check_in, told, with_types};
use crate::Options;

#[test]
fn branches_have_their_common_type() {
    let branches =
        "<then_branch = a () => (p) { p = Relu (x) }, else_branch = b () => (q) { q = Concat <axis = 0> (x, x) }>";
    let inputs = "float[N,4] x, bool c";
    check(inputs, &format!("y = If {branches} (c)"), "y: float32[unk__0, 4]");
    check(inputs, &format!("k = Constant <value = bool {{1}}> () y = If {branches} (k)"), "y: float32[N, 4]");
    check(inputs, &format!("k = Constant <value = bool {{0}}> () y = If {branches} (k)"), "y: float32[2*N, 4]");
}

#[test]
fn loops_keep_what_does_not_change() {
    let inputs = "float[N,4] x, bool c, int64 m";
    let body = "<body = b (int64 i, bool k, float[?,?] v) => (kk, w, r) { kk = Identity (k) w = Concat <axis = 0> (v, v) r = Relu (x) }>";
    let known = "t = Constant <value_int = 5> () g = Constant <value = bool {1}> ()";
    check(inputs, &format!("y, z = Loop {body} (m, c, x)"), "y: float32[unk__1, 4]; z: float32[unk__2, N, 4]");
    check(inputs, &format!("{known} y, z = Loop {body} (t, g, x)"), "z: float32[5, N, 4]");
    check(inputs, &format!("{known} y, z = Loop {body} (t, , x)"), "z: float32[5, N, 4]");
    check(inputs, &format!("{known} y, z = Loop {body} (m, g, x)"), "z: float32[unk__2, N, 4]");
    let stable = "<body = b (i, k, v) => (kk, w) { kk = Identity (k) w = Relu (v) }>";
    check(inputs, &format!("y = Loop {stable} (m, c, x)"), "y: float32[N, 4]");
}

#[test]
fn scans_stack_the_results_of_their_body() {
    let body = "<body = b (s, e) => (t, o) { t = Add (s, e) o = Relu (e) }, num_scan_inputs = 1, \
                scan_input_axes = [1], scan_output_axes = [-1]>";
    check("float[N] s, float[N,L] x", &format!("y, z = Scan {body} (s, x)"), "y: float32[N]; z: float32[N, L]");
    let body = "<body = b (s, e) => (t, o) { t = Add (s, e) o = Relu (e) }, num_scan_inputs = 1>";
    check_in(
        8,
        "float[B,2] s, float[B,L,2] x",
        &format!("y, z = Scan {body} (, s, x)"),
        "",
        "y: float32[B, 2]; z: float32[B, L, 2]",
    );
}

#[test]
fn a_map_over_a_sequence_is_a_sequence() {
    check(
        "float[N,4] x, float[4] v",
        "s = SequenceConstruct (x, x) y = SequenceMap <body = b (e, a) => (o) { o = MatMul (e, a) }> (s, v)",
        "y: seq(float32[N])",
    );
}

#[test]
fn calls_have_the_types_of_their_bodies() {
    let inputs = "float[N,4] x";
    let functions = "<domain: \"local\", opset_import: [\"\" : 21, \"local\" : 1]> f <to> (a) => (r) \
                     { h = Cast <to: int = @to> (a) r = local.g (h, h) } \
                     <domain: \"local\", opset_import: [\"\" : 21]> g (a, b) => (r) { x = Concat <axis = 0> (a, b) r = Relu (x) }";
    check_in(21, inputs, "y = local.f <to = 10> (x)", functions, "y: float16[2*N, 4]");
}

#[test]
fn values_in_branches_have_types() {
    let text = format!("{HEADER} g (float[N] x, bool c) => () {{ {NODE} }}");
    const NODE: &str = "y = If <then_branch = a () => (p) { x = Shape (x) p = Cast <to = 1> (x) }, \
                else_branch = b () => (q) { q = Neg (x) }> (c)";
    with_types(&text, &Options::default(), |types, id| {
        let inner = types.main.inner.get((0, 0, 0)).unwrap();
        assert_eq!(told(inner.values.get(id("x")).unwrap()), "int64[1]{N}");
        assert_eq!(told(types.main.values.get(id("x")).unwrap()), "float32[N]");
        assert_eq!(told(types.main.inner.get((0, 1, 0)).unwrap().values.get(id("q")).unwrap()), "float32[N]");
    });
}

/// Each loop visits its body several times.
#[test]
fn nested_loops_take_bounded_time() {
    let mut body = "w = Concat <axis = 0> (v, v)".to_owned();
    for depth in 0..24 {
        body = format!("w = Loop <body = b{depth} (i, k, v) => (k, w) {{ {body} }}> (m, c, v)");
    }
    let text = format!("{HEADER} g (float[N] v, bool c, int64 m) => () {{ {body} x = Relu (v) }}");
    let options = Options::default().with(|options| options.max_ops = 1000);
    with_types(&text, &options, |types, id| assert_eq!(told(types.main.values.get(id("x")).unwrap()), "float32[N]"));
}

/// The text of a type would take quadratic memory if all of these were kept.
#[test]
fn nested_types_are_bounded() {
    let mut nodes = "a0 = Optional (x)".to_owned();
    for i in 0..100 {
        nodes += &format!(" a{} = Optional (a{i})", i + 1);
    }
    let text = format!("{HEADER} g (float[2] x) => () {{ {nodes} }}");
    with_types(&text, &Options::default(), |types, id| {
        assert_eq!(told(types.main.values.get(id("a1")).unwrap()), "optional(optional(float32[2]))");
        assert!(told(types.main.values.get(id("a100")).unwrap()).len() < 200);
    });
}
