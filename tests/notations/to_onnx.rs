//! Documents, models and networks with loops, written as models of ONNX by the command.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use crate::common::command::run;
use nnef_flatten::tensor::Tensor;

fn done(args: &[&str]) -> String {
    let output = run(args);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{args:?}\n{told}");
    String::from_utf8(output.stdout).unwrap()
}

fn codes(args: &[&str]) -> Vec<String> {
    let output = run(&[args, &["--message-format", "json"]].concat());
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    let line = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let all = told.lines().map(line).filter(|found| found["severity"] == "error");
    all.map(|found| found["code"].as_str().unwrap().to_owned()).collect()
}

/// A model with a convolution whose data lie in a folder of it.
fn folder(root: &Path) -> String {
    let text = "version 1.0;
graph Net( image ) -> ( class )
{
    image = external(shape = [1, 2, 4, 4]);
    w = variable(shape = [3, 2, 3, 3], label = 'stem/conv.w');
    b = variable(shape = [1, 3], label = 'stem/conv.b');
    stem = conv(image, w, b);
    class = softmax(relu_layer);
}
"
    .replace("    class = softmax(relu_layer);", "    active = relu(stem);\n    class = softmax(active);");
    fs::create_dir(root.join("stem")).unwrap();
    fs::write(root.join("graph.nnef"), text).unwrap();
    let write = |name: &str, shape: &[usize]| {
        let count = shape.iter().product::<usize>();
        let items: Vec<f64> = (0..count).map(|i| i as f64 / 4.0).collect();
        fs::write(root.join(name), Tensor::scalars(shape, items).unwrap().to_dat().unwrap()).unwrap();
    };
    write("stem/conv.w.dat", &[3, 2, 3, 3]);
    write("stem/conv.b.dat", &[1, 3]);
    root.to_str().unwrap().to_owned()
}

#[test]
fn a_model_folder_becomes_a_model() {
    let place = tempfile::tempdir().unwrap();
    let model = folder(place.path());
    let text = done(&[&model, "--to", "onnxtxt"]);
    for part in [
        "    ir_version: 10,\n    opset_import: [\"\": 22],\n    producer_name: \"nnef-flatten\",\n",
        "\nNet (float[1, 2, 4, 4] image) => (float[1, 3, 4, 4] class)\n",
        "float[3, 2, 3, 3] \"stem/conv.w\" = {0.0, 0.25, 0.5,",
        "float[3] \"stem/conv.b\" = {0.0, 0.25, 0.5}",
        "stem = Conv <kernel_shape: ints = [3, 3], pads: ints = [1, 1, 1, 1]> (image, \"stem/conv.w\", \"stem/conv.b\")",
        "class = Softmax <axis: int = 1> (active)",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // The ending says the notation; protobuf and text are one model; the same bytes come every time.
    let file = place.path().join("net.onnx");
    let file = file.to_str().unwrap();
    assert_eq!(done(&[&model, "-o", file]), "");
    let first = fs::read(file).unwrap();
    assert_eq!(done(&[file, "--to", "onnxtxt"]), text);
    assert_eq!(done(&[&model, "-o", file]), "");
    assert_eq!(fs::read(file).unwrap(), first);
    // An archive of the model gives the same.
    let elsewhere = tempfile::tempdir().unwrap();
    let archive = elsewhere.path().join("net.tgz");
    let archive = archive.to_str().unwrap();
    done(&[&model, "-o", archive]);
    assert_eq!(done(&[archive, "--to", "onnxtxt"]), text);
}

#[test]
fn what_cannot_be_said_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let model = folder(place.path());
    let refused = |body: &str| {
        let file = place.path().join("refused.nnef");
        let text = format!("version 1.0;\ngraph G( x ) -> ( y )\n{{\n    x = external(shape = [2, 3]);\n{body}}}\n");
        fs::write(&file, text).unwrap();
        codes(&[file.to_str().unwrap(), "--to", "onnxtxt"])
    };
    assert_eq!(refused("    y = vendor_operation(x);\n"), ["E2090"]);
    assert_eq!(refused("    v = variable(shape = [2, 3], label = 'v');\n    y = update(v, x);\n"), ["E2092", "E2090"]);
    assert_eq!(refused("    y = tile(x, repeats = [n, 1]);\n"), ["E0606"]);
    fs::write(place.path().join("stem/conv.b.dat"), "no data").unwrap();
    assert_eq!(codes(&[&model, "--to", "onnxtxt"]), ["E2092"]);
    fs::remove_file(place.path().join("stem/conv.b.dat")).unwrap();
    assert_eq!(codes(&[&model, "--to", "onnxtxt"]), ["E2092"]);
}

