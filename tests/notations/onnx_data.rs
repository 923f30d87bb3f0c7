//! External data of models of ONNX: they are where the command reads and writes a model, or a message says why not.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::command;

fn run(args: &[&Path], stdin: &str) -> Output {
    command::call(["--message-format", "json"]).args(args).stdin(stdin).run()
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
    assert_eq!(fs::read(to.join("part/v.bin")).unwrap(), b"of another model");
    // Neither are the data of the model.
    let (status, message) = told(&[&model, Path::new("--to"), Path::new("onnx"), Path::new("-o"), &from.join("w.bin")]);
    assert!(status == 2 && message.contains("this file has external data of the model, `w.bin`"), "{message}");
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

/// The paths of all files and folders in a folder; those of folders end in a slash.
fn tree(folder: &Path) -> Vec<String> {
    let mut paths = Vec::new();
    for name in files(folder) {
        let path = folder.join(&name);
        if path.is_dir() {
            paths.push(format!("{name}/"));
            paths.extend(tree(&path).into_iter().map(|inner| format!("{name}/{inner}")));
        } else {
            paths.push(name);
        }
    }
    paths
}

/// The names and the bytes of an archive; its entries must not depend on when it is written.
fn entries(archive: impl Read) -> Vec<(String, Vec<u8>)> {
    let entry = |entry: std::io::Result<tar::Entry<_>>| {
        let mut entry = entry.unwrap();
        assert_eq!(entry.header().mtime().unwrap(), 315_532_800);
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (name, bytes)
    };
    tar::Archive::new(archive).entries().unwrap().map(entry).collect()
}

#[test]
fn data_follow_a_model_into_a_new_folder() {
    let place = tempfile::tempdir().unwrap();
    let [model, from, to] = model(place.path());
    let to_onnx = [Path::new("--to"), Path::new("onnx")];
    // A folder is one that exists, or a name with a slash; the model keeps its name.
    for (output, form, name) in [("to", &[][..], "m.onnxtxt"), ("new/", &[], "m.onnxtxt"), ("pb/", &to_onnx, "m.onnx")]
    {
        let output = place.path().join(output);
        assert_eq!(told(&[form, &[&model, Path::new("-o"), &output]].concat()), (0, String::new()));
        assert_eq!(tree(&output), [name, "part/", "part/v.bin", "w.bin"]);
        assert_eq!(fs::read(output.join("w.bin")).unwrap(), WEIGHTS);
        assert_eq!(fs::read(output.join("part/v.bin")).unwrap(), [9; 8]);
        assert_eq!(told(&[Path::new("-q"), Path::new("check"), &output.join(name)]), (0, String::new()));
    }
    // They are copies: a program that adds data at the end of such a file does not change those of the input.
    fs::OpenOptions::new().append(true).open(to.join("w.bin")).unwrap().write_all(b"more").unwrap();
    assert_eq!(fs::read(from.join("w.bin")).unwrap(), WEIGHTS);
    // The folder of the input is where a folder is usually written to.
    let within = from.join("flat/");
    assert_eq!(told(&[&model, Path::new("-o"), &within]), (0, String::new()));
    assert_eq!(tree(&within), ["m.onnxtxt", "part/", "part/v.bin", "w.bin"]);
    assert_eq!(files(place.path()), ["from", "new", "pb", "to"]);
}

#[test]
fn data_follow_a_model_into_an_archive() {
    let place = tempfile::tempdir().unwrap();
    let [model, from, to] = model(place.path());
    // Larger than any buffer.
    let large = [WEIGHTS.as_slice(), &vec![3; 300_000]].concat();
    fs::write(from.join("w.bin"), &large).unwrap();
    assert_eq!(told(&[&model, Path::new("-o"), &to]), (0, String::new()));
    let wanted = ["m.onnxtxt", "w.bin", "part/v.bin"].map(|name| (name.to_owned(), fs::read(to.join(name)).unwrap()));
    for name in ["flat.tar", "flat.tar.gz", "flat.tgz"] {
        let archive = place.path().join(name);
        // The second time, it replaces the first one.
        for _ in 0..2 {
            assert_eq!(told(&[&model, Path::new("-o"), &archive]), (0, String::new()));
            let file = fs::File::open(&archive).unwrap();
            let found = if name == "flat.tar" { entries(file) } else { entries(flate2::read::GzDecoder::new(file)) };
            assert!(found == wanted, "{name}");
        }
    }
    assert_eq!(files(place.path()), ["flat.tar", "flat.tar.gz", "flat.tgz", "from", "to"]);
}

/// A model with constants at some locations, each of four floats.
fn constants(at: &Path, locations: &[&str]) {
    let pairs = |(i, location): (usize, &&str)| format!("float[4] w{i} = [\"location\" : \"{location}\"]");
    let all: Vec<String> = locations.iter().enumerate().map(pairs).collect();
    let head = "<ir_version: 10, opset_import: [\"\" : 21]> g (float[4] x) => (float[4] y)";
    fs::write(at, format!("{head} <{}> {{ y = Neg (x) }}", all.join(", "))).unwrap();
}

#[test]
fn a_file_is_written_once() {
    let place = tempfile::tempdir().unwrap();
    let [_, from, to] = model(place.path());
    let (spelled, archive) = (from.join("spelled.onnxtxt"), place.path().join("flat.tar"));
    constants(&spelled, &["w.bin", "./w.bin", "part/../w.bin", "away/../w.bin"]);
    // Paths through a folder need the folder.
    fs::create_dir(from.join("away")).unwrap();
    assert_eq!(told(&[&spelled, Path::new("-o"), &to]), (0, String::new()));
    assert_eq!(tree(&to), ["away/", "part/", "spelled.onnxtxt", "w.bin"]);
    assert_eq!(told(&[Path::new("-q"), Path::new("check"), &to.join("spelled.onnxtxt")]), (0, String::new()));
    assert_eq!(told(&[&spelled, Path::new("-o"), &archive]), (0, String::new()));
    let found: Vec<String> = entries(fs::File::open(&archive).unwrap()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(found, ["spelled.onnxtxt", "part/", "away/", "w.bin"]);
    // Beside a file, too.
    let beside = place.path().join("beside");
    fs::create_dir(&beside).unwrap();
    assert_eq!(told(&[&spelled, Path::new("-o"), &beside.join("flat.onnx")]), (0, String::new()));
    assert_eq!(tree(&beside), ["away/", "flat.onnx", "part/", "w.bin"]);
}

#[test]
fn names_that_do_not_fit_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let [_, from, _] = model(place.path());
    let (new, archive) = (place.path().join("new/"), place.path().join("new.tgz"));
    let to_onnx = [Path::new("--to"), Path::new("onnx")];
    fs::write(from.join("n.onnx"), WEIGHTS).unwrap();
    constants(&from.join("n.onnxtxt"), &["n.onnx"]);
    let refused = |model: &str, code: &str, message: &str| {
        for output in [&new, &archive] {
            let (status, told) = told(&[&to_onnx[..], &[&from.join(model), Path::new("-o"), output]].concat());
            assert!(status == 1 && told.contains(code) && told.contains(message), "{told}");
        }
        assert_eq!(files(place.path()), ["from", "to"]);
    };
    refused("n.onnxtxt", "E1204", "`n.onnx` is the name of the model and of its external data");
    constants(&from.join("out.onnxtxt"), &["../w.bin"]);
    refused("out.onnxtxt", "E2042", "../w.bin");
    if cfg!(unix) {
        fs::write(from.join("w\tv"), WEIGHTS).unwrap();
        constants(&from.join("control.onnxtxt"), &["w\tv"]);
        refused("control.onnxtxt", "E1202", "has a control character");
    }
}

#[cfg(unix)]
#[test]
fn names_that_stand_for_two_files_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let [_, from, _] = model(place.path());
    fs::create_dir(from.join("part/deep")).unwrap();
    fs::write(from.join("part/w.bin"), [1; 16]).unwrap();
    std::os::unix::fs::symlink("part/deep", from.join("link")).unwrap();
    let linked = from.join("linked.onnxtxt");
    // The second path is `part/w.bin`, which the first name would be for, too.
    constants(&linked, &["w.bin", "link/../w.bin"]);
    let (status, message) = told(&[&linked, Path::new("-o"), &place.path().join("new/")]);
    assert!(status == 1 && message.contains("E1204") && message.contains("`w.bin` denotes two files"), "{message}");
    // A link is replaced by a file.
    std::os::unix::fs::symlink("part/v.bin", from.join("v")).unwrap();
    fs::write(from.join("part/v.bin"), WEIGHTS).unwrap();
    constants(&linked, &["v"]);
    assert_eq!(told(&[&linked, Path::new("-o"), &place.path().join("new/")]), (0, String::new()));
    let copy = place.path().join("new/v");
    assert!(fs::symlink_metadata(&copy).unwrap().is_file() && fs::read(copy).unwrap() == WEIGHTS);
}

