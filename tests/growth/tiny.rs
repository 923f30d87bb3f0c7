//! What tiny documents cost: tables that do not depend on a document are made once a process, so that the cost of a
//! document is that of its own few lines.
//!
//! Instructions are counted by valgrind, because their number is nearly the same in each run, however busy the machine
//! is. Without valgrind the test is skipped. All cases run in one process, which takes seconds to begin under valgrind:
//! `cargo test --test growth tiny -- --ignored`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::fs::read_to_string;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::common::left_out;
use nnef_flatten::eval::Limits;
use nnef_flatten::onnx::Document;
use nnef_flatten::source::Sources;
use nnef_flatten::tensor::Tensor;
use nnef_flatten::{Lower, Options, check, expand, open, parse};

/// The variable that tells the other process to run the cases.
const COUNTED: &str = "TINY_COUNTED";

/// How often each case runs: the first time makes the tables, the others count.
const TIMES: usize = 5;

/// The notations with a document each, and the name of its input.
const DOCUMENTS: &[(&str, &str, &str)] = &[
    ("nnef", "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = mul(x, 2.0); }", "x"),
    ("nnef-draft", "version 1.0\ngraph G( x ) -> ( y ) { x = external(shape = [2]) y = mul(x, 2.0) }", "x"),
    (
        "loops",
        r#"{"inputs": {"x": {"dtype": "float32", "shape": [2]}},
        "layers": [{"op": "add", "name": "y", "inputs": ["x", "x"]}], "outputs": ["y"]}"#,
        "x",
    ),
    ("onnxtxt", "<ir_version: 10, opset_import: [\"\" : 21]>\ng (float[2] x) => (float[2] y) { y = Add (x, x) }", "x"),
    (
        "pnnx",
        "7767517\n3 2\npnnx.Input in 0 1 x #x=(2)f32\npnnx.Expression e 1 1 x y expr=mul(@0,2)\npnnx.Output out 1 0 y\n",
        "x",
    ),
    ("ncnn", "7767517\n2 2\nInput x 0 1 x 0=2\nReLU r 1 1 x y\n", "x"),
];

/// The most instructions of the debug build that a document of each notation takes, by verb: check, flatten, JSON,
/// evaluate. A quarter more than was measured.
const MOST: &[(&str, [u64; 4])] = &[
    ("nnef", [760_000, 770_000, 865_000, 870_000]),
    ("nnef-draft", [720_000, 730_000, 825_000, 830_000]),
    ("loops", [270_000, 510_000, 605_000, 370_000]),
    ("onnxtxt", [338_000, 363_000, 439_000, 271_000]),
    ("pnnx", [400_000, 425_000, 515_000, 515_000]),
    ("ncnn", [305_000, 305_000, 405_000, 410_000]),
];

const VERBS: [&str; 4] = ["check", "flatten", "json", "evaluate"];

/// The entry points of a notation of their own, with the most instructions that a document takes.
const ENTRIES: &[(&str, u64, fn())] = &[
    ("parse", 185_000, || drop(parse("d", DOCUMENTS[0].1.to_owned(), &Options::default()))),
    ("parse and check", 345_000, || {
        let options = Options::default();
        drop(check(&parse("d", DOCUMENTS[0].1.to_owned(), &options).document, &options));
    }),
    ("parse, expand and write", 765_000, || {
        let options = Options::default();
        let expansion = expand(&parse("d", DOCUMENTS[0].1.to_owned(), &options).document, &options).unwrap();
        expansion.graph.write_nnef(&mut Vec::new()).unwrap();
    }),
    ("ONNX, all lowered", 170_000, || {
        let options = Options::default().with(|options| options.lower = Lower::All);
        model().flatten(&options).unwrap();
    }),
    ("ONNX, folded", 260_000, || {
        model().fold(&Options::default(), Limits::default()).unwrap();
    }),
    ("ONNX, annotated", 150_000, || {
        model().annotate(&Options::default());
    }),
    ("protobuf, two calls expanded and written", 500_000, || {
        let input = open(("m", CALLS.clone()), &Options::default()).unwrap();
        input.print("onnx", &mut Vec::new()).unwrap();
    }),
];

