//! Small documents as flat graphs, as models of ONNX and as files of PNNX: all give the same numbers, those that the
//! definitions of the operations imply, in the shapes that were inferred. A translation with open extents gives the
//! same numbers too, or is refused.
//!
//! The files in `tests/translations` have paragraphs:
//!
//! ```text
//! # title
//! x [2, 3]                      an input of numbers; their values are made up
//! i integer [2] = [0, 1]        an input with values
//! y = gather(x, i);             statements
//! -> y z                        the outputs, if there are others than `y`
//! is y [[1.0, 2.0, 3.0]]        a result, computed by hand
//! refused onnx E2090 words      the code and a part of the message; by `onnx` or `run`, in this case also
//!                               if the extents of the inputs are open
//! ```
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::command::fast::run;
use serde_json::{Value, json};

/// An input of a document.
struct Input {
    name: String,
    ty: String,
    shape: String,
    value: Value,
}

#[derive(Default)]
struct Case {
    title: String,
    head: String,
    inputs: Vec<Input>,
    body: String,
    outputs: Vec<String>,
    wanted: Vec<(String, Value)>,
    refused: Vec<(String, String, String)>,
}

/// Items of a shape, nested: numbers of both signs, small integers or logicals.
fn made_up(ty: &str, shape: &[usize], next: &mut usize) -> Value {
    if let [extent, rest @ ..] = shape {
        return (0..*extent).map(|_| made_up(ty, rest, next)).collect();
    }
    let item = (*next * 7 + 3) % 11;
    *next += 1;
    match ty {
        "integer" => json!(item % 4),
        "logical" => json!(!item.is_multiple_of(3)),
        _ => json!((item as f64 - 4.0) / 4.0),
    }
}

fn input(line: &str) -> Option<Input> {
    let (declared, value) = line.split_once(" = ").unwrap_or((line, ""));
    let (name, shape) = declared.split_once(" [")?;
    let (name, ty) = name.split_once(' ').unwrap_or((name, "scalar"));
    let shape = format!("[{}", shape.strip_suffix(']').map(|_| shape)?);
    let value = match value {
        "" => made_up(ty, &serde_json::from_str::<Vec<usize>>(&shape).ok()?, &mut 0),
        value => serde_json::from_str(value).ok()?,
    };
    Some(Input { name: name.to_owned(), ty: ty.to_owned(), shape, value })
}

fn case(paragraph: &str) -> Case {
    let mut case = Case { outputs: vec!["y".to_owned()], ..Case::default() };
    for line in paragraph.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let two = || rest.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        match word {
            "#" => case.title = rest.to_owned(),
            "fragment" => case.head.push_str(&format!("{line}\n")),
            "->" => case.outputs = rest.split(' ').map(str::to_owned).collect(),
            "is" => case.wanted.push((two().0.to_owned(), serde_json::from_str(two().1).unwrap())),
            "refused" => {
                let (code, words) = two().1.split_once(' ').unwrap();
                case.refused.push((two().0.to_owned(), code.to_owned(), words.to_owned()));
            }
            _ => match input(line) {
                Some(input) => case.inputs.push(input),
                None => case.body.push_str(&format!("    {line}\n")),
            },
        }
    }
    case
}

/// Writes the document and the inputs of a case into a folder.
fn document(folder: &Path, case: &Case) -> PathBuf {
    let mut text = "version 1.0;\nextension KHR_enable_fragment_definitions;\n\
        extension KHR_enable_operator_expressions;\n"
        .to_owned();
    let tract = case.body.contains("tract_");
    for registry in ["core", "onnx", "transformers", "extra", "pulse"].iter().filter(|_| tract) {
        text.push_str(&format!("extension tract_registry tract_{registry};\n"));
    }
    text.push_str(&case.head);
    let names: Vec<&str> = case.inputs.iter().map(|input| input.name.as_str()).collect();
    text.push_str(&format!("graph G( {} ) -> ( {} )\n{{\n", names.join(", "), case.outputs.join(", ")));
    for Input { name, ty, shape, .. } in &case.inputs {
        text.push_str(&format!("    {name} = external<{ty}>(shape = {shape});\n"));
    }
    text.push_str(&format!("{}}}\n", case.body));
    let path = folder.join("graph.nnef");
    fs::write(&path, text).unwrap();
    let values: serde_json::Map<_, _> =
        case.inputs.iter().map(|input| (input.name.clone(), input.value.clone())).collect();
    fs::write(folder.join("in.json"), Value::Object(values).to_string()).unwrap();
    path
}

