//! Pictures, source maps and statistics, as the command writes them.
//!
//! With `UPDATE_SNAPSHOTS=1` in the environment the recorded pictures are rewritten.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Output;

use crate::common::command;
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(args: &[&str]) -> Output {
    let output = command::run(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn text(args: &[&str]) -> String {
    String::from_utf8(run(args).stdout).unwrap()
}

/// Compares with a recorded file.
fn recorded(path: &str, found: &str) {
    let path = root().join(path);
    if std::env::var("UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1") {
        std::fs::write(&path, found).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(wanted == found, "{}; UPDATE_SNAPSHOTS=1 records what is found:\n{found}", path.display());
}

#[test]
fn pictures_are_as_recorded() {
    let svg = text(&["--to", "svg", "examples/repeat.nnef"]);
    roxmltree::Document::parse(&svg).unwrap();
    recorded("docs/repeat.svg", &svg);
    // What README shows: a model as it is, and flat.
    let heads = "examples/onnx/heads.onnxtxt";
    recorded("docs/heads-before.svg", &text(&["--to", "svg", "--lower", "none", heads]));
    recorded("docs/heads-after.svg", &text(&["--to", "svg", "--set", "batch=4", "--fold", heads]));
    recorded("tests/data/repeat.dot", &text(&["--to", "dot", "examples/repeat.nnef"]));
}

#[test]
fn extensions_choose_the_form() {
    let folder = tempfile::tempdir().unwrap();
    for (name, start) in [
        ("a.svg", "<svg "),
        ("a.dot", "digraph "),
        ("a.gv", "digraph "),
        ("a.html", "<!DOCTYPE html>"),
        ("a.HTM", "<!DOCTYPE html>"),
    ] {
        let path = folder.path().join(name);
        let output = run(&["-o", path.to_str().unwrap(), "examples/gru.nnef"]);
        assert!(output.stdout.is_empty());
        assert!(std::fs::read_to_string(&path).unwrap().starts_with(start), "{name}");
    }
}

#[test]
fn pages_need_nothing_from_elsewhere() {
    let page = text(&["--to", "html", "examples/transformer.nnef"]);
    assert!(page.contains("Content-Security-Policy") && page.contains("default-src 'none'"));
    // A page does not even contain the address that is the XML name space of SVG.
    for elsewhere in ["http:", "https:", " src=", " href=", "@import", "url("] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
}

/// A model with data in files, and one of ONNX.
fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let copied = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &copied),
            false => drop(std::fs::copy(entry.path(), copied).unwrap()),
        }
    }
}

#[test]
fn pages_are_the_same_from_any_folder() {
    let model = r#"<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) <float[2] w = {0.5, -2.0}>
        { y = Mul (x, w) }"#;
    let pages: Vec<[String; 2]> = ["a", "some/where/else"]
        .into_iter()
        .map(|name| {
            let folder = tempfile::tempdir().unwrap();
            let at = folder.path().join(name);
            std::fs::create_dir_all(&at).unwrap();
            let copied = at.join("model");
            copy_folder(&root().join("examples/model"), &copied);
            std::fs::write(at.join("m.onnxtxt"), model).unwrap();
            let page = |path: &Path| text(&["-q", "--to", "html", path.to_str().unwrap()]);
            let made = [page(&copied), page(&at.join("m.onnxtxt"))];
            assert!(made.iter().all(|page| !page.contains(folder.path().to_str().unwrap())), "{name}");
            made
        })
        .collect();
    assert_eq!(pages[0], pages[1]);
    for page in &pages[0] {
        assert!(page.contains("\"v\":{\"min\":"), "pages tell what data are like");
    }
    let [_, page] = &pages[0];
    assert!(page.contains("{\"min\":-2.0,\"max\":0.5,\"mean\":-0.75,\"nan\":0,\"first\":[0.5,-2.0]"));
}

#[test]
fn networks_with_loops_are_drawn() {
    let svg = text(&["--from", "loops", "--unroll", "--to", "svg", "examples/loops/fibonacci.json"]);
    roxmltree::Document::parse(&svg).unwrap();
}

