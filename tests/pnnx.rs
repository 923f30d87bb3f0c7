//! The command `expr` and files of PNNX.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

fn run(args: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_nnef-flatten"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let bytes = stdin.to_vec();
    let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn done(args: &[&str], stdin: &str) -> String {
    let output = run(args, stdin.as_bytes());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The codes of the findings of a refused call.
fn refused(args: &[&str], stdin: &[u8]) -> Vec<String> {
    let output = run(&[&["--message-format", "json"], args].concat(), stdin);
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
    for text in
        ["erf(@0)", "and(@0,@1)", "mul(@0,2j)", "add(@0,inf)", "size(@0,0)", "add(@0,floor_divide(1,0))", "int(@0)"]
    {
        assert_eq!(refused(&["expr", "--to", "nnef", "--", text], b""), ["E2211"], "{text}");
    }
    let sized = done(&["expr", "--to", "nnef", "--shape", "5", "--", "mul(@0,size(@0,0))"], "");
    assert!(sized.contains("y = mul(x0, 5.0);"), "{sized}");
    let both = refused(&["expr", "--to", "nnef", "--", "add(erf(@0),lshift(@1,2))"], b"");
    assert_eq!(both, ["E2211", "E2211"]);
    let unfit = ["expr", "--to", "nnef", "--shape", "2", "--shape", "3", "--", "add(@0,@1)"];
    assert_eq!(refused(&unfit, b""), ["E2212"]);
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
    assert!(!flat.contains("pnnx.Expression") && flat.starts_with("7767517\n10 9\n"), "{flat}");
    assert!(flat.contains("torch.mul                centre                   2 1 6 2 3 $input=6 $other=2 "), "{flat}");
    assert_eq!(done(&["--from", "pnnx", "--to", "pnnx", "-"], &flat), flat);
    let lowered = done(&["--lower", "all", FILE], "");
    assert!(
        lowered.contains("matmul(") && lowered.contains("mean_reduce(") && !lowered.contains("nn_Linear"),
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

#[test]
fn files_that_lie_are_refused() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE)).unwrap();
    let data = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/pnnx/centre.pnnx.bin")).unwrap();
    for (from, to, code) in [
        ("3 1 0 1 2 3 expr", "999999999999 1 0 1 2 3 expr", "E2221"),
        ("@weight=(2,3)f32", "@weight=(2,3000000000)f32", "E2224"),
        ("@weight=(2,3)f32", "@weight=(3,3)f32", "E2224"),
        ("expr=mul(sub(@0,@1),@2)", "expr=mul(sub(@0,@1),@3)", "E2206"),
        ("expr=log(add(exp(@0),1.0))", "expr=log(add(erf(@0),1.0))", "E2211"),
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
    for text in ["(", "neg(", "[", "@", "$", "1e", "add(@0,", ")", "foo(", "%", "é", "add(,"] {
        let start = Instant::now();
        let output = run(&["expr", "--to", "json", "-"], text.repeat(many).as_bytes());
        assert_eq!(output.status.code(), Some(1), "{text}");
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
    let written = |graph: Graph| {
        let file = graph.to_pnnx();
        let again = Graph::from_pnnx(&file, &Options::untrusted()).unwrap_or_else(|found| panic!("{file}\n{found}"));
        assert_eq!(again.outputs().len(), graph.outputs().len(), "{file}");
    };
    let mut count = 0;
    for text in seeds("expression") {
        for end in 0..=text.len() {
            if let Ok(graph) = Graph::from_expression(&text[..end], &Options::default()) {
                written(graph);
                count += 1;
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
                    written(graph);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 10, "{count}");
}
