//! Recurrent layers of ONNX under `--unroll`: their steps compute what the layers compute.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fmt::Write;

use crate::common::command::feed;

/// The extents of all layers: steps, batch, features, hidden.
const EXTENTS: [usize; 4] = [3, 2, 4, 5];

/// Numbers between -1 and 1, which differ from one seed to another.
fn numbers(count: usize, seed: usize) -> String {
    let number = |i: usize| ((i * 37 + seed * 101 + 11) % 199) as f64 / 99.0 - 1.0;
    (0..count).map(|i| format!("{:.4}", number(i))).collect::<Vec<_>>().join(", ")
}

/// A model with a layer. Optional operands are those of these letters: B, l (lengths), h (initial state), c (initial
/// cell), P.
fn model(operator: &str, attributes: &str, given: &str) -> String {
    let [steps, batch, features, hidden] = EXTENTS;
    let gates = match operator {
        "LSTM" => 4,
        "GRU" => 3,
        _ => 1,
    };
    let directions = if attributes.contains("bidirectional") { 2 } else { 1 };
    let batch_first = attributes.contains("layout");
    let order = |first: usize, second: usize| if batch_first { [second, first] } else { [first, second] };
    let [a, b] = order(steps, batch);
    let [c, d] = order(directions, batch);
    let operands = [
        ("W", "W", vec![directions, gates * hidden, features]),
        ("R", "R", vec![directions, gates * hidden, hidden]),
        ("B", "B", vec![directions, 2 * gates * hidden]),
        ("h", "h0", vec![c, d, hidden]),
        ("c", "c0", vec![c, d, hidden]),
        ("P", "P", vec![directions, 3 * hidden]),
    ];
    let mut constants = String::new();
    for (i, (letter, name, shape)) in operands.iter().enumerate() {
        if i < 2 || given.contains(letter) {
            let count = shape.iter().product();
            writeln!(constants, "float{shape:?} {name} = {{{}}},", numbers(count, i)).unwrap();
        }
    }
    if given.contains('l') {
        writeln!(constants, "int32[{batch}] lengths = {{2, 3}},").unwrap();
    }
    let constants = constants.trim_end().trim_end_matches(',');
    let name = |letter: &str, name: &'static str| if given.contains(letter) { name } else { "" };
    let mut all = format!("x, W, R, {}, {}, {}", name("B", "B"), name("l", "lengths"), name("h", "h0"));
    let mut results = "y, yh".to_owned();
    let mut outputs = "float[I, J, K, L] y, float[M, N, O] yh".to_owned();
    if operator == "LSTM" {
        write!(all, ", {}, {}", name("c", "c0"), name("P", "P")).unwrap();
        results.push_str(", yc");
        outputs.push_str(", float[Q, S, T] yc");
    }
    format!(
        "<ir_version: 10, opset_import: [\"\" : 21]>\n\
         g (float[{a}, {b}, {features}] x) => ({outputs})\n<{constants}> {{ {results} = {operator} <hidden_size = {hidden}{attributes}> ({all}) }}"
    )
}

/// Compares a layer with its steps.
fn compare(operator: &str, attributes: &str, given: &str) {
    let text = model(operator, attributes, given);
    let args = ["--from", "onnxtxt", "--unroll", "--flat", "--verify", "-"];
    let output = feed(&args, &text);
    let (flat, told) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{operator} {attributes} {given}: {told}\n{text}");
    assert!(flat.contains("MatMul") && !flat.contains(operator), "{operator} {attributes} {given}: {flat}");
}

#[test]
fn steps_compute_what_layers_compute() {
    for (operator, given) in
        [("LSTM", "BhcP"), ("LSTM", ""), ("LSTM", "B"), ("GRU", "Bh"), ("GRU", ""), ("RNN", "Bh"), ("RNN", "")]
    {
        for attributes in
            ["", ", direction = \"reverse\"", ", direction = \"bidirectional\"", ", layout = 1", ", clip = 0.3"]
        {
            compare(operator, attributes, given);
        }
    }
    compare("GRU", ", linear_before_reset = 1", "Bh");
    compare("GRU", ", linear_before_reset = 1, direction = \"bidirectional\", layout = 1", "Bh");
    compare("LSTM", ", input_forget = 1", "BhcP");
}

/// Items of the batch may have lengths of their own.
#[test]
fn shorter_items_keep_their_state() {
    for (operator, given) in [("LSTM", "Blhc"), ("GRU", "Bl"), ("RNN", "lh")] {
        for attributes in ["", ", direction = \"reverse\"", ", direction = \"bidirectional\", layout = 1"] {
            compare(operator, attributes, given);
        }
    }
}

