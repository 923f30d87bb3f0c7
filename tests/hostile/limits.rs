//! The limits of an input, their profiles, and the options that raise them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::command;
use nnef_flatten::{Options, eval, model};

const DOCUMENT: &str = "version 1.0;\ngraph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x); }\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

fn run(arguments: &[&str], path: &Path) -> Output {
    command::call(arguments).args([path]).run()
}

/// Checks how a run ends, and what it says.
fn ends(arguments: &[&str], path: &Path, status: i32, words: &str) {
    let output = run(arguments, path);
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {said}");
    assert!(said.contains(words), "{arguments:?}: {said}");
}

/// The numbers in a cell of the table, with their units.
fn number(cell: &str) -> f64 {
    let digits: String = cell.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    let unit = match cell.trim().rsplit(' ').next() {
        Some("MiB") => 1u64 << 20,
        Some("GiB") => 1 << 30,
        _ => 1,
    };
    digits.parse::<f64>().unwrap() * unit as f64
}

#[test]
fn the_table_tells_the_limits() {
    let page = include_str!("../../docs/command.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .skip_while(|line| !line.starts_with("| limit | default | untrusted"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let (options, models, evaluations) = (
        [Options::default(), Options::untrusted()],
        [model::Limits::default(), model::Limits::untrusted()],
        [eval::Limits::default(), eval::Limits::untrusted()],
    );
    let is = |i: usize| {
        let (options, model, evaluation) = (&options[i], &models[i], &evaluations[i]);
        [
            options.max_ops,
            8 * options.max_ops,
            (80 * options.max_ops).max(100_000_000),
            options.max_depth,
            options.max_length as u64,
            options.max_memory,
            options.max_memory,
            options.max_text,
            model.text,
            model.entries as u64,
            model.names as u64,
            model.unpacked,
            model.ratio,
            [1 << 40, 256 << 20][i],
            evaluation.max_items,
            8 * evaluation.max_items,
            evaluation.max_work,
            options.max_steps,
            options.max_bytes,
        ]
    };
    assert_eq!(rows.len(), is(0).len());
    let help = String::from_utf8(run(&["--help"], Path::new("-")).stdout).unwrap();
    for (i, row) in rows.iter().enumerate() {
        for profile in 0..2 {
            let (told, is) = (number(row[profile + 1]), is(profile)[i] as f64);
            assert!((told - is).abs() <= is / 50.0, "{}: {told}, and it is {is}", row[0]);
        }
        let option = row[3].split('`').nth(1).unwrap();
        assert!(help.contains(&format!("{option} <")), "{option}");
    }
    assert!(models.iter().all(|limits| limits.graph <= 2 << 30) && models[1].graph == options[1].max_text);
}

#[test]
fn the_profile_sets_limits_and_options_replace_them() {
    let folder = Folder::new();
    let long = folder.file("long.nnef", format!("{DOCUMENT}#{}\n", "a".repeat(9 << 20)));
    for command in [&["-q"][..], &["check"], &["fmt", "--check"], &["run"]] {
        ends(&[command, &["--limits", "untrusted"]].concat(), &long, 1, "the text has more than 8388608 bytes");
    }
    ends(&["check"], &long, 0, "ok");
    ends(&["check", "--limits", "untrusted", "--max-text", "10000000"], &long, 0, "ok");
    ends(&["--max-text", "10000000", "check", "--limits", "untrusted"], &long, 0, "ok");
    ends(&["check", "--limits", "strict"], &long, 2, "untrusted");
    let header = "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n";
    let graph = "graph G( x ) -> ( y ) { x = external(shape = [2]); y = f(x, 20000); }";
    let deep = format!(
        "{header}fragment f( x: tensor<scalar>, n: integer ) -> ( y: tensor<scalar> )
         {{ y = relu(f(x, n - 1)) if n > 0 else x; }}\n{graph}"
    );
    let deep = folder.file("deep.nnef", deep);
    ends(&["check"], &deep, 0, "ok");
    ends(&["check", "--limits", "untrusted"], &deep, 1, "raise the limit with --max-depth");
    ends(&["check", "--limits", "untrusted", "--max-depth", "30000"], &deep, 0, "ok");
    ends(&["check", "--max-memory", "100000"], &deep, 1, "raise the limit with --max-memory");
    let wide = DOCUMENT.replace("[2]", "[20000000]");
    let wide = folder.file("wide.nnef", wide);
    ends(&["-q", "--verify", "--limits", "untrusted"], &wide, 1, "raise it with --max-memory");
    let lists = format!("{header}{}", graph.replace("f(x, 20000)", "reshape(x, shape = [2] + [1] * 3000000)"));
    let lists = folder.file("lists.nnef", lists);
    ends(&["check", "--limits", "untrusted"], &lists, 1, "raise the limit with --max-length");
}

