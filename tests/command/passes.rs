//! `--fold` and `--share`: what they change, in which order, on which inputs, and what they refuse.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::Output;

use crate::common::command::fast::{feed, run};

/// Runs the command on a text as its standard input.
fn flatten(args: &[&str], text: &str) -> Output {
    feed(&[args, &["-"]].concat(), text)
}

fn texts(output: &Output) -> (String, String) {
    (String::from_utf8(output.stdout.clone()).unwrap(), String::from_utf8(output.stderr.clone()).unwrap())
}

const HEADER: &str = "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n";

fn document(body: &str) -> String {
    let fragment = "fragment scaled( x: tensor<scalar>, by: tensor<scalar> ) -> ( y: tensor<scalar> )\n\
        { y = exp(x) * sqrt(by); }\n";
    format!("{HEADER}{fragment}graph G( x ) -> ( y )\n{{\n    x = external(shape = [2]);\n    {body}\n}}\n")
}

const SCALES: &str = "y = scaled(x, constant(shape = [2], value = [4.0, 9.0])) \
    + scaled(x, constant(shape = [2], value = [4.0, 9.0]));";

/// The statements of a flat text after that of the input.
fn statements(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.contains(" = ")).skip(1).map(str::trim).collect()
}

#[test]
fn each_option_has_its_pass() {
    let names = |args: &[&str]| {
        let args = [args, &["--verify"]].concat();
        let (flat, told) = texts(&flatten(&args, &document(SCALES)));
        assert!(told.contains("verified: 2 items"), "{told}");
        let lines = statements(&flat).into_iter().filter_map(|line| line.split(" = ").next());
        (lines.map(str::to_owned).collect::<Vec<_>>().join(" "), told)
    };
    let (plain, told) = names(&[]);
    assert_eq!(
        plain,
        "y_constant1 y_scaled1_exp1 y_scaled1_sqrt1 y_scaled1 y_constant2 y_scaled2_exp1 y_scaled2_sqrt1 y_scaled2 y"
    );
    assert!(!told.contains("operations"), "{told}");
    let (folded, told) = names(&["--fold"]);
    assert_eq!(folded, "y_scaled1_exp1 y_scaled1_sqrt1 y_scaled1 y_scaled2_exp1 y_scaled2_sqrt1 y_scaled2 y");
    assert!(told.contains("operations that became constants: 2\n"), "{told}");
    let (shared, told) = names(&["--share"]);
    assert_eq!(shared, "y_constant1 y_scaled1_exp1 y_scaled1_sqrt1 y_scaled1 y");
    assert!(told.contains("operations merged with equal ones: 4\n"), "{told}");
    // Folded constants are shared.
    let (both, told) = names(&["--share", "--fold"]);
    assert_eq!(both, "y_scaled1_exp1 y_scaled1_sqrt1 y_scaled1 y");
    assert!(told.contains("constants: 2\noperations merged with equal ones: 3\n"), "{told}");
    let (kept, _) = names(&["--share", "--fold", "--keep-unused"]);
    assert_eq!(kept, "y_constant1 y_scaled1_exp1 y_scaled1_sqrt1 y_scaled1 y");
}

#[test]
fn what_is_written_is_read_without_change() {
    let body = "n = copy(copy(constant<integer>(shape = [2], value = [-9223372036854775807 - 1, 7])));
        z = neg(constant(shape = [2], value = [0.0, 1.5e-300])); t = 1.0 / 3.0 * constant(shape = [1], value = [1.0]);
        b = not(constant<logical>(shape = [2], value = [true, false])); y = x + z;";
    let (flat, told) = texts(&flatten(&["--fold", "--verify"], &document(body)));
    for wanted in [
        "n = constant<integer>(shape = [2], value = [-9223372036854775808, 7]);",
        "z = constant(shape = [2], value = [-0.0, -1.5e-300]);",
        "t = constant(shape = [1], value = [0.3333333333333333]);",
        "b = constant<logical>(shape = [2], value = [false, true]);",
    ] {
        assert!(flat.contains(wanted), "{wanted}\n{flat}{told}");
    }
    for args in [&["--fold", "--share"][..], &[]] {
        assert_eq!(texts(&flatten(args, &flat)).0, flat);
    }
}

