//! Shapes and the order of items.

use super::trial::{check, refused, results, words};
use crate::diagnostics::Code;
use crate::tensor::DType;

const X: &str = "float[2,3] x = {1, 2, 3, 4, 5, 6}";

fn with(constants: &str) -> String {
    format!("{X}, {constants}")
}

#[test]
fn items_with_another_shape() {
    check(14, &with("int64[2] s = {0, -1}"), "y = Reshape (x, s)", &[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    check(14, "float[0,3] x = {}, int64[2] s = {3, 0}", "y = Reshape <allowzero = 1> (x, s)", &[3, 0], &[]);
    check(13, X, "y = Flatten <axis = 0> (x)", &[1, 6], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    check(13, "float[1,2,1] x = {1, 2}, int64[1] a = {-1}", "y = Squeeze (x, a)", &[1, 2], &[1.0, 2.0]);
    check(11, "float[1,2,1] x = {1, 2}", "y = Squeeze (x)", &[2], &[1.0, 2.0]);
    check(13, "float[2] x = {1, 2}, int64[2] a = {0, -1}", "y = Unsqueeze (x, a)", &[1, 2, 1], &[1.0, 2.0]);
    for node in ["Reshape (x, s)", "Squeeze (x, s)"] {
        assert_eq!(refused(14, &with("int64[2] s = {-1, -1}"), &format!("y = {node}")), Some(Code::EvalShapes));
    }
}

#[test]
fn items_in_another_order() {
    check(13, X, "y = Transpose (x)", &[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let blocks = "float[1,4,1,1] x = {1, 2, 3, 4}, float[1,1,2,2] z = {1, 2, 3, 4}";
    check(13, blocks, "y = DepthToSpace <blocksize = 2> (x)", &[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0]);
    check(13, blocks, "y = SpaceToDepth <blocksize = 2> (z)", &[1, 4, 1, 1], &[1.0, 2.0, 3.0, 4.0]);
    let lengths = with("int64[3] n = {1, 2, 0}");
    check(10, &lengths, "y = ReverseSequence (x, n)", &[2, 3], &[1.0, 5.0, 3.0, 4.0, 2.0, 6.0]);
}

#[test]
fn parts_and_wholes() {
    check(
        13,
        X,
        "y = Concat <axis = -1> (x, x)",
        &[2, 6],
        &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 4.0, 5.0, 6.0],
    );
    let found = results(18, "float[5] x = {1, 2, 3, 4, 5}", "y, z = Split <num_outputs = 2> (x)");
    assert_eq!((found[0].to_scalars(), found[1].to_scalars()), (vec![1.0, 2.0, 3.0], vec![4.0, 5.0]));
    let found = results(13, &with("int64[2] s = {1, 2}"), "y, z = Split <axis = 1> (x, s)");
    assert_eq!((found[0].to_scalars(), found[1].to_scalars()), (vec![1.0, 4.0], vec![2.0, 3.0, 5.0, 6.0]));
    assert_eq!(refused(13, &with("int64[2] s = {1, 1}"), "y, z = Split <axis = 1> (x, s)"), Some(Code::EvalShapes));
    let slice = with(
        "int64[2] s = {-1, 2}, int64[2] e = {-9223372036854775808, 9223372036854775807}, int64[2] a = {0, 1}, int64[2] t = {-1, 1}",
    );
    check(13, &slice, "y = Slice (x, s, e, a, t)", &[2, 1], &[6.0, 3.0]);
    check(9, X, "y = Slice <axes = [1], starts = [1], ends = [-1]> (x)", &[2, 1], &[2.0, 5.0]);
}

#[test]
fn repetitions() {
    check(
        13,
        &with("int64[2] n = {1, 2}"),
        "y = Tile (x, n)",
        &[2, 6],
        &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 4.0, 5.0, 6.0],
    );
    check(13, "float[2,1] x = {1, 2}, int64[1] s = {2}", "y = Expand (x, s)", &[2, 2], &[1.0, 1.0, 2.0, 2.0]);
    let found = &results(13, "string[1] x = {\"a\"}, int64[1] n = {2}", "y = Tile (x, n)")[0];
    assert_eq!(words(found), ["a", "a"]);
    let many = "float[0] x = {}, int64[2] s = {4611686018427387904, 0}";
    assert_eq!(refused(13, many, "y = ConstantOfShape (s)"), Some(Code::EvalMemory));
}

#[test]
fn paddings_of_all_modes() {
    let x = "float[3] x = {1, 2, 3}, int64[2] p = {2, 1}, float v = {9}";
    for (mode, wanted) in [
        ("constant", [9.0, 9.0, 1.0, 2.0, 3.0, 9.0]),
        ("edge", [1.0, 1.0, 1.0, 2.0, 3.0, 3.0]),
        ("reflect", [3.0, 2.0, 1.0, 2.0, 3.0, 2.0]),
        ("wrap", [2.0, 3.0, 1.0, 2.0, 3.0, 1.0]),
    ] {
        check(19, x, &format!("y = Pad <mode = \"{mode}\"> (x, p, v)"), &[6], &wanted);
    }
    check(10, "float[2] x = {1, 2}", "y = Pad <pads = [-1, 1], value = 5.0> (x)", &[2], &[2.0, 5.0]);
    check(
        18,
        &with("int64[2] p = {0, 1}, int64[1] a = {1}"),
        "y = Pad (x, p, , a)",
        &[2, 4],
        &[1.0, 2.0, 3.0, 0.0, 4.0, 5.0, 6.0, 0.0],
    );
}

#[test]
fn shapes_as_tensors() {
    check(15, X, "y = Shape <start = -1> (x)", &[1], &[3.0]);
    check(15, X, "y = Shape <start = 2, end = 1> (x)", &[0], &[]);
    check(13, X, "y = Size (x)", &[], &[6.0]);
    check(14, &with("int64 k = {1}"), "y = Trilu (x, k)", &[2, 3], &[0.0, 2.0, 3.0, 0.0, 0.0, 6.0]);
    check(14, X, "y = Trilu <upper = 0> (x)", &[2, 3], &[1.0, 0.0, 0.0, 4.0, 5.0, 0.0]);
}

#[test]
fn constants() {
    check(9, "int64[2] s = {1, 2}", "y = ConstantOfShape <value = int32[1] {7}> (s)", &[1, 2], &[7.0, 7.0]);
    check(9, X, "y = EyeLike <k = 1, dtype = 6> (x)", &[2, 3], &[0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    for (graph, call, dtype) in [
        ("int64[2] s = {1, 2}", "y = ConstantOfShape <value = int32[1] {7}> (s)", DType::Int32),
        (X, "y = EyeLike <k = 1, dtype = 6> (x)", DType::Int32),
        (X, "y = EyeLike (x)", DType::Float32),
        (X, "y = Constant <value_ints = [3, 4]> ()", DType::Int64),
    ] {
        assert_eq!(results(13, graph, call)[0].dtype(), dtype, "{call}");
    }
    let range = "int64 a = {10}, int64 b = {4}, int64 d = {-4}, float s = {0}, float e = {1}, float t = {0.4}";
    check(11, range, "y = Range (a, b, d)", &[2], &[10.0, 6.0]);
    check(11, range, "y = Range (s, e, t)", &[3], &[0.0, 0.4, 0.8]);
    check(13, X, "y = Constant <value_ints = [3, 4]> ()", &[2], &[3.0, 4.0]);
    let endless = "float s = {0}, float e = {inf}, float t = {1}";
    assert_eq!(refused(11, endless, "y = Range (s, e, t)"), Some(Code::EvalArgument));
}