/// The library refuses long texts itself; other texts of a document count, too.
#[test]
fn long_texts_are_not_read() {
    let options = Options::default().with(|o| o.max_text = 100);
    let long = DOCUMENT.to_owned() + &" ".repeat(100);
    for (text, library) in [(long.as_str(), ""), (DOCUMENT, long.as_str())] {
        let options = options.clone().with(|o| o.libraries = vec![("library".to_owned(), library.to_owned())]);
        let parsed = nnef_flatten::parse("document", text.to_owned(), &options);
        let codes: Vec<&str> = parsed.diagnostics.iter().map(|found| found.code.as_str()).collect();
        assert_eq!(codes, ["E0002"]);
        let refused = nnef_flatten::expand(&parsed.document, &options).unwrap_err();
        assert_eq!(refused.iter().map(|found| found.code.as_str()).collect::<Vec<_>>(), ["E0002"]);
    }
}

/// Functions that call each other twice, down to one with these nodes.
fn doubling(depth: usize, nodes: &str) -> String {
    let head = "<domain: \"l\", opset_import: [\"\" : 17, \"l\" : 1]>";
    let functions: String =
        (1..=depth).map(|i| format!("{head} f{i} (a) => (b) {{ q = l.f{0} (a) b = l.f{0} (q) }}\n", i - 1)).collect();
    format!(
        "<ir_version: 8, opset_import: [\"\" : 17, \"l\" : 1]> g (float[2] x) => (float[2] y) {{ y = l.f{depth} (x) }}\n\
         {functions}{head} f0 (a) => (b) {{ {nodes} }}\n"
    )
}

/// Copies share constants and names in memory; what they take in a file is limited.
#[test]
fn copies_of_functions_are_limited_by_what_is_written() {
    let folder = Folder::new();
    let long = "n".repeat(20_000);
    for nodes in [
        format!("q = Constant <value_string = \"{long}\"> () b = Relu (a)"),
        format!("{long} = Relu (a) b = Neg ({long})"),
    ] {
        let many = folder.file("many.onnxtxt", doubling(14, &nodes));
        for to in ["onnx", "onnxtxt", "json"] {
            let untrusted = ["-q", "--limits", "untrusted", "--to", to];
            ends(&untrusted, &many, 1, "raise the limit with --max-memory");
        }
        let few = folder.file("few.onnxtxt", doubling(10, &nodes));
        let output = folder.0.path().join("few.onnx");
        ends(&["-q", "--limits", "untrusted", "-o", output.to_str().unwrap()], &few, 0, "");
        assert!(std::fs::metadata(&output).unwrap().len() > 20_000 << 10);
    }
    // The graph that a model is seen as counts, too.
    let nodes = folder.file("nodes.onnxtxt", doubling(12, "b = Relu (a)"));
    ends(&["-q", "--max-memory", "1200000", "--to", "onnx"], &nodes, 0, "");
    ends(&["-q", "--max-memory", "1200000", "--to", "json"], &nodes, 1, "raise the limit with --max-memory");
    ends(&["-q", "--max-memory", "1200000", "--source-map", "-", "-o", "/dev/null"], &nodes, 1, "E0813");
}

/// Declared extents and counts are any numbers: they are compared with the limits before they are memory. What cannot be
/// translated is refused, and the message names the option that helps.
#[test]
fn extents_are_not_memory() {
    let folder = Folder::new();
    let model = |nodes: &str, outputs: &str, constants: &str, inputs: &str| {
        format!("<ir_version: 11, opset_import: [\"\": 25]>\ng ({inputs}) => ({outputs})\n{constants}{{\n{nodes}\n}}\n")
    };
    let cases = [
        ("y = Trilu (x)", "float[A, B] y", "", "float[100000, 100000] x", "--max-memory"),
        ("y = EyeLike (x)", "float[A, B] y", "", "float[100000, 100000] x", "--max-memory"),
        (
            "y = OneHot (i, k, v)",
            "float[A, B] y",
            "<float[2] v = {0.0, 1.0}, int64 k = {17179869184}>",
            "int64[2] i",
            "--max-memory",
        ),
        ("y, z = Split <num_outputs = 4611686018427387904> (x)", "float[A] y", "", "float[4] x", "`num_outputs` is"),
        (
            "s = SplitToSequence <axis = 0> (x)\ny = SequenceLength (s)",
            "int64 y",
            "",
            "float[4611686018427387904] x",
            "operations",
        ),
        ("y, z = Dropout (x)", "float[A, B] y, bool[A, B] z", "", "float[100000, 100000] x", "--max-memory"),
        (
            "y = Resize <mode = \"linear\"> (x, , f)",
            "float[A] y",
            "<float[1] f = {0.5}>",
            "float[1000000] x",
            "--max-memory",
        ),
    ];
    for (nodes, outputs, constants, inputs, words) in cases {
        let path = folder.file("extent.onnxtxt", model(nodes, outputs, constants, inputs));
        for limits in ["default", "untrusted"] {
            ends(&["-q", "--to", "nnef", "--limits", limits], &path, 1, words);
        }
    }
}

