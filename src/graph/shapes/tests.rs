//! Tests of the shape rules on small documents: inferred shapes, errors, and unknown shapes.

use crate::dictionary::{self, Vocabulary};
use crate::graph::Graph;
use crate::{Options, expand, parse};

/// Expands a graph whose inputs have these shapes; `S` is an unknown extent.
fn run(inputs: &[(&str, &str)], call: &str) -> Result<Graph, Vec<String>> {
    run_with("", inputs, call)
}

/// [`run`] with more extensions.
fn run_with(extensions: &str, inputs: &[(&str, &str)], call: &str) -> Result<Graph, Vec<String>> {
    let options = Options::default();
    let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    let sources: String =
        inputs.iter().map(|(name, shape)| format!("{name} = external{}(shape = {shape});\n", element(name))).collect();
    let text = format!(
        "version 1.0; extension tract_symbol S; {extensions}\ngraph G( {} ) -> ( y ) {{ {sources} {call} }}",
        names.join(", ")
    );
    let parsed = parse("test.nnef", text, &options);
    assert!(!parsed.diagnostics.has_errors(), "{call}: {:?}", parsed.diagnostics);
    let expanded = expand(&parsed.document, &options);
    let of_shapes = |found: &crate::Diagnostics| -> Vec<String> {
        let codes = found.iter().filter(|found| found.is_error() || found.code.as_str().starts_with("E10"));
        codes.map(|found| found.code.as_str().to_string()).collect()
    };
    // Errors that the default mode only warns about are errors here.
    match expanded {
        Ok(expansion) => match of_shapes(&expansion.diagnostics) {
            codes if codes.is_empty() => Ok(expansion.graph),
            codes => Err(codes),
        },
        Err(found) => Err(of_shapes(&found)),
    }
}

/// The element type of an input: names that start with `i` are integers, with `l` logicals.
fn element(name: &str) -> &'static str {
    match name.as_bytes()[0] {
        b'i' => "<integer>",
        b'l' => "<logical>",
        _ => "",
    }
}

/// The shape of the output `y` as text: `[1, ?]`, or `?`. Extents that depend on the symbol are unknown.
fn shape(inputs: &[(&str, &str)], call: &str) -> String {
    let graph = run(inputs, call).unwrap_or_else(|codes| panic!("{call}: {codes:?}"));
    let extent = |extent: &crate::graph::Extent| extent.known().map_or("?".to_string(), |extent| extent.to_string());
    let text = |shape: &crate::graph::Shape| shape.extents().iter().map(extent).collect::<Vec<_>>().join(", ");
    graph.shape(graph.outputs[0]).map_or("?".to_string(), |shape| format!("[{}]", text(shape)))
}

fn errors(inputs: &[(&str, &str)], call: &str) -> Vec<String> {
    run(inputs, call).err().unwrap_or_default()
}

/// Cases with one input `x`: its shape, the call, and the shape of the result or the code.
fn check(cases: &[(&str, &str, &str)]) {
    for (x, call, wanted) in cases {
        check_with(&[("x", x)], call, wanted);
    }
}

fn check_with(inputs: &[(&str, &str)], call: &str, wanted: &str) {
    if wanted.starts_with('E') {
        assert_eq!(errors(inputs, call), [wanted], "{inputs:?} {call}");
    } else {
        assert_eq!(shape(inputs, call), wanted, "{inputs:?} {call}");
    }
}

const X: &str = "[1,4,8,8]";

