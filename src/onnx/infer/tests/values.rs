//! Integers that are followed through operators.

use super::{check, check_in};

#[test]
fn shapes_are_values() {
    let inputs = "float[N,C,H,4] x";
    for (nodes, wanted) in [
        ("y = Shape (x)", "y: int64[4]{N, C, H, 4}"),
        ("y = Shape <start = 1, end = -1> (x)", "y: int64[2]{C, H}"),
        ("y = Size (x)", "y: int64[]{4*C*H*N}"),
        ("s = Shape (x) i = Constant <value_int = -1> () y = Gather (s, i)", "y: int64[]{4}"),
        (
            "s = Shape (x) a = Constant <value_ints = [0]> () b = Constant <value_ints = [2]> () y = Slice (s, a, b)",
            "y: int64[2]{N, C}",
        ),
        (
            "s = Shape (x) p = ReduceProd <keepdims = 1> (s) m = Constant <value_ints = [-1]> () \
             t = Concat <axis = 0> (p, m) y = Reshape (x, t)",
            "t: int64[2]{4*C*H*N, -1}; y: float32[4*C*H*N, 1]",
        ),
        ("s = Shape (x) c = Cast <to = 6> (s) y = Split <axis = 0, num_outputs = 4> (c)", "y: int32[1]{N}"),
        ("s = Shape (x) y = ConstantOfShape (s)", "y: float32[N, C, H, 4]"),
        ("s = Shape (x) k = Constant <value_ints = [0, 0, 1, 2]> () y = Expand (k, s)", "y: int64[N, C, H, 4]"),
    ] {
        check(inputs, nodes, wanted);
    }
}

#[test]
fn integers_are_computed() {
    let inputs = "float[N,7] x";
    let operands = "s = Shape (x) n = Shape <end = 1> (x) m = Shape <start = 1> (x) k = Constant <value_ints = [3]> () \
                    e = Constant <value_ints = [-2]> ()";
    for (node, wanted) in [
        ("y = Add (s, k)", "int64[2]{N+3, 10}"),
        ("y = Sub (k, s)", "int64[2]{3-N, -4}"),
        ("y = Mul (n, n)", "int64[1]{N*N}"),
        ("y = Div (s, k)", "int64[2]{N/3, 2}"),
        ("y = Div (m, e)", "int64[1]{-3}"),
        ("y = Mod (m, e)", "int64[1]{-1}"),
        ("y = Mod <fmod = 1> (m, e)", "int64[1]{1}"),
        ("y = Mod (n, k)", "int64[1]{N-3*(N/3)}"),
        ("y = Neg (m)", "int64[1]{-7}"),
        ("y = Abs (e)", "int64[1]{2}"),
        ("y = Max (n, k)", "int64[1]{max(3,N)}"),
        ("y = Min (m, k)", "int64[1]{3}"),
        ("y = Equal (n, e)", "bool[1]{0}"),
        ("y = Equal (n, k)", "bool[1]{?}"),
        ("y = Less (e, n)", "bool[1]{1}"),
        ("y = GreaterOrEqual (m, k)", "bool[1]{1}"),
        ("c = Equal (k, e) y = Where (c, n, m)", "int64[1]{7}"),
        ("c = Equal (k, k) y = Not (c)", "bool[1]{0}"),
        ("y = Range (k, m, k)", "int64[2]{3, 6}"),
    ] {
        check(inputs, &format!("{operands} {node}"), &format!("y: {wanted}"));
    }
}

#[test]
fn ranges_have_a_length() {
    let inputs = "int64 a, float[N] x";
    for (nodes, wanted) in [
        (
            "z = Constant <value_int = 0> () o = Constant <value_int = 2> () s = Size (x) y = Range (z, s, o)",
            "int64[(N+1)/2]",
        ),
        ("z = Constant <value_int = 0> () o = Constant <value_int = 1> () y = Range (z, a, o)", "int64[unk__0]"),
        (
            "z = Constant <value_float = 0.0> () e = Constant <value_float = 1.0> () \
             t = Constant <value = float {0.25}> () u = Constant <value = float {1.0}> () \
             v = Constant <value = float {0.0}> () y = Range (v, u, t)",
            "float32[4]",
        ),
    ] {
        check(inputs, nodes, &format!("y: {wanted}"));
    }
}

#[test]
fn extents_that_nothing_determines_have_symbols_of_their_own() {
    check(
        "float[unk__0, 3] x, float[?, 3] z, bool[unk__2] b",
        "y = Add (z, z) a = Compress <axis = 0> (x, b) c = Concat <axis = 0> (a, a)",
        "z: float32[unk__1, 3]; y: float32[unk__1, 3]; a: float32[unk__3, 3]; c: float32[2*unk__3, 3]",
    );
}

#[test]
fn invalid_nodes_have_unknown_results() {
    let inputs = "float[2,3] x, float[4] v";
    for (nodes, wanted) in [
        ("y = Add (x, v)", "float32[..]"),
        ("y = Transpose <perm = [0, 5]> (x)", "float32[..]"),
        ("y = Concat <axis = 7> (x, x)", "float32[..]"),
        (
            "a = Constant <value_ints = [9223372036854775807, 9223372036854775807]> () y = Tile (x, a)",
            "float32[unk__0, unk__1]",
        ),
        ("a = Constant <value_ints = [-2]> () y = Reshape (x, a)", "float32[..]"),
        ("a = Constant <value_ints = [-9, -9, -9, -9]> () y = Pad (x, a)", "float32[unk__0, unk__1]"),
    ] {
        check_in(18, inputs, nodes, "", &format!("y: {wanted}"));
    }
}