/// The code and the message of a finding.
fn finding(line: &str) -> Option<(String, String)> {
    let found: Value = serde_json::from_str(line).ok()?;
    Some((found["code"].as_str()?.to_owned(), found["message"].as_str()?.to_owned()))
}

/// The result of a call, or the errors.
fn told(args: &[&str], path: &Path) -> Result<String, Vec<(String, String)>> {
    let inputs = path.with_file_name("in.json");
    let has = args.contains(&"run") || args.contains(&"--verify");
    let given = ["--inputs", inputs.to_str().unwrap()];
    let given = if has { &given[..] } else { &[] };
    let output = run(&[args, given, &["-q", "--message-format", "json", path.to_str().unwrap()]].concat());
    let errors = String::from_utf8(output.stderr).unwrap();
    match output.status.code() {
        Some(0) => Ok(String::from_utf8(output.stdout).unwrap()),
        Some(1) => Err(errors.lines().filter_map(finding).collect()),
        code => panic!("{args:?}: {code:?} {errors}"),
    }
}

/// Whether all numbers are close to the wanted ones.
fn close(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b)),
        (Value::Number(a), Value::Number(b)) => (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-4,
        _ => found == wanted,
    }
}

/// The document computes what was computed by hand, in the inferred shapes.
fn computes(case: &Case, path: &Path) {
    let found = told(&["run"], path).unwrap_or_else(|errors| panic!("{}: {errors:?}", case.title));
    let found: Value = serde_json::from_str(&found).unwrap();
    for (name, wanted) in &case.wanted {
        let data = &found["outputs"][name]["data"];
        assert!(close(data, wanted), "{}: {name} is {data}", case.title);
    }
    let graph: Value = serde_json::from_str(&told(&["--to", "json"], path).unwrap()).unwrap();
    for name in &case.outputs {
        let (inferred, shape) = (&graph["tensors"][name]["shape"], &found["outputs"][name]["shape"]);
        let same = |(inferred, extent): (&Value, &Value)| inferred == extent || !inferred.is_i64();
        let shape = shape.as_array().unwrap_or_else(|| panic!("{}: {name} has no shape", case.title));
        let Some(inferred) = inferred.as_array() else { continue };
        let fits = inferred.len() == shape.len() && inferred.iter().zip(shape).all(same);
        assert!(fits, "{}: {name} has shape {shape:?}, inferred is {inferred:?}", case.title);
    }
}

/// A translation gives the same numbers, or it is refused if it may be. Tells whether it does.
fn translates(case: &Case, path: &Path, args: &[&str], may_refuse: bool) -> bool {
    let Err(errors) = told(&[&["--verify"], args].concat(), path) else { return true };
    let differs = errors.iter().any(|(code, _)| code == "E0830");
    assert!(may_refuse && !differs && !errors.is_empty(), "{} {args:?}: {errors:?}", case.title);
    false
}

/// Arguments that leave all extents of the inputs open.
fn open(case: &Case) -> Vec<String> {
    let mut args = Vec::new();
    for Input { name, shape, .. } in case.inputs.iter().filter(|input| input.shape != "[]") {
        let extents = (0..shape.split(',').count()).map(|axis| format!("{name}_{axis}"));
        args.extend(["--input-shape".to_owned(), format!("{name}={}", extents.collect::<Vec<_>>().join(","))]);
    }
    args
}

