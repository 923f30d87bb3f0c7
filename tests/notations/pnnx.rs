//! The command `expr` and files of PNNX.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use crate::common::all_near;
use crate::common::command::feed;
use serde_json::{Value, json};

fn done(args: &[&str], stdin: &str) -> String {
    let output = feed(args, stdin.as_bytes());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The codes of the findings of a refused call.
fn refused(args: &[&str], stdin: &[u8]) -> Vec<String> {
    let output = feed(&[&["--message-format", "json"], args].concat(), stdin);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
    let text = String::from_utf8(output.stderr).unwrap();
    let code = |line: &str| serde_json::from_str::<Value>(line).unwrap()["code"].as_str().unwrap().to_owned();
    text.lines().map(code).collect()
}

fn expr(args: &[&str], text: &str) -> Value {
    serde_json::from_str(&done(&[&["expr", "--to", "json"], args, &["--", text]].concat(), "")).unwrap()
}

fn scratch(name: &str, content: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn an_expression_has_all_of_its_forms() {
    let (_folder, inputs) = scratch("operands.json", b"[[1.0, 2.0], [], [3.0, 4.0]]");
    let found = expr(&["--inputs", &inputs, "--fold"], "mul(@2, add(@0,1e-5))");
    let wanted = json!({
        "tokens": ["mul", "(", "@2", ",", "add", "(", "@0", ",", "1e-5", ")", ")"],
        "spans": [[0, 3], [3, 4], [4, 6], [6, 7], [8, 11], [11, 12], [12, 14], [14, 15], [15, 19], [19, 20], [20, 21]],
        "tree": ["mul", "@2", ["add", "@0", "1e-5"]],
        "rpn": ["@2", "@0", "1e-5", "add", "mul"],
        "canonical": "mul(@2,add(@0,1e-5))",
        "argument_order": [2, 0],
        "operations": 2,
        "distinct_operations": 2,
        "renumbered": "mul(@0,add(@1,1e-5))",
        "infix": "@2 * (@0 + 1e-5)",
        "folded": "mul(@2,add(@0,1e-5))",
        "value": [3.00003, 8.00004],
    });
    assert_eq!(found, wanted);
}

/// Operand k of a batch of B is at the places from k·B on, and operands keep their order.
#[test]
fn batches_have_the_operands_one_after_the_other() {
    let (_folder, inputs) = scratch("operands.json", b"[[8.0], [9.0], [2.0], [3.0]]");
    for (text, wanted) in [("sub(@0,@1)", [6.0, 6.0]), ("div(@0,@1)", [4.0, 3.0]), ("pow(@1,@0)", [256.0, 19683.0])] {
        let found = expr(&["--inputs", &inputs, "--batch", "2"], text);
        assert_eq!(found["value"], json!([[wanted[0]], [wanted[1]]]), "{text}");
    }
    assert_eq!(refused(&["expr", "--inputs", &inputs, "--batch", "3", "--", "@0"], b""), ["E0829"]);
}

#[test]
fn values_that_there_are_not_are_refused() {
    let (_folder, inputs) = scratch("operands.json", b"[[6, 3], [1, 0], [1.5, 2.0], [1.0, 2.0, 3.0]]");
    for text in ["floor_divide(@0,@1)", "and(@0,@2)", "add(@0,@3)", "add(@0,@4)", "mul(@0,2j)", "add(@0,None)"] {
        assert_eq!(refused(&["expr", "--inputs", &inputs, "--", text], b""), ["E2210"], "{text}");
    }
    assert_eq!(expr(&["--inputs", &inputs], "or(@0,@1)")["value"], json!([7, 3]));
    assert_eq!(expr(&["--inputs", &inputs], "div(@2,0)")["value"], json!(["inf", "inf"]));
    assert_eq!(expr(&["--inputs", &inputs], "[size(@3,0),2.5]")["value"], json!([3, 2.5]));
}

#[test]
fn what_nnef_cannot_say_is_refused_by_name() {
    for text in [
        "lshift(@0,@1)",
        "and(@0,@1)",
        "mul(@0,2j)",
        "add(@0,inf)",
        "size(@0,0)",
        "add(@0,floor_divide(1,0))",
        "int(@0)",
    ] {
        assert_eq!(refused(&["expr", "--to", "nnef", "--", text], b""), ["E2211"], "{text}");
    }
    let sized = done(&["expr", "--to", "nnef", "--shape", "5", "--", "mul(@0,size(@0,0))"], "");
    assert!(sized.contains("y = mul(x0, 5.0);"), "{sized}");
    let both = refused(&["expr", "--to", "nnef", "--", "add(and(@0,1),lshift(@1,2))"], b"");
    assert_eq!(both, ["E2211", "E2211"]);
    let unfit = ["expr", "--to", "nnef", "--shape", "2", "--shape", "3", "--", "add(@0,@1)"];
    assert_eq!(refused(&unfit, b""), ["E2212"]);
}

/// An operation of NNEF that differs for single numbers is written only without `--strict`.
#[test]
fn strict_expressions_are_written_as_formulas() {
    for text in ["min(@0,@1)", "sqrt(@0)"] {
        let near = done(&["expr", "--to", "nnef", "--", text], "");
        let exact = done(&["expr", "--strict", "--to", "nnef", "--", text], "");
        assert!(!near.contains("select(") && exact.contains("select("), "{near}{exact}");
    }
}

#[test]
fn expressions_are_written_as_onnx() {
    let text = done(&["expr", "--to", "onnxtxt", "--", "mul(add(@0,@1),2)"], "");
    assert!(text.contains("= Add (x0, x1)") && text.contains("= Mul ("), "{text}");
    assert!(done(&["--from", "onnxtxt", "--to", "json", "-"], &text).contains("Mul"));
}

/// NNEF has a polynomial for the error function; ONNX has the function.
#[test]
fn the_error_function_is_exact_in_onnx() {
    let text = "7767517\n3 2\npnnx.Input in 0 1 0 #0=(1)f32\nF.gelu g 1 1 0 1\npnnx.Output out 1 0 1\n";
    let onnx = done(&["--from", "pnnx", "--lower", "all", "--to", "onnxtxt", "-"], text);
    assert!(onnx.contains("Erf (") && !onnx.contains("Exp ("), "{onnx}");
    assert!(done(&["expr", "erf(@0)", "--to", "onnxtxt"], "").contains("Erf ("));
    let nnef = done(&["--from", "pnnx", "--lower", "all", "--to", "nnef", "-"], text);
    assert!(nnef.contains("exp(") && !nnef.contains("tract"), "{nnef}");
    let (_folder, model) = scratch("m.pnnx.param", text.as_bytes());
    let (_other, inputs) = scratch("i.json", b"{\"v_0\": [0.001]}");
    let found: Value = serde_json::from_str(&done(&["run", &model, "--inputs", &inputs], "")).unwrap();
    let wanted = 0.000_500_398_942_213_9;
    assert!((found["outputs"]["v_1"]["data"][0].as_f64().unwrap() - wanted).abs() < 1e-10, "{found}");
}

#[test]
fn lower_ranks_get_axes_in_front() {
    let text = done(&["expr", "--to", "nnef", "--shape", "2,3", "--shape", "3", "--", "add(@0,mul(@1,2))"], "");
    assert!(text.contains("y_unsqueeze1 = unsqueeze(y_mul1, axes = [0]);\n    y = add(x0, y_unsqueeze1);"), "{text}");
}

#[test]
fn regions_are_fused() {
    let document = "version 1.0;\ngraph g(x, y) -> (o)\n{\n    x = external(shape = [2, 3]);\n    y = external(shape = [2]);\n    \
                    a = neg(x);\n    b = sub(1.0, a);\n    c = mul(b, b);\n    o = add(c, y);\n}\n";
    let found: Value = serde_json::from_str(&done(&["expr", "--fuse", "--to", "json", "-"], document)).unwrap();
    // The last operation broadcasts along first axes.
    let wanted = json!({"fused": [
        {"output": "b", "expr": "sub(1.0,neg(@0))", "inputs": ["x"]},
        {"output": "c", "expr": "mul(@0,@0)", "inputs": ["b"]},
        {"op": "add", "output": "o"},
    ]});
    assert_eq!(found, wanted);
    let again: Value =
        serde_json::from_str(&done(&["expr", "--fuse", "--recompute", "--to", "json", "-"], document)).unwrap();
    assert_eq!(again["fused"][0]["expr"], "mul(sub(1.0,neg(@0)),sub(1.0,neg(@0)))");
}

/// Expressions of a file are found again in its graph.
#[test]
fn files_are_fused() {
    let found: Value = serde_json::from_str(&done(&["expr", "--fuse", "--to", "json", FILE], "")).unwrap();
    let wanted = json!({"fused": [
        {"op": "torch_mean", "output": "v_1"},
        {"op": "unsqueeze", "output": "v_3_unsqueeze1"},
        {"output": "v_3", "expr": "mul(sub(@0,@1),@2)", "inputs": ["v_0", "v_1", "v_3_unsqueeze1"]},
        {"op": "nn_Linear", "output": "v_4"},
        {"output": "v_5", "expr": "log(add(exp(@0),1.0))", "inputs": ["v_4"]},
    ]});
    assert_eq!(found, wanted);
}

const FILE: &str = "examples/pnnx/centre.pnnx.param";

#[test]
fn files_are_given_back_and_expanded() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE)).unwrap();
    assert_eq!(done(&["--lower", "none", "--to", "pnnx", FILE], ""), text);
    assert_eq!(done(&["--from", "pnnx", "--lower", "none", "--to", "pnnx", "-"], &text), text);
    let flat = done(&["--to", "pnnx", FILE], "");
    assert!(flat.starts_with("7767517\n10 9\n"), "{flat}");
    assert!(flat.contains("pnnx.Expression          centre                   2 1 6 2 3 expr=mul(@0,@1) "), "{flat}");
    assert_eq!(done(&["--from", "pnnx", "--to", "pnnx", "-"], &flat), flat);
    let lowered = done(&["--lower", "all", FILE], "");
    assert!(
        lowered.contains("matmul(") && lowered.contains("sum_reduce(") && !lowered.contains("nn_Linear"),
        "{lowered}"
    );
}

