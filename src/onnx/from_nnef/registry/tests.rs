//! The model that an operation becomes computes what the evaluator does.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::collections::BTreeMap;

use super::super::{Items, TranslatedData, names};
use crate::eval::{Evaluator, Limits, Quantizations};
use crate::graph::Graph;
use crate::onnx::Document;
use crate::tensor::{DType, Tensor};
use crate::tests::all_near;
use crate::{Options, expand, parse};

const HEAD: &str = "version 1.0;\nextension tract_registry tract_core;\nextension tract_registry tract_onnx;
extension tract_registry tract_extra;
extension tract_registry tract_transformers;\nextension tract_symbol S;\n";

/// An input of a case: its name, its extents, in which `S` is 3, and the type of its items.
struct Input {
    name: String,
    extents: String,
    of: DType,
    shape: Vec<usize>,
}

/// The inputs of a case: `x[2, 3] i[4]i64`.
fn inputs(text: &str) -> Vec<Input> {
    let input = |part: &str| {
        let (name, rest) = part.split_once('[').unwrap();
        let (extents, of) = rest.split_once(']').unwrap();
        let extent = |extent: &str| if extent == "S" { 3 } else { extent.parse().unwrap() };
        let shape = extents.split(", ").filter(|extent| !extent.is_empty()).map(extent).collect();
        let of = match of {
            "i64" => DType::Int64,
            "bool" => DType::Bool,
            _ => DType::Float32,
        };
        Input { name: name.to_owned(), extents: extents.to_owned(), of, shape }
    };
    text.split("; ").map(input).collect()
}

/// Items that differ: scalars around 0, small places, and both logicals.
fn tensor(input: &Input) -> Tensor {
    let count = input.shape.iter().product::<usize>();
    match input.of {
        DType::Int64 => Tensor::integers(&input.shape, (0..count).map(|i| (i * 5 % 3) as i64).collect()).unwrap(),
        DType::Bool => Tensor::logicals(&input.shape, (0..count).map(|i| i % 3 != 1).collect()).unwrap(),
        _ => {
            let items = (0..count).map(|i| (i * 37 % 23) as f64 / 8.0 - 1.25).collect();
            Tensor::scalars(&input.shape, items).unwrap().into_type(DType::Float32).unwrap()
        }
    }
}

fn graph(given: &[Input], results: &str, call: &str, fragments: &str) -> Graph {
    let external = |input: &Input| {
        let of = match input.of {
            DType::Int64 => "i64",
            DType::Bool => "bool",
            _ => "f32",
        };
        format!("{} = tract_core_external(shape = [{}], datum_type = '{of}');\n", input.name, input.extents)
    };
    let externals: String = given.iter().map(external).collect();
    let list = given.iter().map(|input| input.name.as_str()).collect::<Vec<_>>().join(", ");
    let left = if results.contains(", ") { format!("({results})") } else { results.to_owned() };
    let text = format!("{HEAD}{fragments}graph G({list}) -> ({results})\n{{\n{externals}{left} = {call};\n}}\n");
    let options = Options::default().with(|options| options.internal.compounds = Some(names().collect()));
    expand(&parse("test", text, &options).document, &options).unwrap().graph
}

/// The model as text; compares what it computes with the evaluator.
fn compared(given: &str, results: &str, call: &str) -> String {
    compared_with(given, results, call, "")
}

/// The same with fragments.
fn compared_with(given: &str, results: &str, call: &str, fragments: &str) -> String {
    let given = inputs(given);
    let graph = graph(&given, results, call, fragments);
    let options = Options::default();
    let model = Document::translated(
        &graph,
        TranslatedData { weights: &Items(&|_, _| None), quantizations: &Quantizations::default() },
        true,
        options.max_memory,
    )
    .unwrap();
    assert!(model.check(&options).is_empty(), "{call}");
    let tensors: Vec<(String, Tensor)> = given.iter().map(|input| (input.name.clone(), tensor(input))).collect();
    let evaluator = Evaluator::with_limits(Limits::default());
    let wanted = evaluator.run(&graph, &tensors, &BTreeMap::new()).unwrap().outputs;
    let found = model.run_tensors(&tensors, (Limits::default(), &options)).unwrap();
    for ((_, wanted), (_, found)) in wanted.iter().zip(&found) {
        assert_eq!(wanted.shape(), found.shape(), "{call}");
        let (wanted, found) = (wanted.to_scalars(), found.to_scalars());
        assert!(all_near(&found, &wanted, 1e-4), "{call}: {found:?}, not {wanted:?}");
    }
    assert_eq!(wanted.len(), found.len());
    model.to_text(false).unwrap().0
}