#[test]
fn other_passes_follow() {
    let body = "y = copy(add(reshape(x, shape = [1, 2]), reshape(x, shape = [1, 2])));";
    let (flat, told) = texts(&flatten(&["--drop-bitcasts", "--share", "--verify", "--stats"], &document(body)));
    assert!(told.contains("ones: 1\n") && told.contains("transposes: 1 before, 1 after"), "{told}");
    assert!(told.contains("verified: 2 items"), "{told}");
    assert_eq!(statements(&flat).len(), 3, "{flat}");
    // Layouts are those of the tensors that remain.
    let layout = |name: &str| format!("{name}={{0}}");
    let json = ["--share", "--to", "json", "--layout"];
    let text = document(SCALES);
    assert_eq!(flatten(&[&json[..], &[&layout("y_scaled1")]].concat(), &text).status.code(), Some(0));
    let removed = flatten(&[&json[..], &[&layout("y_scaled2")]].concat(), &text);
    assert!(removed.status.code() == Some(1) && texts(&removed).1.contains("y_scaled2"), "{}", texts(&removed).1);
}

#[test]
fn operations_come_from_where_they_did() {
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("map.json");
    let args = ["--fold", "--share", "-q", "--source-map", map.to_str().unwrap()];
    let (flat, told) = texts(&flatten(&args, &document(SCALES)));
    let map = std::fs::read_to_string(map).unwrap();
    for name in statements(&flat).iter().filter_map(|line| line.split(" = ").next()) {
        assert!(map.contains(&format!("\"{name}\"")), "{name}: {map}{told}");
    }
    assert!(!map.contains("y_scaled2") && map.contains("\"scaled\""), "{map}");
}

#[test]
fn inputs_that_become_graphs_are_reworked() {
    let passes = ["--fold", "--share"];
    for (args, wanted) in [
        (&["--verify", "--lower", "all", "examples/quantized.nnef"][..], "constants: 19\n"),
        (&["--verify", "--lower", "all", "examples/residual.nnef"], "ones: 8\n"),
        (&["--verify", "--from", "loops", "--unroll", "examples/loops/elman.json"], "verified: 16 items"),
        (&["--verify", "--unroll", "examples/loops/clauses.nnef"], "verified: 16 items"),
        (&["--verify", "examples/loops/scan.nnef"], "verified: 16 items"),
        (&["--lower", "all", "--from", "pnnx", "examples/pnnx/centre.pnnx.param"], "constants: 0\n"),
        (&["--to", "onnxtxt", "examples/model"], "constants: 0\n"),
        (&["--to", "svg", "examples/moments.nnef"], "ones: 0\n"),
        (&["--verify", "--lower", "all", "examples/model"], "verified: 2 items"),
    ] {
        let output = run(&[args, &passes].concat());
        let (_, told) = texts(&output);
        assert!(output.status.success() && told.contains(wanted), "{args:?}: {told}");
        // Each pass says what it did.
        assert!(told.contains("became constants: ") && told.contains("equal ones: "), "{args:?}: {told}");
    }
    let draft = "version 1.0\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [2])\n    \
        y = add(mul(x, exp(constant(shape = [2], value = [0.0]))), mul(x, exp(constant(shape = [2], value = [0.0]))))\n}\n";
    for (to, end) in [("nnef", ";"), ("nnef-draft", "")] {
        let (flat, told) = texts(&flatten(&["--fold", "--share", "--verify", "--to", to], draft));
        assert!(told.contains("verified: 2 items"), "{told}");
        let wanted =
            ["y_exp1 = constant(shape = [2], value = [1.0])", "y_mul1 = mul(x, y_exp1)", "y = add(y_mul1, y_mul1)"];
        assert_eq!(statements(&flat), wanted.map(|statement| format!("{statement}{end}")), "{told}");
    }
}

#[test]
fn bodies_of_scans_are_reworked() {
    let text = "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n\
        extension tract_registry tract_core;\n\
        fragment step( x: tensor<scalar>, h: tensor<scalar> ) -> ( n: tensor<scalar>, o: tensor<scalar> )\n\
        { o = exp(x) + exp(x); n = h + exp(x) + o; }\n\
        graph G( x, h ) -> ( all )\n{\n    x = external(shape = [3, 4]); h = external(shape = [1, 4]);\n    \
        all = tract_core_scan(body = 'step', scan = [('x', x, 0, 1)], full = [], state = [('h', h, 'n')], \
        output = [('o', 'full', 0, 1)], skip = 0);\n}\n";
    let (flat, told) = texts(&flatten(&["--share", "--verify"], text));
    assert!(told.contains("ones: 2\n") && told.contains("verified: 12 items"), "{told}");
    assert_eq!(flat.matches("exp(").count(), 1, "{flat}");
}