/// The same numbers from the file, from its expanded file, and from models of NNEF made of both.
#[test]
fn files_are_evaluated() {
    let inputs = "examples/pnnx/centre.inputs.json";
    let wanted = done(&["run", FILE, "--inputs", inputs], "");
    let folder = tempfile::tempdir().unwrap();
    let flat = folder.path().join("flat.pnnx.param").to_str().unwrap().to_owned();
    done(&["--to", "pnnx", FILE, "-o", &flat], "");
    assert!(folder.path().join("flat.pnnx.bin").exists());
    let model = folder.path().join("model.tar").to_str().unwrap().to_owned();
    done(&["--lower", "all", FILE, "-o", &model], "");
    assert_eq!(done(&["run", &model, "--inputs", inputs], ""), wanted);
    assert_eq!(refused(&["run", FILE, "--inputs", inputs, "--input-shape", "v_0=2,4"], b"").first().unwrap(), "E2223");
}

/// The data of each operator are a file of their own, which readers see.
#[test]
fn labels_of_data_are_unique_and_visible() {
    let (folder, path) = scratch(
        "m.param",
        b"7767517\n6 5\npnnx.Input i 0 1 x #x=(1)f32\npnnx.Attribute a/b 0 1 u @data=(1)f32 #u=(1)f32\n\
        pnnx.Attribute a_b 0 1 v @data=(1)f32 #v=(1)f32\npnnx.Attribute .c 0 1 w @data=(1)f32 #w=(1)f32\n\
        pnnx.Expression e 4 1 x u v w y expr=add(add(mul(@0,@1),@2),@3) #y=(1)f32\npnnx.Output o 1 0 y #y=(1)f32\n",
    );
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut archive = zip::ZipWriter::new(std::fs::File::create(file("m.bin")).unwrap());
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, value) in [("a/b.data", 2f32), ("a_b.data", 30.0), (".c.data", 400.0)] {
        archive.start_file(name, options).unwrap();
        archive.write_all(&value.to_le_bytes()).unwrap();
    }
    archive.finish().unwrap();
    let (model, inputs) = (file("model.tar"), file("x.json"));
    std::fs::write(&inputs, "{\"x\": [1]}").unwrap();
    done(&["-q", &path, "-o", &model], "");
    for input in [&path, &model] {
        let found: Value = serde_json::from_str(&done(&["run", "--inputs", &inputs, input], "")).unwrap();
        assert_eq!(found["outputs"]["y"]["data"], json!([432.0]), "{input}");
    }
}