#[test]
fn operands_align_at_their_first_axes() {
    check(&[
        (X, "y = exp(x);", "[1, 4, 8, 8]"),
        ("[1,S]", "y = exp(x);", "[1, ?]"),
        (X, "y = add(x, 1.0);", "[1, 4, 8, 8]"),
        (X, "y = sub(1.0, x);", "[1, 4, 8, 8]"),
        (X, "y = clamp(x, 0.0, 1.0);", "[1, 4, 8, 8]"),
        (X, "y = pow(2.0, 3.0);", "[]"),
        (X, "t = vendor(x); y = add(x, t);", "?"),
    ]);
    let pairs = [
        ("[1,4]", "[1, 4, 8, 8]"),
        ("[3]", "[3, 4, 8, 8]"),
        ("[1,1,8]", "[1, 4, 8, 8]"),
        ("[1,4,8,8,2]", "[1, 4, 8, 8, 2]"),
        ("[1,S]", "[1, 4, 8, 8]"),
        ("[S]", "[?, 4, 8, 8]"),
        ("[1,3]", "E1001"),
        ("[1,1,1,4]", "E1001"),
        ("[1,1,1,3]", "E1024"),
    ];
    for (z, wanted) in pairs {
        check_with(&[("x", X), ("z", z)], "y = mul(x, z);", wanted);
    }
    let inputs = [("l", X), ("x", "[1,4]"), ("z", "[1,1,8,1]")];
    check_with(&inputs, "y = select(l, x, z);", "[1, 4, 8, 8]");
    check_with(&[("x", X), ("z", "[1,3]")], "t = vendor(x); y = clamp(t, x, z);", "E1001");
    check_with(&[("x", X), ("z", "[1,3]")], "y = add_n([x, z]);", "E1001");
}

#[test]
fn convolutions() {
    let with = |w: &str, call: &str, wanted: &str| check_with(&[("x", X), ("w", w)], call, wanted);
    with("[6,4,3,3]", "y = conv(x, w);", "[1, 6, 8, 8]");
    with("[6,4,3,3]", "y = conv(x, w, stride = [2,3]);", "[1, 6, 4, 3]");
    with("[6,4,3,3]", "y = conv(x, w, padding = [(0,0),(1,1)]);", "[1, 6, 6, 8]");
    with("[6,4,3,3]", "y = conv(x, w, padding = [(0,0),(0,0)], dilation = [2,1], stride = [1,2]);", "[1, 6, 4, 3]");
    with("[6,2,3,3]", "y = conv(x, w, groups = 2);", "[1, 6, 8, 8]");
    with("[8,1,3,3]", "y = conv(x, w, groups = 0);", "[1, 8, 8, 8]");
    with("[4,3,3,3]", "y = deconv(x, w, stride = [2,2]);", "[1, 3, 16, 16]");
    with("[4,3,3,3]", "y = deconv(x, w, stride = [2,2], padding = [(1,1),(1,0)]);", "[1, 3, 15, 16]");
    with("[4,3,3,3]", "y = deconv(x, w, stride = [2,2], output_shape = [1,3,15,16]);", "[1, 3, 15, 16]");
    with("[4,3,3,3]", "y = deconv(x, w, stride = [2,2], output_shape = [1,3,20,16]);", "E1002");
    with("[4,3,3,3]", "y = deconv(x, w, stride = [2,2], output_shape = [1,4,15,16]);", "E1002");
    with("[6,3,3,3]", "y = conv(x, w);", "E1002");
    with("[7,2,3,3]", "y = conv(x, w, groups = 2);", "E1002");
    with("[6,4,3]", "y = conv(x, w);", "E1002");
    with("[6,4,9,9]", "y = conv(x, w, padding = [(0,0),(0,0)]);", "E1002");
    with("[6,4,3,3]", "y = conv(x, w, stride = [0,1]);", "E1002");
    with("[S,4,3,3]", "y = conv(x, w);", "[1, ?, 8, 8]");
    with("[6,4,S,3]", "y = conv(x, w, padding = [(0,0),(0,0)]);", "[1, 6, ?, 6]");
    check_with(&[("x", "[S,4,S,8]"), ("w", "[6,4,3,3]")], "y = conv(x, w);", "[?, 6, ?, 8]");
    let separable = [("x", X), ("p", "[4,1,3,3]"), ("q", "[6,4,1,1]")];
    check_with(&separable, "y = separable_conv(x, p, q, stride = [2,2]);", "[1, 6, 4, 4]");
    let separable = [("x", X), ("p", "[6,1,3,3]"), ("q", "[4,6,1,1]")];
    check_with(&separable, "y = separable_deconv(x, p, q, stride = [2,2]);", "[1, 6, 16, 16]");
}

#[test]
fn biases() {
    for bias in ["[1,6]", "[6]", "[1,6,1,1]", "[]", "[1,S]"] {
        check_with(&[("x", X), ("w", "[6,4,3,3]"), ("b", bias)], "y = conv(x, w, b);", "[1, 6, 8, 8]");
    }
    for (bias, code) in [("[1,1,6]", "E1021"), ("[1,5]", "E1002"), ("[6,1]", "E1021")] {
        check_with(&[("x", X), ("w", "[6,4,3,3]"), ("b", bias)], "y = conv(x, w, b);", code);
    }
}