/// What runs counts for its memory: texts for their bytes, small tensors for what each takes, aliases for nothing.
#[test]
fn values_count_for_their_memory() {
    let folder = Folder::new();
    let model = |nodes: &str, outputs: &str, constants: &str| {
        format!("<ir_version: 11, opset_import: [\"\": 25]>\ng () => ({outputs})\n<{constants}>\n{{\n{nodes}\n}}\n")
    };
    let long = "a".repeat(1000);
    let body = "int64 i, bool c, string[1] a) => (bool d, string[1] e, string[1] f) { d = Identity (c)\n e = StringConcat (a, q)\n f = Identity (e) }";
    let collected = format!("y, z = Loop <body = b ({body}> (k, , s)");
    let texts = format!("string[1] s = {{\"a\"}}, string[1] q = {{\"{long}\"}}, int64 k = {{20000}}");
    let letters = ('a'..='z').map(|letter| letter.to_string()).collect::<Vec<_>>().join(",");
    let joined = letters.replace(',', "");
    let einsum = format!("y = Einsum <equation = \"{letters}->{joined}\"> ({})", vec!["v"; 26].join(", "));
    let sequence = "a = ConstantOfShape (k)\ns = SplitToSequence <axis = 0> (a)\ny = SequenceLength (s)";
    let cases = [
        (model(&collected, "string[1] y, string[A, 1] z", &texts), 1),
        (model(&einsum, &format!("float[{letters}] y"), "float[2] v = {1.0, 2.0}"), 1),
        (model(sequence, "int64 y", "int64[1] k = {4000000}"), 1),
        (model(sequence, "int64 y", "int64[1] k = {40000}"), 0),
    ];
    for (text, status) in cases {
        let path = folder.file("memory.onnxtxt", text);
        let words = if status == 1 { "--max-memory" } else { "" };
        ends(&["run", "--limits", "untrusted"], &path, status, words);
    }
    let aliases: String = (0..300).map(|i| format!("t{} = Identity (t{i})\n", i + 1)).collect();
    let uses: String = (1..=300).map(|i| format!("r{i} = ReduceSum <keepdims = 0> (t{i})\n")).collect();
    let sum: Vec<String> = (1..=300).map(|i| format!("r{i}")).collect();
    let aliases = format!("t0 = ConstantOfShape (k)\n{aliases}{uses}y = Sum ({})", sum.join(", "));
    let path = folder.file("aliases.onnxtxt", model(&aliases, "float y", "int64[1] k = {100000}"));
    ends(&["run", "--max-memory", "30MB"], &path, 0, "");
}

/// A small input may ask for an output of any size: it is refused, and a file is not there then.
#[test]
fn outputs_are_limited() {
    let folder = Folder::new();
    let long = "a".repeat(100_000);
    let text = format!(
        "<ir_version: 11, opset_import: [\"\": 25]>\ng () => (string[A] y)\n<string[1] s = {{\"{long}\"}}, int64[1] k = {{1000}}>\n{{\ny = Expand (s, k)\n}}\n"
    );
    let path = folder.file("endless.onnxtxt", text);
    ends(&["run", "--max-output", "1MiB", "-o", "/dev/null"], &path, 1, "--max-output");
    ends(&["run", "--limits", "untrusted", "--max-output", "1MiB"], &path, 1, "E0819");
    let plain = folder.file("plain.nnef", DOCUMENT);
    let output = folder.0.path().join("plain.svg");
    ends(&["-q", "--max-output", "1KiB", "-o", output.to_str().unwrap()], &plain, 1, "E0819");
    assert!(!output.exists());
    ends(&["-q", "--max-output", "1MiB", "-o", output.to_str().unwrap()], &plain, 0, "");
    assert!(output.exists());
    // What is read back before it gets its place, and documents that are changed in theirs.
    let flat = folder.0.path().join("plain.onnx");
    ends(&["-q", "--verify", "--max-output", "10", "-o", flat.to_str().unwrap()], &plain, 1, "E0819");
    assert!(!flat.exists());
    let text = format!("\n\n\n{DOCUMENT}");
    let spaced = folder.file("spaced.nnef", &text);
    ends(&["fmt", "--max-output", "10"], &spaced, 1, "E0819");
    assert_eq!(std::fs::read_to_string(&spaced).unwrap(), text);
}