#[test]
fn quantizations_are_followed_or_refused() {
    let place = tempfile::tempdir().unwrap();
    let model = folder(place.path());
    fs::write(place.path().join("graph.quant"), "'stem': linear_quantize(min = 0.0, max = 1.0, bits = 8);").unwrap();
    let text = done(&[&model, "--to", "onnxtxt", "--strict"]);
    assert!(text.contains("QuantizeLinear") && text.contains("DequantizeLinear"), "{text}");
    let written = place.path().join("written.pnnx.param");
    let output = run(&[&model, "-o", written.to_str().unwrap()]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("Warning[E2093]"), "{told}");
    for (text, code) in [("'stem': linear_quantize(min", "E1221"), ("'stem': acme_quantize(bits = 8);", "E2090")] {
        fs::write(place.path().join("graph.quant"), text).unwrap();
        assert_eq!(codes(&[&model, "--to", "onnxtxt"]), [code]);
    }
}

/// The shape `s` is an input of any length.
#[test]
fn unknown_ranks_are_told() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("ranks.nnef");
    let head = "version 1.0;\nextension tract_registry tract_core;\nextension tract_symbol N;\n";
    let body = "x = external(shape = [2, 3]); s = tract_core_external(shape = [N], datum_type = 'i64');
        z = reshape(x, shape = s);";
    let write = |call: &str| {
        fs::write(&file, format!("{head}graph G( x, s ) -> ( y )\n{{ {body} y = {call}; }}\n")).unwrap();
        [file.to_str().unwrap(), "--to", "onnxtxt"]
    };
    for (call, wanted) in [
        ("relu(z)", "the number of axes of output `y` is not known"),
        ("reshape(z, shape = [3, 2], axis_start = 1)", "`reshape`: the number of axes of an operand is not known"),
    ] {
        let output = run(&write(call));
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{call}: {told}");
        assert!(told.starts_with(&format!("Error[E2091]: {wanted}\n")), "{call}: {told}");
    }
    // What does not need the rank is translated.
    let text = done(&write("reshape(relu(z), shape = [3, 2])"));
    assert!(text.contains("=> (float[3, 2] y)"), "{text}");
}

#[test]
fn documents_of_2017_are_migrated() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("old.nnef");
    fs::write(&file, "version 1.0\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [2, 3])\n    y = idn(x)\n}\n")
        .unwrap();
    let text = done(&[file.to_str().unwrap(), "--to", "onnxtxt"]);
    assert!(text.contains("y = Identity (x)"), "{text}");
}

/// What the document declares decides, not what the file has.
#[test]
fn data_have_the_type_of_their_variable() {
    let place = tempfile::tempdir().unwrap();
    let graph = "version 1.0;\ngraph G( x ) -> ( y )\n{\n    x = external<integer>(shape = [2]);\n    \
        w = variable<integer>(shape = [2], label = 'w');\n    y = add(x, w);\n}\n";
    fs::write(place.path().join("graph.nnef"), graph).unwrap();
    // Eight bytes along one axis of extent 2, floats of 32 bits.
    let words = [8, 1, 2, 0, 0, 0, 0, 0, 0, 0, 32, 0].map(u32::to_le_bytes).concat();
    let mut data = [&b"N\xEF\x01\0"[..], &words].concat();
    data.resize(128, 0);
    data.extend([3f32, 4.0].map(f32::to_le_bytes).concat());
    fs::write(place.path().join("w.dat"), data).unwrap();
    let text = done(&["-q", "--to", "onnxtxt", place.path().to_str().unwrap()]);
    assert!(text.contains("<int64[2] w = {3, 4}>"), "{text}");
}

#[test]
fn models_of_real_networks_are_translated() {
    for name in ["attention", "cnn", "gru"] {
        let text = done(&["-q", "--unroll", "--to", "onnxtxt", &format!("tests/networks/{name}")]);
        assert!(text.contains("network (float["), "{name}");
    }
}

