//! Forms that exporters and converters write, and that their readers accept.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::process::Output;

use crate::common::command::{messages, run, stderr};
use nnef_flatten::tensor::Tensor;
use serde_json::{Value, json};

/// Runs a command on a document of NNEF 1.0 with these extensions, fragments and body. `in.json` beside it has inputs.
fn on(args: &[&str], head: &str, body: &str, inputs: &Value) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.nnef");
    let names: Vec<&str> = inputs.as_object().unwrap().keys().map(String::as_str).collect();
    let graph = format!("version 1.0;\n{head}\ngraph G( {} ) -> ( y )\n{{\n{body}}}\n", names.join(", "));
    std::fs::write(&path, graph).unwrap();
    let given = folder.path().join("in.json");
    std::fs::write(&given, inputs.to_string()).unwrap();
    let mut all = args.to_vec();
    all.push(path.to_str().unwrap());
    if args[0] == "run" {
        all.extend(["--inputs", given.to_str().unwrap()]);
    }
    run(&all)
}

fn data(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["outputs"]["y"]["data"].clone()
}

#[test]
fn a_tuple_of_names_takes_an_array_apart() {
    let x = json!({"x": [[1.0, 2.0], [3.0, 4.0]]});
    for (call, wanted) in [
        ("a, b = unstack(x, axis = 0);", json!([-2.0, -2.0])),
        ("a, b = split(x, axis = 1, ratios = [1, 1]);", json!([[-1.0], [-1.0]])),
        ("(a, b) = copy_n(x, times = 2);", json!([[0.0, 0.0], [0.0, 0.0]])),
    ] {
        let body = format!("    x = external(shape = [2, 2]);\n    {call}\n    y = sub(a, b);\n");
        assert_eq!(data(&on(&["run"], "", &body, &x)), wanted, "{call}");
        assert_eq!(data(&on(&["run", "--lower", "all"], "", &body, &x)), wanted, "{call}");
        let strict = on(&["check", "--strict"], "", &body, &x);
        assert_eq!(
            (strict.status.code(), messages(&strict).contains("E0506")),
            (Some(1), true),
            "{}",
            messages(&strict)
        );
        let flat = on(&["-q"], "", &body, &x);
        assert!(String::from_utf8_lossy(&flat.stdout).contains("[a, b] = "), "{call}");
    }
    let body = "    x = external(shape = [2, 2]);\n    a, b, c = unstack(x, axis = 0);\n    y = sub(a, b);\n";
    let few = on(&["check"], "", body, &x);
    assert!(few.status.code() == Some(1) && messages(&few).contains("E1010"), "{}", messages(&few));
}

#[test]
fn extensions_may_have_commas_between_them() {
    let head = "extension KHR_enable_fragment_definitions, KHR_enable_operator_expressions;";
    let body = "    x = external(shape = [1]);\n    y = x + 1.0;\n";
    let x = json!({"x": [1.0]});
    let output = on(&["check"], head, body, &x);
    assert_eq!((output.status.code(), messages(&output).contains("E0")), (Some(0), false), "{}", messages(&output));
    let strict = on(&["check", "--strict"], head, body, &x);
    assert!(strict.status.code() == Some(1) && messages(&strict).contains("E0220"), "{}", messages(&strict));
    assert!(messages(&on(&["check"], "extension acme_writer: 'a, b';", body, &x)).contains("E0220"));
}

