//! Shapes through the whole expansion: `shape_of`, positions and traces of errors, lowering.

use nnef_flatten::graph::{Extent, Graph};
use nnef_flatten::{Diagnostic, Dialect, Lower, Options, expand, parse};

fn flatten(text: &str, options: &Options) -> Result<Graph, Vec<Diagnostic>> {
    let parsed = parse("test.nnef", text.to_string(), options);
    assert!(!parsed.diagnostics.has_errors(), "{:?}", parsed.diagnostics);
    expand(&parsed.document, options).map(|expansion| expansion.graph).map_err(|found| found.into_sorted())
}

fn graph(text: &str, options: &Options) -> Graph {
    flatten(text, options).expect(text)
}

/// The known extents of a tensor.
fn shape(graph: &Graph, name: &str) -> Option<Vec<i64>> {
    let mut results = graph.operations().flat_map(|operation| operation.tensors());
    results.find(|id| graph.tensor_name(*id) == name).and_then(|id| graph.shape(id)?.known())
}

fn lower_all() -> Options {
    Options::default().with(|o| o.lower = Lower::All)
}

/// The codes of the errors under strict rules, sorted.
fn strict_errors(text: &str, lower: Lower) -> Vec<String> {
    let options = Options::default().with(|o| {
        o.strict = true;
        o.lower = lower;
    });
    let found = flatten(text, &options).expect_err("the text is wrong");
    let errors = found.iter().filter(|found| found.is_error());
    let mut codes: Vec<String> = errors.map(|found| found.code.as_str().to_string()).collect();
    codes.sort_unstable();
    codes
}

#[test]
fn a_strided_max_pool_lowers_to_operations_with_shapes() {
    let text = "version 1.0; graph G( x ) -> ( y ) {
        x = external(shape = [1,4,9,9]);
        y = max_pool(x, size = [1,1,3,3], stride = [1,1,2,2], padding = [(0,0),(0,0),(0,0),(0,0)]);
    }";
    for options in [Options::default(), lower_all(), lower_all().with(|o| o.strict = true)] {
        assert_eq!(shape(&graph(text, &options), "y"), Some(vec![1, 4, 4, 4]));
    }
    let lowered = graph(text, &lower_all());
    let names: Vec<&str> = lowered.operations().map(|operation| operation.name()).collect();
    assert_eq!(names, ["external", "argmax_pool", "sample"]);
    let index = lowered.operations().nth(1).unwrap().tensors().next().unwrap();
    let extents = lowered.shape(index).and_then(|shape| shape.known());
    assert_eq!(extents, Some(vec![1, 4, 4, 4]));
}

