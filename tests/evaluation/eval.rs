//! Evaluation: models with recorded results, files, `run` and `--verify`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::command::{run, stderr};
use crate::common::{all_near, networks};
use nnef_flatten::eval::Evaluator;
use nnef_flatten::model::{Limits, Model};
use nnef_flatten::tensor::Tensor;
use nnef_flatten::{Lower, Options, expand, parse};
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A model of a folder: `y = x * w`, for `x` of shape `[2]`.
fn model() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = "version 1.0;\n\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [2]);\n    \
        w = variable(shape = [2], label = 'part/w');\n    y = mul(x, w);\n}\n";
    write(folder.path(), "graph.nnef", text.as_bytes());
    let w = Tensor::scalars(&[2], vec![2.0, -1.0]).unwrap();
    write(folder.path(), "part/w.dat", &w.to_dat().unwrap());
    folder
}

fn write(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    path
}

/// Runs the model on a file of inputs.
fn on_inputs(folder: &Path, name: &str, content: &[u8], more: &[&str]) -> Output {
    let inputs = write(folder, name, content);
    let mut args = vec!["run", folder.to_str().unwrap(), "--inputs", inputs.to_str().unwrap()];
    args.extend(more);
    run(&args)
}

/// The models with recorded inputs and outputs of other programs.
#[test]
fn models_give_what_was_recorded() {
    let mut compared = 0;
    for folder in networks().iter().filter(|folder| folder.join("io.npz").is_file()) {
        let recorded = Tensor::from_npz(&std::fs::read(folder.join("io.npz")).unwrap()).unwrap();
        let text = std::fs::read_to_string(folder.join("graph.nnef")).unwrap();
        for lower in [Lower::Custom, Lower::All] {
            let options = Options::default().with(|o| o.lower = lower);
            let graph = expand(&parse("graph.nnef", text.clone(), &options).document, &options).unwrap().graph;
            let is_input = |name: &str| graph.inputs().iter().any(|input| graph.tensor_name(*input) == name);
            let inputs: Vec<_> = recorded.iter().filter(|(name, _)| is_input(name)).cloned().collect();
            let model = Model::open(folder, &Limits::default()).unwrap();
            let found = Evaluator::default().run(&graph, &inputs, &model.variables());
            let found = found.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            for (name, found) in &found.outputs {
                let (_, wanted) = recorded.iter().find(|(other, _)| other == name).unwrap();
                let apart = found.difference(wanted).unwrap_or(f64::INFINITY);
                assert!(apart <= 1e-5, "{}: `{name}` differs by {apart}", folder.display());
                compared += 1;
            }
        }
    }
    assert!(compared >= 8, "only {compared} outputs");
}