#[test]
fn pooling() {
    check(&[
        (X, "y = max_pool(x, size = [1,1,2,2]);", "[1, 4, 8, 8]"),
        (X, "y = max_pool(x, size = [1,1,3,3], stride = [1,1,3,3]);", "[1, 4, 3, 3]"),
        (X, "y = box(x, size = [1,4,3,3], padding = [(0,0),(0,0),(0,0),(1,1)]);", "[1, 1, 6, 8]"),
        (X, "y, i = max_pool_with_index(x, size = [1,1,2,2], stride = [1,1,2,2]);", "[1, 4, 4, 4]"),
        (X, "y = debox(x, size = [1,1,2,2], stride = [1,1,2,2]);", "[1, 4, 16, 16]"),
        (X, "y = debox(x, size = [1,1,2,2], stride = [1,1,2,2], output_shape = [1,4,15,16]);", "[1, 4, 15, 16]"),
        ("[1,4,S,8]", "y = avg_pool(x, size = [1,1,2,2], stride = [1,1,2,2]);", "[1, 4, ?, 4]"),
        (X, "y = nearest_downsample(x, factor = [2,4]);", "[1, 4, 4, 2]"),
        (X, "y = multilinear_upsample(x, factor = [2,4]);", "[1, 4, 16, 32]"),
        (X, "y = local_mean_normalization(x, size = [1,3,1,1]);", "[1, 4, 8, 8]"),
        (X, "y = avg_pool(x, size = [2,2]);", "E1027"),
        (X, "y = avg_pool(x, size = [2]);", "E1003"),
        (X, "y = avg_pool(x, size = [1,1,2,2], stride = [2,2]);", "E1003"),
        (X, "y = area_downsample(x, factor = [3,2]);", "E1003"),
        (X, "y = area_downsample(x, factor = [2]);", "E1003"),
        (X, "y = debox(x, size = [1,1,2,2], output_shape = [1,4,9,9]);", "E1003"),
        (X, "y = avg_pool(x, size = [1,1,0,0]);", "E1023"),
    ]);
    // 4.3.3: the indices have the shape of the samples, not of the tensor that is sampled.
    let sample = "y = sample(x, i, size = [1,1,2,2], stride = [1,1,2,2]);";
    check_with(&[("x", X), ("i", "[1,4,4,4]")], sample, "[1, 4, 4, 4]");
    check_with(&[("x", X), ("i", X)], sample, "E1003");
    let desample = "y = desample(x, i, size = [1,1,2,2], stride = [1,1,2,2]);";
    check_with(&[("x", X), ("i", X)], desample, "[1, 4, 16, 16]");
    check_with(&[("x", X), ("i", "[1,4,4,4]")], desample, "E1003");
}

#[test]
fn reductions_and_normalizations() {
    check(&[
        (X, "y = sum_reduce(x, axes = [2,3]);", "[1, 4, 1, 1]"),
        (X, "y = mean_reduce(x, axes = []);", "[1, 4, 8, 8]"),
        ("[S,4]", "y = max_reduce(x, axes = [1]);", "[?, 1]"),
        (X, "y, v = moments(x, axes = [0,2,3]);", "[1, 4, 1, 1]"),
        (X, "y = softmax(x);", "[1, 4, 8, 8]"),
        (X, "y = sum_reduce(x, axes = [4]);", "E1004"),
        (X, "y = sum_reduce(x, axes = [-1]);", "E1025"),
        (X, "y = sum_reduce(x, axes = [2,2]);", "E1025"),
        (X, "t = vendor(x); y = sum_reduce(t, axes = [1]);", "?"),
        (X, "y = softmax(x, axes = [4]);", "E1004"),
    ]);
}

