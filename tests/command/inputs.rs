//! How the command recognizes its inputs, and what it says about those that it does not read.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;

use crate::common::command;

const NNEF: &str = "version 1.0;\n\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [2,3]);\n    y = relu(x);\n}\n";
const TEXT: &str = "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[2] x) => (float[2] y) { y = Relu(x) }\n";
const PNNX: &str = "7767517\n3 2\npnnx.Input in0 0 1 0 #0=(2,3)f32\nF.relu act 1 1 0 1 #0=(2,3)f32 #1=(2,3)f32\n\
                    pnnx.Output out0 1 0 1 #1=(2,3)f32\n";
const LOOPS: &str = "{\"name\": \"n\", \"inputs\": {\"x\": {\"dtype\": \"float32\", \"shape\": [2]}}, \"constants\": {}, \
                     \"layers\": [{\"op\": \"tanh\", \"name\": \"y\", \"inputs\": [\"x\"]}], \"outputs\": [\"y\"]}";

use crate::common::command::call;

/// Exit status, results and messages of the command, run in a folder. The messages of `check` are on standard output.
fn run(folder: &Path, args: &[&str], stdin: &[u8]) -> (i32, Vec<u8>, String) {
    let output = call(args).within(folder).stdin(stdin).run();
    let code = output.status.code().unwrap();
    match args.contains(&"check") {
        true => (code, Vec::new(), command::messages(&output)),
        false => (code, output.stdout, String::from_utf8(output.stderr).unwrap()),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A ZIP archive whose first file has this name.
fn zip(name: &str) -> Vec<u8> {
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.extend([0; 22]);
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend([0; 2]);
    bytes.extend(name.as_bytes());
    bytes
}

#[test]
fn notations_are_recognized_by_their_first_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (code, onnx, err) = run(folder.path(), &["--from", "onnxtxt", "--to", "onnx", "-"], TEXT.as_bytes());
    assert_eq!((code, err.as_str()), (0, ""));
    for (notation, bytes) in [
        ("nnef", NNEF.as_bytes()),
        ("nnef", format!("# a comment\n\n{NNEF}").as_bytes()),
        ("onnxtxt", TEXT.as_bytes()),
        ("onnxtxt", TEXT.split_once('\n').unwrap().1.as_bytes()),
        ("onnx", &onnx),
        ("pnnx", PNNX.as_bytes()),
        ("ncnn", b"7767517\n2 2\nInput in0 0 1 in0 0=4\nReLU r 1 1 in0 out0\n"),
        ("loops", LOOPS.as_bytes()),
    ] {
        // Explicitly, from standard input, without an extension, and under the name of another notation.
        let (expected, explicit, _) = run(folder.path(), &["check", "--from", notation, "-"], bytes);
        for name in ["-", "plain", "a.nnef", "a.onnx", "a.param"] {
            std::fs::write(folder.path().join(name), bytes).unwrap();
            let (code, out, err) = run(folder.path(), &["check", name], bytes);
            assert_eq!((code, &out), (expected, &explicit), "{notation} {name}: {err}");
            assert!(!err.contains("E0001") && !err.contains("E0004"), "{notation} {name}: {err}");
        }
    }
    // The name decides where the bytes say nothing.
    std::fs::write(folder.path().join("a.onnx"), b"\x08\x08").unwrap();
    let (code, _, err) = run(folder.path(), &["check", "a.onnx"], b"");
    assert!(code == 1 && err.contains("E20"), "{err}");
}

#[test]
fn formats_of_other_programs_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let npy = b"\x93NUMPY\x01\0";
    let safetensors = [&40u64.to_le_bytes()[..], b"{\"w\":{\"dtype\":\"F32\"}}"].concat();
    let tflite = b"\x1c\0\0\0TFL3\0\0\0\0";
    for (bytes, what, command) in [
        (&b""[..], "an empty file", ""),
        (b"\n<!DOCTYPE html><html>", "HTML", ""),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS", "git lfs pull --include it"),
        (&zip("x.npy"), ".npz", "--inputs it"),
        (npy, ".npy", "--inputs it"),
        (&zip("model/data.pkl"), "PyTorch", "pnnx it"),
        (b"\x80\x02}q\0.", "pickle", "torch.onnx.export"),
        (&zip("readme.txt"), "ZIP", ""),
        (&safetensors, "safetensors", ""),
        (tflite, "TensorFlow Lite", "--tflite it"),
        (b"\x89HDF\r\n\x1a\n", "Keras", "--keras it"),
        (b"\xdd\x85\x76\0\x01\0\0\0", "ncnn", ".param"),
        (b"HloModule m\n", "HLO", "nnef-flatten layout - < it"),
        (b"module @m {\n  func.func @main() { stablehlo.add }\n}\n", "StableHLO", ""),
        (b"ir_version: 8\ngraph {\n}\n", "text format of protobuf", "textproto"),
        (b"{\"nodes\": []}", "JSON", ""),
        (b"\xfd7zXZ\0\0", "xz", "xz -dc it"),
        (&gzip(NNEF.as_bytes()), "gzip", "gunzip -c it | nnef-flatten -"),
        (&gzip(npy), "NumPy (.npy), compressed by gzip", ""),
        (b"\x0a\x04\x0a\x02a\0\x12\0\0\0", "E0004", "--from"),
    ] {
        std::fs::write(folder.path().join("it"), bytes).unwrap();
        std::fs::write(folder.path().join("it.nnef"), bytes).unwrap();
        for args in [&["it"][..], &["check", "it"], &["run", "it"], &["fmt", "it"], &["expr", "--fuse", "it"]] {
            let (code, out, err) = run(folder.path(), args, b"");
            let told = err.contains("E0004") && err.contains(what) && err.contains(command);
            assert!(code == 1 && out.is_empty() && told, "{what} {args:?} {code}: {err}");
        }
        // A name does not make it a document, and an option does not either.
        if !command.contains("--from") {
            for args in [&["check", "it.nnef"][..], &["check", "--from", "onnxtxt", "it"]] {
                assert!(run(folder.path(), args, b"").2.contains("E0004"), "{what} {args:?}");
            }
        }
    }
}