/// A case holds. Tells whether it goes to PNNX, and whether it is translated with open extents: both may be refused.
fn holds(case: &Case) -> [bool; 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = document(folder.path(), case);
    for (by, code, words) in &case.refused {
        let args: &[&str] = if by == "run" { &["run"] } else { &["--to", "onnxtxt"] };
        let Err(errors) = told(args, &path) else { panic!("{}: not refused by {by}", case.title) };
        let is = |(found, message): &(String, String)| found == code && message.contains(words);
        assert!(errors.iter().any(is), "{}: {errors:?}", case.title);
    }
    let open = open(case);
    let open: Vec<&str> = open.iter().map(String::as_str).chain(["--to", "onnxtxt"]).collect();
    if case.refused.iter().any(|(by, ..)| by == "run") {
        // With open extents, it is the evaluation that finds it.
        let extents = open.iter().take(open.len() - 2).copied();
        let found = told(&std::iter::once("run").chain(extents).collect::<Vec<_>>(), &path);
        assert!(found.is_err_and(|errors| !errors.is_empty()), "{}: computed with open extents", case.title);
        let _ = told(&open, &path);
        return [false; 2];
    }
    computes(case, &path);
    translates(case, &path, &["--fold", "--share", "--drop-bitcasts", "--to", "nnef"], false);
    let to_pnnx = translates(case, &path, &["--to", "pnnx"], true);
    if case.refused.is_empty() {
        translates(case, &path, &["--to", "onnxtxt"], false);
    }
    [to_pnnx, translates(case, &path, &open, true)]
}

/// All cases of a file hold; all that do not are told. At least so many go to PNNX, and have translations with open extents.
fn all_hold(name: &str, least: [usize; 2]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/translations").join(name);
    let text = fs::read_to_string(path).unwrap();
    let cases: Vec<Case> = text.split("\n\n").map(|paragraph| case(paragraph.trim())).collect();
    assert!(cases.len() > 10 && cases.iter().all(|case| !case.title.is_empty()), "{name}");
    let held: Vec<_> = cases.iter().map(|case| (case, std::panic::catch_unwind(|| holds(case)))).collect();
    let failed = held.iter().filter(|(_, held)| held.is_err()).map(|(case, _)| case.title.as_str());
    let failed: Vec<&str> = failed.collect();
    assert!(failed.is_empty(), "{name}: {failed:#?}");
    let count = [0, 1].map(|i| held.iter().filter(|(_, held)| held.as_ref().is_ok_and(|held| held[i])).count());
    assert!(count[0] >= least[0] && count[1] >= least[1], "{name}: {count:?} of {}", cases.len());
}

#[test]
fn what_does_not_fit_is_refused() {
    all_hold("refusals.txt", [0, 0]);
}

#[test]
fn arrangements_are_translated() {
    all_hold("arrangement.txt", [46, 50]);
}

#[test]
fn windows_are_translated() {
    all_hold("windows.txt", [53, 21]);
}

#[test]
fn products_are_translated() {
    all_hold("products.txt", [34, 11]);
}

#[test]
fn operations_of_registries_are_translated() {
    all_hold("registries.txt", [45, 49]);
}