#[test]
fn tensors_with_quantizations_stay() {
    let folder = tempfile::tempdir().unwrap();
    let body = "c = constant(shape = [2], value = [0.3, 0.9]); t = mul(x, sqrt(c)); y = add(t, mul(x, sqrt(c)));";
    let model = folder.path().join("model");
    std::fs::create_dir(&model).unwrap();
    std::fs::write(model.join("graph.nnef"), document(body)).unwrap();
    let path = model.to_str().unwrap();
    let (flat, told) = texts(&run(&["--fold", "--share", path]));
    assert!(told.contains("constants: 2\n") && told.contains("ones: 2\n"), "{flat}{told}");
    let inputs = folder.path().join("x.json");
    std::fs::write(&inputs, "{\"x\": [0.7, 1.1]}").unwrap();
    let values = |of: &str| texts(&run(&["run", of, "--inputs", inputs.to_str().unwrap()])).0;
    let plain = values(path);
    for (tensor, wanted) in [("c", ["constants: 0\n", "ones: 2\n"]), ("t", ["constants: 2\n", "ones: 1\n"])] {
        let quant = format!("'{tensor}': linear_quantize(min = 0.0, max = 1.5, bits = 2);");
        std::fs::write(model.join("graph.quant"), quant).unwrap();
        let (flat, told) = texts(&run(&["--fold", "--share", path]));
        assert!(wanted.iter().all(|wanted| told.contains(wanted)), "{tensor}: {flat}{told}");
        // What is computed with the quantizations remains the same.
        let made = format!("{}/flat-{tensor}/", folder.path().display());
        assert!(run(&["-q", "--fold", "--share", path, "-o", &made]).status.success());
        let quantized = values(path);
        assert!(quantized.contains("data") && quantized == values(&made) && quantized != plain, "{tensor}");
    }
}

#[test]
fn other_inputs_refuse_the_options() {
    for option in ["--fold", "--share"] {
        let args = ["--from", "pnnx", "--to", "pnnx", "examples/pnnx/centre.pnnx.param"];
        let output = run(&[&args[..], &[option]].concat());
        let (_, told) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(&format!("{option} does not apply to")), "{told}");
        for args in [&["check", option][..], &[option, "check"], &["run", option]] {
            let output = run(&[args, &["examples/gru.nnef"]].concat());
            let told = texts(&output).1;
            assert!(output.status.code() == Some(2) && told.contains(&format!("'{option}'")), "{args:?}: {told}");
        }
    }
}

