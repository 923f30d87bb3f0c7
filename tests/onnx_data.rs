//! External data of models of ONNX: they are where the command reads and writes a model, or a message says why not.
#![cfg(all(feature = "cli", feature = "onnx"))]
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn run(args: &[&Path], stdin: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nnef-flatten"));
    command.args(["--message-format", "json"]).args(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The command may end without reading its input.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

/// The exit status, and the messages.
fn told(args: &[&Path]) -> (i32, String) {
    let output = run(args, "");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

const WEIGHTS: [u8; 16] = [7; 16];

/// A model whose data are in `w.bin` and `part/v.bin`, in the folder `from` of a folder, which has an empty folder `to`.
fn model(place: &Path) -> [PathBuf; 3] {
    let [from, to] = ["from", "to"].map(|name| place.join(name));
    fs::create_dir_all(from.join("part")).unwrap();
    fs::create_dir(&to).unwrap();
    fs::write(from.join("w.bin"), WEIGHTS).unwrap();
    fs::write(from.join("part/v.bin"), [9; 8]).unwrap();
    let text = r#"<ir_version: 10, opset_import: ["" : 21, "l" : 1]>
        g (float[2] x) => (float[2] y) <float[2] w = ["location" : "w.bin", "offset" : "8", "length" : "8"]>
        { t = Add (x, w) y = l.f (t) }
        <domain: "l", opset_import: ["" : 21]> f (a) => (b)
        { v = Constant <value = float[2] v = ["location" : "part/v.bin"]> () b = Mul (a, v) }"#;
    let model = from.join("m.onnxtxt");
    fs::write(&model, text).unwrap();
    [model, from, to]
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn data_follow_a_model_into_another_folder() {
    let place = tempfile::tempdir().unwrap();
    let [model, from, to] = model(place.path());
    for name in ["flat.onnx", "flat.onnxtxt"] {
        let flat = to.join(name);
        assert_eq!(told(&[&model, Path::new("-o"), &flat]), (0, String::new()));
        assert_eq!(fs::read(to.join("w.bin")).unwrap(), WEIGHTS);
        assert_eq!(fs::read(to.join("part/v.bin")).unwrap(), [9; 8]);
        assert_eq!(told(&[Path::new("-q"), Path::new("check"), &flat]), (0, String::new()));
    }
    assert_eq!(files(&to), ["flat.onnx", "flat.onnxtxt", "part", "w.bin"]);
    // The folder of the model has them already.
    assert_eq!(told(&[&model, Path::new("-o"), &from.join("flat.onnx")]), (0, String::new()));
    assert_eq!(files(&from), ["flat.onnx", "m.onnxtxt", "part", "w.bin"]);
}

#[test]
fn other_files_are_not_replaced() {
    let place = tempfile::tempdir().unwrap();
    let [model, from, to] = model(place.path());
    fs::create_dir(to.join("part")).unwrap();
    fs::write(to.join("part/v.bin"), "of another model").unwrap();
    let (status, message) = told(&[&model, Path::new("-o"), &to.join("flat.onnx")]);
    assert!(status == 2 && message.contains("part/v.bin"), "{message}");
    assert_eq!((files(&to), files(&to.join("part"))), (vec!["part".to_owned()], vec!["v.bin".to_owned()]));
    // Neither are the data of the model.
    let (status, message) = told(&[&model, Path::new("--to"), Path::new("onnx"), Path::new("-o"), &from.join("w.bin")]);
    assert!(status == 2 && message.contains("w.bin"), "{message}");
    assert_eq!(fs::read(from.join("w.bin")).unwrap(), WEIGHTS);
}

#[test]
fn data_that_cannot_follow_are_named() {
    let place = tempfile::tempdir().unwrap();
    let [model, _, to] = model(place.path());
    let named = |output: &Output, status| {
        let message = String::from_utf8(output.stderr.clone()).unwrap();
        assert_eq!(output.status.code(), Some(status), "{message}");
        assert!(["E2061", "w.bin", "part/v.bin"].iter().all(|part| message.contains(part)), "{message}");
    };
    let to_onnx = [Path::new("--to"), Path::new("onnx")];
    named(&run(&[&to_onnx[..], &[&model]].concat(), ""), 0);
    named(&run(&[&to_onnx[..], &[&model, Path::new("--strict")]].concat(), ""), 1);
    if cfg!(unix) {
        named(&run(&[&to_onnx[..], &[&model, Path::new("-o"), Path::new("/dev/null")]].concat(), ""), 0);
    }
    let text = fs::read_to_string(&model).unwrap();
    let stream = [Path::new("--from"), Path::new("onnxtxt"), Path::new("-")];
    named(&run(&[&stream[..], &to_onnx].concat(), &text), 0);
    named(&run(&[&stream[..], &[Path::new("-o"), &to.join("flat.onnx")]].concat(), &text), 0);
    named(&run(&[&[Path::new("check")], &stream[..]].concat(), &text), 0);
    // No data are in these.
    let json = run(&[Path::new("--to"), Path::new("json"), &model], "");
    assert_eq!((json.status.code(), json.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn models_without_their_data_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let [model, from, to] = model(place.path());
    fs::remove_file(from.join("part/v.bin")).unwrap();
    for args in [&[&model, Path::new("-o"), &to.join("flat.onnx")][..], &[Path::new("check"), &model]] {
        let (status, message) = told(args);
        assert!(status == 1 && message.contains("E2060") && message.contains("part/v.bin"), "{message}");
    }
    assert_eq!(files(&to), [""; 0]);
}

/// What a protobuf file may have that no program writes on purpose.
#[test]
fn unusual_files_are_read_and_kept() {
    let place = tempfile::tempdir().unwrap();
    let [empty, odd, flat] = ["empty.onnx", "odd.onnx", "flat.onnx"].map(|name| place.path().join(name));
    fs::write(&empty, "").unwrap();
    let (status, message) = told(&[&empty, Path::new("-o"), &flat]);
    assert!(status == 1 && message.contains("E0004") && !flat.exists(), "{message}");
    let text = r#"<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { [name] y = Neg (x) }"#;
    fs::write(place.path().join("m.onnxtxt"), text).unwrap();
    assert_eq!(told(&[&place.path().join("m.onnxtxt"), Path::new("-o"), &odd]), (0, String::new()));
    let mut bytes = fs::read(&odd).unwrap();
    let at = bytes.windows(4).position(|part| part == b"name").unwrap();
    bytes[at] = 0xFF;
    // A group with the number 31.
    bytes.extend(b"\xfb\x01\x08\x05\xfc\x01");
    fs::write(&odd, &bytes).unwrap();
    let (status, message) = told(&[&odd, Path::new("-o"), &flat]);
    assert!(status == 0 && message.contains("E2013"), "{message}");
    assert_eq!(fs::read(&flat).unwrap(), bytes);
    let (status, message) = told(&[&odd, Path::new("-o"), &place.path().join("flat.onnxtxt")]);
    assert!(status == 1 && message.contains("E2011"), "{message}");
}