#[test]
fn models_of_streams_are_written_without_their_data() {
    let place = tempfile::tempdir().unwrap();
    let [model, ..] = model(place.path());
    let text = fs::read_to_string(&model).unwrap();
    let stream = [Path::new("--from"), Path::new("onnxtxt"), Path::new("-"), Path::new("-o")];
    for (i, (form, name)) in [("onnx", "model.onnx"), ("onnxtxt", "model.onnxtxt")].into_iter().enumerate() {
        let new = place.path().join(format!("new{i}/"));
        let form = [Path::new("--to"), Path::new(form)];
        let output = run(&[&form, &stream[..], &[&new]].concat(), &text);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && message.contains("E2061") && message.contains("w.bin"), "{message}");
        assert_eq!(files(&new), [name]);
        // A warning that is denied is an error.
        let denied = place.path().join("denied/");
        let deny = [Path::new("--deny"), Path::new("E2061")];
        let output = run(&[&form, &deny, &stream[..], &[&denied]].concat(), &text);
        let message = String::from_utf8(output.stderr).unwrap();
        let is_error = message.contains("\"code\":\"E2061\"") && message.contains("\"severity\":\"error\"");
        assert!(output.status.code() == Some(1) && is_error, "{message}");
        assert!(!denied.exists());
    }
    let without = r#"<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { y = Neg (x) }"#;
    let archive = place.path().join("flat.tar");
    let output = run(&[&stream[..], &[&archive]].concat(), without);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    assert_eq!(entries(fs::File::open(&archive).unwrap()).len(), 1);
}

