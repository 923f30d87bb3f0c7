//! `diff` tells each difference once, as a line of text and as an object of JSON.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::command;
use crate::common::command::run;
use serde_json::{Value, json};

/// The exit status and the lines that `diff` writes about two documents.
fn told(names: [&str; 2], texts: [&str; 2], args: &[&str]) -> (i32, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in names.iter().zip(texts) {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let call = command::call(["diff"]).args(names).args(args).within(folder.path());
    let output = call.run();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    (output.status.code().unwrap(), lines)
}

/// A document with a body.
fn document(inputs: &str, body: &str, outputs: &str) -> String {
    format!("version 1.0;\ngraph G( {inputs} ) -> ( {outputs} )\n{{\n{body}\n}}\n")
}

/// The differences of two documents as objects: the changes, then other names, then the sum.
fn objects(a: &str, b: &str, args: &[&str]) -> Vec<Value> {
    let (status, lines) = told(["a.nnef", "b.nnef"], [a, b], &[args, &["--message-format", "json"]].concat());
    let found: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sum = found.last().unwrap();
    let changes = found.iter().filter(|found| found["kind"] == "change").count();
    assert_eq!((&sum["kind"], &sum["changes"]), (&json!("summary"), &json!(changes)));
    assert_eq!(sum["equal"], json!(changes == 0));
    assert_eq!(status, i32::from(changes > 0));
    found
}

/// What changed, with the part, the old and the new value.
fn changes(a: &str, b: &str) -> Vec<Value> {
    let found = objects(a, b, &[]).into_iter().filter(|found| found["kind"] == "change");
    found.map(|found| json!([found["what"], found["part"], found["old"], found["new"]])).collect()
}

const X: &str = "x = external(shape = [2, 3]);";

#[test]
fn a_change_says_what_and_where() {
    let before = document("x", &format!("{X}\ny = leaky_relu(x, alpha = 0.5);"), "y");
    let after = document("x", &format!("{X}\ny = leaky_relu(x, alpha = 0.25);"), "y");
    let found = objects(&before, &after, &[]);
    let operation =
        |file: &str| json!({"operation": "leaky_relu", "result": "y", "path": file, "line": 5, "column": 5});
    let wanted = json!({
        "kind": "change", "what": "attribute", "module": "", "part": "alpha", "old": "0.5", "new": "0.25",
        "largest_difference": null, "a": operation("a.nnef"), "b": operation("b.nnef"),
    });
    assert_eq!(found[0], wanted);
    assert_eq!(found.len(), 2);
    assert_eq!(
        (&found[1]["added"], &found[1]["removed"], &found[1]["operations"]),
        (&json!(0), &json!(0), &json!([2, 2]))
    );
}

#[test]
fn operations_and_operands_that_are_on_one_side() {
    let before = document("x", &format!("{X}\na = relu(x);\nb = tanh(x);\ny = add(a, b);"), "y");
    let after = document("x", &format!("{X}\na = relu(x);\nb = sigmoid(x);\nc = exp(b);\ny = add(a, c);"), "y");
    let found = objects(&before, &after, &[]);
    let named = |what: &str| -> Vec<&str> {
        let side = if what == "added" { "b" } else { "a" };
        found
            .iter()
            .filter(|found| found["what"] == what)
            .map(|found| found[side]["operation"].as_str().unwrap())
            .collect()
    };
    assert_eq!((named("removed"), named("added")), (vec!["tanh"], vec!["sigmoid", "exp"]));
    let swapped = changes(
        &document("x, z", &format!("{X}\nz = external(shape = [2, 3]);\ny = sub(x, z);"), "y"),
        &document("x, z", &format!("{X}\nz = external(shape = [2, 3]);\ny = sub(z, x);"), "y"),
    );
    assert_eq!(swapped, [json!(["operand", "x", "x", "z"]), json!(["operand", "y", "z", "x"])]);
}

#[test]
fn an_item_of_a_list_of_operands() {
    let body = |of: &str| {
        document("x, z", &format!("{X}\nz = external(shape = [2, 3]);\ny = concat([x, {of}], axis = 0);"), "y")
    };
    assert_eq!(changes(&body("z"), &body("x")), [json!(["operand", "values[1]", "z", "x"])]);
    let longer = changes(&body("z"), &body("z, x"));
    assert_eq!(longer, [json!(["operand", "values", "[x, z]", "[x, z, x]"])]);
}

#[test]
fn long_lists_are_cut_off() {
    let items = |last: f64| {
        let items: Vec<String> = (0..20).map(|i| format!("{:?}", if i == 1 { last } else { f64::from(i) })).collect();
        document(
            "x",
            &format!(
                "x = external(shape = [20]);\nc = constant(shape = [20], value = [{}]);\ny = x + c;",
                items.join(", ")
            ),
            "y",
        )
    };
    let found = changes(&items(1.0), &items(9.0));
    let [_, part, old, new] = found[0].as_array().unwrap().as_slice() else { panic!("{found:?}") };
    assert_eq!((found.len(), part), (1, &json!("value")));
    assert!(
        old.as_str().unwrap().starts_with("[0.0, 1.0, 2.0,") && old.as_str().unwrap().ends_with("15.0, …]"),
        "{old}"
    );
    assert!(new.as_str().unwrap().starts_with("[0.0, 9.0, 2.0,"), "{new}");
    let axes = |last: usize| {
        let axes: Vec<String> = (0..20).map(|axis| if axis == 19 { last } else { axis }.to_string()).collect();
        let extents = ["1"; 20].join(", ");
        document(
            "x",
            &format!("x = external(shape = [{extents}]);\ny = squeeze(x, axes = [{}]);", axes[..18].join(", "))
                .replace("17]", &format!("{last}]")),
            "y",
        )
    };
    let found = changes(&axes(17), &axes(18));
    assert!(found[0][2].as_str().unwrap().ends_with("15, …]"), "{found:?}");
    let label = |end: &str| {
        document(
            "x",
            &format!("{X}\nv = variable(shape = [2, 3], label = '{0}/{0}{end}');\ny = x + v;", "a".repeat(150)),
            "y",
        )
    };
    let found = changes(&label("b"), &label("c"));
    assert!(found[0][2].as_str().unwrap().contains("a…"), "{found:?}");
}

/// Sixteen items are shown, whatever they are.
#[test]
fn lists_are_whole_up_to_a_length() {
    for (count, is_whole) in [(16, true), (17, false)] {
        let list = |first: &str, item: fn(usize) -> String| {
            let items: Vec<String> = (1..count).map(item).collect();
            format!("[{first}, {}]", items.join(", "))
        };
        let made = |first: &str| {
            let value = list(first, |i| format!("{i}.5"));
            let body = format!("x = external(shape = [{count}]);\nc = constant(shape = [{count}], value = {value});");
            document("x", &format!("{body}\ny = x + c;"), "y")
        };
        let axes = |first: &str| {
            let (shape, axes) = (list("1", |_| "1".to_owned()), list(first, |i| (i + 1).to_string()));
            let body =
                format!("x = external(shape = {});\ny = squeeze(x, axes = {axes});", shape.replace(']', ", 1, 1]"));
            document("x", &body, "y")
        };
        for (found, last) in [
            (changes(&made("0.0"), &made("9.0")), format!("{}.5]", count - 1)),
            (changes(&axes("0"), &axes("1")), format!("{count}]")),
        ] {
            let old = found[0][2].as_str().unwrap();
            assert_eq!((old.ends_with(&last), old.ends_with(", …]")), (is_whole, !is_whole), "{found:?}");
        }
    }
}

#[test]
fn inputs_outputs_and_their_types() {
    let one = document("x, z", &format!("{X}\nz = external(shape = [2, 3]);\ny = x + z;\nw = x * z;"), "y, w");
    let other = document("z, x", &format!("{X}\nz = external(shape = [2, 3]);\ny = x + z;\nw = x * z;"), "w, y");
    let found = changes(&one, &other);
    assert_eq!(found, [json!(["input", "order", "x, z", "z, x"]), json!(["output", "order", "y, w", "w, y"])]);
    let less = document("x", &format!("{X}\ny = x + 1.0;"), "y");
    let more = document("x, z", &format!("{X}\nz = external(shape = [2, 3]);\ny = x + 1.0;\nw = tanh(z);"), "y, w");
    let found = changes(&less, &more);
    assert!(
        found.contains(&json!(["input", "z", null, "z"])) && found.contains(&json!(["output", "w", null, "w"])),
        "{found:?}"
    );
    let found = changes(&more, &less);
    assert!(
        found.contains(&json!(["input", "z", "z", null])) && found.contains(&json!(["output", "w", "w", null])),
        "{found:?}"
    );
    // The same output is another tensor.
    let relu = document("x", &format!("{X}\na = relu(x);\ny = copy(a);\nb = tanh(x);\nz = copy(b);"), "y, z");
    let tanh = document("x", &format!("{X}\na = relu(x);\nz = copy(a);\nb = tanh(x);\ny = copy(b);"), "y, z");
    assert!(!changes(&relu, &tanh).is_empty());
}

#[test]
fn element_types_and_numbers_of_results() {
    let external = |ty: &str| document("x", &format!("x = external<{ty}>(shape = [2, 3]);\ny = copy(x);"), "y");
    let found = changes(&external("scalar"), &external("integer"));
    assert!(found.contains(&json!(["attribute", "type", "scalar", "integer"])), "{found:?}");
    let parts = |body: &str| document("x", &format!("x = external(shape = [1, 6]);\n{body}"), "y");
    let found = changes(
        &parts("[y, z] = split(x, axis = 1, ratios = [1, 1]);"),
        &parts("[y, z, w] = split(x, axis = 1, ratios = [1, 1, 1]);"),
    );
    assert!(found.contains(&json!(["results", null, "2", "3"])), "{found:?}");
    let text =
        |ty: &str| format!("<ir_version: 10, opset_import: [\"\" : 21]>\ng ({ty} x) => ({ty} y) {{ y = Neg (x) }}");
    let texts = [text("float[2]"), text("double[3]")];
    let (status, lines) = told(["a.onnxtxt", "b.onnxtxt"], [&texts[0], &texts[1]], &[]);
    assert_eq!(status, 1);
    assert!(lines.contains(&"~ input x: shape: [2] -> [3]".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"~ input x: element type: float32 -> float64".to_owned()), "{lines:#?}");
}

#[test]
fn inner_tensors_have_other_names() {
    let named = |name: &str| document("x", &format!("{X}\n{name} = relu(x);\ny = tanh({name});"), "y");
    let found = objects(&named("a"), &named("b"), &["--renamed"]);
    assert_eq!(found[0], json!({"kind": "renamed", "old": "a", "new": "b"}));
    assert_eq!((&found[1]["renamed"], &found[1]["equal"]), (&json!(1), &json!(true)));
}

/// The data of a model and of its translation are the same, in whatever type they are loaded.
#[test]
fn data_are_equal_in_other_notations() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = "version 1.0;\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [3, 4]);\n    \
        v = variable(shape = [3, 4], label = 'part/v.1');\n    y = mul(x, v);\n}\n";
    let items = (0..12).map(|i| f64::from(i) / 8.0).collect();
    std::fs::create_dir_all(folder.path().join("a/part")).unwrap();
    std::fs::write(folder.path().join("a/graph.nnef"), text).unwrap();
    let tensor = nnef_flatten::tensor::Tensor::scalars(&[3, 4], items).unwrap();
    std::fs::write(folder.path().join("a/part/v.1.dat"), tensor.to_dat().unwrap()).unwrap();
    let [a, model, back] = [path("a"), path("a.onnx"), path("back/")];
    assert!(run(&[&a, "-o", &model]).status.success());
    assert!(run(&[&model, "--to", "nnef", "-o", &back]).status.success());
    for (one, other) in [(&a, &model), (&model, &a), (&model, &back), (&a, &back)] {
        let output = run(&["diff", one, other]);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && told.contains("no difference"), "{one} {other}: {told}");
    }
    // Files with other types of elements differ, though their numbers are the same.
    let wide = folder.path().join("wide/part");
    std::fs::create_dir_all(&wide).unwrap();
    std::fs::copy(folder.path().join("a/graph.nnef"), folder.path().join("wide/graph.nnef")).unwrap();
    let mut bytes = std::fs::read(folder.path().join("a/part/v.1.dat")).unwrap();
    let items: Vec<u8> = bytes[128..]
        .as_chunks::<4>()
        .0
        .iter()
        .flat_map(|item| f64::from(f32::from_le_bytes(*item)).to_le_bytes())
        .collect();
    bytes.truncate(128);
    bytes[4..8].copy_from_slice(&(items.len() as u32).to_le_bytes());
    bytes[44..48].copy_from_slice(&64u32.to_le_bytes());
    std::fs::write(wide.join("v.1.dat"), [bytes, items].concat()).unwrap();
    let output = run(&["diff", &a, &path("wide")]);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(1) && told.contains("float64[3, 4]"), "{told}");
}