#[test]
fn literals_stand_for_values_of_a_generic_type() {
    let head = "extension KHR_enable_fragment_definitions;\nextension KHR_enable_operator_expressions;\n\
        fragment fill<? = scalar>( shape: integer[] ) -> ( r: tensor<?> )\n{\n    \
        r = constant<?>(shape = shape, value = [1.0]);\n}\n";
    let body = "    x = external(shape = [2]);\n    k = fill(shape = [2]);\n    y = add(x, k);\n";
    let x = json!({"x": [1.0, 2.0]});
    assert_eq!(data(&on(&["run", "--strict"], head, body, &x)), json!([2.0, 3.0]));
    // The flat graph has integers, so that it is read again.
    let body = "    x = external(shape = [2]);\n    y = fill<integer>(shape = [2]);\n";
    let flat = String::from_utf8(on(&["--strict"], head, body, &x).stdout).unwrap();
    assert!(flat.contains("constant<integer>(shape = [2], value = [1])"), "{flat}");
    let refused = on(&["check"], &head.replace("1.0]", "1.5]"), body, &x);
    assert!(refused.status.code() == Some(1) && messages(&refused).contains("E0701"), "{}", messages(&refused));
}

#[test]
fn logicals_have_no_order() {
    let head = "extension KHR_enable_operator_expressions;";
    let x = json!({"x": [1.0, 2.0]});
    let source = "    x = external(shape = [2]);\n";
    for (call, refused) in [
        ("(x > 0.0) < (x > 1.0)", true),
        ("(x > 0.0) >= x", true),
        ("lt(x > 0.0, x > 1.0)", true),
        ("(x > 0.0) && (x > 1.0)", false),
        ("lt(x, 1.0)", false),
    ] {
        let output = on(&["check"], head, &format!("{source}    y = {call};\n"), &x);
        assert_eq!(output.status.code(), Some(i32::from(refused)), "{call}: {}", messages(&output));
    }
}

#[test]
fn what_run_refuses_is_told_by_check() {
    let body = "    x = external(shape = [1, 3, 2, 2]);\n    m = constant(shape = [1, 1, 1, 3], value = [1.0]);\n    \
        y = batch_normalization(x, m, m, 0.0, 1.0, epsilon = 0.0);\n";
    let x = json!({"x": [[[[1.0, 2.0]]]]});
    for (words, status) in [(&["-q"][..], 0), (&["check"], 1), (&["run"], 1)] {
        let output = on(words, "", body, &x);
        let told = messages(&output);
        let is_told = told.contains("E1022") && !told.contains("E08");
        assert_eq!((output.status.code(), is_told), (Some(status), status == 1), "{words:?}: {told}");
    }
    assert_eq!(on(&["check", "--allow", "E1022"], "", body, &x).status.code(), Some(0));
}

#[test]
fn deconv_of_planes_has_the_channels_of_output_shape() {
    // Four channels of the input, two groups: each output channel sums two of them.
    let body = "    x = external(shape = [1, 4, 1]);\n    f = constant(shape = [4, 1, 1], value = [1.0, 10.0, 100.0, 1000.0]);\n    \
        y = deconv(x, f, padding = [(0, 0)], output_shape = [1, 2, 1], groups = 0);\n";
    let x = json!({"x": [[[1.0], [2.0], [3.0], [4.0]]]});
    assert_eq!(data(&on(&["run"], "", body, &x)), json!([[[21.0], [4300.0]]]));
    let without = body.replace("output_shape = [1, 2, 1], ", "");
    assert_eq!(data(&on(&["run"], "", &without, &x)), json!([[[1.0], [20.0], [300.0], [4000.0]]]));
    let model = on(&["-q", "--to", "onnxtxt"], "", body, &x);
    assert!(String::from_utf8_lossy(&model.stdout).contains("group: int = 2"), "{}", stderr(&model));
}

#[test]
fn a_bias_of_one_axis_lies_along_the_batch() {
    let body = "    x = external(shape = [1, 2]);\n    w = constant(shape = [3, 2], value = [1.0]);\n    \
        b = constant(shape = [3], value = [1.0, 2.0, 3.0]);\n    y = linear(x, w, b);\n";
    let x = json!({"x": [[1.0, 2.0]]});
    let output = on(&["run"], "", body, &x);
    assert!(stderr(&output).contains("E1026"), "{}", stderr(&output));
    assert_eq!(data(&output), json!([[4.0, 4.0, 4.0], [5.0, 5.0, 5.0], [6.0, 6.0, 6.0]]));
    // `Gemm` cannot enlarge the product.
    let model = on(&["-q", "--to", "onnxtxt"], "", body, &x);
    assert!(String::from_utf8_lossy(&model.stdout).contains("Add"), "{}", stderr(&model));
}