#[test]
fn graphs_too_large_to_draw_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.nnef");
    let text = "version 1.0;
extension KHR_enable_fragment_definitions KHR_enable_operator_expressions;
fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> ) { y = f(relu(x), n - 1) if n > 0 else x; }
graph G( x ) -> ( y ) { x = external(shape = [1]); y = f(x, 400001); }
";
    std::fs::write(&path, text).unwrap();
    let output = command::call(["--to", "svg", "--message-format", "json"]).args([&path]).run();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    // Warnings may precede it.
    let told = String::from_utf8(output.stderr).unwrap();
    let last: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!((&last["code"], &last["line"]), (&"E0818".into(), &3.into()), "{told}");
}

#[test]
fn source_maps_tell_places_calls_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.json");
    let flat = text(&["--source-map", path.to_str().unwrap(), "examples/repeat.nnef"]);
    let map: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((&map["version"], &map["graph"]), (&1.into(), &"repeated".into()));
    let source = std::fs::read_to_string(root().join("examples/repeat.nnef")).unwrap();
    let lines: Vec<&str> = source.lines().collect();
    let operations = map["operations"].as_array().unwrap();
    assert_eq!(
        operations.len(),
        flat.matches(" = ").count() - flat.matches("shape = ").count() - flat.matches("label = ").count()
    );
    let chain = |operation: &Value| {
        let mut chain = Vec::new();
        let mut call = operation["call"].as_u64();
        while let Some(next) = call {
            let of = &map["calls"][next as usize];
            chain.push(of["fragment"].as_str().unwrap().to_owned());
            call = of["parent"].as_u64();
        }
        chain
    };
    let conv = operations.iter().rfind(|operation| operation["name"] == "conv").unwrap();
    assert_eq!(conv["results"], serde_json::json!(["score_conv1_2"]));
    assert_eq!(chain(conv), ["repeat", "repeat"]);
    let at = |key: &str| conv[key].as_u64().unwrap() as usize;
    let found: String = lines[at("line") - 1].chars().skip(at("column") - 1).take(4).collect();
    assert_eq!(found, "conv");
    assert!((at("end_line"), at("end_column")) > (at("line"), at("column")));
    assert_eq!(map["tensors"]["filters1"]["source"], "filters1");
    assert_eq!(map["tensors"]["score_conv1_2"]["source"], Value::Null);
    let maker = map["tensors"]["score"]["operation"].as_u64().unwrap();
    assert_eq!(operations[maker as usize]["name"], "relu");
}

#[test]
fn two_results_do_not_share_standard_output() {
    let output = command::run(&["--source-map", "-", "examples/repeat.nnef"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}

#[test]
fn two_results_do_not_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let root = root().display();
    let (document, model) = (format!("{root}/examples/repeat.nnef"), format!("{root}/examples/model"));
    for (args, file) in [
        (&["-o", "a.nnef", "--source-map", "./a.nnef"][..], "a.nnef"),
        (&["-o", "a.bin", "--to", "pnnx"], "a.bin"),
        (&["-o", "a.param", "--source-map", "a.bin"], "a.bin"),
        (&["-o", "flat/", "--source-map", "flat/graph.nnef"], "flat"),
    ] {
        let input = if file == "a.bin" { &model } else { &document };
        let output = command::call(["--quiet", input]).args(args).within(folder.path()).run();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains("cannot both be written"), "{told}");
        assert!(!folder.path().join(file).exists(), "{args:?}");
    }
    run(&["-o", "/dev/null", "--source-map", "/dev/null", "examples/repeat.nnef"]);
}