fn refused(given: &str, call: &str) -> String {
    refused_with(given, call, "")
}

fn refused_with(given: &str, call: &str, fragments: &str) -> String {
    let graph = graph(&inputs(given), "y", call, fragments);
    let found = Document::translated(
        &graph,
        TranslatedData { weights: &Items(&|_, _| None), quantizations: &Quantizations::default() },
        true,
        1 << 30,
    )
    .unwrap_err();
    found.iter().map(|found| found.message.clone()).collect::<Vec<_>>().join("; ")
}

#[test]
fn operations_compute_the_same() {
    let dtypes = "datum_type = 'f32', acc_datum_type = 'f32'";
    let how = "coord_transformer = 'half_pixel', interpolator = 'linear', nearest_mode = 'floor'";
    let cases = [
        ("x[2, 3]", "y", "tract_core_cast(x, to = 'i64')", "Cast <to: int = 7>"),
        ("x[2, 3]", "y", "tract_core_cast(x, to = 'bool')", "Cast <to: int = 9>"),
        ("x[2, 3]", "y", "tract_core_shape_of(x)", "{2, 3}"),
        ("x[2, S]", "y", "tract_core_shape_of(x)", "Shape"),
        ("x[S]", "y", "add(tract_core_cast(tract_core_range(5, -2, -3), to = 'f32'), x)", "Range"),
        ("x[3, 1]", "y", "tract_core_broadcast(x, shape = [2, 3, 4])", "Expand"),
        ("x[2, 7]", "y", "tract_core_downsample(x, axis = 1, stride = -2, modulo = 1)", "Slice"),
        ("x[2, 7]", "y", "tract_core_dyn_slice(x, start = 2, end = 5, len = 3, axis = 1)", "Slice"),
        ("x[2, 3]; i[2, 2]i64", "y", "tract_core_gather(x, i, axis = 1)", "Gather <axis: int = 1>"),
        ("x[3, 3]; i[3, 2]i64", "y", "tract_core_gather_elements(x, i, axis = 1)", "GatherElements"),
        ("x[3, 3, 2]; i[4, 2]i64", "y", "tract_core_gather_nd(x, i, batch_dims = 0)", "GatherND"),
        (
            "x[3, 3]; i[3, 2]i64; u[3, 2]",
            "y",
            "tract_core_scatter_elements(x, i, u, axis = 1, reduction = 'add')",
            "reduction: string = \"add\"",
        ),
        ("x[3, 2]; i[3, 1]i64; u[3, 2]", "y", "tract_core_scatter_nd(x, i, u, reduction = 'max')", "ScatterND"),
        ("i[2, 2]i64", "y", "tract_core_one_hot(i, axis = 1, dim = 3, value_on = 2.0)", "OneHot"),
        ("x[2, 3, 4]", "y", "tract_core_trilu(x, k = 1, upper = false)", "Trilu"),
        ("x[2, 5]", "v, i", "tract_core_topk(x, k = 2, axis = 1, largest = false)", "TopK"),
        ("x[2, 5]i64", "y", "tract_onnx_non_zero(x)", "NonZero"),
        ("x[2, 5]i64", "y", "tract_core_argmax_reduce_last(x, axes = [1])", "select_last_index: int = 1"),
        ("x[2, 5]", "y", "tract_core_product_reduce(x, axes = [1])", "ReduceProd"),
        ("x[2, 3]i64; z[2, 3]i64", "y", "tract_core_bitxor(x, z)", "BitwiseXor"),
        ("x[2, 3]bool", "y", "tract_core_bitnot(x)", "Not"),
        ("x[2, 3]i64", "y", "tract_shr(sub(0, mul(x, 9)), 1)", "BitShift"),
        ("x[2, 3]", "y", "tract_core_is_inf(div(1.0, sub(x, x)), detect_negative = false)", "IsInf"),
        ("x[2, 3]", "y", "tract_core_silu(x)", "Exp"),
        ("x[2, 3]", "y", "tract_core_gelu_approx(x, fast_impl = false)", "Tanh"),
        ("x[2, 3]", "y", "tract_core_rms_norm(x, axis = 1)", "ReduceMean"),
        ("x[1, 4, 2, 2]", "y", "tract_onnx_lrn(x, size = 2, alpha = 0.5)", "Pow"),
        ("x[2, 3, 4]; z[2, 5, 4]", "y", "tract_core_einsum([x, z], expr = 'abc,adc->dab', acc = 'f32')", "MatMul"),
        ("x[2, 3, 4]; z[2, 5]", "y", "tract_core_einsum([x, z], expr = 'abc,ad->dnc', acc = 'f32')", "Einsum"),
        ("x[2, 3]; z[3, 4]", "y", "tract_core_matmul(x, z, axes = [0, 1, 0, 1, 0, 1])", "MatMul"),
        (
            "q[1, 4, 3, 2]; k[1, 2, 3, 2]; m[3, 3]",
            "y",
            &format!("tract_transformers_sdpa(q, k, k, m, {dtypes}, is_causal = true)"),
            "Trilu",
        ),
        (
            "q[1, S, 2]; k[1, S, 2]",
            "y",
            &format!("tract_transformers_sdpa(q, k, k, scale = 0.5, {dtypes}, is_causal = true)"),
            "Softmax",
        ),
        ("x[2, 3, 4]; m[3, 4]bool", "y", "tract_transformers_scaled_masked_softmax(x, m, scale = 0.5)", "Where"),
        ("x[2, 4]; c[2, 4]; s[2, 4]", "y", "tract_transformers_apply_rope(x, c, s)", "Split"),
        ("x[2, 5, 2]", "y", "tract_core_fft(x, axis = 1, inverse = true)", "DFT <inverse: int = 1>"),
        ("x[1, 7, 2]; w[3]", "y", "tract_core_stft(x, axis = 1, frame = 4, stride = 2, window = w)", "STFT"),
        ("x[7, 2]; w[4]", "y", "tract_core_stft(x, axis = 0, frame = 4, stride = 2, window = w)", "DFT"),
        ("x[1, 1, 3, 2]", "y", &format!("tract_core_resize(x, [1.0, 1.0, 2.0, 1.5], {how})"), "Resize"),
        ("x[1, 1, 3, 2]; g[1, 2, 2, 2]", "y", "tract_core_grid_sample(x, g)", "GridSample"),
        ("x[2, 6]; r[2, 6]; h[2, 2]", "y", "tract_core_gru_epilogue(x, r, h, hidden = 2)", "Sigmoid"),
        ("x[1, 3, 1]; w[3, 4]; h[1, 3, 4]", "y, s", "tract_transformers_causal_conv1d_update(x, w, h)", "ReduceSum"),
        (
            "q[1, 2, 3]; k[1, 2, 3]; v[1, 2, 3]; g[1, 2]; b[1, 2]; h[1, 2, 3, 3]",
            "y, s",
            "tract_transformers_gdn_recurrent(q, k, v, g, b, h)",
            "MatMul",
        ),
        ("b[2, 5, 4]; s[2, 2, 5]", "y", "tract_onnx_non_max_suppression(b, s)", "NonMaxSuppression"),
        (
            "b[2, 5, 4]; s[2, 2, 5]",
            "y",
            "tract_onnx_non_max_suppression(b, s, 2, 0.3, 0.1, center_point_box = 1)",
            "center_point_box: int = 1",
        ),
        ("x[4, S]; s[4]", "y", "tract_extra_exp_mean_norm(x, s, axis = 1, alpha = 0.9, scaling_factor = 2.0)", "Scan"),
        ("x[4, 3]; s[3]", "y", "tract_extra_exp_unit_norm(x, add(1.5, s), axis = 0, alpha = 0.5, skip = 2)", "Less"),
        (
            "x[2, 4, 3, 2]; s[2, 3]",
            "y",
            "tract_extra_exp_unit_norm(x, add(1.5, s), axis = 1, alpha = 0.5, complex = true, epsilon = 0.5)",
            "ReduceSum",
        ),
        ("x[2, 8]; c[2, 2]", "h, d", "tract_core_lstm_epilogue(x, c, hidden = 2)", "Tanh"),
    ];
    for (given, results, call, operator) in cases {
        let text = compared(given, results, call);
        assert!(text.contains(operator), "{call}\n{text}");
    }
}