#[test]
fn files_that_lie_are_refused() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE)).unwrap();
    let data = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/pnnx/centre.pnnx.bin")).unwrap();
    for (from, to, code) in [
        ("3 1 0 1 2 3 expr", "999999999999 1 0 1 2 3 expr", "E2221"),
        ("@weight=(2,3)f32", "@weight=(2,3000000000)f32", "E2224"),
        ("@weight=(2,3)f32", "@weight=(3,3)f32", "E2224"),
        ("expr=mul(sub(@0,@1),@2)", "expr=mul(sub(@0,@1),@3)", "E2206"),
        ("expr=log(add(exp(@0),1.0))", "expr=log(add(exp(@0),1.0)", "E2203"),
        ("#3=(2,3)f32", "#3=(2,4)f32", "E2223"),
        ("1 1 3 4 bias", "1 1 9 4 bias", "E2222"),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        let (folder, path) = scratch("m.pnnx.param", changed.as_bytes());
        std::fs::write(folder.path().join("m.pnnx.bin"), &data).unwrap();
        let found = refused(&[&path], b"");
        assert!(found.contains(&code.to_owned()), "{to}: {found:?}");
    }
    for length in [0, 1, 100, data.len() / 2, data.len() - 1] {
        let (folder, path) = scratch("m.pnnx.param", text.as_bytes());
        std::fs::write(folder.path().join("m.pnnx.bin"), &data[..length]).unwrap();
        assert_eq!(refused(&["check", &path], b""), ["E2224"], "{length} bytes");
    }
}

#[test]
fn hostile_texts_are_refused_at_once() {
    let many = 1_000_000;
    for (text, code) in [
        ("(", "E2203"),
        ("neg(", "E2203"),
        ("[", "E2203"),
        ("@", "E2202"),
        ("$", "E2202"),
        ("1e", "E2202"),
        ("add(@0,", "E2203"),
        (")", "E2203"),
        ("foo(", "E2204"),
        ("%", "E2202"),
        ("é", "E2202"),
        ("add(,", "E2203"),
    ] {
        let start = Instant::now();
        let output = feed(&["expr", "--to", "json", "-"], text.repeat(many).as_bytes());
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && told.contains(code), "{text}: {told:.300}");
        assert!(start.elapsed().as_secs() < 20, "{text}");
    }
    assert_eq!(refused(&["expr", "--to", "nnef", "--", "@4000000000"], b""), ["E2206"]);
}

#[test]
fn long_chains_are_read_folded_and_expanded() {
    let many = 100_000;
    let text = ["add(".repeat(many), "@0".into(), ",mul(2,0.5))".repeat(many)].concat();
    let flat = done(&["expr", "--to", "nnef", "-"], &text);
    assert_eq!(flat.lines().filter(|line| line.contains("= add(")).count(), many);
    let (_folder, inputs) = scratch("operands.json", b"[[0.5]]");
    let found: Value = serde_json::from_str(
        &done(&["expr", "--fold", "--to", "text", "--inputs", &inputs, "-"], &text)
            .lines()
            .last()
            .map(|line| line.replace("value", ""))
            .unwrap(),
    )
    .unwrap();
    assert_eq!(found, json!([100_000.5]));
}

/// What the fuzz targets demand, on their seeds and on parts of them.
#[test]
fn graphs_are_written_as_files_that_read_back() {
    use nnef_flatten::{Graph, Lower, Options};
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let seeds = |name: &str| -> Vec<String> {
        let entries = std::fs::read_dir(folder.join(name)).unwrap();
        entries.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
    };
    let kinds = |graph: &Graph| {
        let mut all: Vec<String> = graph.operations().map(|operation| operation.name().to_owned()).collect();
        all.sort();
        all
    };
    let written = |graph: Graph, is_lowered: bool| {
        // Lists of tensors and numbers have no form in files.
        let Ok(file) = graph.to_pnnx() else { return 0 };
        let again = Graph::from_pnnx(&file, &Options::untrusted()).unwrap_or_else(|found| panic!("{file}\n{found}"));
        assert_eq!(again.outputs().len(), graph.outputs().len(), "{file}");
        assert!(!is_lowered || kinds(&again) == kinds(&graph), "{file}");
        1
    };
    let mut count = 0;
    for text in seeds("expression") {
        for end in 0..=text.len() {
            if let Ok(graph) = Graph::from_expression(&text[..end], &Options::default()) {
                count += written(graph, true);
            }
        }
    }
    for text in seeds("param") {
        let lines: Vec<&str> = text.lines().collect();
        for left_out in 0..=lines.len() {
            let kept = lines.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, line)| format!("{line}\n"));
            let text: String = kept.collect();
            for lower in [Lower::Custom, Lower::All] {
                let options = Options::default().with(|options| options.lower = lower.clone());
                if let Ok(graph) = Graph::from_pnnx(&text, &options) {
                    count += written(graph, lower == Lower::All);
                }
            }
        }
    }
    // Without its line of an output, a file is refused.
    assert!(count > 5, "{count}");
}