#[test]
fn models_of_onnx_are_not_written_in_notations_of_nnef_operations() {
    for to in ["nnef-draft", "pnnx"] {
        let output = run(&["--to", to, "examples/onnx/dense.onnxtxt"]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{to}");
    }
    assert!(done(&["--to", "json", "examples/onnx/dense.onnxtxt"]).starts_with("{\"name\""));
}

/// Codes and statements whose attributes fit neither their operands nor ONNX.
const UNFIT: &[(&str, &str)] = &[
    ("E1003", "y = local_response_normalization(x, size = [1, 3]);"),
    ("E1003", "y = local_response_normalization(x, size = [1, 0, 1, 1]);"),
    ("E2090", "y = local_response_normalization(x, size = [1, 4611686018427387904, 1, 1]);"),
    ("E1003", "y = area_downsample(x, factor = [0, 2]);"),
    ("E1003", "y = area_downsample(x, factor = [2]);"),
    ("E1003", "y = area_downsample(x, factor = [9223372036854775807, 2]);"),
    ("E1003", "y = multilinear_upsample(x, factor = [2, 2, 2]);"),
    ("E2090", "y = multilinear_upsample(x, factor = [4611686018427387904, 2], border = 'constant');"),
    ("E1003", "y = nearest_upsample(x, factor = [2]);"),
    ("E1003", "y = nearest_downsample(x, factor = [0, 2]);"),
    ("E1003", "y = max_pool(x, size = [2]);"),
    ("E1003", "y = max_pool(x, size = []);"),
    ("E1003", "y = box(x, size = [1, 1, 2, 2], stride = [0, 0, 0, 0]);"),
    ("E1003", "y = avg_pool(x, size = [1, 1, 2, 2], dilation = [0, 0, 0, 0]);"),
    ("E2090", "y = debox(x, size = [0, 0, 0, 0]);"),
    ("E1012", "y = pad(x, padding = [(1, 1)]);"),
    ("E1009", "y = slice(x, axes = [0], begin = [0], end = [1], stride = [0]);"),
    ("E2090", "y = argmax_reduce(x, axes = [7]);"),
    ("E1010", "y = squeeze(x, axes = [9]);"),
    ("E1010", "y = unsqueeze(x, axes = [9]);"),
    ("E1006", "y = transpose(x, axes = [1]);"),
    ("E1006", "y = transpose(x, axes = [0, 0]);"),
    ("E1008", "[y, z] = split(x, axis = 1, ratios = [0, 0]);"),
    ("E1008", "[y, z] = split(x, axis = 9, ratios = [1, 1]);"),
    ("E1002", "f = variable(shape = [4, 4, 1, 1], label = 'f'); y = conv(x, f, groups = 3);"),
    ("E1002", "f = variable(shape = [4, 4, 1, 1], label = 'f'); y = deconv(x, f, stride = [0, 0]);"),
    ("E1002", "y = conv(x, 1.0);"),
];

/// A document whose input `x` has a shape.
fn document(shape: &str, body: &str) -> String {
    format!("version 1.0;\ngraph G( x ) -> ( y )\n{{ x = external(shape = {shape}); {body} }}\n")
}

/// Every statement is refused with a code; for operands of other ranks, it may fit.
#[test]
fn attributes_that_do_not_fit_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("graph.nnef");
    for (code, body) in UNFIT {
        fs::write(&path, document("[1, 4, 6, 6]", body)).unwrap();
        assert_eq!(codes(&["-q", "--to", "onnxtxt", path.to_str().unwrap()]), [*code], "{body}");
        for shape in ["[3, 1, 4]", "[2]", "[]", "[0, 4, 6, 6]", "[4611686018427387904, 1, 4611686018427387904, 2]"] {
            fs::write(&path, document(shape, body)).unwrap();
            let output = run(&["-q", "--to", "onnxtxt", path.to_str().unwrap()]);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{shape} {body}: {output:?}");
        }
    }
}

#[test]
fn a_factor_has_to_fit_the_rank() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("graph.nnef");
    fs::write(&path, document("[3, 1, 4]", "y = multilinear_upsample(x, factor = [2, 2], border = 'ignore');"))
        .unwrap();
    assert_eq!(codes(&["-q", "--to", "onnx", path.to_str().unwrap()]), ["E1003"]);
}