#[test]
fn extents_are_computed_where_they_are_open() {
    let extent = "squeeze(slice(tract_core_shape_of(x), axes = [0], begin = [1], end = [2]), axes = [0])";
    for call in [
        format!("reshape(x, shape = [{extent}, 8])"),
        format!("reshape(x, shape = [1, {extent}], axis_start = 1, axis_count = 1)"),
        format!("tile(x, repeats = [1, {extent}, 1])"),
        format!("slice(x, axes = [1], begin = [1], end = [{extent}])"),
        format!("tract_core_broadcast(1.0, shape = [2, {extent}])"),
        "tract_core_broadcast(1.0, shape = [2, S])".to_owned(),
        "add(tract_core_cast(tract_core_range(0, S, 1), to = 'f32'), 0.5)".to_owned(),
    ] {
        assert!(compared("x[2, S, 4]", "y", &call).contains("Shape"), "{call}");
    }
}

/// Bodies of scans: a state, an input that is cut and one that is not.
const BODIES: &str = "fragment step( x: tensor<scalar>, h: tensor<scalar>, w: tensor<scalar> )
    -> ( hn: tensor<scalar>, y: tensor<scalar> )
{
    hn = sum_reduce(x, axes = [1]) + 0.5 * h;
    y = x * hn + w + constant(shape = [1, 1], value = [0.25]);
}
fragment rows( x: tensor<scalar>, h: tensor<scalar>, w: tensor<scalar> ) -> ( hn: tensor<scalar>, y: tensor<scalar> )
{
    (y, hn) = tract_core_scan(body = \"step\", scan = [(\"x\", x, 1, 1)], full = [(\"w\", w)], state = [(\"h\", h, \"hn\")],
        output = [(\"y\", \"full\", 1, 1), (\"hn\", \"last\", 0, 1)], skip = 0);
}
fragment grows( x: tensor<scalar>, h: tensor<scalar>, w: tensor<scalar> ) -> ( hn: tensor<scalar>, y: tensor<scalar> )
{
    y = x + w;
    hn = concat([h, x], axis = 0);
}
";

#[test]
fn scans_run_their_bodies() {
    for (given, body, scan, outputs, operator) in [
        ("x[2, S]; h[2, 1]; w[1, 1]", "step", "1, 1", "y,full,1,1 hn,last,0,1", "scan_input_axes: ints = [1]"),
        ("x[2, 3]; h[2, 1]; w[1, 1]", "step", "1, -1", "y,full,1,-1 hn,full,1,1", "scan_input_directions: ints = [1]"),
        ("x[2, 6]; h[2, 1]; w[1, 1]", "step", "1, 2", "y,full,1,2 y,last,0,1", "Reshape"),
        ("x[S, 6]; h[S, 1]; w[1, 1]", "step", "1, 3", "hn,last,0,1 y,full,1,3", "Shape"),
        ("x[4, S]; h[1, 1]; w[1, 1]", "rows", "0, 1", "y,full,0,1 hn,last,0,1", "scan_input_axes: ints = [0]"),
    ] {
        let output = |text: &str| {
            let parts: Vec<&str> = text.split(',').collect();
            format!("(\"{}\", \"{}\", {}, {})", parts[0], parts[1], parts[2], parts[3])
        };
        let outputs = outputs.split(' ').map(output).collect::<Vec<_>>().join(", ");
        let call = format!(
            "tract_core_scan(body = \"{body}\", scan = [(\"x\", x, {scan})], full = [(\"w\", w)], \
             state = [(\"h\", h, \"hn\")], output = [{outputs}], skip = 0)"
        );
        let text = compared_with(given, "a, b", &call, BODIES);
        assert!(text.contains(operator) && text.contains("num_scan_inputs"), "{call}\n{text}");
    }
}

#[test]
fn scans_that_onnx_does_not_have_are_refused() {
    for (body, more, why) in [
        ("grows", "skip = 0", "the shape of a state changes"),
        ("step", "skip = 1", "skips 1 steps"),
        ("none", "skip = 0", "there is no fragment `none` for the body of `tract_core_scan`"),
    ] {
        let call = format!(
            "tract_core_scan(body = \"{body}\", scan = [(\"x\", x, 0, 1)], full = [(\"w\", w)], \
             state = [(\"h\", h, \"hn\")], output = [(\"y\", \"full\", 0, 1)], {more})"
        );
        let message = refused_with("x[S, 2]; h[1, 2]; w[1, 1]", &call, BODIES);
        assert!(message.contains(why), "{body}: {message}");
    }
}

#[test]
fn what_would_be_another_number_is_refused() {
    let cubic = "coord_transformer = 'align_corners', interpolator = 'cubic', nearest_mode = 'floor'";
    for (given, call, why) in [
        ("x[2, 3]", "tract_core_cast(x)", "to a quantized type"),
        ("x[2, 3]", "tract_core_bitand(x, x)", "not integers"),
        ("x[1, 3]", &format!("tract_core_resize(x, [1.0, 1.5], {cubic})"), "fractions of extents"),
        (
            "x[1, 1, 3, 2]; g[1, 2, 2, 2]",
            "tract_core_grid_sample(x, g, mode = 'bicubic', padding_mode = 'border')",
            "border",
        ),
        ("x[2, 3]; i[2, 2]i64; u[2, 1]", "tract_core_scatter_elements(x, i, u, axis = 1)", "different shapes"),
    ] {
        assert!(refused(given, call).contains(why), "{call}: {}", refused(given, call));
    }
}