#[test]
fn a_folder_with_another_model_names_it() {
    let folder = tempfile::tempdir().unwrap();
    for (file, bytes, wanted) in [
        ("model.onnx", &b"\x08\x08"[..], "nnef-flatten m/model.onnx"),
        ("model.safetensors", b"\x10\0\0\0\0\0\0\0{\"a\":1}", "model.safetensors"),
        ("net.pnnx.param", b"7767517\n", "nnef-flatten m/net.pnnx.param"),
    ] {
        let model = folder.path().join("m");
        std::fs::create_dir(&model).unwrap();
        std::fs::write(model.join(file), bytes).unwrap();
        std::fs::write(model.join("notes"), "").unwrap();
        let (code, _, err) = run(folder.path(), &["m"], b"");
        assert!(code == 1 && err.contains("E1206") && err.contains(wanted), "{file}: {err}");
        std::fs::remove_dir_all(&model).unwrap();
    }
}

#[test]
fn strings_of_models_do_not_make_them_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"<ir_version: 10, opset_import: ["" : 21], producer_name: "<svg">
        g (float[2] x) => (float[2] y) { y = Neg (x) }"#;
    std::fs::write(folder.path().join("a.onnxtxt"), text).unwrap();
    let (code, _, err) = run(folder.path(), &["a.onnxtxt", "-o", "a.onnx"], b"");
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = run(folder.path(), &["check", "a.onnx"], b"");
    assert_eq!(code, 0, "{err}");
    for picture in ["<svg/>", "<?xml version='1.0'?>\n<svg/>", "<!-- drawn -->\n<svg/>"] {
        let (code, _, err) = run(folder.path(), &["-"], picture.as_bytes());
        assert!(code == 1 && err.contains("a picture (SVG)"), "{err}");
    }
}

#[test]
fn results_do_not_depend_on_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.nnef");
    std::fs::write(&path, NNEF).unwrap();
    for ending in ["html", "svg", "dot", "json"] {
        let files = [format!("a.{ending}"), format!("b.{ending}")];
        for (input, file) in [("g.nnef", &files[0]), (path.to_str().unwrap(), &files[1])] {
            let map = format!("{file}.map");
            let (code, _, err) = run(folder.path(), &[input, "-o", file, "--source-map", &map], b"");
            assert_eq!(code, 0, "{err}");
        }
        for end in ["", ".map"] {
            let [a, b] =
                [0, 1].map(|i| std::fs::read_to_string(folder.path().join(format!("{}{end}", files[i]))).unwrap());
            assert!(a == b && !a.contains(folder.path().to_str().unwrap()), "{ending}{end}");
        }
    }
}

#[test]
fn verification_is_json_for_programs() {
    let folder = tempfile::tempdir().unwrap();
    for input in [NNEF, LOOPS] {
        let args = ["--verify", "--message-format", "json", "-"];
        let (code, _, err) = run(folder.path(), &args, input.as_bytes());
        let objects: Vec<serde_json::Value> = err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let verify = objects.iter().find_map(|object| object.get("verify")).unwrap();
        assert_eq!((code, &verify["verified"]), (0, &true.into()), "{err}");
        assert!(verify["largest_difference"].as_f64().unwrap() < 1e-6, "{err}");
    }
}