/// Operators of torch and what they compute of `[[1, -2, 3], [-4, 5, -6]]`, or of it in another shape.
#[test]
fn operators_are_lowered() {
    use nnef_flatten::eval::Evaluator;
    use nnef_flatten::tensor::Tensor;
    use nnef_flatten::{Graph, Lower, Options};
    type Case<'a> = (&'a str, &'a [usize], &'a str, &'a [usize], &'a [f64]);
    let cases: &[Case] = &[
        ("F.relu", &[2, 3], "", &[2, 3], &[1.0, 0.0, 3.0, 0.0, 5.0, 0.0]),
        ("F.relu6", &[6], "", &[6], &[1.0, 0.0, 3.0, 0.0, 5.0, 0.0]),
        ("F.leaky_relu", &[6], "negative_slope=0.5", &[6], &[1.0, -1.0, 3.0, -2.0, 5.0, -3.0]),
        ("F.hardsigmoid", &[6], "", &[6], &[4.0 / 6.0, 1.0 / 6.0, 1.0, 0.0, 1.0, 0.0]),
        ("F.hardswish", &[6], "", &[6], &[4.0 / 6.0, -2.0 / 6.0, 3.0, 0.0, 5.0, 0.0]),
        ("F.softsign", &[6], "", &[6], &[0.5, -2.0 / 3.0, 0.75, -0.8, 5.0 / 6.0, -6.0 / 7.0]),
        ("F.silu", &[2], "", &[2], &[0.731_058_578_630_004_9, -0.238_405_844_044_233_5]),
        ("F.mish", &[2], "", &[2], &[0.865_098_388_267_310_4, -0.252_501_482_695_708_9]),
        ("F.softplus", &[2], "beta=2.0 threshold=20.0", &[2], &[1.063_464_005_521_486_3, 0.009_074_963_958_904_869]),
        ("F.hardtanh", &[6], "min_val=-2.0 max_val=2.0", &[6], &[1.0, -2.0, 2.0, -2.0, 2.0, -2.0]),
        ("torch.clamp", &[6], "min=0", &[6], &[1.0, 0.0, 3.0, 0.0, 5.0, 0.0]),
        ("torch.sum", &[2, 3], "dim=(1) keepdim=False", &[2], &[2.0, -5.0]),
        ("torch.mean", &[2, 3], "dim=(-2) keepdim=True", &[1, 3], &[-1.5, 1.5, -1.5]),
        ("torch.sum", &[2, 3], "", &[], &[-3.0]),
        ("torch.norm", &[2, 3], "dim=(-1) keepdim=False p=2", &[2], &[14f64.sqrt(), 77f64.sqrt()]),
        ("torch.amax", &[2, 3], "dim=(0)", &[3], &[1.0, 5.0, 3.0]),
        ("F.softmax", &[2, 1, 3], "dim=1", &[2, 1, 3], &[1.0; 6]),
        ("F.log_softmax", &[1, 2], "dim=-1", &[1, 2], &[-0.048_587_351_573_742, -3.048_587_351_573_742]),
        ("torch.transpose", &[2, 3], "dim0=0 dim1=-1", &[3, 2], &[1.0, -4.0, -2.0, 5.0, 3.0, -6.0]),
        ("torch.permute", &[1, 2, 3], "dims=(2,0,1)", &[3, 1, 2], &[1.0, -4.0, -2.0, 5.0, 3.0, -6.0]),
        ("torch.flatten", &[1, 2, 3], "start_dim=1 end_dim=-1", &[1, 6], &[1.0, -2.0, 3.0, -4.0, 5.0, -6.0]),
        ("Tensor.view", &[2, 3], "shape=(3,-1)", &[3, 2], &[1.0, -2.0, 3.0, -4.0, 5.0, -6.0]),
        ("torch.squeeze", &[1, 2, 1, 3], "dim=2", &[1, 2, 3], &[1.0, -2.0, 3.0, -4.0, 5.0, -6.0]),
        ("torch.unsqueeze", &[2, 3], "dim=-1", &[2, 3, 1], &[1.0, -2.0, 3.0, -4.0, 5.0, -6.0]),
        ("Tensor.select", &[2, 3], "dim=1 index=-1", &[2], &[3.0, -6.0]),
        ("Tensor.slice", &[2, 3], "dim=1 start=-2 end=9223372036854775807 step=1", &[2, 2], &[-2.0, 3.0, 5.0, -6.0]),
        ("Tensor.expand", &[1, 2], "shape=(2,-1,2)", &[2, 1, 2], &[1.0, -2.0, 1.0, -2.0]),
        ("F.max_pool2d", &[1, 1, 2, 3], "kernel_size=(2,2) stride=(1,1) padding=(0,0)", &[1, 1, 1, 2], &[5.0, 5.0]),
        ("F.max_pool2d", &[1, 1, 2, 3], "kernel_size=(3,3) stride=(2,2) padding=(1,1)", &[1, 1, 1, 2], &[5.0, 5.0]),
        ("F.avg_pool2d", &[1, 1, 2, 3], "kernel_size=(2,2) count_include_pad=True", &[1, 1, 1, 1], &[0.0]),
        (
            "F.avg_pool2d",
            &[1, 1, 2, 3],
            "kernel_size=(2,2) stride=(2,2) padding=(1,1) count_include_pad=False",
            &[1, 1, 2, 2],
            &[1.0, 0.5, -4.0, -0.5],
        ),
        ("F.adaptive_avg_pool2d", &[1, 2, 1, 3], "output_size=(1,1)", &[1, 2, 1, 1], &[2.0 / 3.0, -5.0 / 3.0]),
        ("F.adaptive_max_pool2d", &[1, 1, 2, 3], "output_size=(1,None)", &[1, 1, 1, 3], &[1.0, 5.0, 3.0]),
        ("F.adaptive_avg_pool1d", &[1, 1, 6], "output_size=3", &[1, 1, 3], &[-0.5, -0.5, -0.5]),
        (
            "F.max_pool1d",
            &[1, 1, 6],
            "kernel_size=2 stride=4 padding=0 dilation=1 ceil_mode=True return_indices=False",
            &[1, 1, 2],
            &[1.0, 5.0],
        ),
        (
            "F.avg_pool1d",
            &[1, 1, 6],
            "kernel_size=4 stride=4 padding=0 ceil_mode=True count_include_pad=True",
            &[1, 1, 2],
            &[-0.5, -0.5],
        ),
        ("F.selu", &[1], "", &[1], &[1.050_700_987_355_480_5]),
        ("F.celu", &[2], "alpha=2.0", &[2], &[1.0, -1.264_241_117_657_115_3]),
        ("F.threshold", &[6], "threshold=0.5 value=20", &[6], &[1.0, 20.0, 3.0, 20.0, 5.0, 20.0]),
        ("F.hardshrink", &[3], "lambd=1.5", &[3], &[0.0, -2.0, 3.0]),
        ("F.softshrink", &[3], "lambd=1.5", &[3], &[0.0, -0.5, 1.5]),
        ("F.glu", &[2, 2], "dim=-1", &[2, 1], &[0.119_202_922_022_117_56, 0.053_958_629_395_949_18]),
        ("torch.max", &[2, 3], "", &[], &[5.0]),
        ("torch.argmin", &[2, 3], "dim=-1 keepdim=True", &[2, 1], &[1.0, 2.0]),
        ("torch.var", &[1, 3], "dim=(1) keepdim=False unbiased=True", &[1], &[19.0 / 3.0]),
        ("torch.std", &[1, 3], "dim=(1) keepdim=True correction=0", &[1, 1], &[2.054_804_667_656_325_6]),
        ("torch.logsumexp", &[1, 2], "dim=(1) keepdim=False", &[1], &[1.048_587_351_573_742]),
        ("F.normalize", &[1, 2], "p=2 dim=1 eps=1e-12", &[1, 2], &[0.2f64.sqrt(), -(0.8f64.sqrt())]),
        ("Tensor.repeat", &[2], "sizes=(2,1)", &[2, 2], &[1.0, -2.0, 1.0, -2.0]),
        ("torch.tile", &[2, 1], "dims=(2)", &[2, 2], &[1.0, 1.0, -2.0, -2.0]),
        ("F.pad", &[1, 2], "pad=(1,0) mode=constant value=7", &[1, 3], &[7.0, 1.0, -2.0]),
        ("F.pad", &[1, 1, 3], "pad=(2,1) mode=reflect", &[1, 1, 6], &[3.0, -2.0, 1.0, -2.0, 3.0, -2.0]),
        ("nn.ReplicationPad2d", &[1, 1, 1, 2], "padding=(0,1,1,0)", &[1, 1, 2, 3], &[1.0, -2.0, -2.0, 1.0, -2.0, -2.0]),
        ("F.interpolate", &[1, 1, 2], "mode=nearest scale_factor=2", &[1, 1, 4], &[1.0, 1.0, -2.0, -2.0]),
        ("F.interpolate", &[1, 1, 4], "mode=nearest size=(2)", &[1, 1, 2], &[1.0, 3.0]),
        (
            "F.interpolate",
            &[1, 1, 2],
            "mode=linear scale_factor=(2.0) align_corners=False",
            &[1, 1, 4],
            &[1.0, 0.25, -1.25, -2.0],
        ),
        (
            "nn.Upsample",
            &[1, 1, 2],
            "mode=linear size=(4) align_corners=True scale_factor=None",
            &[1, 1, 4],
            &[1.0, 0.0, -1.0, -2.0],
        ),
        ("nn.PixelShuffle", &[1, 4, 1, 1], "upscale_factor=2", &[1, 1, 2, 2], &[1.0, -2.0, 3.0, -4.0]),
        ("nn.PixelUnshuffle", &[1, 1, 2, 2], "downscale_factor=2", &[1, 4, 1, 1], &[1.0, -2.0, 3.0, -4.0]),
        ("nn.ChannelShuffle", &[1, 4, 1], "groups=2", &[1, 4, 1], &[1.0, 3.0, -2.0, -4.0]),
        (
            "F.group_norm",
            &[1, 2, 2],
            "num_groups=1 eps=0.75",
            &[1, 2, 2],
            &[1.5 / 8.0f64.sqrt(), -1.5 / 8.0f64.sqrt(), 3.5 / 8.0f64.sqrt(), -3.5 / 8.0f64.sqrt()],
        ),
        ("nn.InstanceNorm1d", &[1, 2, 2], "eps=0.0 track_running_stats=False", &[1, 2, 2], &[1.0, -1.0, 1.0, -1.0]),
        ("F.rms_norm", &[1, 2], "normalized_shape=(2) eps=None", &[1, 2], &[0.4f64.sqrt(), -(1.6f64.sqrt())]),
        ("F.local_response_norm", &[1, 2, 1], "size=3 alpha=3.0 beta=1.0 k=1.0", &[1, 2, 1], &[1.0 / 6.0, -1.0 / 3.0]),
    ];
    let items = [1.0, -2.0, 3.0, -4.0, 5.0, -6.0];
    for (kind, from, params, to, wanted) in cases {
        let count: usize = from.iter().product();
        let shape: Vec<String> = from.iter().map(ToString::to_string).collect();
        let text = format!(
            "7767517\n3 2\npnnx.Input in 0 1 0 #0=({})f32\n{kind} op 1 1 0 1 {params}\npnnx.Output out 1 0 1\n",
            shape.join(",")
        );
        let options = Options::default().with(|options| options.lower = Lower::All);
        let graph = Graph::from_pnnx(&text, &options).unwrap_or_else(|found| panic!("{text}{found}"));
        let input = ("v_0".to_owned(), Tensor::scalars(from, items[..count].to_vec()).unwrap());
        let found = Evaluator::default().run(&graph, &[input], &std::collections::BTreeMap::new());
        let found = found.unwrap_or_else(|error| panic!("{text}{}", error.message));
        let output = &found.outputs[0].1;
        assert_eq!(output.shape(), *to, "{text}");
        assert!(all_near(&output.to_scalars(), wanted, 1e-7), "{text} gives {:?}, not {wanted:?}", output.to_scalars());
    }
}