#[test]
fn shape_of_knows_what_was_inferred_so_far() {
    let text = "version 1.0;
        extension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;
        fragment flat( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {
            s = shape_of(x);
            y = reshape(x, shape = [s[0], s[1] * s[2] * s[3]]);
        }
        graph G( x ) -> ( y ) {
            x = external(shape = [1,4,8,8]);
            y = flat(max_pool(x, size = [1,1,2,2], stride = [1,1,2,2]));
        }";
    assert_eq!(shape(&graph(text, &Options::default()), "y"), Some(vec![1, 64]));
    let options =
        Options::default().with(|o| o.shapes.inputs = vec![("x".into(), [2, 3, 4, 4].map(Extent::from).to_vec())]);
    assert_eq!(shape(&graph(text, &options), "y"), Some(vec![2, 12]));
}

#[test]
fn the_draft_pads_shapes_to_two_extents_and_knows_open_ones() {
    let text = |shape: &str, item: usize| {
        format!(
            "version 1.0
            graph G( x ) -> ( y ) {{ x = external(shape = {shape}) y = f(x) }}",
        )
        .replacen(
            "graph G",
            &format!("fragment f( x: tensor ) -> ( y: tensor ) {{ y = reshape(x, shape = [shape_of(x)[{item}], -1]) }} graph G"),
            1,
        )
    };
    let options = Options::default().with(|o| o.dialect = Some(Dialect::Draft));
    assert_eq!(shape(&graph(&text("[6]", 1), &options), "y"), Some(vec![1, 6]));
    assert_eq!(shape(&graph(&text("[0,3]", 1), &options), "y"), None);
    assert_eq!(shape(&graph(&text("[2,3]", 1), &options), "y"), Some(vec![3, 2]));
    let found = flatten(&text("[0,3]", 0), &options).unwrap_err();
    assert!(found[0].message.contains("not known while expanding"), "{found:?}");
    let options = options.with(|o| o.shapes.inputs = vec![("x".into(), [2, 3].map(Extent::from).to_vec())]);
    assert_eq!(shape(&graph(&text("[0,3]", 0), &options), "y"), Some(vec![2, 3]));
}

#[test]
fn the_draft_lets_trailing_extents_out() {
    let text = "version 1.0 graph G( x ) -> ( y, z ) {
        x = external(shape = [2,4])
        v = variable(shape = [2,4,1], label = 'v')
        y = update(v, x)
        z = nearest_downsample(box(x, size = [1,2,3]), factor = [])
    }"
    .replace("nearest_downsample(box(x, size = [1,2,3]), factor = [])", "box(x, size = [1,2,3])");
    let options = Options::default().with(|o| {
        o.dialect = Some(Dialect::Draft);
        o.lower = Lower::All;
    });
    assert_eq!(shape(&graph(&text, &options), "z"), Some(vec![2, 4, 1]));
    let text = "version 1.0 graph G( x ) -> ( y ) {
        x = external(shape = [1,4,8,8])
        y = nearest_downsample(x, factor = [2,4])
    }";
    assert_eq!(shape(&graph(text, &options), "y"), Some(vec![1, 4, 4, 2]));
}

#[test]
fn errors_stand_at_the_call_and_tell_the_calls_around_it() {
    let text = "version 1.0;
extension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;
fragment inner( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = reshape(x, shape = [5]);
}
fragment outer( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{
    y = exp(inner(x));
}
graph G( x ) -> ( y, z )
{
    x = external(shape = [2,3]);
    y = outer(x);
    z = sum_reduce(x, axes = [2]) + matmul(x, x);
}
";
    let parsed = parse("test.nnef", text.to_string(), &Options::default());
    let found = expand(&parsed.document, &Options::default()).unwrap_err().into_sorted();
    let told: Vec<(&str, u32)> = found
        .iter()
        .map(|found| (found.code.as_str(), parsed.document.sources().start(found.at).line as u32))
        .collect();
    assert_eq!(told, [("E1005", 5), ("E1004", 15), ("E1011", 15)]);
    let calls: Vec<(&str, u32)> = found[0]
        .expansion
        .iter()
        .map(|frame| (frame.fragment.as_str(), parsed.document.sources().start(frame.at).line as u32))
        .collect();
    assert_eq!(calls, [("inner", 9), ("outer", 14)]);
}

#[test]
fn one_cause_is_one_error() {
    let text = "version 1.0; graph G( x ) -> ( y ) {
        x = external(shape = [1,4,8,8]);
        t = max_pool(x, size = [2,2,2]);
        s = add(t, t);
        r = reshape(s, shape = [1,2]);
        y = softmax(r, axes = [1]);
    }";
    for lower in [Lower::Custom, Lower::All] {
        assert_eq!(strict_errors(text, lower), ["E1003"]);
    }
}

#[test]
fn a_standard_fragment_that_is_wrong_by_itself_is_no_error() {
    let text = "version 1.0; graph G( x, r, i ) -> ( y, z ) {
        x = external(shape = [1,4,8,8]);
        r = external(shape = [5,4]);
        i = external<integer>(shape = [5]);
        y = avg_roi_align(x, r, i, output_size = [2,2], sampling_rate = [2,2]);
        z = max_roi_align(x, r, i, output_size = [2,2], sampling_rate = [2,2]);
    }";
    assert_eq!(shape(&graph(text, &Options::default()), "y"), Some(vec![5, 4, 2, 2]));
    for strict in [false, true] {
        let lowered = graph(text, &lower_all().with(|o| o.strict = strict));
        assert_eq!(shape(&lowered, "y"), Some(vec![5, 4, 2, 2]));
    }
}