#[test]
fn arrangements() {
    check(&[
        (X, "y = reshape(x, shape = [0,-1]);", "[1, 256]"),
        (X, "y = reshape(x, shape = [2,-1], axis_start = 1, axis_count = 1);", "[1, 2, 2, 8, 8]"),
        (X, "y = reshape(x, shape = [-1], axis_start = 4);", "[1, 4, 8, 8, 1]"),
        ("[S,4,8]", "y = reshape(x, shape = [0,-1]);", "[?, 32]"),
        ("[S,4,8]", "y = reshape(x, shape = [-1,8]);", "[?, 8]"),
        ("[S,4,8]", "y = reshape(x, shape = [-1], axis_start = 1);", "[?, 32]"),
        (X, "t = vendor(x); y = reshape(t, shape = [2,-1]);", "[2, ?]"),
        (X, "y = reshape(x, shape = [1,5]);", "E1005"),
        (X, "y = reshape(x, shape = [-1,-1]);", "E1005"),
        (X, "y = reshape(x, shape = [-1,3]);", "E1005"),
        (X, "y = reshape(x, shape = [1,1,1,1,0]);", "E1005"),
        (X, "y = reshape(x, shape = [1], axis_start = 5);", "E1005"),
        (X, "y = transpose(x, axes = [0,2,3,1]);", "[1, 8, 8, 4]"),
        ("[1,S,3]", "y = transpose(x, axes = [1,0]);", "[?, 1, 3]"),
        (X, "y = transpose(x, axes = [0,2]);", "E1006"),
        (X, "y = transpose(x, axes = [4,3,2,1,0]);", "E1006"),
        (X, "y = squeeze(x, axes = [0]);", "[4, 8, 8]"),
        ("[S,4]", "y = squeeze(x, axes = [0]);", "[4]"),
        (X, "y = squeeze(x, axes = [1]);", "E1010"),
        (X, "y = unsqueeze(x, axes = [0,5]);", "[1, 1, 4, 8, 8, 1]"),
        (X, "y = unsqueeze(x, axes = [6]);", "E1010"),
    ]);
}

#[test]
fn sections() {
    check(&[
        (X, "y = concat([x, x, x], axis = 1);", "[1, 12, 8, 8]"),
        ("[S,4]", "y = concat([x, x], axis = 0);", "[?, 4]"),
        (X, "y = concat([x], axis = 4);", "E1007"),
        (X, "y = stack([x, x], axis = 4);", "[1, 4, 8, 8, 2]"),
        (X, "y = stack([x, x], axis = 5);", "E1010"),
        (X, "[y, z] = split(x, axis = 1, ratios = [1,3]);", "[1, 1, 8, 8]"),
        (X, "[z, y] = split(x, axis = 1, ratios = [1,1]);", "[1, 2, 8, 8]"),
        ("[S,4]", "[z, y] = split(x, axis = 0, ratios = [1,2]);", "[?, 4]"),
        (X, "[y, z] = split(x, axis = 1, ratios = [1,2]);", "E1008"),
        (X, "[y, z] = split(x, axis = 1, ratios = [1,1,2]);", "E1008"),
        (X, "[y, z] = split(x, axis = 4, ratios = [1,1]);", "E1008"),
        ("[2,3]", "[y, z] = unstack(x, axis = 0);", "[3]"),
        ("[2,3]", "[y, z] = unstack(x, axis = 1);", "E1010"),
        ("[2,3]", "[y, z] = copy_n(x, times = 2);", "[2, 3]"),
        ("[2,3]", "[y, z] = copy_n(x, times = 3);", "E0503"),
    ]);
    check_with(&[("x", X), ("z", "[1,4,7,8]")], "y = concat([x, z], axis = 1);", "E1007");
    check_with(&[("x", X), ("z", "[1,4,8]")], "y = concat([x, z], axis = 1);", "E1007");
    check_with(&[("x", X), ("z", "[1,4,8,7]")], "y = stack([x, z], axis = 0);", "E1010");
    check_with(&[("x", X), ("z", "[S,4,S,8]")], "y = stack([x, z], axis = 0);", "[2, 1, 4, 8, 8]");
}

