//! Shapes and element types, by operator.

use std::fmt::Write as _;

use super::{check, check_in, with_types};
use crate::Options;
use crate::onnx::Document;
use crate::onnx::schema::Schemas;
use crate::source::Sources;

#[test]
fn results_of_items_have_the_shape_of_the_operands() {
    let inputs = "float16[N,4] x, float[4] v, double[M,1] c, bool[N,4] b";
    for (nodes, wanted) in [
        ("y = Relu (x)", "float16[N, 4]"),
        ("y = Mul (x, v)", "float16[N, 4]"),
        ("y = Add (c, v)", "float64[M, 4]"),
        ("y = Add (x, c)", "float16[broadcast(M,N), 4]"),
        ("y = Less (x, x)", "bool[N, 4]"),
        ("y = Where (b, x, x)", "float16[N, 4]"),
        ("y = Max (v, v, v)", "float32[4]"),
        ("y = Cast <to = 7> (x)", "int64[N, 4]"),
        ("y = CastLike (x, c)", "float64[N, 4]"),
        ("y = IsNaN (x)", "bool[N, 4]"),
        ("y = PRelu (x, v)", "float16[N, 4]"),
        ("y = Dropout (x)", "float16[N, 4]"),
        ("y = Identity (x)", "float16[N, 4]"),
    ] {
        check(inputs, nodes, &format!("y: {wanted}"));
    }
}

#[test]
fn items_are_arranged() {
    let inputs = "float[N,3,H,W] x, float[N,2,H,W] z, float[6] v";
    for (nodes, wanted) in [
        ("y = Transpose (x)", "y: float32[W, H, 3, N]"),
        ("y = Transpose <perm = [0, 2, 3, 1]> (x)", "y: float32[N, H, W, 3]"),
        ("y = Concat <axis = -3> (x, z)", "y: float32[N, 5, H, W]"),
        ("y = Flatten <axis = 2> (x)", "y: float32[3*N, H*W]"),
        ("y = Flatten <axis = -1> (x)", "y: float32[3*H*N, W]"),
        ("y = DepthToSpace <blocksize = 2> (z)", "y: float32[N, 0, 2*H, 2*W]"),
        ("y = SpaceToDepth <blocksize = 2> (x)", "y: float32[N, 12, H/2, W/2]"),
        ("y, w = Split <axis = 0, num_outputs = 2> (v)", "y: float32[3]; w: float32[3]"),
        (
            "y, w = Split <axis = 3, num_outputs = 2> (x)",
            "y: float32[N, 3, H, (W+1)/2]; w: float32[N, 3, H, W-(W+1)/2]",
        ),
        ("a = Constant <value_ints = [0, -1]> () y = Reshape (x, a)", "y: float32[N, 3*H*W]"),
        ("a = Constant <value_ints = [-1, 2]> () y = Reshape (v, a)", "y: float32[3, 2]"),
        ("a = Constant <value_ints = [0, -1]> () y = Unsqueeze (v, a)", "y: float32[1, 6, 1]"),
        ("a = Constant <value_ints = [5, 1]> () y = Expand (v, a)", "y: float32[5, 6]"),
        ("a = Constant <value_ints = [1, 2, 1, 3]> () y = Tile (x, a)", "y: float32[N, 6, H, 3*W]"),
        ("a = Constant <value_ints = [0, 0, 1, 2, 0, 0, 3, 4]> () y = Pad (x, a)", "y: float32[N, 3, H+4, W+6]"),
    ] {
        check(inputs, nodes, wanted);
    }
}

#[test]
fn items_are_selected() {
    let inputs = "float[N,8] x, int64[2,K] i, bool[8] b, float[N] n";
    for (nodes, wanted) in [
        ("y = Gather <axis = 1> (x, i)", "y: float32[N, 2, K]"),
        ("y = GatherElements (x, i)", "y: float32[2, K]"),
        ("y = NonZero (x)", "y: int64[2, unk__0]"),
        ("y = Compress <axis = 1> (x, b)", "y: float32[N, unk__0]"),
        ("k = Constant <value_ints = [3]> () y, p = TopK (x, k)", "y: float32[N, 3]; p: int64[N, 3]"),
        (
            "s = Constant <value_ints = [1]> () e = Constant <value_ints = [-1]> () y = Slice (x, s, e, s)",
            "y: float32[N, 6]",
        ),
        (
            "s = Constant <value_ints = [0]> () e = Constant <value_ints = [4]> () y = Slice (n, s, e)",
            "y: float32[min(4,N)]",
        ),
        (
            "s = Constant <value_ints = [-1]> () e = Constant <value_ints = [-9223372036854775807]> () \
             t = Constant <value_ints = [-2]> () a = Constant <value_ints = [1]> () y = Slice (x, s, e, a, t)",
            "y: float32[N, 4]",
        ),
    ] {
        check(inputs, nodes, wanted);
    }
}