#[test]
fn models_are_named_as_their_notation() {
    let place = tempfile::tempdir().unwrap();
    let text = r#"<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { y = Neg (x) }"#;
    let from = [Path::new("--from"), Path::new("onnxtxt"), Path::new("--to")];
    for (input, to, name) in [
        ("m.onnxtext", "onnxtxt", "m.onnxtext"),
        ("m.onnxtext", "onnx", "m.onnx"),
        ("m.ONNXTXT", "onnxtxt", "m.ONNXTXT"),
        ("m.v2", "onnx", "m.onnx"),
        ("m", "onnxtxt", "m.onnxtxt"),
        ("graph.nnef", "onnx", "graph.onnx"),
    ] {
        let [input, output] = [input, "out/"].map(|name| place.path().join(name));
        fs::write(&input, text).unwrap();
        let args = [&from[..], &[Path::new(to), &input, Path::new("-o"), &output]].concat();
        assert_eq!(told(&args), (0, String::new()), "{name}");
        assert_eq!(files(&output), [name]);
        fs::remove_dir_all(&output).unwrap();
        fs::remove_file(&input).unwrap();
    }
}

#[test]
fn a_folder_with_other_files_is_not_replaced() {
    let place = tempfile::tempdir().unwrap();
    let [model, from, to] = model(place.path());
    assert_eq!(told(&[&model, Path::new("-o"), &to]), (0, String::new()));
    // The same files are replaced.
    fs::write(to.join("w.bin"), "old").unwrap();
    assert_eq!(told(&[&model, Path::new("-o"), &to]), (0, String::new()));
    assert_eq!(fs::read(to.join("w.bin")).unwrap(), WEIGHTS);
    for other in ["graph.nnef", "graph.quant", "u.dat", ".git", "part/u.bin"] {
        fs::write(to.join(other), "precious").unwrap();
        fs::write(to.join("w.bin"), "old").unwrap();
        let (status, message) = told(&[&model, Path::new("-o"), &to]);
        assert!(status == 2 && message.contains(&format!("`{other}`")), "{message}");
        assert_eq!(fs::read_to_string(to.join("w.bin")).unwrap(), "old");
        fs::remove_file(to.join(other)).unwrap();
    }
    // The input is not replaced, nor are its data.
    let before = tree(&from);
    for output in [&from, place.path(), &from.join("part/"), &from.join("w.bin/")] {
        let (status, message) = told(&[&model, Path::new("-o"), output]);
        assert!(status == 2 && !message.is_empty(), "{message}");
    }
    assert_eq!((tree(&from), files(place.path())), (before, vec!["from".to_owned(), "to".to_owned()]));
}