#[test]
fn parts_of_models_are_only_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.onnxtxt");
    std::fs::write(&path, "y = Relu(x)").unwrap();
    let run = |args: &[&str]| {
        let output = command::call(["--production", "node"]).args(args).args([&path]).within(folder.path()).run();
        (output.status.code(), output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    let refused = [
        &["--stats"][..],
        &["--source-map", "map.json"],
        &["--outputs", "y"],
        &["--set", "N=2"],
        &["--input-shape", "x=[2]"],
        &["--bind", "x=[1, 2]"],
        &["--fold"],
        &["--simplify"],
        &["--opset", "18"],
        &["--lower", "all"],
        &["--verify"],
    ];
    for args in refused {
        let (status, written, told) = run(args);
        assert_eq!((status, written.len()), (Some(2), 0), "{args:?}: {told}");
        assert!(told.contains(&format!("{} does not apply to --production node", args[0])), "{told}");
    }
    let (status, _, told) = run(&["--to", "svg"]);
    assert!(status == Some(2) && told.contains("a part of a model has no graph"), "{told}");
    // Nothing is expanded, and nothing is removed.
    let kept = &["--lower", "none", "--keep-unused"][..];
    for args in [&[][..], &["--to", "onnxtxt"], &["--max-ops", "9"], &["--message-format", "short"], &["-q"]] {
        let (status, written, told) = run(args);
        assert_eq!((status, &*told), (Some(0), ""), "{args:?}");
        assert_eq!(String::from_utf8(written).unwrap().trim(), "y = Relu (x)", "{args:?}");
        let (status, written, told) = run(&[args, kept].concat());
        assert!(status == Some(0) && !told.contains("Error"), "{args:?}: {told}");
        assert_eq!(String::from_utf8(written).unwrap().trim(), "y = Relu (x)", "{args:?}");
    }
}

#[test]
fn statistics_are_a_table_or_json() {
    let output = run(&["--stats", "examples/repeat.nnef"]);
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("version 1.0;"));
    let table = String::from_utf8(output.stderr).unwrap();
    assert!(table.contains("repeat                    1             0\n"), "{table}");
    let output = run(&["--stats", "--message-format", "json", "examples/repeat.nnef"]);
    let stats: Value = serde_json::from_slice(&output.stderr).unwrap();
    let stats = &stats["stats"];
    assert_eq!(stats["total"], serde_json::json!({ "before": 4, "after": 9 }));
    assert_eq!((stats["operations"]["after"]["conv"].as_u64(), stats["parameters"].as_u64()), (Some(2), Some(1152)));
    assert_eq!(stats["multiply_adds"], 2 * 8 * 32 * 32 * 8 * 9);
}

