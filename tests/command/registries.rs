//! Standard operations in documents with tract's registries: they mean what tract 0.23.9 computes, and are translated
//! for notations without registries. `tests/interop/registry_standard.py` compares the same rules with tract itself.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use serde_json::Value;

const REGISTRY: &str = "extension tract_registry tract_core;\n";

/// A standard operation with a deviation: a name, the inputs with their shapes, the call, the result in a document
/// with a registry, and that in one without.
struct Case {
    name: &'static str,
    inputs: &'static [(&'static str, &'static str, &'static str)],
    call: &'static str,
    by_tract: &'static str,
    by_standard: &'static str,
}

/// The standard refuses the call.
const REFUSED: &str = "refused";

const CASES: &[Case] = &[
    Case {
        name: "the filter of deconv has the outputs first",
        inputs: &[
            ("x", "[1, 2, 2]", "[[[1.0, 2.0], [3.0, 4.0]]]"),
            ("f", "[2, 2, 1]", "[[[1.0], [10.0]], [[100.0], [1000.0]]]"),
        ],
        call: "deconv(x, f, padding = [(0, 0)])",
        by_tract: "[[[31.0,42.0],[3100.0,4200.0]]]",
        by_standard: "[[[301.0,402.0],[3010.0,4020.0]]]",
    },
    Case {
        name: "deconv in groups",
        inputs: &[
            ("x", "[1, 4, 1]", "[[[1.0], [2.0], [3.0], [4.0]]]"),
            ("f", "[2, 2, 1]", "[[[1.0], [10.0]], [[100.0], [1000.0]]]"),
        ],
        call: "deconv(x, f, padding = [(0, 0)], groups = 2)",
        by_tract: "[[[21.0],[4300.0]]]",
        by_standard: REFUSED,
    },
    Case {
        name: "output_shape of deconv is spatial",
        inputs: &[("x", "[1, 1, 2]", "[[[1.0, 2.0]]]"), ("f", "[1, 1, 1]", "[[[3.0]]]")],
        call: "deconv(x, f, padding = [(0, 0)], stride = [2], output_shape = [4])",
        by_tract: "[[[3.0,0.0,6.0,0.0]]]",
        by_standard: REFUSED,
    },
    Case {
        name: "output_shape of another length is ignored",
        inputs: &[("x", "[1, 1, 2]", "[[[1.0, 2.0]]]"), ("f", "[1, 1, 1]", "[[[3.0]]]")],
        call: "deconv(x, f, padding = [(0, 0)], stride = [2], output_shape = [1, 1, 4])",
        by_tract: "[[[3.0,0.0,6.0]]]",
        by_standard: "[[[3.0,0.0,6.0,0.0]]]",
    },
    Case {
        name: "maxima ignore a constant border",
        inputs: &[("x", "[1, 1, 2]", "[[[-1.0, -2.0]]]")],
        call: "max_pool(x, size = [1, 1, 2], padding = [(0, 0), (0, 0), (1, 1)], border = 'constant')",
        by_tract: "[[[-1.0,-1.0,-2.0]]]",
        by_standard: "[[[0.0,-1.0,0.0]]]",
    },
    Case {
        name: "windows do not extend along channels",
        inputs: &[("x", "[1, 2, 2]", "[[[1.0, 2.0], [3.0, 4.0]]]")],
        call: "box(x, size = [1, 2, 2], padding = [(0, 0), (1, 1), (0, 0)])",
        by_tract: "[[[3.0],[7.0]]]",
        by_standard: "[[[3.0],[10.0],[7.0]]]",
    },
    Case {
        name: "debox is never normalized",
        inputs: &[("x", "[1, 1, 1]", "[[[6.0]]]")],
        call: "debox(x, size = [1, 1, 2], padding = [(0, 0), (0, 0), (0, 0)], normalize = true)",
        by_tract: "[[[6.0,6.0]]]",
        by_standard: "[[[3.0,3.0]]]",
    },
    Case {
        name: "a border is called replicated",
        inputs: &[("x", "[2]", "[1.0, 2.0]")],
        call: "pad(x, padding = [(1, 2)], border = 'replicated')",
        by_tract: "[1.0,1.0,2.0,2.0,2.0]",
        by_standard: REFUSED,
    },
    Case {
        name: "a range from 0 to 0 is empty",
        inputs: &[("x", "[2]", "[1.0, 2.0]")],
        call: "slice(x, axes = [0], begin = [0], end = [0])",
        by_tract: "[]",
        by_standard: "[1.0,2.0]",
    },
    Case {
        name: "a negative stride walks over the range backwards",
        inputs: &[("x", "[4]", "[1.0, 2.0, 3.0, 4.0]")],
        call: "slice(x, axes = [0], begin = [1], end = [0], stride = [-2])",
        by_tract: "[4.0,2.0]",
        by_standard: "[2.0]",
    },
    Case {
        name: "recip",
        inputs: &[("x", "[2]", "[4.0, -0.5]")],
        call: "recip(x)",
        by_tract: "[0.25,-2.0]",
        by_standard: REFUSED,
    },
    Case {
        name: "square",
        inputs: &[("x", "[2]", "[4.0, -0.5]")],
        call: "square(x)",
        by_tract: "[16.0,0.25]",
        by_standard: REFUSED,
    },
    Case {
        name: "the local response is that of windows in space",
        inputs: &[("x", "[1, 2, 1]", "[[[2.0], [4.0]]]")],
        call: "local_response_normalization(x, size = [1, 2, 1], alpha = 1.0, beta = 1.0, bias = 0.0)",
        by_tract: "[[[0.5],[0.25]]]",
        by_standard: "[[[0.2],[0.5]]]",
    },
];