/// The same for operators with data.
#[test]
fn operators_with_data_are_lowered() {
    use nnef_flatten::eval::Evaluator;
    use nnef_flatten::tensor::Tensor;
    use nnef_flatten::{Graph, Lower, Options};
    type Data<'a> = &'a [(&'a str, &'a [usize], &'a [f64])];
    let norm: Data = &[
        ("running_mean", &[2], &[0.5, 0.0]),
        ("running_var", &[2], &[4.0, 1.0]),
        ("weight", &[2], &[2.0, 3.0]),
        ("bias", &[2], &[1.0, -1.0]),
    ];
    let window: Data = &[("weight", &[1, 1, 2, 2], &[1.0, 2.0, 3.0, 4.0])];
    type Case<'a> = (&'a str, &'a [usize], &'a str, Data<'a>, &'a [usize], &'a [f64]);
    let cases: &[Case] = &[
        ("nn.BatchNorm2d", &[1, 2, 1, 1], "eps=0.0", norm, &[1, 2, 1, 1], &[1.5, -7.0]),
        ("nn.LayerNorm", &[1, 2], "eps=0.0 normalized_shape=(2)", &norm[2..], &[1, 2], &[3.0, -4.0]),
        ("nn.PReLU", &[1, 2], "", &[("weight", &[1], &[0.25])], &[1, 2], &[1.0, -0.5]),
        (
            "nn.ConvTranspose2d",
            &[1, 1, 1, 2],
            "stride=(1,1) padding=(0,0) output_padding=(0,0) dilation=(1,1) groups=1",
            window,
            &[1, 1, 2, 3],
            &[1.0, 0.0, -4.0, 3.0, -2.0, -8.0],
        ),
        (
            "nn.ConvTranspose2d",
            &[1, 1, 1, 2],
            "stride=(2,2) padding=(0,0) output_padding=(0,1) dilation=(1,1) groups=1",
            window,
            &[1, 1, 2, 5],
            &[1.0, 2.0, -2.0, -4.0, 0.0, 3.0, 4.0, -6.0, -8.0, 0.0],
        ),
        (
            "nn.Conv1d",
            &[1, 1, 2],
            "stride=(1) padding=same dilation=(1) groups=1",
            &[("weight", &[1, 1, 2], &[1.0, 2.0]), ("bias", &[1], &[10.0])],
            &[1, 1, 2],
            &[7.0, 8.0],
        ),
        (
            "nn.Linear",
            &[2],
            "",
            &[("weight", &[3, 2], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]), ("bias", &[3], &[0.0, 0.0, 5.0])],
            &[3],
            &[1.0, -2.0, 4.0],
        ),
        ("nn.GroupNorm", &[1, 2], "num_groups=2 eps=1.0", &norm[2..], &[1, 2], &[1.0, -1.0]),
        (
            "nn.RMSNorm",
            &[1, 2],
            "normalized_shape=(2) eps=0.0",
            &norm[2..3],
            &[1, 2],
            &[1.264_911_064_067_351_8, -3.794_733_192_202_055],
        ),
    ];
    let list = |shape: &[usize]| shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    for (kind, from, params, data, to, wanted) in cases {
        let stored: String = data.iter().map(|(key, shape, _)| format!(" @{key}=({})f32", list(shape))).collect();
        let text = format!(
            "7767517\n3 2\npnnx.Input in 0 1 0 #0=({})f32\n{kind} op 1 1 0 1 {params}{stored}\npnnx.Output out 1 0 1\n",
            list(from)
        );
        let options = Options::default().with(|options| options.lower = Lower::All);
        let graph = Graph::from_pnnx(&text, &options).unwrap_or_else(|found| panic!("{text}{found}"));
        let count: usize = from.iter().product();
        let input = ("v_0".to_owned(), Tensor::scalars(from, [1.0, -2.0][..count].to_vec()).unwrap());
        let variables = data
            .iter()
            .map(|(key, shape, items)| (format!("op.{key}"), Tensor::scalars(shape, items.to_vec()).unwrap()))
            .collect::<std::collections::BTreeMap<_, _>>();
        let found = Evaluator::default().run(&graph, &[input], &variables);
        let found = found.unwrap_or_else(|error| panic!("{text}{}", error.message));
        let output = &found.outputs[0].1;
        assert_eq!(output.shape(), *to, "{text}");
        assert!(all_near(&output.to_scalars(), wanted, 1e-9), "{text} gives {:?}, not {wanted:?}", output.to_scalars());
    }
}

/// What pnnx writes where the weights are operands, or the parameters name several of them.
#[test]
fn operators_of_several_operands_are_lowered() {
    use nnef_flatten::eval::Evaluator;
    use nnef_flatten::tensor::Tensor;
    use nnef_flatten::{Graph, Lower, Options};
    type Case<'a> = (&'a str, &'a str, &'a [(&'a [usize], &'a [f64])], &'a [f64]);
    let ones = 1.0 / (1.0 + 1f64.exp());
    let cases: &[Case] = &[
        ("F.linear", "$input=0 $weight=1 bias=None", &[(&[1, 2], &[1.0, 2.0]), (&[1, 2], &[3.0, 4.0])], &[11.0]),
        (
            "F.conv1d",
            "$input=0 $weight=1 bias=None stride=(1) padding=(0) dilation=(1) groups=1",
            &[(&[1, 1, 3], &[1.0, 2.0, 3.0]), (&[1, 1, 2], &[1.0, -1.0])],
            &[-1.0, -1.0],
        ),
        (
            "torch.addmm",
            "$input=0 $mat1=1 $mat2=2 alpha=2 beta=3",
            &[(&[1], &[1.0]), (&[1, 1], &[5.0]), (&[1, 1], &[7.0])],
            &[73.0],
        ),
        (
            "F.scaled_dot_product_attention",
            "$query=0 $key=1 $value=2 attn_mask=None dropout_p=0.0 is_causal=False",
            &[(&[1, 1, 1], &[1.0]), (&[1, 2, 1], &[1.0, 2.0]), (&[1, 2, 1], &[0.0, 1.0])],
            &[1.0 - ones],
        ),
        ("torch.max", "$input=0 $other=1", &[(&[2], &[1.0, 5.0]), (&[2], &[3.0, 4.0])], &[3.0, 5.0]),
    ];
    for (kind, params, operands, wanted) in cases {
        let list = |shape: &[usize]| shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let mut text = format!("7767517\n{} {}\n", operands.len() + 2, operands.len() + 1);
        for (i, (shape, _)) in operands.iter().enumerate() {
            text += &format!("pnnx.Input in{i} 0 1 {i} #{i}=({})f32\n", list(shape));
        }
        let count = operands.len();
        let names: Vec<String> = (0..count).map(|i| i.to_string()).collect();
        text += &format!("{kind} op {count} 1 {} {count} {params}\npnnx.Output out 1 0 {count}\n", names.join(" "));
        let options = Options::default().with(|options| options.lower = Lower::All);
        let graph = Graph::from_pnnx(&text, &options).unwrap_or_else(|found| panic!("{text}{found}"));
        let input = |(i, (shape, items)): (usize, &(&[usize], &[f64]))| {
            (format!("v_{i}"), Tensor::scalars(shape, items.to_vec()).unwrap())
        };
        let inputs: Vec<_> = operands.iter().enumerate().map(input).collect();
        let found = Evaluator::default().run(&graph, &inputs, &std::collections::BTreeMap::new());
        let found = found.unwrap_or_else(|error| panic!("{text}{}", error.message));
        let found = found.outputs[0].1.to_scalars();
        assert!(all_near(&found, wanted, 1e-9), "{text} gives {found:?}, not {wanted:?}");
    }
}

/// An attempt to write an operator as NNEF that fails leaves no operation in the graph.
#[test]
fn what_cannot_be_lowered_leaves_nothing_behind() {
    use nnef_flatten::{Graph, Lower, Options};
    let text = "7767517\n3 2\npnnx.Input in 0 1 0 #0=(4)f32\n\
        nn.Linear op 1 1 0 1 in_features=4 out_features=2 @weight=(0,3)f32\npnnx.Output out 1 0 1\n";
    let options = Options::default().with(|options| options.lower = Lower::All);
    let graph = Graph::from_pnnx(text, &options).unwrap();
    let kinds: Vec<&str> = graph.operations().map(|operation| operation.name()).collect();
    assert_eq!(kinds, ["external", "variable", "nn_Linear"]);
    Graph::from_pnnx(&graph.to_pnnx().unwrap(), &Options::untrusted()).unwrap();
}

/// Operators that are to become ONNX as they are: what helps is told once, and helps.
#[test]
fn operators_that_onnx_lacks_can_be_lowered() {
    let pnnx = "7767517\n4 3\npnnx.Input in 0 1 0 #0=(2,3)f32\nF.celu a 1 1 0 1 alpha=1.0\nF.selu b 1 1 1 2\n\
        pnnx.Output out 1 0 2\n";
    let ncnn = "7767517\n3 3\nInput in 0 1 a 0=3 1=2\nCELU op 1 1 a b 0=1.0\nSELU more 1 1 b c\n";
    for (notation, text) in [("pnnx", pnnx), ("ncnn", ncnn)] {
        let call = ["--from", notation, "--to", "onnxtxt"];
        let output = feed(&call, text.as_bytes());
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert_eq!((told.matches("Error[E2090]").count(), told.matches("--lower all").count()), (2, 1), "{told}");
        let lowered = feed(&[&call[..], &["--lower", "all"]].concat(), text.as_bytes());
        assert!(lowered.status.success(), "{}", String::from_utf8_lossy(&lowered.stderr));
    }
}

/// Where a type is not known, files say so.
#[test]
fn types_that_are_not_known_are_written_as_such() {
    use nnef_flatten::{Graph, Options};
    let text = "7767517\n3 2\npnnx.Input in 0 1 0 #0=(2)f32\nfoo.Bar r 1 1 0 1 #1=(2)c64\npnnx.Output o 1 0 1\n";
    let written = Graph::from_pnnx(text, &Options::default()).unwrap().to_pnnx().unwrap();
    assert!(written.contains("#v_0=(2)f32") && written.contains("#v_1=(2)null"), "{written}");
    let written = Graph::from_pnnx(&text.replace("c64", "i64"), &Options::default()).unwrap().to_pnnx().unwrap();
    assert!(written.contains("#v_1=(2)i64"), "{written}");
    let text = "7767517\n4 3\npnnx.Input in 0 1 0 #0=(3)i64\npnnx.Input more 0 1 1 #1=(3)f32\n\
        pnnx.Expression r 2 1 0 1 2 expr=exp(mul(@0,@1))\npnnx.Output o 1 0 2\n";
    let written = done(&["--from", "pnnx", "--to", "pnnx"], text);
    assert!(written.contains("#3=(3)null") && !written.contains("#3=(3)i64"), "{written}");
    let written = done(&["--from", "pnnx", "--to", "pnnx"], &text.replace("i64", "f32"));
    assert!(written.contains("#3=(3)f32"), "{written}");
}

/// Variables and constants of a model go to the archive beside the file, and are read back from it.
#[test]
fn models_of_nnef_are_written_with_their_data() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = "version 1.0; extension KHR_enable_operator_expressions; graph g(x) -> (y) { x = external<scalar>(shape = [1, 2]);
        w = variable<scalar>(shape = [1, 2], label = 'w'); c = constant<scalar>(shape = [1, 2], value = [3.0]); y = x * w + c; }";
    std::fs::create_dir(path("model")).unwrap();
    std::fs::write(path("model/graph.nnef"), text).unwrap();
    std::fs::write(path("inputs.json"), r#"{"x": [[10.0, 100.0]]}"#).unwrap();
    let (document, param) = (path("model/graph.nnef"), path("model.pnnx.param"));
    assert_eq!(refused(&[&document, "-o", &param], b""), ["E2224"]);
    let weights = [b"N\xef\x01\x00".as_slice(), &8u32.to_le_bytes(), &2u32.to_le_bytes()].concat();
    let mut header = [weights, 1u32.to_le_bytes().to_vec(), 2u32.to_le_bytes().to_vec()].concat();
    header.resize(44, 0);
    header.extend([32u32.to_le_bytes(), 0u32.to_le_bytes()].concat());
    header.resize(128, 0);
    header.extend([1.5f32, -2.0].iter().flat_map(|item| item.to_le_bytes()));
    std::fs::write(path("model/w.dat"), header).unwrap();
    done(&[&document, "-o", &param], "");
    let found = done(&["run", &param, "--inputs", &path("inputs.json")], "");
    let found: Value = serde_json::from_str(&found).unwrap();
    let outputs = found["outputs"].as_object().unwrap();
    assert_eq!(outputs.values().next().unwrap()["data"], json!([[18.0, -197.0]]), "{found}");
    // Variables of one label have one member; different data never have.
    let twice = |label: &str| {
        let variable = format!("v = variable<scalar>(shape = [1, 2], label = '{label}'); c =");
        std::fs::write(&document, text.replace("c =", &variable).replace("x * w", "x * w * v")).unwrap();
    };
    twice("w");
    done(&[&document, "-o", &param], "");
    let found = done(&["run", &param, "--inputs", &path("inputs.json")], "");
    assert!(found.contains("[[25.5, 403.0]]"), "{found}");
    for name in ["c", "d d", "d_d"] {
        std::fs::copy(path("model/w.dat"), path(&format!("model/{name}.dat"))).unwrap();
    }
    twice("c");
    assert_eq!(refused(&[&document, "-o", &param], b""), ["E2224"]);
}