#[test]
fn accepted_deviations_are_the_same_at_all_levels_of_lowering_and_when_read_again() {
    let text = "version 1.0; graph G( x ) -> ( y, z ) {
        x = external(shape = [2,4,8]);
        m = variable(shape = [1,1,4], label = 'm');
        y = batch_normalization(x, m, 1.0, 0.0, 1.0, epsilon = 0.001);
        z = softmax(x, axes = [3]);
    }";
    for (lower, code) in [(Lower::Custom, "E1022"), (Lower::All, "E1001")] {
        let flat = graph(text, &Options::default().with(|o| o.lower = lower.clone()));
        let mut again = Vec::new();
        flat.write_nnef(&mut again).unwrap();
        graph(&String::from_utf8(again).unwrap(), &Options::default());
        let mut wanted = [code, "E1004"];
        wanted.sort_unstable();
        // Each reduction of a lowered softmax has its own.
        let mut found = strict_errors(text, lower);
        found.dedup();
        assert_eq!(found, wanted);
    }
}

#[test]
fn json_has_types_and_the_shapes_that_are_known() {
    let text = "version 1.0; extension tract_symbol S; graph G( x ) -> ( y, z, i ) {
        x = external(shape = [2,3]);
        s = external(shape = [S,3]);
        y = gt(x, 0.0);
        z = exp(s);
        i = argmax_reduce(x, axes = [1]);
    }"
    .replace("G( x )", "G( x, s )");
    let mut json = Vec::new();
    graph(&text, &Options::default()).write_json(&mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let tensor = |name: &str| json["tensors"][name].to_string();
    assert_eq!(tensor("y"), r#"{"dtype":"logical","shape":[2,3]}"#);
    assert_eq!(tensor("i"), r#"{"dtype":"integer","shape":[2,1]}"#);
    assert_eq!(tensor("z"), r#"{"dtype":"scalar","shape":["S",3]}"#);
}

/// A bound that is certainly negative counts from the end of the axis, symbols or not.
#[test]
fn negative_symbolic_bounds_count_from_the_end() {
    let text = "version 1.0; extension tract_symbol S;
        graph G( x ) -> ( y, z ) { x = external(shape = [2 * S, 4]);
        y = slice(x, axes = [0], begin = [-S], end = [0]); z = slice(x, axes = [0], begin = [0], end = [-S]); }";
    let graph = graph(text, &Options::default());
    let text = |name: &str| {
        let mut results = graph.operations().flat_map(|operation| operation.tensors());
        let id = results.find(|id| graph.tensor_name(*id) == name).expect(name);
        format!("{:?}", graph.shape(id).expect("a shape").extents())
    };
    assert_eq!([text("y"), text("z")], ["[S, 4]", "[S, 4]"]);
}

/// How many items a slice takes that runs backward from a place of an open extent depends on whether the place exists.
#[test]
fn a_backward_slice_of_an_open_extent_has_an_open_one() {
    let text = "version 1.0; extension tract_symbol S;
        graph G( x ) -> ( y ) { x = external(shape = [S, 4]);
        y = slice(x, axes = [0], begin = [6], end = [2], stride = [-1]); }";
    let graph = graph(text, &Options::default());
    let y = graph.operations().nth(1).unwrap().tensors().next().unwrap();
    assert_eq!(format!("{:?}", graph.shape(y).expect("a shape").extents()), "[?, 4]");
}

/// The quotient of the least integer and -1 does not exist.
#[test]
fn extents_beyond_64_bits_are_unknown() {
    let text = "version 1.0; extension tract_registry tract_core; extension tract_symbol S; extension tract_symbol T;
        graph G( x ) -> ( y ) { x = external(shape = [(-9223372036854775807*S*T-S*T)/(-T)]); y = copy(x); }";
    assert_eq!(shape(&graph(text, &Options::default()), "y"), None);
}