#[test]
fn windows_have_places() {
    let inputs = "float[N,3,H,32] x, float[8,3,3,3] w, float[3,5,2,2] t";
    for (nodes, wanted) in [
        ("y = Conv (x, w)", "float32[N, 8, H-2, 30]"),
        ("y = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w)", "float32[N, 8, (H+1)/2, 16]"),
        ("y = Conv <auto_pad = \"SAME_UPPER\", strides = [2, 3]> (x, w)", "float32[N, 8, (H+1)/2, 11]"),
        ("y = ConvTranspose <strides = [2, 2], group = 2> (x, t)", "float32[N, 10, 2*H, 64]"),
        ("y = ConvTranspose <output_shape = [7, 9]> (x, t)", "float32[N, 5, 7, 9]"),
        ("y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)", "float32[N, 3, H/2, 16]"),
        ("y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (x)", "float32[N, 3, H/2, 16]"),
        ("y = GlobalAveragePool (x)", "float32[N, 3, 1, 1]"),
    ] {
        check(inputs, nodes, &format!("y: {wanted}"));
    }
}

#[test]
fn matrices_are_multiplied() {
    let inputs = "float[B,1,N,4] a, float[3,4,M] b, float[4] v, float[M,N] m";
    for (nodes, wanted) in [
        ("y = MatMul (a, b)", "float32[B, 3, N, M]"),
        ("y = MatMul (a, v)", "float32[B, 1, N]"),
        ("y = MatMul (v, v)", "float32[]"),
        ("y = Gemm <transA = 1> (m, m)", "float32[N, N]"),
        ("y = Einsum <equation = \"...ij, kjm -> ...mi\"> (a, b)", "float32[B, 1, M, N]"),
        ("y = Einsum <equation = \"ii\"> (m)", "float32[]"),
    ] {
        check(inputs, nodes, &format!("y: {wanted}"));
    }
}

#[test]
fn axes_are_reduced() {
    let inputs = "float[N,3,H] x, int64[K] o";
    for (version, nodes, wanted) in [
        (11, "y = ReduceSum <axes = [1], keepdims = 0> (x)", "float32[N, H]"),
        (18, "a = Constant <value_ints = [-1]> () y = ReduceMean (x, a)", "float32[N, 3, 1]"),
        (18, "y = ReduceMax (x)", "float32[1, 1, 1]"),
        (18, "y = ReduceMax <noop_with_empty_axes = 1> (x)", "float32[N, 3, H]"),
        (13, "y = ArgMax <axis = 2, keepdims = 0> (x)", "int64[N, 3]"),
        (18, "y = ReduceSum (x, o)", "float32[unk__0, unk__1, unk__2]"),
    ] {
        check_in(version, inputs, nodes, "", &format!("y: {wanted}"));
    }
}

#[test]
fn element_types_follow_the_schema_and_attributes() {
    let inputs = "float[N,4] x, float s, int8 z, float16[2,3] h";
    for (version, nodes, wanted) in [
        (21, "q = QuantizeLinear (x, s, z)", "q: int8[N, 4]"),
        (21, "q = QuantizeLinear (x, s)", "q: uint8[N, 4]"),
        (21, "q = QuantizeLinear <output_dtype = 17> (x, s)", "q: float8e4m3fn[N, 4]"),
        (21, "q, t, u = DynamicQuantizeLinear (x)", "q: uint8[N, 4]; t: float32[]; u: uint8[]"),
        (21, "e = EyeLike <dtype = 11> (h)", "e: float64[2, 3]"),
        (17, "l, m, v = LayerNormalization (h)", "l: float16[2, 3]; m: float32[2, 1]; v: float32[2, 1]"),
        (21, "r = RandomNormal <shape = [2, 3], dtype = 10> ()", "r: float16[2, 3]"),
        (21, "c = Constant <value_string = \"a\"> ()", "c: string[]"),
    ] {
        check_in(version, inputs, nodes, "", wanted);
    }
}

