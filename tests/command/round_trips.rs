//! What the command writes it reads, checks and writes again unchanged, for every pair of input and output notation.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::common::command::fast::call;
use crate::common::command::stderr;

/// An output notation: its name, the extension of its files, and whether a flat file is the text of its own flat graph.
/// The operations of PNNX's expressions are joined when a graph is written, and expanded when it is flattened.
const OUTPUTS: &[(&str, &str, bool)] = &[
    ("nnef", "nnef", true),
    ("nnef-draft", "nnef", true),
    ("onnx", "onnx", true),
    ("onnxtxt", "onnxtxt", true),
    ("pnnx", "pnnx.param", false),
];

/// Inputs, as words of a command, and the notations that they can be written in.
const INPUTS: &[(&str, &str)] = &[
    ("moments.nnef", "nnef onnx onnxtxt pnnx"),
    ("model", "nnef onnx onnxtxt pnnx"),
    ("quantized.nnef", "nnef"),
    ("--from nnef-draft draft.nnef", "nnef nnef-draft onnx onnxtxt pnnx"),
    ("loops/elman.json --unroll", "nnef onnx onnxtxt pnnx"),
    ("loops/lstm.json --unroll", "nnef onnx onnxtxt pnnx"),
    ("loops/decode.json", ""),
    ("loops/scan.nnef", "nnef onnx onnxtxt"),
    ("loops/scan.nnef --unroll", "nnef onnx onnxtxt pnnx"),
    ("loops/clauses.nnef --unroll", "nnef onnx onnxtxt pnnx"),
    ("onnx/dense.onnxtxt", "onnx onnxtxt"),
    ("pnnx/centre.pnnx.param", "nnef pnnx"),
    ("pnnx/centre.pnnx.param --lower all", "nnef onnx onnxtxt pnnx"),
];

const DRAFT: &str = "version 1.0
graph net( x ) -> ( y )
{
x = external(shape = [2,3])
y = relu(x)
}
";

/// Runs the command with words that contain no blanks, in a folder.
fn run(words: &str, folder: &Path) -> Output {
    call(words.split_whitespace()).within(folder).run()
}

/// Copies the examples into a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copied = to.join(path.file_name().unwrap());
        if path.is_dir() { copy(&path, &copied) } else { fs::copy(&path, &copied).map(|_| ()).unwrap() }
    }
}

#[test]
fn what_is_written_is_read_again_unchanged() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"), folder);
    fs::write(folder.join("draft.nnef"), DRAFT).unwrap();
    for (input, wanted) in INPUTS {
        let mut written = Vec::new();
        for (name, extension, is_fixed) in OUTPUTS {
            let [first, second, third] = ["first", "second", "third"].map(|stem| format!("{stem}.{extension}"));
            let ran = run(&format!("-q {input} --to {name} -o {first}"), folder);
            if ran.status.code() != Some(0) {
                // A pair is refused with a reason, and leaves no file.
                assert!(!ran.stderr.is_empty() && !folder.join(&first).exists(), "{input} to {name}");
                continue;
            }
            written.push(*name);
            let case = format!("{input} to {name}");
            let accepted = |words: &str| {
                let ran = run(words, folder);
                assert_eq!(ran.status.code(), Some(0), "{case}: {words}: {}", stderr(&ran));
            };
            let same = |one: &str, other: &str| {
                let [one, other] = [one, other].map(|name| fs::read(folder.join(name)).unwrap());
                assert!(one == other, "{case}:\n{}", String::from_utf8_lossy(&other));
            };
            accepted(&format!("check -q --from {name} {first}"));
            accepted(&format!("-q --from {name} --lower none --to {name} -o {second} {first}"));
            same(&first, &second);
            accepted(&format!("-q --from {name} --to {name} -o {second} {first}"));
            if *is_fixed {
                same(&first, &second);
            }
            accepted(&format!("-q --from {name} --to {name} -o {third} {second}"));
            same(&second, &third);
            if name.starts_with("nnef") {
                accepted(&format!("fmt --check --from {name} {first}"));
                accepted(&format!("-q {input} --to {name} --annotate -o {third}"));
                accepted(&format!("fmt --check --from {name} {third}"));
                accepted(&format!("-q --from {name} --to {name} -o {second} {third}"));
                same(&first, &second);
            }
            fs::remove_file(folder.join(&first)).unwrap();
        }
        assert_eq!(written.join(" "), *wanted, "{input}");
    }
}
