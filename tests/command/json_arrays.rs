//! Arrays of all types as JSON: what a model of ONNX is given and what it returns.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;

use crate::common::command::run;
use serde_json::{Value, json};

/// Runs a model on inputs: the outputs, or what was told.
fn outputs(model: &str, inputs: &Value) -> Result<Value, String> {
    let folder = tempfile::tempdir().unwrap();
    let (path, given) = (folder.path().join("m.onnxtxt"), folder.path().join("in.json"));
    fs::write(&path, format!("<ir_version: 10, opset_import: [\"\" : 23]>\n{model}")).unwrap();
    fs::write(&given, inputs.to_string()).unwrap();
    let output = run(&["run", "-q", path.to_str().unwrap(), "--inputs", given.to_str().unwrap()]);
    match output.status.code() {
        Some(0) => Ok(serde_json::from_slice::<Value>(&output.stdout).unwrap()["outputs"].clone()),
        _ => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

#[test]
fn items_are_written_as_they_are_read() {
    for (ty, dtype, items) in [
        ("float", "float32", json!([0.5, -2.0])),
        ("double", "float64", json!([0.1, 1e300])),
        ("float16", "float16", json!([0.5, 65504.0])),
        ("bfloat16", "bfloat16", json!([0.5, -3.0])),
        ("int8", "int8", json!([-128, 127])),
        ("int16", "int16", json!([-32768, 32767])),
        ("int32", "int32", json!([-2147483648i64, 2147483647])),
        ("int64", "int64", json!([i64::MIN, i64::MAX])),
        ("uint8", "uint8", json!([0, 255])),
        ("uint16", "uint16", json!([0, 65535])),
        ("uint32", "uint32", json!([0, u32::MAX])),
        ("uint64", "uint64", json!([0, u64::MAX])),
        ("bool", "bool", json!([true, false])),
        ("string", "string", json!(["a \"b\"", "ß\n"])),
    ] {
        let found = outputs(&format!("g ({ty}[2] x) => ({ty}[2] y) {{ y = Identity (x) }}"), &json!({ "x": items }));
        let found = found.unwrap_or_else(|told| panic!("{ty}: {told}"));
        assert_eq!(found["y"]["data"], items, "{ty}");
        assert_eq!((&found["y"]["dtype"], &found["y"]["shape"]), (&json!(dtype), &json!([2])), "{ty}");
    }
}

#[test]
fn numbers_that_are_not_finite_are_words() {
    let found = outputs("g (float[3] x) => (float[3] y) { y = Neg (x) }", &json!({ "x": ["inf", "nan", 1.5] }));
    assert_eq!(found.unwrap()["y"]["data"], json!(["-inf", "nan", -1.5]));
    let found = outputs("g (bool[2] x) => (bool[2] y) { y = Not (x) }", &json!({ "x": [1, 0] }));
    assert_eq!(found.unwrap()["y"]["data"], json!([false, true]));
}

#[test]
fn items_that_do_not_fit_are_refused() {
    for (ty, items) in [
        ("uint8", json!([0, 256])),
        ("int8", json!([-129, 0])),
        ("uint64", json!([-1, 0])),
        ("int64", json!([0.5, 1])),
        ("bool", json!([2, 0])),
        ("string", json!(["a", 1])),
        ("float", json!([true, false])),
        ("float", json!([[1.0], [1.0, 2.0]])),
        ("float", json!([1.0, 2.0, 3.0])),
        ("float", json!({"shape": [3], "data": [1.0, 2.0]})),
        ("float", json!({"shape": "two", "data": [1.0, 2.0]})),
    ] {
        let found = outputs(&format!("g ({ty}[2] x) => ({ty}[2] y) {{ y = Identity (x) }}"), &json!({ "x": items }));
        let told = found.expect_err(&format!("{ty} {items}"));
        assert!(told.contains("Error[E08"), "{ty}: {told}");
    }
}

/// One array is the value of the only input; several inputs need names.
#[test]
fn an_array_without_a_name_is_for_one_input() {
    use nnef_flatten::tensor::Tensor;
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("x.npy");
    fs::write(&array, Tensor::scalars(&[2], vec![1.0, -2.0]).unwrap().to_npy()).unwrap();
    let texts = [
        (
            "a.onnxtxt",
            "<ir_version: 10, opset_import: [\"\" : 23]>\ng (float[2] x, float[2] z) => (float[2] y) { y = Add (x, z) }",
        ),
        (
            "a.nnef",
            "version 1.0; graph G( x, z ) -> ( y ) { x = external(shape = [2]); z = external(shape = [2]); y = add(x, z); }",
        ),
        ("b.nnef", "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = neg(x); }"),
    ];
    for (name, text) in texts {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let output = run(&["run", "-q", path.to_str().unwrap(), "--inputs", array.to_str().unwrap()]);
        let told = String::from_utf8(output.stderr).unwrap();
        match name {
            "b.nnef" => {
                assert_eq!(output.status.code(), Some(0), "{told}");
                let found: Value = serde_json::from_slice(&output.stdout).unwrap();
                assert_eq!(found["outputs"]["y"]["data"], json!([-1.0, 2.0]), "{told}");
            }
            _ => assert!(told.contains("the file has one array") && told.contains("2 inputs"), "{name}: {told}"),
        }
    }
    // An output file of one array is for one output.
    let two = folder.path().join("two.nnef");
    fs::write(&two, "version 1.0; graph G( x ) -> ( y, z ) { x = external(shape = [2]); y = neg(x); z = abs(x); }")
        .unwrap();
    let made = folder.path().join("made.npy");
    let args = ["run", "-q", two.to_str().unwrap(), "--inputs", array.to_str().unwrap(), "-o", made.to_str().unwrap()];
    let output = run(&args);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() != Some(0) && told.contains("there are 2"), "{told}");
}