#[test]
fn bytes_are_those_of_the_data_and_of_declared_types() {
    let bytes = |args: &[&str]| {
        let output = run(&[&["-q", "--stats", "--message-format", "json"], args].concat());
        let stats: Value = serde_json::from_slice(&output.stderr).unwrap();
        (
            stats["stats"]["parameters"].as_u64(),
            stats["stats"]["bytes"].as_u64(),
            stats["stats"]["multiply_adds"].as_u64(),
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let graph = "version 1.0;\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [2,3]);\n\
                 w = variable(shape = [3,4], label = 'w');\n    y = matmul(x, w);\n}\n";
    std::fs::write(folder.path().join("graph.nnef"), graph).unwrap();
    let path = folder.path().to_str().unwrap().to_owned();
    assert_eq!(bytes(&[&path]), (Some(12), Some(48), Some(24)));
    let data = nnef_flatten::tensor::Tensor::scalars(&[3, 4], vec![0.5; 12]).unwrap().to_dat().unwrap();
    std::fs::write(folder.path().join("w.dat"), &data).unwrap();
    assert_eq!(bytes(&[&path]), (Some(12), Some(data.len() as u64 - 128), Some(24)));
    let model = folder.path().join("m.onnxtxt");
    let text = "<ir_version: 10, opset_import: [\"\" : 21]> g (float16[2,3] x) => (float16[2,4] y)\n\
                <float16[3,4] w = {0,0,0,0,0,0,0,0,0,0,0,0}> { y = MatMul (x, w) }";
    std::fs::write(&model, text).unwrap();
    assert_eq!(bytes(&[model.to_str().unwrap()]), (Some(12), Some(24), Some(24)));
}

/// Two documents with a call of a fragment: the second one has another stride, an operation more, and an input less.
const COMPARED: [&str; 2] = [
    "version 1.0; extension KHR_enable_fragment_definitions;
fragment block( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{ a = max_pool(x, size = [1,1,2,2], stride = [1,1,1,1]); y = exp(a); }
graph g( x, other ) -> ( y, last )
{ x = external(shape = [1,2,8,8]); other = external(shape = [2]); y = relu(block(x)); last = tanh(other); }",
    "version 1.0; extension KHR_enable_fragment_definitions;
fragment block( x: tensor<scalar> ) -> ( y: tensor<scalar> )
{ a = max_pool(x, size = [1,1,2,2], stride = [1,1,2,2]); y = exp(sigmoid(a)); }
graph g( x ) -> ( y )
{ x = external(shape = [1,2,8,8]); y = relu(block(x)); }",
];

/// The page of a comparison of two documents in a folder, and what the command wrote.
fn comparison(texts: [&str; 2]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, page] = ["a.nnef", "b.nnef", "page.html"].map(|name| folder.path().join(name));
    std::fs::write(&a, texts[0]).unwrap();
    std::fs::write(&b, texts[1]).unwrap();
    let [a, b, page] = [&a, &b, &page].map(|path| path.to_str().unwrap());
    let output = command::run(&["diff", a, b, "--page", page]);
    assert_eq!(output.status.code(), Some(i32::from(texts[0] != texts[1])));
    (std::fs::read_to_string(page).unwrap(), String::from_utf8(output.stdout).unwrap())
}

/// The data of a page.
fn data_of(page: &str) -> Value {
    serde_json::from_str(page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap()).unwrap()
}

#[test]
fn pages_of_comparisons_tell_the_changes_with_their_tensors() {
    let (page, written) = comparison(COMPARED);
    let data = data_of(&page);
    let changes = data["changes"].as_array().unwrap();
    assert_eq!(written.lines().filter(|line| !line.starts_with("in ")).count(), changes.len() + 1, "{written}");
    let name = |change: &Value, side: usize| {
        let tensor = usize::try_from(change[3 + side].as_i64().unwrap()).ok()?;
        data["pages"][side]["tensors"][tensor][0].as_str().map(str::to_owned)
    };
    let told: Vec<(&str, &str, Option<String>, Option<String>)> = changes
        .iter()
        .map(|change| (change[0].as_str().unwrap(), change[2].as_str().unwrap(), name(change, 0), name(change, 1)))
        .collect();
    let some = |name: &str| Some(name.to_owned());
    assert!(told.contains(&("removed", "- input other", some("other"), None)), "{told:?}");
    let stride = "~ max_pool y_block1_a: stride: [1, 1, 1, 1] -> [1, 1, 2, 2]";
    assert!(told.contains(&("changed", stride, some("y_block1_a"), some("y_block1_a"))), "{told:?}");
    assert!(
        told.iter()
            .any(|(kind, text, a, b)| *kind == "added" && text.starts_with("+ sigmoid ") && a.is_none() && b.is_some())
    );
    assert!(changes.iter().any(|change| change[1] == "block"));
    // Wherever the documents are, the bytes are the same, and no path is told.
    assert_eq!(comparison(COMPARED).0, page);
    let equal = data_of(&comparison([COMPARED[0], COMPARED[0]]).0);
    assert_eq!(equal["changes"], serde_json::json!([]));
}

#[test]
fn markup_in_comparisons_is_inert() {
    let text = |label: &str| {
        format!(
            "version 1.0; graph g( x ) -> ( y ) {{ x = external(shape = [1]);
v = variable(shape = [1], label = '</script><script>{label}<!--'); y = add(x, v); }}"
        )
    };
    let (page, written) = comparison([&text("a"), &text("b")]);
    assert!(written.contains("label: '</script><script>a<!--'"), "{written}");
    assert_eq!((page.matches("<script").count(), page.matches("</script>").count()), (2, 2));
    assert!(data_of(&page)["changes"][0][2].as_str().unwrap().contains("</script><script>a<!--"));
}

#[test]
fn pages_of_comparisons_need_a_file() {
    let output = command::run(&["diff", "examples/gru.nnef", "examples/gru.nnef", "--page", "-"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot both go to standard output"));
}
