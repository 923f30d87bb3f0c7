//! Operations on small tensors, with results computed by hand; failures; limits.

use std::collections::BTreeMap;

use super::{EvalError, Evaluation, Evaluator, Limits};
use crate::diagnostics::Code;
use crate::dictionary::{self, Vocabulary};
use crate::graph::Graph;
use crate::tensor::{DType, Tensor, json};
use crate::{Options, expand, parse};

fn graph(text: &str, options: &Options) -> Graph {
    let parsed = parse("test", text.to_string(), options);
    let told: Vec<_> = parsed.diagnostics.iter().map(|finding| &finding.message).collect();
    assert!(!parsed.diagnostics.has_errors(), "{told:?}\n{text}");
    expand(&parsed.document, options).map(|expansion| expansion.graph).unwrap_or_else(|errors| {
        panic!("{:?}\n{text}", errors.iter().map(|finding| &finding.message).collect::<Vec<_>>())
    })
}

/// Reads inputs from JSON; also returns their `external` statements.
fn inputs(text: &str) -> (Vec<(String, Tensor)>, String) {
    let inputs = json::read(text).unwrap();
    let line = |(name, tensor): &(String, Tensor)| {
        format!("{name} = external<{}>(shape = {:?});\n", tensor.dtype().keyword(), tensor.shape())
    };
    let lines = inputs.iter().map(line).collect();
    (inputs, lines)
}

fn try_run(given: &str, body: &str, outputs: &str, limits: Limits) -> Result<Evaluation, EvalError> {
    let (inputs, externals) = inputs(given);
    let names: Vec<&str> = inputs.iter().map(|(name, _)| name.as_str()).collect();
    let text = format!("version 1.0;\ngraph G( {} ) -> ( {outputs} )\n{{\n{externals}{body}\n}}\n", names.join(", "));
    // The shape of its result is not inferred.
    let evaluator =
        Evaluator::with_limits(limits).operation("opaque", |call| Ok(vec![Tensor::clone(&*call.tensor("x")?)]));
    evaluator.run(&graph(&text, &Options::default()), &inputs, &BTreeMap::new())
}

fn run(given: &str, body: &str) -> Tensor {
    let evaluation = try_run(given, body, "y", Limits::default());
    let evaluation = evaluation.unwrap_or_else(|error| panic!("{error}\n{body}"));
    Tensor::clone(&evaluation.outputs[0].1)
}

/// Asserts the output of a body for inputs, all as JSON.
fn check(given: &str, body: &str, wanted: &str) {
    let found = run(given, body);
    let wanted = json::tensor(&crate::source::json::parse(wanted).unwrap()).unwrap();
    let wanted = if found.dtype() == DType::Float64 { wanted.into_type(DType::Float64).unwrap() } else { wanted };
    let apart = found.difference(&wanted);
    assert!(apart.is_some_and(|apart| apart < 1e-9), "{body}\nis {found:?}\nnot {wanted:?}");
}

fn fails(given: &str, body: &str, code: Code) {
    let found = try_run(given, body, "y", Limits { max_items: 1 << 20, max_work: 1 << 24 });
    assert_eq!(found.map_err(|error| error.code).err(), Some(code), "{body}");
}

#[test]
fn registries_move_integers_as_they_are() {
    let x = r#"{"x": [9223372036854775807, 9007199254740993, 9007199254740992], "i": [1], "u": [9007199254740993]}"#;
    check(x, "y = tract_core_gather_elements(input = x, indices = i, axis = 0);", "[9007199254740993]");
    check(
        x,
        "y = tract_core_trilu(input = unsqueeze(x, axes = [0]), k = 2, upper = true);",
        "[[0, 0, 9007199254740992]]",
    );
    check(x, "y, z = tract_core_topk(input = x, k = 1, axis = 0, largest = false);", "[9007199254740992]");
    let scattered =
        "y = tract_core_scatter_elements(input = x, indices = i, updates = u, axis = 0, reduction = 'max');";
    check(x, scattered, "[9223372036854775807, 9007199254740993, 9007199254740992]");
}