/// Integers stay integers in expressions and in data, those that no float is included.
#[test]
fn integers_are_written_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text =
        "version 1.0; extension tract_registry tract_core; graph g(x) -> (y) { x = external<integer>(shape = [3]);
        c = constant<integer>(shape = [3], value = [9007199254740993, 16777217, -1]);
        d = constant<integer>(shape = [3], value = [9007199254740995]);
        a = add(x, 9007199254740993); b = sub(a, c); e = sub(d, b); y = add(e, 0); }";
    let (document, param, inputs) = (path("g.nnef"), path("g.pnnx.param"), path("inputs.json"));
    std::fs::write(&document, text).unwrap();
    done(&[&document, "-o", &param], "");
    let written = std::fs::read_to_string(&param).unwrap();
    assert!(written.contains("9007199254740993)") && !written.contains(".0)"), "{written}");
    std::fs::write(&inputs, r#"{"x": [1, 2, 3]}"#).unwrap();
    for model in [&document, &param] {
        let found = done(&["-q", "run", model, "--inputs", &inputs], "");
        assert!(found.contains("[9007199254740994, 16777217, -2]"), "{model}: {found}");
    }
}

/// What files cannot hold is refused, not changed.
#[test]
fn arguments_without_a_form_in_files_are_refused() {
    let document = |call: &str| {
        format!("version 1.0;\ngraph G(x) -> (y)\n{{\n    x = external(shape = [2]);\n    y = {call};\n}}\n")
    };
    for call in [
        "bar([x, 2.0])",
        "bar(items = [(x, 'a'), (x, 'b')])",
        "bar(x, mode = 'two words')",
        "bar(x, mode = '')",
        "bar(x, mode = '1')",
        "bar(x, mode = '(a,b)')",
        "bar(x, modes = ['a', 'b,c'])",
        "bar(2.0, x)",
        "bar(x, [1, 2])",
    ] {
        let codes = refused(&["-q", "--allow", "all", "--to", "pnnx", "-"], document(call).as_bytes());
        assert_eq!(codes, ["E2227"], "{call}");
    }
    for (call, wanted) in [
        ("bar([x, x], by = 2.0)", "nnef.bar y 2 1 x x y by=2.0"),
        ("bar(x, mode = 'a,b', sizes = [1, 2], modes = ['a', 'b'])", "mode=a,b sizes=(1,2) modes=(a,b)"),
    ] {
        let text = done(&["-q", "--to", "pnnx", "-"], &document(call));
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(wanted), "{text}");
    }
}