/// A model in protobuf with two calls of a function.
static CALLS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let text = "<ir_version: 8, opset_import: [\"\" : 17, \"local\" : 1]>
        g (float[2] x) => (float[2] y) { t = local.scaled (x) y = local.scaled (t) }
        <domain: \"local\", opset_import: [\"\" : 17]> scaled (a) => (b) { s = Add (a, a) b = Mul (s, a) }";
    Document::parse("d", text, &mut Sources::new(), &Options::default()).0.unwrap().to_protobuf()
});

fn model() -> Document {
    Document::parse("d", DOCUMENTS[3].1, &mut Sources::new(), &Options::default()).0.unwrap()
}

fn run(notation: &str, text: &str, input: &str, verb: &str) {
    let options = Options::default();
    let opened = open((notation, text), &options).unwrap();
    assert_eq!(opened.notation(), notation);
    match verb {
        "check" => assert!(!opened.check().unwrap().has_errors()),
        "flatten" => drop(opened.flatten().unwrap()),
        "json" => drop(opened.print("json", &mut Vec::new()).unwrap()),
        _ => {
            let x = Tensor::scalars(&[2], vec![0.5, 1.5]).unwrap();
            drop(opened.evaluate(&[(input.to_owned(), x)]).unwrap());
        }
    }
}

/// What is counted.
struct Case {
    name: String,
    /// The most instructions that it takes.
    most: u64,
    run: Box<dyn Fn()>,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (notation, most) in MOST {
        let (_, text, input) = DOCUMENTS.iter().find(|document| document.0 == *notation).unwrap();
        for (verb, &most) in VERBS.into_iter().zip(most) {
            let run = Box::new(move || run(notation, text, input, verb));
            cases.push(Case { name: format!("{notation} {verb}"), most, run });
        }
    }
    for &(name, most, entry) in ENTRIES {
        cases.push(Case { name: name.to_owned(), most, run: Box::new(entry) });
    }
    cases
}

/// Valgrind writes what it counted, and counts anew, whenever this is called.
#[inline(never)]
fn mark() {
    std::hint::black_box(());
}

/// Runs the cases if the variable is there: what the test below counts. Without it there is nothing to do.
#[test]
fn counted_cases() {
    if std::env::var_os(COUNTED).is_some() {
        for case in cases() {
            for _ in 0..TIMES {
                mark();
                (case.run)();
            }
        }
        mark();
    }
}

/// The instructions of each run of the cases, one after another; none without valgrind.
fn instructions() -> Option<Vec<u64>> {
    let folder = tempfile::tempdir().ok()?;
    let counts = folder.path().join("counts");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--combine-dumps=yes", "--dump-line=no", "--dump-before=*::tiny::mark*"]);
    command.arg(format!("--callgrind-out-file={}", counts.display()));
    command.arg(std::env::current_exe().ok()?).args(["--exact", "tiny::counted_cases", "--test-threads=1"]);
    let output = command.env(COUNTED, "yes").stdout(Stdio::null()).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = read_to_string(counts).unwrap();
    let parts = text.lines().filter_map(|line| line.strip_prefix("totals: ")).map(|count| count.parse().unwrap());
    let mut parts: Vec<u64> = parts.collect();
    // What was before the first run, and after the last one.
    parts.remove(0);
    parts.pop();
    Some(parts)
}

#[test]
#[ignore = "needs valgrind: cargo test --test growth tiny -- --ignored"]
fn tiny_documents_cost_little() {
    let cases = cases();
    let Some(counts) = instructions() else { return left_out("valgrind is not installed") };
    assert_eq!(counts.len(), cases.len() * TIMES, "runs of the cases");
    let mut more = Vec::new();
    for (Case { name, most, .. }, counts) in cases.iter().zip(counts.chunks(TIMES)) {
        let each = counts[1..].iter().sum::<u64>() / (TIMES as u64 - 1);
        println!("{name}: {each} of {most}");
        // What does not run takes nothing.
        if each > *most || each < most / 2 {
            more.push((name, each, most));
        }
    }
    assert!(more.is_empty(), "{more:?}");
}