/// The document of a case, in a folder.
fn document(folder: &Path, case: &Case, head: &str) -> PathBuf {
    let names: Vec<&str> = case.inputs.iter().map(|(name, ..)| *name).collect();
    let mut text = format!("version 1.0;\n{head}\ngraph G( {} ) -> ( y )\n{{\n", names.join(", "));
    for (name, shape, _) in case.inputs {
        text.push_str(&format!("    {name} = external(shape = {shape});\n"));
    }
    text.push_str(&format!("    y = {};\n}}\n", case.call));
    let path = folder.join("graph.nnef");
    std::fs::write(&path, text).unwrap();
    let values: Vec<String> = case.inputs.iter().map(|(name, _, value)| format!("\"{name}\": {value}")).collect();
    std::fs::write(folder.join("in.json"), format!("{{{}}}", values.join(", "))).unwrap();
    path
}

use crate::common::command::run;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The numbers that `run` gives, rounded to 4 digits, as nested arrays.
fn computed(path: &Path, more: &[&str]) -> String {
    let inputs = path.with_file_name("in.json");
    let output = run(&[&["run", "-q", text(path), "--inputs", text(&inputs)], more].concat());
    if output.status.code() != Some(0) {
        return REFUSED.to_owned();
    }
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    fn rounded(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(rounded).collect(),
            value => ((value.as_f64().unwrap() * 1e4).round() / 1e4 + 0.0).into(),
        }
    }
    rounded(&found["outputs"]["y"]["data"]).to_string()
}

#[test]
fn operations_mean_what_the_readers_of_a_document_compute() {
    for case in CASES {
        let folder = tempfile::tempdir().unwrap();
        let path = document(folder.path(), case, REGISTRY);
        assert_eq!(computed(&path, &[]), case.by_tract, "{}", case.name);
        assert_eq!(computed(&path, &["--lower", "all"]), case.by_tract, "{}", case.name);
        let path = document(folder.path(), case, "");
        assert_eq!(computed(&path, &[]), case.by_standard, "{}", case.name);
    }
}

#[test]
fn flat_documents_and_translations_compute_the_same() {
    for case in CASES {
        let folder = tempfile::tempdir().unwrap();
        let path = document(folder.path(), case, REGISTRY);
        for to in ["nnef", "onnxtxt", "pnnx"] {
            // The graph that is written is evaluated, and compared with the document.
            let inputs = path.with_file_name("in.json");
            let output = run(&["-q", "--verify", "--inputs", text(&inputs), "--to", to, text(&path)]);
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{} as {to}: {told}", case.name);
            if to != "nnef" {
                let written = String::from_utf8_lossy(&output.stdout);
                assert!(!written.contains("recip(") && !written.contains("replicated"), "{written}");
            }
        }
    }
}

#[test]
fn shapes_are_those_of_the_readers() {
    for case in CASES {
        let folder = tempfile::tempdir().unwrap();
        let path = document(folder.path(), case, REGISTRY);
        let output = run(&["-q", "--to", "json", text(&path)]);
        let graph: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut wanted = Vec::new();
        let mut at: Value = serde_json::from_str(case.by_tract).unwrap();
        while let Value::Array(items) = at {
            wanted.push(items.len());
            at = items.first().cloned().unwrap_or(Value::Null);
        }
        assert_eq!(graph["tensors"]["y"]["shape"], serde_json::json!(wanted), "{}", case.name);
    }
}

#[test]
fn what_only_tract_counts_is_refused_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.nnef");
    let body = "x = external(shape = [1, 1, 4]);\n    y, i = max_pool_with_index(x, size = [1, 1, 2]);\n";
    std::fs::write(&path, format!("version 1.0;\n{REGISTRY}\ngraph G( x ) -> ( y, i )\n{{\n    {body}}}\n")).unwrap();
    let output = run(&["--to", "onnxtxt", text(&path)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("E2090"));
    assert_eq!(run(&["-q", "--to", "nnef", text(&path)]).status.code(), Some(0));
}