#[test]
fn folded_constants_are_data_of_pnnx_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("folded.pnnx.param");
    let body = "y = x * sqrt(constant(shape = [2], value = [4.0, 9.0])) + exp(0.0);";
    let output = flatten(&["--fold", "-o", path.to_str().unwrap()], &document(body));
    assert!(output.status.success(), "{}", texts(&output).1);
    let file = std::fs::read_to_string(&path).unwrap();
    let attributes: Vec<&str> = file.lines().filter(|line| line.starts_with("pnnx.Attribute")).collect();
    // The constant of rank 0 is a literal of the expression.
    assert!(matches!(attributes[..], [one] if one.contains("y_sqrt1")), "{file}");
    assert!(file.contains("expr=add(mul(@0,@1),1.0)"), "{file}");
    let inputs = folder.path().join("inputs.json");
    std::fs::write(&inputs, r#"{"x": {"dtype": "float32", "shape": [2], "data": [1, 2]}}"#).unwrap();
    let output = run(&["run", path.to_str().unwrap(), "--inputs", inputs.to_str().unwrap()]);
    let (result, told) = texts(&output);
    assert!(result.contains(r#""data": [3.0, 7.0]"#), "{result}{told}");
}

/// A hundred thousand operations, chains whose tensors double, and work beyond the limits. `tests/growth/main.rs` counts the
/// instructions, also with many fragments that are kept.
#[test]
fn long_and_hostile_documents_are_reworked() {
    let chain = |count: usize, step: &dyn Fn(usize) -> String| (1..=count).map(step).collect::<Vec<_>>().join("\n");
    let twice = chain(33_000, &|i| format!("t{i} = add(exp(t{0}), exp(t{0}));", i - 1));
    let square = "constant(shape = [1000, 1000], value = [1.5])";
    for (body, wanted) in [
        (format!("t0 = exp(x); {twice} y = copy(t33000);"), "ones: 33000\n"),
        (
            format!("t0 = 1.5; {} y = copy(x);", chain(50_000, &|i| format!("t{i} = sub(mul(t{}, 0.5), 0.1);", i - 1))),
            "constants: 100001\n",
        ),
        (
            "t0 = constant(shape = [2], value = [1.5, 2.5]);".to_owned()
                + &chain(60, &|i| format!("t{i} = concat([t{0}, neg(t{0})], axis = 0);", i - 1))
                + "y = copy(x);",
            "constants: 19\n",
        ),
        (chain(2000, &|i| format!("t{i} = matmul({square}, mul({square}, {i}.0));")) + "y = copy(x);", "constants: "),
        (chain(9000, &|i| format!("t{i} = l2_normalization({i}.0, axes = []);")) + "y = copy(x);", "constants: "),
    ] {
        let text = document(&body);
        let output = flatten(&["--fold", "--share"], &text);
        let (flat, told) = texts(&output);
        assert!(output.status.success() && told.contains(wanted), "{told}");
        assert!(flat.len() < 10 * text.len() + 100_000, "{} of {} bytes", flat.len(), text.len());
    }
}

/// Models of format 1 and 2 have no imports: all that is done with one, and all that is written, is that of version 1.
#[test]
fn a_missing_import_is_one_of_version_1() {
    const GRAPHS: [&str; 4] = [
        "g (float[2, 1] x) => (float[2] y) { y = Squeeze <axes = [1]> (x) }",
        "g (float[2] x) => (float[2] y, float[3, 2] z) <int64 m = {3}, bool c = {1}> {
            y, z = Loop <body = b (int64 i, bool d, float[2] s) => (bool d, float[2] t, float[2] t) { t = Neg (s) }> (m, c, x) }",
        "g (float[2, 3] x) => (float[2, 3] y) { y = Softmax (x) }",
        "g (float[2, 3] x) => (float[N] y) { a = Reshape <shape = [6]> (x) y = Slice <starts = [1], ends = [3], axes = [0]> (a) }",
    ];
    const CALLS: [&[&str]; 9] = [
        &["--to", "onnxtxt"],
        &["--unroll", "--to", "onnxtxt"],
        &["--unroll", "--max-trips", "4", "--set", "m=2", "--to", "onnxtxt"],
        &["--simplify", "--to", "onnxtxt"],
        &["--annotate", "--to", "onnxtxt"],
        &["--opset", "17", "--to", "onnxtxt"],
        &["--unroll", "--lower", "all", "--to", "nnef"],
        &["--to", "json"],
        &["--to", "svg"],
    ];
    let outcome = |import: &str, graph: &str, args: &[&str]| {
        let output = flatten(args, &format!("<ir_version: 2{import}>\n{graph}"));
        let (text, told) = texts(&output);
        let is_header = |line: &str| line.contains("opset_import") || line.contains("ir_version");
        let body: Vec<&str> = text.lines().filter(|line| !is_header(line)).collect();
        // A place is told with the text around it.
        let told: Vec<&str> = told.lines().filter(|line| !line.contains("ir_version")).collect();
        (output.status.code(), body.join("\n"), told.join("\n"))
    };
    let mut written = 0;
    for graph in GRAPHS {
        for args in CALLS {
            let (missing, given) = (outcome("", graph, args), outcome(", opset_import: [\"\" : 1]", graph, args));
            written += usize::from(given.0 == Some(0));
            assert_eq!(missing, given, "{args:?} {graph}");
        }
        let run = |import: &str| {
            let text = format!("<ir_version: 2{import}> {graph}");
            texts(&feed(&["run", "--seed", "1", "-"], text)).0
        };
        assert_eq!(run(""), run(", opset_import: [\"\" : 1]"), "{graph}");
    }
    assert!(written > 24, "{written}");
    let (text, _) = texts(&flatten(&["--opset", "17", "--to", "onnxtxt"], &format!("<ir_version: 2> {}", GRAPHS[0])));
    assert!(text.contains("opset_import: [\"\": 17]"), "{text}");
}