#[test]
fn options_stand_under_their_headings() {
    let folder = tempfile::tempdir().unwrap();
    let (_, out, _) = run(folder.path(), &["--help"], b"");
    let help = String::from_utf8(out).unwrap();
    // What is said about options stands further right than they do.
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in help.lines() {
        let text = line.trim_start();
        match line.strip_suffix(':').filter(|heading| !heading.starts_with(' ')) {
            Some(heading) => found.push((heading, Vec::new())),
            None if text.starts_with('-') && line.len() - text.len() <= 6 => {
                let (_, option) = text.split_once("--").unwrap();
                found.last_mut().unwrap().1.extend(option.split([' ', '[']).next());
            }
            None => {}
        }
    }
    let all: Vec<&str> = found.iter().flat_map(|(_, options)| options).copied().collect();
    let under = |heading: &str| &found.iter().find(|(other, _)| *other == heading).unwrap().1;
    let limits = under("Limits");
    assert!(limits.len() > 8 && limits[0] == "limits", "{limits:?}");
    assert!(limits[1..].iter().all(|option| option.starts_with("max-")), "{limits:?}");
    for (heading, options) in [
        ("Output", &["output", "to", "stats"][..]),
        ("Passes over the flat graph", &["fold", "share", "simplify", "opset"]),
        ("Input", &["from", "strict", "set", "bind"]),
        ("Expansion", &["lower", "keep", "unroll", "max-trips"]),
        ("Verification", &["verify", "inputs", "seed"]),
        ("Messages", &["message-format", "color", "quiet", "deny"]),
    ] {
        for option in options {
            assert!(under(heading).contains(option), "{option}: {found:?}");
            assert_eq!(all.iter().filter(|other| *other == option).count(), 1, "{option}");
        }
    }
}

#[test]
fn texts_without_shapes_are_reported_and_bombs_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (text, wanted) in [(&b"no shapes"[..], "E1512"), (b"\x0a\x04\x0a\x02a\0", "E1512"), (b"HloModule m\n", "HLO")] {
        let (code, out, err) = run(folder.path(), &["layout", "-"], text);
        assert!(code == 0 && err.contains(wanted) && out == b"no shapes of arrays\n", "{err}");
    }
    // A module of HLO in protobuf, as a dump and by itself, and bytecode of MLIR.
    let field = |number: u8, bytes: &[u8]| [&[number << 3 | 2, bytes.len() as u8], bytes].concat();
    let instruction = field(2, &[field(1, b"x.1"), field(2, b"parameter")].concat());
    let computation = field(3, &[field(1, b"main.3"), instruction].concat());
    let module = [field(1, b"jit_f"), field(2, b"main.3"), computation, b"\x20\x01".to_vec()].concat();
    for (bytes, wanted) in [(field(1, &module), "HLO"), (module, "HLO"), (b"ML\xEFR\x01\0".to_vec(), "MLIR")] {
        for args in [&["layout", "-"][..], &["-"]] {
            let (code, out, err) = run(folder.path(), args, &bytes);
            let told = err.contains("E0004") && err.contains(wanted) && err.contains("text");
            assert!(code == 1 && out.is_empty() && told, "{args:?}: {err}");
        }
    }
    let (code, out, err) = run(folder.path(), &["layout", "--to", "json", "-"], b"tensor<2x8x128x64xf32>");
    assert!(code == 0 && err.is_empty() && String::from_utf8(out).unwrap().contains("f32[2,8,128,64]"));
    let bomb = gzip(&b"f32[2] ".repeat(6_000_000));
    assert!(bomb.len() < 500_000);
    let (code, _, err) = run(folder.path(), &["layout", "-"], &bomb);
    assert!(code == 1 && err.contains("E0002"), "{err}");
    let different: String = (0..200_000).map(|size| format!("f32[{size}] ")).collect();
    let (code, _, err) = run(folder.path(), &["layout", "--limits", "untrusted", "-"], different.as_bytes());
    assert!(code == 1 && err.contains("E0813"), "{err}");
    let tiles = format!("f32[2,3]{{1,0:T{}}}", "(2,2)".repeat(4000));
    let (code, _, err) = run(folder.path(), &["layout", "--max-memory", "10000000", "--to", "nnef", &tiles], b"");
    assert!(code == 1 && err.contains("--max-memory"), "{}", &err[err.len().saturating_sub(500)..]);
}

/// What `check` tells of a branch is decided by the value that is given for its condition, as flattening decides it.
#[test]
fn values_decide_what_is_checked() {
    let model = "<ir_version: 10, opset_import: [\"\" : 21]>\ng (bool c, float[2] a, float[3] b) => (float[2] y)\n{\n\
        y = If (c) <then_branch = p () => (float[2] u) { u = Add (a, b) }, \
        else_branch = q () => (float[2] v) { v = Neg (a) }>\n}\n";
    let told = |args: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("m.onnxtxt"), model).unwrap();
        let (code, _, told) = run(folder.path(), &[&["check", "m.onnxtxt"], args].concat(), b"");
        (code, ["E2050", "E2051"].map(|code| told.contains(code)))
    };
    assert_eq!(told(&[]), (0, [true, false]));
    assert_eq!(told(&["--bind", "c=true"]), (1, [false, true]));
    assert_eq!(told(&["--bind", "c=false"]), (0, [false, false]));
}