/// Trips that do not take place collect nothing.
#[test]
fn bounded_loops_collect_what_takes_place() {
    let text = "<ir_version: 10, opset_import: [\"\" : 21]>\n\
        g (float[3] x, int64 n) => (float[3] last, float[N, 3] all) <bool go = {1}> {\n\
        last, all = Loop (n, go, x) <body = b (int64 i, bool c, float[3] v) => (bool d, float[3] w, float[3] s) \
        { w = Add (v, v) d = Identity (c) s = Identity (w) }> }";
    let args = ["--from", "onnxtxt", "--unroll", "--flat", "--max-trips", "3", "-o", "-", "--to", "onnxtxt", "-"];
    let output = feed(&args, text);
    let flat = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && !flat.contains("Loop"), "{flat}");
    let folder = tempfile::tempdir().unwrap();
    let (model, inputs) = (folder.path().join("m.onnxtxt"), folder.path().join("i.json"));
    std::fs::write(&model, &flat).unwrap();
    for (count, wanted) in [(0, "[]"), (1, "[[2.0, 4.0, 6.0]]"), (2, "[[2.0, 4.0, 6.0], [4.0, 8.0, 12.0]]")] {
        std::fs::write(&inputs, format!("{{\"x\": [1, 2, 3], \"n\": {count}}}")).unwrap();
        let (model, inputs) = (model.to_str().unwrap(), inputs.to_str().unwrap());
        let output = feed(&["run", model, "--inputs", inputs], "");
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(told.contains(&format!("\"data\": {wanted}}}}}")), "{count}: {told}");
    }
}

#[test]
fn steps_have_the_activations_of_layers() {
    for name in [
        "Relu",
        "Tanh",
        "Sigmoid",
        "Affine",
        "LeakyRelu",
        "ThresholdedRelu",
        "ScaledTanh",
        "HardSigmoid",
        "Elu",
        "Softsign",
        "Softplus",
    ] {
        compare("RNN", &format!(", activations = [\"{name}\"]"), "B");
        compare(
            "RNN",
            &format!(", activations = [\"{name}\"], activation_alpha = [0.4], activation_beta = [0.7]"),
            "B",
        );
    }
    let lists = ", direction = \"bidirectional\", activations = [\"HardSigmoid\", \"Tanh\", \"Elu\", \"LeakyRelu\", \"Affine\", \"Softsign\"], \
                 activation_alpha = [0.3, 0.5, 0.2, 0.9], activation_beta = [0.4, 0.1]";
    compare("LSTM", lists, "B");
}

#[test]
fn layers_that_stay_are_named() {
    let kept = |args: &[&str], text: &str| {
        let output = feed(&[&["--from", "onnxtxt", "-"], args].concat(), text);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let text = model("GRU", "", "");
    let (code, told) = kept(&["--flat"], &text);
    assert!(code == Some(1) && told.contains("E0976") && told.contains("only with --unroll"), "{told}");
    // The number of steps is not known, until an option tells it.
    let open = text.replace("float[3, 2, 4] x", "float[T, 2, 4] x");
    let (code, told) = kept(&["--flat", "--unroll"], &open);
    assert!(code == Some(1) && told.contains("the `GRU` of `y` is kept"), "{told}");
    assert_eq!(kept(&["--flat", "--unroll", "--set", "T=3"], &open).0, Some(0));
    let (code, told) = kept(&["--unroll"], &open);
    assert!(code == Some(0) && told.contains("E0975"), "{told}");
    let (code, told) = kept(&["--unroll", "--keep", "GRU"], &text);
    assert!(code == Some(0) && told.contains("is kept"), "{told}");
    // Lengths of sequences may be an input.
    let lengths = |text: &str| text.replace("g (", "g (int32[2] n, ").replace("R, , ,", "R, , n,");
    assert!(lengths(&text).contains("R, , n,"), "{text}");
    for more in [&[][..], &["--bind", "n=[3, 3]"], &["--bind", "n=[3, 2]"]] {
        let (code, told) = kept(&[&["--flat", "--unroll"], more].concat(), &lengths(&text));
        assert_eq!(code, Some(0), "{told}");
    }
    // A layer of a million steps is left alone.
    let (code, told) = kept(&["--unroll"], &text.replace("float[3, 2, 4] x", "float[1000000, 2, 4] x"));
    assert!(code == Some(0) && told.contains("E0975"), "{told}");
}