#[test]
fn selections() {
    check(&[
        (X, "y = slice(x, axes = [2,3], begin = [1,-3], end = [3,0]);", "[1, 4, 2, 3]"),
        (X, "y = slice(x, axes = [2], begin = [0], end = [0], stride = [3]);", "[1, 4, 3, 8]"),
        (X, "y = slice(x, axes = [2], begin = [-1], end = [-9], stride = [-2]);", "[1, 4, 4, 8]"),
        (X, "y = slice(x, axes = [2], begin = [3], end = [3]);", "[1, 4, 0, 8]"),
        (X, "y = slice(x, axes = [2], begin = [2], end = [100]);", "[1, 4, 6, 8]"),
        ("[S,4]", "y = slice(x, axes = [0], begin = [1], end = [0]);", "[?, 4]"),
        ("[S,4]", "y = slice(x, axes = [0], begin = [0], end = [1]);", "[1, 4]"),
        (X, "y = slice(x, axes = [2], begin = [5], end = [3]);", "E1009"),
        (X, "y = slice(x, axes = [2], begin = [1], end = [3], stride = [0]);", "E1009"),
        (X, "y = slice(x, axes = [4], begin = [1], end = [3]);", "E1009"),
        (X, "y = slice(x, axes = [2,3], begin = [1], end = [3]);", "E1009"),
        (X, "y = tile(x, repeats = [2,1,1,3]);", "[2, 4, 8, 24]"),
        (X, "y = tile(x, repeats = [2]);", "E1012"),
        (X, "y = tile(x, repeats = [2,1,1,0]);", "E1012"),
        (X, "y = pad(x, padding = [(0,0),(0,0),(1,2),(-1,0)]);", "[1, 4, 11, 7]"),
        (X, "y = pad(x, padding = [(1,1)]);", "E1012"),
        (X, "y = gather(x, 0, axis = 1);", "[1, 8, 8]"),
        (X, "y = gather(x, 0, axis = 4);", "E1013"),
    ]);
    check_with(&[("x", X), ("i", "[3,S]")], "y = gather(x, i, axis = 1);", "[1, 3, ?, 8, 8]");
}

#[test]
fn matrices_regions_and_variables() {
    let matmul = |z: &str, call: &str, wanted: &str| check_with(&[("x", "[2,3,4,5]"), ("z", z)], call, wanted);
    matmul("[2,3,5,6]", "y = matmul(x, z);", "[2, 3, 4, 6]");
    matmul("[1,3,4,6]", "y = matmul(x, z, transposeA = true);", "[2, 3, 5, 6]");
    matmul("[1,S,6,5]", "y = matmul(x, z, transposeB = true);", "[2, 3, 4, 6]");
    matmul("[2,3,4,5]", "y = matmul(x, z);", "E1011");
    matmul("[5,6]", "y = matmul(x, z);", "E1011");
    matmul("[3,3,5,6]", "y = matmul(x, z);", "E1011");
    check_with(&[("x", "[2,5]"), ("z", "[6,5]")], "y = linear(x, z);", "[2, 6]");
    check_with(&[("x", "[2,5]"), ("z", "[5,6]")], "y = linear(x, z);", "E1011");
    let roi = "y = roi_resample(x, r, i, output_size = [2,3]);";
    check_with(&[("x", X), ("r", "[5,4]"), ("i", "[5]")], roi, "[5, 4, 2, 3]");
    check_with(&[("x", X), ("r", "[S,4]"), ("i", "[5,1]")], roi, "[5, 4, 2, 3]");
    check_with(&[("x", X), ("r", "[5,3]"), ("i", "[5]")], roi, "E1015");
    check_with(&[("x", X), ("r", "[5,4]"), ("i", "[6]")], roi, "E1015");
    check(&[
        ("[2,3]", "v = variable(shape = [2,3], label = 'v'); y = update(v, x);", "[2, 3]"),
        ("[S,3]", "v = variable(shape = [2,3], label = 'v'); y = update(v, x);", "[2, 3]"),
        ("[3,2]", "v = variable(shape = [2,3], label = 'v'); y = update(v, x);", "E1014"),
        ("[3,2]", "y = constant(shape = [7], value = [0.0]);", "[7]"),
    ]);
}

mod unknown;
mod values;

#[test]
fn every_operation_of_both_dialects_has_a_rule() {
    let libraries = [
        (include_str!("../../library/std/nnef-1.0.nnef"), 119),
        (include_str!("../../library/std/nnef-draft.nnef"), 89),
    ];
    for (text, count) in libraries {
        let names: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("fragment "))
            .filter_map(|rest| rest.split(['(', '<']).next())
            .map(str::trim)
            .collect();
        assert_eq!(names.len(), count);
        for name in names {
            let row = dictionary::find(Vocabulary::Standard, name);
            assert!(row.is_some_and(|row| row.shape.is_some()), "{name} has no rule");
        }
    }
}