#[test]
fn versions_of_operators_differ() {
    let inputs = "float[1,3,8,8] x, float[4] s";
    let scales = "float[4] f = {1, 1, 2, 2}";
    for (version, nodes, wanted) in [
        (7, "y = Upsample <scales = [1.0, 1.0, 2.0, 3.0]> (x)", "float32[1, 3, 16, 24]"),
        (10, "y = Resize (x, f)", "float32[1, 3, 16, 16]"),
        (13, "y = Resize (x, , f)", "float32[1, 3, 16, 16]"),
        (9, "y = Slice <axes = [2], starts = [1], ends = [7]> (x)", "float32[1, 3, 6, 8]"),
        (12, "y = Squeeze <axes = [0]> (x)", "float32[3, 8, 8]"),
        (9, "y, i = TopK <axis = 3, k = 2> (x)", "float32[1, 3, 8, 2]"),
        (2, "y = Pad <pads = [0, 0, 1, 1, 0, 0, 1, 1]> (x)", "float32[1, 3, 10, 10]"),
    ] {
        let version = if nodes.contains("TopK") { 9 } else { version };
        check_in(version, &format!("{inputs}, {scales}"), nodes, "", &format!("y: {wanted}"));
    }
}

#[test]
fn recurrent_networks_and_attention_have_states() {
    check(
        "float[T,B,8] x, float[2,64,8] w, float[2,64,16] r",
        "y, h, c = LSTM <hidden_size = 16, direction = \"bidirectional\"> (x, w, r)",
        "y: float32[T, 2, B, 16]; h: float32[2, B, 16]; c: float32[2, B, 16]",
    );
    check_in(
        23,
        "float[B,S,32] q, float[B,T,16] k, float[B,2,P,8] past",
        "y, pk, pv = Attention <q_num_heads = 4, kv_num_heads = 2> (q, k, k, , past, past)",
        "",
        "y: float32[B, S, 32]; pk: float32[B, 2, P+T, 8]",
    );
}

#[test]
fn sequences_and_optional_values_have_the_type_of_their_content() {
    let inputs = "float[N,4] x, int64 i";
    for (nodes, wanted) in [
        ("s = SequenceConstruct (x, x) y = SequenceAt (s, i)", "s: seq(float32[N, 4]); y: float32[N, 4]"),
        ("t = Relu (x) s = SplitToSequence (x) y = ConcatFromSequence <axis = 0> (s)", "y: float32[unk__0, 4]"),
        ("s = SequenceEmpty <dtype = 7> () y = SequenceLength (s)", "s: seq(int64[..]); y: int64[]"),
        ("o = Optional (x) y = OptionalGetElement (o)", "o: optional(float32[N, 4]); y: float32[N, 4]"),
    ] {
        check(inputs, nodes, wanted);
    }
}

#[test]
fn other_domains_are_known_as_far_as_they_are_standard() {
    let inputs = "float[N,4] x";
    for (nodes, wanted) in [
        ("y = local.Any (x)", "y: ?"),
        ("y = ai.onnx.ml.LinearRegressor <targets = 3> (x)", "y: float32[N, 3]"),
        (
            "y, z = ai.onnx.ml.LinearClassifier <classlabels_strings = [\"a\", \"b\", \"c\"], coefficients = [1.0]> (x)",
            "y: string[N]; z: float32[N, 3]",
        ),
        ("y = ai.onnx.ml.OneHotEncoder <cats_int64s = [1, 2]> (x)", "y: float32[N, 4, 2]"),
    ] {
        check(inputs, nodes, wanted);
    }
}

/// What is declared may be any number: no rule takes memory or time for it. Each operator gets a large extent at each of its
/// operands.
#[test]
fn declared_extents_of_any_size_take_no_memory() {
    let mut nodes = String::new();
    let schemas = Schemas::new();
    for (operator, domain) in schemas.all_operators().flat_map(|name| [(name, ""), (name, "com.microsoft.")]) {
        if !schemas.has(domain.trim_end_matches('.'), operator) {
            continue;
        }
        for (large, other) in ["i", "m", "n"].into_iter().flat_map(|large| [(large, "x"), (large, "p")]) {
            for at in 0..4 {
                let operands: Vec<&str> = (0..4).map(|operand| if operand == at { large } else { other }).collect();
                for given in [&operands[..=at], &operands[..]] {
                    let i = nodes.len();
                    writeln!(nodes, "y{i} = {domain}{operator} ({})", given.join(", ")).unwrap();
                }
            }
        }
    }
    for extent in [1_i64 << 40, 1 << 62] {
        let large = format!("int64[{extent}] i, float[{extent},{extent}] m, float[2,{extent},3] n");
        let inputs = format!("float[2,3,4] x, int64[2] p, {large}");
        let text = format!(
            "<ir_version: 10, opset_import: [\"\" : {}, \"com.microsoft\" : 1]> g ({inputs}) => () {{ {nodes} }}",
            schemas.latest("")
        );
        with_types(&text, &Options::default(), |types, id| assert!(types.main.values.get(id("y0")).is_some()));
        let (document, found) = Document::parse("m", text, &mut Sources::new(), &Options::default());
        let document = document.unwrap_or_else(|| panic!("{found:?}"));
        // Most of the calls are wrong.
        assert!(document.check(&Options::default()).has_errors());
    }
}