/// Models of ONNX whose attributes are at their edges, with the inputs on which they are compared.
fn edge_models() -> Vec<(String, &'static str)> {
    let line = r#"{"x": [[[1, 2, 3, 4, -5, 6, 7]]]}"#;
    let mut models = Vec::new();
    let mut add = |graph: String, inputs| models.push((graph, inputs));
    // Windows with gaps, whose automatic padding would be negative, and wide paddings with a last incomplete window.
    for pool in ["AveragePool", "MaxPool", "LpPool"] {
        for (size, stride, auto) in [(1, 3, "UPPER"), (1, 3, "LOWER"), (2, 3, "UPPER"), (2, 1, "LOWER")] {
            let attributes = format!("strides = [{stride}], kernel_shape = [{size}], auto_pad = \"SAME_{auto}\"");
            add(format!("(float[1,1,7] x) => (float[1,1,N] y) {{ y = {pool} <{attributes}> (x) }}"), line);
        }
        for (size, stride, pads) in [(3, 2, "2, 2"), (4, 3, "2, 2"), (4, 3, "3, 0"), (4, 2, "0, 3")] {
            let attributes = format!("strides = [{stride}], kernel_shape = [{size}], pads = [{pads}], ceil_mode = 1");
            add(format!("(float[1,1,7] x) => (float[1,1,N] y) {{ y = {pool} <{attributes}> (x) }}"), line);
        }
    }
    for auto in ["UPPER", "LOWER"] {
        let conv = format!("y = Conv <strides = [3], auto_pad = \"SAME_{auto}\"> (x, w)");
        add(format!("(float[1,1,7] x) => (float[1,1,N] y) <float[1,1,1] w = {{2}}> {{ {conv} }}"), line);
    }
    // What is cut off is gone before anything is added.
    for mode in ["constant", "edge", "reflect", "wrap"] {
        for pads in ["1, -1", "-2, 3", "-1, -2", "2, -3"] {
            let pad = format!("<int64[2] p = {{{pads}}}> {{ y = Pad <mode = \"{mode}\"> (x, p) }}");
            add(format!("(float[6] x) => (float[N] y) {pad}"), r#"{"x": [1, 2, 3, 4, 5, 6]}"#);
        }
    }
    // Reciprocals show the signs of zeros.
    let signs = r#"{"x": [-4, 4, -0.0, 0, -4, 4, 5, -5], "d": [2, 2, 2, 2, -2, -2, 3, 3]}"#;
    let zeros = "{ m = Mod <fmod = 1> (x, d) y = Reciprocal (m) }";
    add(format!("(float[8] x, float[8] d) => (float[8] y) {zeros}"), signs);
    add("(float[3] x) => (float[3] y) { m = Sign (x) y = Reciprocal (m) }".to_owned(), r#"{"x": [-4, 4, -0.0]}"#);
    add("(float[3] x) => (float[3] y) { m = Log (x) y = Sign (m) }".to_owned(), r#"{"x": [-4, 4, 0.5]}"#);
    let sum = "{ m = ReduceSum <keepdims = 0> (x) y = Reciprocal (m) }";
    add(format!("(float[2] x) => (float y) {sum}"), r#"{"x": [-0.0, -0.0]}"#);
    models
}

#[test]
fn models_their_translations_and_their_constants_agree_at_edges() {
    let folder = tempfile::tempdir().unwrap();
    let (model, file) = (folder.path().join("m.onnxtxt"), folder.path().join("in.json"));
    let null = folder.path().join("out").to_str().unwrap().to_owned();
    for (graph, inputs) in edge_models() {
        std::fs::write(&model, format!("<ir_version: 10, opset_import: [\"\" : 21]>\ng {graph}\n")).unwrap();
        std::fs::write(&file, inputs).unwrap();
        let given: serde_json::Map<String, Value> = serde_json::from_str(inputs).unwrap();
        let bound = given.iter().flat_map(|(name, value)| ["--bind".to_owned(), format!("{name}={value}")]);
        let bound: Vec<String> = bound.collect();
        let bound: Vec<&str> = bound.iter().map(String::as_str).collect();
        let inputs = ["--inputs", file.to_str().unwrap()];
        let calls = [[&["--to", "nnef"][..], &inputs].concat(), [&["--fold", "--to", "onnx"][..], &bound].concat()];
        for call in calls {
            let output = run(&[&["-q", "--verify", "-o", &null, model.to_str().unwrap()][..], &call].concat());
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{graph} {call:?}: {told}");
        }
    }
}