/// Nothing is written when a warning is denied.
#[test]
fn denied_warnings_refuse_a_file() {
    // The header counts one operator too many (E2225).
    let text = b"7767517\n4 2\npnnx.Input in 0 1 0 #0=(2)f32\nF.relu r 1 1 0 1 $input=0\npnnx.Output out 1 0 1\n";
    let from = ["--from", "pnnx", "--to", "pnnx"];
    let accepted = feed(&[&from[..], &["-q", "-"]].concat(), text);
    assert!(accepted.status.success() && !accepted.stdout.is_empty());
    let denied = feed(&[&from[..], &["--deny", "E2225", "-"]].concat(), text);
    assert_eq!((denied.status.code(), denied.stdout), (Some(1), Vec::new()));
}

/// A file has numbers for extents; symbols are told with the option that gives them numbers.
#[test]
fn open_extents_are_told() {
    let text = "version 1.0;\nextension tract_symbol N;\n\ngraph g(x) -> (y)\n{\n    x = external(shape = [N, 3]);\n    y = exp(x);\n}\n";
    let told = |args: &[&str]| {
        let output = feed(&[args, &["--to", "pnnx", "-"]].concat(), text.as_bytes());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    };
    let found = told(&[]);
    assert!(
        found.contains("E2229") && found.contains("--input-shape x=N,3") && found.contains("<stdin>:6:"),
        "{found}"
    );
    assert!(!told(&["--input-shape", "x=2,3"]).contains("E2229"));
}