/// The input or data that are archives by name are not replaced by one.
#[test]
fn an_archive_is_not_written_over_the_input() {
    let place = tempfile::tempdir().unwrap();
    let [_, from, _] = model(place.path());
    fs::write(from.join("w.tar"), WEIGHTS).unwrap();
    let model = from.join("m.tgz");
    constants(&model, &["w.tar"]);
    let text = fs::read(&model).unwrap();
    for output in ["w.tar", "m.tgz"] {
        let (status, message) =
            told(&[Path::new("--from"), Path::new("onnxtxt"), &model, Path::new("-o"), &from.join(output)]);
        assert!(status == 2 && message.contains("is the model that is read"), "{message}");
    }
    assert_eq!((fs::read(from.join("w.tar")).unwrap(), fs::read(model).unwrap()), (WEIGHTS.to_vec(), text));
}

#[test]
fn a_failure_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let [model, from, _] = model(place.path());
    let before = files(place.path());
    for output in ["new/", "new.tar", "new.tgz"] {
        // The other notations are not models.
        for to in ["json", "html", "pnnx"] {
            let to = [Path::new("--to"), Path::new(to)];
            let (status, message) = told(&[&to[..], &[&model, Path::new("-o"), &place.path().join(output)]].concat());
            assert!(status == 2 && message.contains("onnxtxt"), "{message}");
        }
        // The data do not fit on the disk.
        #[cfg(unix)]
        {
            // Zeros would be compressed to less than the limit.
            let noise: Vec<u8> = (0_u32..1 << 18).flat_map(|i| i.wrapping_mul(i ^ 0x9E37_79B9).to_le_bytes()).collect();
            fs::write(from.join("w.bin"), noise).unwrap();
            let output = command::call([&model, Path::new("-o"), &place.path().join(output)]).limited(&["-f 1"]).run();
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.code() == Some(2) && message.contains("File too large"), "{message}");
        }
        let missing = place.path().join("no/such").join(output);
        assert_eq!(told(&[&model, Path::new("-o"), &missing]).0, 2);
        assert_eq!(files(place.path()), before);
    }
    fs::remove_file(from.join("w.bin")).unwrap();
    let (status, message) = told(&[&model, Path::new("-o"), &place.path().join("new/")]);
    assert!(status == 1 && message.contains("E2060"), "{message}");
    assert_eq!(files(place.path()), before);
}

#[test]
fn a_source_map_is_not_written_over_the_model() {
    let place = tempfile::tempdir().unwrap();
    let [model, _, to] = model(place.path());
    fs::create_dir(to.join("part")).unwrap();
    let map = |name: &str| told(&[&model, Path::new("-o"), &to, Path::new("--source-map"), &to.join(name)]);
    for name in ["w.bin", "m.onnxtxt", "part/v.bin"] {
        let (status, message) = map(name);
        assert!(status == 2 && message.contains("source map"), "{message}");
        assert_eq!(tree(&to), ["part/"]);
    }
    assert_eq!(map("map.json"), (0, String::new()));
    assert_eq!(tree(&to), ["m.onnxtxt", "map.json", "part/", "part/v.bin", "w.bin"]);
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
