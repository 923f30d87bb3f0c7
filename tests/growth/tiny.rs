//! What tiny documents cost: tables that do not depend on a document are made once a process, so that the cost of a
//! document is that of its own few lines.
//!
//! Instructions are counted by valgrind, because their number is nearly the same in each run, however busy the machine
//! is. Without valgrind the test is skipped. It takes minutes, so that it runs by itself:
//! `cargo test --test growth tiny -- --ignored`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::common::left_out;
use nnef_flatten::eval::Limits;
use nnef_flatten::onnx::Document;
use nnef_flatten::source::Sources;
use nnef_flatten::tensor::Tensor;
use nnef_flatten::{Lower, Options, check, expand, open, parse};

/// The variables that tell the other process which case it runs, and how often.
const CASE: &str = "TINY_CASE";
const TIMES: &str = "TINY_TIMES";

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

/// Runs a case as often as the variables say: what the test below counts. Without them it has nothing to do.
#[test]
fn case() {
    let (Ok(case), Ok(times)) = (std::env::var(CASE), std::env::var(TIMES)) else { return };
    for _ in 0..times.parse::<usize>().unwrap() {
        if let Some((_, _, entry)) = ENTRIES.iter().find(|entry| entry.0 == case) {
            entry();
            continue;
        }
        let (notation, verb) = case.split_once(' ').unwrap();
        let (_, text, input) = DOCUMENTS.iter().find(|document| document.0 == notation).unwrap();
        run(notation, text, input, verb);
    }
}

/// The instructions of a process that runs a case; none without valgrind.
fn instructions(case: &str, times: usize) -> Option<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    command.arg(std::env::current_exe().ok()?).args(["--exact", "tiny::case", "--test-threads=1"]);
    let output = command.env(CASE, case).env(TIMES, times.to_string()).stdout(Stdio::null()).output().ok()?;
    assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stderr));
    crate::counted(&output)
}

#[test]
#[ignore = "takes minutes: cargo test --test growth tiny -- --ignored"]
fn tiny_documents_cost_little() {
    let of_verbs = |(notation, most): &(&str, [u64; 4])| {
        let case = |(verb, most): (&str, &u64)| (format!("{notation} {verb}"), *most);
        VERBS.into_iter().zip(most).map(case).collect::<Vec<_>>()
    };
    let mut cases: Vec<(String, u64)> = MOST.iter().flat_map(of_verbs).collect();
    cases.extend(ENTRIES.iter().map(|entry| (entry.0.to_owned(), entry.1)));
    let mut more = Vec::new();
    for (case, most) in cases {
        let [Some(few), Some(many)] = [1, 11].map(|times| instructions(&case, times)) else {
            left_out("valgrind is not installed");
            return;
        };
        let each = many.saturating_sub(few) / 10;
        println!("{case}: {each} of {most}");
        // A process in which no case runs takes nothing for it.
        if each > most || each < most / 2 {
            more.push((case, each, most));
        }
    }
    assert!(more.is_empty(), "{more:?}");
}