/// A model `y = x + b` whose variable is stored as codes.
fn quantized(folder: &Path, arguments: &str) -> String {
    let body =
        "    x = external(shape = [1, 2]);\n    b = variable(shape = [1, 2], label = 'b');\n    y = add(x, b);\n";
    let text = format!("version 1.0;\n\ngraph G( x ) -> ( y )\n{{\n{body}}}\n");
    std::fs::write(folder.join("graph.nnef"), text).unwrap();
    let codes = Tensor::integers(&[1, 2], vec![4, 8]).unwrap();
    std::fs::write(folder.join("b.dat"), codes.to_dat().unwrap()).unwrap();
    let line = format!("\"b\": zero_point_linear_quantize({arguments}, bits = 8, signed = true, symmetric = false);\n");
    std::fs::write(folder.join("graph.quant"), line).unwrap();
    std::fs::write(folder.join("in.json"), "{\"x\": [[0.0, 0.0]]}").unwrap();
    folder.to_str().unwrap().to_owned()
}

#[test]
fn quantizations_of_channels_may_be_lists() {
    for arguments in ["zero_point = [0, 1], scale = [0.5, 0.25]", "zero_point = [[0, 1]], scale = [[0.5, 0.25]]"] {
        let folder = tempfile::tempdir().unwrap();
        let model = quantized(folder.path(), arguments);
        let inputs = format!("{model}/in.json");
        assert_eq!(data(&run(&["run", &model, "--inputs", &inputs])), json!([[2.0, 1.75]]), "{arguments}");
        let strict = run(&["check", "--strict", &model]);
        assert_eq!(
            messages(&strict).contains("E1225"),
            arguments.starts_with("zero_point = [0"),
            "{}",
            messages(&strict)
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let model = quantized(folder.path(), "zero_point = 0, scale = [0.5, 0.25, 0.125]");
    assert!(messages(&run(&["check", &model])).contains("does not fit"));
}

#[test]
fn codes_stay_codes_in_models_of_onnx() {
    let folder = tempfile::tempdir().unwrap();
    let model = quantized(folder.path(), "zero_point = [0, 1], scale = [0.5, 0.25]");
    let output = run(&["-q", "--to", "onnxtxt", &model]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(text.contains("b_2 = {4, 8}") && text.contains("b = DequantizeLinear <axis: int = 1>"), "{text}");
}

#[test]
fn shapes_follow_from_stored_scales_and_sizes() {
    for (argument, items, wanted) in [
        ("scales = s", Tensor::scalars(&[4], vec![1.0, 1.0, 2.0, 1.5]), json!([1, 2, 6, 6])),
        ("sizes = s", Tensor::integers(&[4], vec![1, 2, 5, 7]), json!([1, 2, 5, 7])),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let items = items.unwrap();
        let element = if argument.starts_with("scales") { "scalar" } else { "integer" };
        let body = format!(
            "    x = external(shape = [1, 2, 3, 4]);\n    s = variable<{element}>(shape = [4], label = 's');\n    \
            y = tract_core_resize(x, interpolator = 'nearest', {argument});\n    z = relu(y);\n"
        );
        let head = "version 1.0;\nextension tract_registry tract_core;\n";
        let text = format!("{head}\ngraph G( x ) -> ( z )\n{{\n{body}}}\n");
        std::fs::write(folder.path().join("graph.nnef"), text).unwrap();
        std::fs::write(folder.path().join("s.dat"), items.to_dat().unwrap()).unwrap();
        let output = run(&["-q", "--to", "json", folder.path().to_str().unwrap()]);
        let graph: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(graph["tensors"]["z"]["shape"], wanted, "{argument}: {}", stderr(&output));
    }
}