#[test]
fn padding_is_a_zero_of_the_formula() {
    let given = r#"{"x": [[[1.0]]], "w": [[["inf", 1.0]]]}"#;
    check(given, "y = conv(x, w, padding = [(1, 0)]);", r#"[[["nan"]]]"#);
    check(given, "y = conv(x, w, padding = [(1, 0)], border = 'ignore');", "[[[1.0]]]");
}

#[test]
fn items_meet_from_the_first_axis_on() {
    check(r#"{"a": [[1.0, 2.0], [3.0, 4.0]], "b": [10.0, 20.0]}"#, "y = add(a, b);", "[[11, 12], [23, 24]]");
    check(r#"{"a": [[1.0, 2.0]], "b": [[1.0], [2.0]]}"#, "y = mul(a, b);", "[[1, 2], [2, 4]]");
    check(r#"{"a": [1, 2]}"#, "y = add(a, 1);", "[2, 3]");
    check(r#"{"a": [7, -7]}"#, "y = div(a, 2);", "[3, -3]");
    check(r#"{"a": [1, 2]}"#, "y = mul(a, 0.5);", "[0.5, 1.0]");
    check(r#"{"a": [-0.5, 0.5, 1.5, -1.5]}"#, "y = round(a);", "[0, 1, 2, -1]");
    check(r#"{"a": [1.0, 5.0]}"#, "y = clamp(a, 2.0, 3.0);", "[2, 3]");
    check(r#"{"a": [-1.9, 1.9]}"#, "y = cast<integer>(a);", "[-1, 1]");
    check(r#"{"c": [true, false], "a": [1.0, 2.0]}"#, "y = select(c, a, 0.0);", "[1, 0]");
    fails(r#"{"a": [1, 0]}"#, "y = div(1, a);", Code::EvalValue);
    fails(r#"{"a": [9223372036854775807]}"#, "y = add(a, 1);", Code::EvalValue);
    fails(r#"{"a": [1e30]}"#, "y = cast<integer>(a);", Code::EvalValue);
}

#[test]
fn windows_slide() {
    let x = r#"{"x": [[[1.0, 2.0, 3.0, 4.0]]], "w": [[[1.0, 10.0, 100.0]]]}"#;
    check(x, "y = conv(x, w, 0.5, padding = [(1, 1)]);", "[[[210.5, 321.5, 432.5, 43.5]]]");
    check(x, "y = conv(x, w, padding = [(1, 1)], border = 'replicate');", "[[[211, 321, 432, 443]]]");
    check(x, "y = conv(x, w, padding = [], stride = [2]);", "[[[321, 43]]]");
    check(x, "y = conv(x, w, padding = [(2, 2)], dilation = [2]);", "[[[310, 420, 31, 42]]]");
    check(x, "y = deconv(x, w, padding = [(0, 0)]);", "[[[1, 12, 123, 234, 340, 400]]]");
    check(x, "y = deconv(x, w, stride = [2], padding = [(1, 1)]);", "[[[10, 102, 20, 203, 30, 304, 40]]]");
    let x = r#"{"x": [1.0, -3.0, 2.0, -5.0]}"#;
    check(x, "y = box(x, size = [3], padding = [(1, 1)]);", "[-2, 0, -6, -3]");
    check(x, "y = avg_pool(x, size = [3], padding = [(1, 1)], border = 'ignore');", "[-1, 0, -2, -1.5]");
    check(x, "y = debox(x, size = [2], stride = [2], padding = [(0, 0)]);", "[1, 1, -3, -3, 2, 2, -5, -5]");
    check(x, "y = argmax_pool(x, size = [2], stride = [1], padding = [(0, 0)]);", "[0, 1, 0]");
    check(x, "y = max_pool(x, size = [2], stride = [1], padding = [(0, 1)]);", "[1, 2, 2, 0]");
    check(x, "y = max_pool(x, size = [2], stride = [1], padding = [(0, 1)], border = 'ignore');", "[1, 2, 2, -5]");
    let given = r#"{"x": [5.0, 7.0], "i": [1, 0]}"#;
    check(given, "y = desample(x, i, size = [2], stride = [1], padding = [(0, 0)]);", "[0, 12, 0]");
    fails(given, "y = desample(x, add(i, 1), size = [2], stride = [1], padding = [(0, 0)]);", Code::EvalValue);
}

/// Windows in ignored padding only, at both ends and between the items of a dilated window.
#[test]
fn windows_without_items_have_no_finite_result() {
    let x = r#"{"x": [-3.0], "i": [0, 0, 1]}"#;
    let window = "size = [2], padding = [(2, 2)], dilation = [2], border = 'ignore'";
    check(x, &format!("y = max_pool(x, {window});"), r#"[-3, "-inf", -3]"#);
    check(x, &format!("y = argmax_pool(x, {window});"), "[1, 0, 0]");
    check(x, &format!("y, i2 = max_pool_with_index(x, {window});"), r#"[-3, "-inf", -3]"#);
    check(x, &format!("y = sample(x, i, {window});"), r#"["-inf", "-inf", "-inf"]"#);
    check(x, &format!("y = avg_pool(x, {window});"), r#"[-3, "nan", -3]"#);
    check(x, &format!("y = box(x, {window}, normalize = true);"), r#"[-3, "nan", -3]"#);
    check(x, &format!("y = box(x, {window});"), "[-3, 0, -3]");
    let constant = window.replace("ignore", "constant");
    check(x, &format!("y = max_pool(x, {constant});"), "[0, 0, 0]");
    check(x, &format!("y = avg_pool(x, {constant});"), "[-1.5, 0, -1.5]");
}

/// The sum of no items is 0, not -0.
#[test]
fn sums_of_nothing_have_no_sign() {
    let given = r#"{"x": [5.0, 7.0], "i": [1, 0]}"#;
    let window = "size = [2], stride = [1], padding = [(0, 0)]";
    check(given, &format!("z = desample(x, i, {window}); y = rcp(z);"), r#"["inf", 0.08333333333333333, "inf"]"#);
    let window = "size = [1], stride = [2], padding = [(0, 0)]";
    check(given, &format!("z = debox(x, {window}); y = rcp(z);"), r#"[0.2, "inf", 0.14285714285714285]"#);
}

#[test]
fn integers_above_the_precision_of_floats_stay_exact() {
    let x = r#"{"x": [9007199254740993, 9007199254740992]}"#;
    check(x, "y = tract_core_argmax_reduce_last(input = x, axes = [0]);", "[0]");
    check(x, "y = tract_core_argmin_reduce_last(input = x, axes = [0]);", "[1]");
    let range = |numbers: [i64; 3]| {
        let [start, end, step] = numbers;
        format!("z = copy(x); y = tract_core_range(start = {start}, end = {end}, step = {step});")
    };
    let first = 9_007_199_254_740_993;
    let wanted = "[9007199254740993, 9007199254740994, 9007199254740995]";
    let found = run(x, &range([first, first + 3, 1]));
    let exact = json::tensor(&crate::source::json::parse(wanted).unwrap()).unwrap();
    assert_eq!(found.items::<i64>(), exact.items::<i64>());
    check(x, &range([1, 8, 3]), "[1, 4, 7]");
    check(x, &range([5, 0, -2]), "[5, 3, 1]");
    check(x, &range([0, 9_223_372_036_854_775_807, 9_223_372_036_854_775_806]), "[0, 9223372036854775806]");
    assert_eq!(run(x, &range([5, 5, 1])).len() + run(x, &range([5, 1, 1])).len(), 0);
    fails(x, &range([0, 1, 0]), Code::EvalValue);
    let other = Tensor::integers(&[2], vec![first - 1, first - 1]).unwrap();
    assert!(run(x, "y = copy(x);").difference(&other).is_some_and(|apart| apart > 0.0));
}

#[test]
fn halves_are_rounded_up_without_a_sum() {
    let x = r#"{"x": [0.49999999999999994, 4503599627370497.0, -0.5, 2.5, "inf"]}"#;
    check(x, "y = round(x);", r#"[0, 4503599627370497, 0, 3, "inf"]"#);
    check(x, "y = sub(round(x), x);", r#"[-0.49999999999999994, 0, 0.5, 0.5, "nan"]"#);
}

#[test]
fn operands_of_other_types_than_declared_are_computed() {
    let x = r#"{"x": [0.0, 0.5, -2.0], "i": [0, 1, 2], "b": [true, false, true]}"#;
    check(x, "y = and(x, i);", "[false, true, true]");
    check(x, "y = or(x, b);", "[true, true, true]");
    check(x, "y = not(i);", "[true, false, false]");
    check(x, "y = any_reduce(x, axes = [0]);", "[true]");
    check(x, "y = select(x, i, b);", "[1, 1, 2]");
    check(x, "y = concat([i, b], axis = 0);", "[0, 1, 2, 1, 0, 1]");
    check(x, "y = eq(b, i);", "[false, false, false]");
}

#[test]
fn attributes_of_converters_may_have_no_names() {
    let x = r#"{"x": [1.0, 3.0]}"#;
    check(x, "y = HardSigmoid(x, 0.0, 0.25);", "[0.25, 0.25]");
    check(x, "y = mean_variance_normalization(x, x, x, [0], 3.0);", "[0.5, 4.5]");
    check(x, "y = tract_core_softmax(x, [0], 'exact');", "[0.11920292202211755, 0.8807970779778823]");
    fails(x, "y = mean_variance_normalization(x, x, x);", Code::EvalArgument);
    let x = r#"{"x": [[[1.0, 2.0]]], "s": [1, 1, -1]}"#;
    let method = "coord_transformer = 'half_pixel', interpolator = 'linear', nearest_mode = 'floor'";
    fails(x, &format!("y = tract_core_resize(input = x, sizes = s, {method});"), Code::EvalValue);
}

#[test]
fn upsampling_is_the_deconvolution_of_the_text() {
    let x = r#"{"x": [[[1.0, 2.0, 4.0]]]}"#;
    let up =
        |method: &str| format!("y = multilinear_upsample(x, factor = [2], method = '{method}', border = 'constant');");
    let symmetric = "w = constant(shape = [1,1,4], value = [0.25, 0.75, 0.75, 0.25]);
        y = deconv(x, w, stride = [2], padding = [(1,1)]);";
    assert_eq!(run(x, &up("symmetric")), run(x, symmetric));
    let asymmetric = "w = constant(shape = [1,1,3], value = [0.5, 1.0, 0.5]);
        y = deconv(x, w, stride = [2], padding = [(1,0)]);";
    assert_eq!(run(x, &up("asymmetric")), run(x, asymmetric));
    let aligned = "y = multilinear_upsample(x, factor = [2], method = 'aligned');";
    check(x, aligned, "[[[1.0, 1.4, 1.8, 2.4, 3.2, 4.0]]]");
}

#[test]
fn reductions_keep_their_axes() {
    let x = r#"{"x": [[1.0, 5.0], [7.0, 3.0]]}"#;
    check(x, "y = sum_reduce(x, axes = [0]);", "[[8, 8]]");
    check(x, "y = mean_reduce(x, axes = [0, 1]);", "[[4]]");
    check(x, "y = argmax_reduce(x, axes = [0, 1]);", "[[2]]");
    check(x, "y = argmin_reduce(x, axes = [1]);", "[[0], [1]]");
    check(r#"{"x": [1.0, "nan"]}"#, "y = max_reduce(x, axes = [0]);", r#"["nan"]"#);
    check(r#"{"x": [[true, false]]}"#, "y = any_reduce(x, axes = [1]);", "[[true]]");
}

#[test]
fn compounds_follow_their_definitions() {
    check(r#"{"x": [1.0, 3.0]}"#, "y, v = moments(x, axes = [0]);", "[2]");
    check(r#"{"x": [1.0, 3.0]}"#, "m, y = moments(x, axes = [0]);", "[1]");
    check(r#"{"x": [-1.0, 2.0]}"#, "y = leaky_relu(x, alpha = 0.5);", "[-0.5, 2]");
    check(r#"{"x": [1.0, 2.0], "z": [3.0, 4.0]}"#, "y = add_n([x, z, x]);", "[5, 8]");
    check(r#"{"x": [3.0, 4.0]}"#, "y = l2_normalization(x, axes = [0]);", "[0.6, 0.8]");
    check(r#"{"x": [[[1.0, 2.0]]]}"#, "y = nearest_upsample(x, factor = [2]);", "[[[1, 1, 2, 2]]]");
    check(r#"{"x": [0.3]}"#, "y = linear_quantize(x, 0.0, 1.0, bits = 1);", "[0]");
    check(r#"{"x": [1.0]}"#, "[z, y] = copy_n(x, times = 2);", "[1]");
}

#[test]
fn every_primitive_of_the_standard_has_a_kernel() {
    let text = [include_str!("../library/std/nnef-1.0.nnef"), include_str!("../library/std/nnef-draft.nnef")].concat();
    let mut primitives = 0;
    for line in text.lines().filter_map(|line| line.strip_prefix("fragment ")) {
        let name = line.split(['(', '<']).next().unwrap().trim();
        // A declaration that ends with a semicolon, on this line or a later one, is a primitive.
        let rest = &text[text.find(&format!("fragment {line}")).unwrap()..];
        if rest.find(';').unwrap_or(usize::MAX) < rest.find('{').unwrap_or(usize::MAX) {
            primitives += 1;
            let row = dictionary::find(Vocabulary::Standard, name);
            assert!(row.and_then(super::kernel_table::function).is_some(), "{name}");
        }
    }
    assert_eq!(primitives, 73 + 45);
}

#[test]
fn variables_are_read_and_updated() {
    let text = "version 1.0; graph G( x ) -> ( y ) {
        x = external(shape = [2]); v = variable(shape = [2], label = 'v'); y = update(v, x + v); }";
    let graph = graph(text, &Options::default());
    let x = [("x".to_string(), Tensor::scalars(&[2], vec![1.0, 2.0]).unwrap())];
    let mut variables = std::collections::BTreeMap::default();
    let run = |variables: &_| Evaluator::default().run(&graph, &x, variables);
    assert_eq!(run(&variables).unwrap_err().code, Code::EvalVariable);
    variables.insert("v".to_string(), Tensor::scalars(&[1, 2], vec![5.0, 5.0]).unwrap());
    assert_eq!(run(&variables).unwrap_err().code, Code::EvalVariable);
    variables.insert("v".to_string(), Tensor::integers(&[2], vec![5, 5]).unwrap());
    let evaluation = run(&variables).unwrap();
    assert_eq!(evaluation.updates[0].0, "v");
    assert_eq!(*evaluation.updates[0].1, Tensor::scalars(&[2], vec![6.0, 7.0]).unwrap());
}

#[test]
fn inputs_have_to_fit() {
    let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = exp(x); }";
    let graph = graph(text, &Options::default());
    let run = |given: &str| {
        let found = Evaluator::default().run(&graph, &json::read(given).unwrap(), &BTreeMap::new());
        found.map_err(|error| (error.code, error.diagnostic(&graph).message))
    };
    assert!(run(r#"{"x": [0, 1]}"#).is_ok());
    for (given, message) in [
        ("{}", "nothing is given for input `x`: `--inputs FILE` gives the values of inputs"),
        (r#"{"x": [1.0]}"#, "input `x` has to have shape [2], the given one has [1]"),
        (r#"{"x": [[1.0, 2.0]]}"#, "input `x` has to have shape [2], the given one has [1, 2]"),
        (r#"{"x": [true, false]}"#, "input `x` holds scalar items, logical items are given"),
        (r#"{"x": [0, 1], "z": [1.0]}"#, "the graph has no input `z`; its inputs are x"),
    ] {
        assert_eq!(run(given).unwrap_err(), (Code::EvalInput, message.to_owned()), "{given}");
    }
}

#[test]
fn limits_are_kept() {
    let x = r#"{"x": [[[1.0]]]}"#;
    fails(x, "y = tile(x, repeats = [1000000, 1000000, 1000000]);", Code::EvalMemory);
    fails(x, "y = pad(x, padding = [(0,0), (0,0), (1000000000000, 0)]);", Code::EvalMemory);
    fails(x, "y = box(x, size = [1,1,1000000000], padding = [(0,0),(0,0),(1000000000,0)]);", Code::EvalMemory);
    fails(x, "y = box(x, size = [1,1,100000], padding = [(0,0),(0,0),(100000,100000)]);", Code::EvalWork);
    fails(x, "y = constant(shape = [100000, 100000], value = [1.0]);", Code::EvalMemory);
    fails(x, "y = multilinear_upsample(x, factor = [9000000000000000000]);", Code::EvalMemory);
    let within = |max_items| {
        let limits = Limits { max_items, max_work: 1000 };
        try_run(x, "y = exp(x); z = tile(x, repeats = [1, 1, 60]);", "y, z", limits)
            .map(drop)
            .map_err(|error| error.code)
    };
    // `x` as it is given and as it is stored, and `y`, beside the 120 items that `tile` allocates for `z`.
    assert_eq!((within(122), within(123)), (Err(Code::EvalMemory), Ok(())));
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let given = r#"{"a": [[1.0, 2.0]], "b": [1.0], "i": [5]}"#;
    // The shapes of results of vendor operations are not known during expansion, so the evaluator checks them.
    for (call, code) in [
        ("concat([t, u], axis = 1)", Code::EvalShapes),
        ("stack([t, u], axis = 2)", Code::EvalShapes),
        ("transpose(t, axes = [0, 1, 2])", Code::EvalShapes),
        ("matmul(t, u)", Code::EvalShapes),
        ("squeeze(t, axes = [1])", Code::EvalShapes),
        ("conv(t, u)", Code::EvalShapes),
        ("pad(t, padding = [(0, 0)])", Code::EvalShapes),
        ("gather(t, i)", Code::EvalValue),
        ("multilinear_upsample(t, factor = [2])", Code::EvalShapes),
    ] {
        fails(given, &format!("t = opaque(x = a); u = opaque(x = b); y = {call};"), code);
    }
    // An axis beyond the last one has extent 1.
    check(r#"{"a": [[1.0, 2.0]]}"#, "t = opaque(x = a); y = sum_reduce(t, axes = [2]);", "[[1, 2]]");
    // All items are removed at one end, and the same number of items is added at the other.
    let far = "t = opaque(x = a); y = pad(t, padding = [(-9223372036854775807, 9223372036854775807), (0, 0)]);";
    check(given, far, "[[0, 0]]");
}

#[test]
fn a_scan_that_runs_itself_is_refused() {
    let text = "version 1.0; extension tract_registry tract_core; extension KHR_enable_fragment_definitions;
        fragment f( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {
            y = tract_core_scan(body = 'f', scan = [('x', x, 0, 1)], full = [], state = [],
                output = [('y', 'full', 0, 1)], skip = 0); }
        graph G( x ) -> ( y ) { x = external(shape = [2]); y = f(x); }";
    let x = [("x".to_string(), Tensor::scalars(&[2], vec![1.0, 2.0]).unwrap())];
    let found = Evaluator::default().run(&graph(text, &Options::default()), &x, &BTreeMap::new());
    assert_eq!(found.unwrap_err().code, Code::EvalWork);
}

#[test]
fn unknown_operations_are_told() {
    fails(r#"{"x": [1.0]}"#, "y = vendor_thing(x);", Code::NotEvaluated);
    let text = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [1]); y = vendor_thing(x); }";
    let graph = graph(text, &Options::default());
    let twice = |call: &super::Call| {
        let x = call.tensor_of(&call.value_at(0, "x").expect("an operand"))?;
        Ok(vec![Tensor::scalars(x.shape(), x.to_scalars().into_iter().map(|x| x * 2.0).collect())?])
    };
    let evaluator = Evaluator::default().operation("vendor_thing", twice);
    let x = [("x".to_string(), Tensor::scalars(&[1], vec![4.0]).unwrap())];
    let found = evaluator.run(&graph, &x, &BTreeMap::new()).unwrap();
    assert_eq!(*found.outputs[0].1, Tensor::scalars(&[1], vec![8.0]).unwrap());
}

#[test]
fn drafts_are_evaluated_as_they_are() {
    let options = Options::default();
    let text = "version 1.0
        graph G( x ) -> ( y, z ) { x = external(shape = [2,3]) t = transpose(x, perm = [1,0])
            y = matmul(x, x, trB = true) z = linear_quantize(t, 0.0, 8.0, bits = 3) }";
    let x = Tensor::scalars(&[2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let graph = graph(text, &options);
    let found = Evaluator::default().run(&graph, &[("x".to_string(), x)], &BTreeMap::new()).unwrap();
    assert_eq!(*found.outputs[0].1, Tensor::scalars(&[2, 2], vec![14.0, 32.0, 32.0, 77.0]).unwrap());
    assert_eq!(found.outputs[1].1.shape(), [3, 2]);
}