#[test]
fn data_of_one_side_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let text = document("x", &format!("{X}\nv = variable(shape = [2, 3], label = 'v');\ny = x + v;"), "y");
    let write = |name: &str, data: Option<f64>| {
        let path = folder.path().join(name);
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("graph.nnef"), &text).unwrap();
        let tensor =
            data.map(|first| nnef_flatten::tensor::Tensor::scalars(&[2, 3], vec![first, 1.0, 2.0, 3.0, 4.0, 5.0]));
        tensor
            .into_iter()
            .for_each(|tensor| std::fs::write(path.join("v.dat"), tensor.unwrap().to_dat().unwrap()).unwrap());
        path.to_str().unwrap().to_owned()
    };
    let paths = [write("a", Some(0.5)), write("b", Some(2.5)), write("c", None)];
    let told = |b: &str, more: &[&str]| {
        let output = run(&[&["diff", &paths[0], b, "--message-format", "json"], more].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let found = told(&paths[1], &["--values"]);
    assert_eq!((&found[0]["what"], &found[0]["largest_difference"]), (&json!("data"), &json!(2.0)));
    let found = told(&paths[2], &[]);
    assert_eq!((found.len(), &found[0]["data_on_one_side"]), (1, &json!(1)));
    // Another label hides no data.
    let other = folder.path().join("d");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("graph.nnef"), text.replace("label = 'v'", "label = 'w'")).unwrap();
    std::fs::copy(folder.path().join("b/v.dat"), other.join("w.dat")).unwrap();
    let found = told(other.to_str().unwrap(), &["--values"]);
    let what = |of: &str| found.iter().find(|row| row["what"] == of);
    assert!(what("attribute").is_some(), "{found:?}");
    assert_eq!(what("data").map(|row| &row["largest_difference"]), Some(&json!(2.0)), "{found:?}");
}