#[test]
fn inputs_and_outputs_have_three_forms() {
    let folder = model();
    let wanted = json!({"outputs": {"y": {"dtype": "float32", "shape": [2], "data": [6.0, -0.5]}}});
    let x = Tensor::scalars(&[2], vec![3.0, 0.5]).unwrap();
    let forms = [
        ("in.json", br#"{"x": [3, 0.5]}"#.to_vec()),
        ("in.npy", x.to_npy()),
        ("in.npz", Tensor::to_npz([("x", &x)]).unwrap()),
        // A recording of inputs and outputs.
        ("io.npz", Tensor::to_npz([("x", &x), ("y", &x)]).unwrap()),
    ];
    for (name, content) in forms {
        let output = on_inputs(folder.path(), name, &content, &["--to", "json"]);
        assert_eq!(stderr(&output), "", "{name}");
        assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap(), wanted, "{name}");
    }
    let y = Tensor::scalars(&[2], vec![6.0, -0.5]).unwrap();
    for (name, bytes) in [("y.npy", y.to_npy()), ("y.npz", Tensor::to_npz([("y", &y)]).unwrap())] {
        let path = folder.path().join(name);
        let output = on_inputs(folder.path(), "in.json", br#"{"x": [3, 0.5]}"#, &["-o", path.to_str().unwrap()]);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
        assert_eq!(std::fs::read(path).unwrap(), bytes, "{name}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_a_code() {
    let folder = model();
    let code = |name: &str, content: &[u8]| {
        let output = on_inputs(folder.path(), name, content, &["--message-format", "json"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let finding: Value = serde_json::from_str(stderr(&output).lines().last().unwrap()).unwrap();
        finding["code"].as_str().unwrap().to_string()
    };
    assert_eq!(code("in.json", br#"{"x": [1, 2, 3]}"#), "E0822");
    assert_eq!(code("in.json", b"{}"), "E0822");
    assert_eq!(code("in.json", br#"{"x": [1, 2], "x": [1, 2]}"#), "E0822");
    assert_eq!(code("in.json", br#"{"x": [1e999, 2]}"#), "E0829");
    let mut twice = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in ["x", "x.npy"] {
        twice.start_file(name, SimpleFileOptions::default()).unwrap();
        twice.write_all(&Tensor::scalars(&[2], vec![1.0, 2.0]).unwrap().to_npy()).unwrap();
    }
    assert_eq!(code("in.npz", &twice.finish().unwrap().into_inner()), "E0822");
    assert_eq!(code("in.json", br#"{"x": "#), "E0829");
    assert_eq!(code("in.npz", b"PK\x03\x04"), "E0829");
    assert_eq!(code("in.npy", b"\x93NUMPY\x01\x00"), "E0829");
    write(folder.path(), "part/w.dat", b"N\xEF");
    assert_eq!(code("in.json", br#"{"x": [1, 2]}"#), "E0823");
    std::fs::remove_file(folder.path().join("part/w.dat")).unwrap();
    assert_eq!(code("in.json", br#"{"x": [1, 2]}"#), "E0823");
    let missing = run(&["run", folder.path().to_str().unwrap(), "--inputs", "no/such/file"]);
    assert!(missing.status.code() == Some(2) && stderr(&missing).contains("no/such/file"), "{}", stderr(&missing));
}

#[test]
fn a_position_comes_with_what_fails() {
    let folder = tempfile::tempdir().unwrap();
    let text = "version 1.0;\nextension KHR_enable_fragment_definitions;\n\
        fragment f( x: tensor<integer>, i: tensor<integer> ) -> ( y: tensor<integer> )\n{\n    y = gather(x, i);\n}\n\
        graph G( x, i ) -> ( y )\n{\n    x = external<integer>(shape = [2]);\n    \
        i = external<integer>(shape = [1]);\n    y = f(x, i);\n}\n";
    write(folder.path(), "graph.nnef", text.as_bytes());
    let inputs = br#"{"x": [1, 2], "i": [2]}"#;
    let output = on_inputs(folder.path(), "in.json", inputs, &["--message-format", "json"]);
    let finding: Value = serde_json::from_str(stderr(&output).lines().last().unwrap()).unwrap();
    assert_eq!((&finding["code"], &finding["line"]), (&json!("E0825"), &json!(5)));
    assert_eq!(finding["expansion"][0]["fragment"], "f");
}

#[test]
fn flat_graphs_are_verified() {
    let folder = model();
    let flat = folder.path().join("flat.nnef");
    let base = ["--verify", "-o", flat.to_str().unwrap(), folder.path().to_str().unwrap()];
    for more in [&[][..], &["--seed", "7"], &["--lower", "all"]] {
        let output = run(&[&base[..], more].concat());
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(stderr(&output), "verified: 2 items of the outputs, the largest difference is 0\n");
    }
    let inputs = write(folder.path(), "in.json", br#"{"x": [1, 2, 3]}"#);
    let output = run(&[&base[..], &["--inputs", inputs.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("E0822"));
    let without = run(&["--seed", "1", "-"]);
    assert!(stderr(&without).contains("--seed has no effect without --verify"), "{}", stderr(&without));
}

#[test]
fn unrolled_networks_are_verified() {
    let verify = |name: &str, more: &[&str]| {
        let path = format!("{}/examples/loops/{name}", env!("CARGO_MANIFEST_DIR"));
        let base = ["--from", "loops", "--unroll", "--max-trips", "40", "--verify", &path];
        let output = run(&[&base[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr(&output));
        stderr(&output)
    };
    for (name, items) in [("elman.json", 16), ("lstm.json", 24), ("fibonacci.json", 11)] {
        assert!(verify(name, &["--seed", "3"]).contains(&format!("verified: {items} items")), "{name}");
    }
    let inputs = format!("{}/examples/loops/power.inputs.json", env!("CARGO_MANIFEST_DIR"));
    assert!(verify("power.json", &["--inputs", &inputs]).contains("verified: 3 items"));
    // A matrix for which the iteration does not converge within the bound.
    assert!(verify("power.json", &["--seed", "1"]).contains("the number of trips is not sufficient"));
}

/// Two regions of a plane with the items 0 to 15: all of it, and its middle (4.6).
#[test]
fn regions_are_pooled_and_sampled() {
    let (all, middle): ([f64; 4], [f64; 4]) = ([2.5, 4.5, 10.5, 12.5], [5.0, 6.0, 9.0, 10.0]);
    let plane: Vec<f64> = (0..16).map(f64::from).collect();
    for (operation, wanted) in [
        ("avg_roi_pool(x, rois, batch, output_size = [2, 2])", [all, middle].concat()),
        ("max_roi_pool(x, rois, batch, output_size = [2, 2])", [[5.0, 7.0, 13.0, 15.0], middle].concat()),
        ("avg_roi_align(x, rois, batch, output_size = [2, 2], sampling_rate = [2, 2])", all.to_vec()),
        ("max_roi_align(x, rois, batch, output_size = [2, 2], sampling_rate = [2, 2])", vec![5.0, 7.0, 13.0, 15.0]),
        ("roi_resample(x, rois, batch, output_size = [4, 4], method = 'symmetric')", plane.clone()),
        ("roi_resample(x, rois, batch, output_size = [2, 2], method = 'aligned')", vec![0.0, 3.0, 12.0, 15.0]),
    ] {
        let text = format!(
            "version 1.0; graph G( x, rois, batch ) -> ( y ) {{ x = external(shape = [1, 1, 4, 4]); \
             rois = external(shape = [2, 4]); batch = external<integer>(shape = [2]); y = {operation}; }}"
        );
        let inputs = [
            ("x".to_owned(), Tensor::scalars(&[1, 1, 4, 4], plane.clone()).unwrap()),
            ("rois".to_owned(), Tensor::scalars(&[2, 4], vec![0.0, 0.0, 4.0, 4.0, 1.0, 1.0, 3.0, 3.0]).unwrap()),
            ("batch".to_owned(), Tensor::integers(&[2], vec![0, 0]).unwrap()),
        ];
        // The definitions of `*_roi_align` pool windows of another rank than their operand has; --strict writes others.
        for (lower, strict) in [(Lower::Custom, false), (Lower::All, false), (Lower::All, true)] {
            let options = Options::default().with(|options| (options.lower, options.strict) = (lower, strict));
            let graph = expand(&parse("rois", text.clone(), &options).document, &options).unwrap().graph;
            let outputs = Evaluator::default().run(&graph, &inputs, &BTreeMap::new()).unwrap();
            let found = &outputs.outputs[0].1;
            assert!(found.shape().len() == 4 && found.shape()[..2] == [2, 1], "{operation}: {:?}", found.shape());
            // Of samples, only those of the first region are computed by hand.
            let found = found.to_scalars();
            assert!(all_near(&found[..wanted.len()], &wanted, 1e-6), "{operation}: {found:?}");
        }
    }
}
