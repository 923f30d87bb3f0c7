//! The command: arguments, streams, exit codes.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};

use crate::common::command::call;

const VALID: &str = "version 1.0;\n\ngraph G( x ) -> ( y )\n{\n    x = external(shape = [2,3]);\n    y = relu(x);\n}\n";
const INVALID: &str = "graph G( x ) -> ( y )\n{\n    x = external(shape = [2,3]);\n    y = relu(x);\n}\n";

fn command() -> Command {
    let mut command = call(&[] as &[&str]).command();
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    command.env("TERM", "xterm");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn finish(mut command: Command, stdin: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A program that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child.wait_with_output().unwrap()
}

fn run(args: &[&str], stdin: impl AsRef<[u8]>) -> Output {
    let mut command = command();
    command.args(args);
    finish(command, stdin.as_ref())
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code, not a signal")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn diagnostics(output: &Output) -> Vec<serde_json::Value> {
    stderr(output).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// People read the first findings, programs all of them.
#[test]
fn programs_get_all_findings() {
    let wrong: String = (0..1000).map(|i| format!("    y{i} = relu(missing{i});\n")).collect();
    let text =
        format!("version 1.0;\ngraph G( x ) -> ( y ) {{ x = external(shape = [2]);\n{wrong}    y = relu(x); }}\n");
    for (form, count) in [("json", 1001), ("short", 1000), ("github", 1000)] {
        let output = run(&["check", "--message-format", form, "-"], &text);
        assert_eq!((code(&output), stdout(&output).lines().count()), (1, count), "{form}");
    }
    let output = run(&["check", "--message-format", "json", "-"], &text);
    let summary: serde_json::Value = serde_json::from_str(stdout(&output).lines().last().unwrap()).unwrap();
    assert_eq!((&summary["errors"], &summary["not_shown"]), (&1000.into(), &0.into()));
    assert_eq!(diagnostics(&output).len(), 1000, "standard error has them, too");
    let log: serde_json::Value =
        serde_json::from_str(stdout(&run(&["check", "--message-format", "sarif", "-"], &text))).unwrap();
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 1000);
    assert!(stdout(&run(&["check", "-"], &text)).ends_with("200 errors (800 more not shown)\n"));
    let flattened = run(&["--message-format", "json", "-"], &text);
    assert_eq!((code(&flattened), diagnostics(&flattened).len()), (1, 1000));
}

/// Standard error has no copy of objects where it is the same stream.
#[cfg(unix)]
#[test]
fn one_stream_has_each_object_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut child = command();
    child.args(["check", "--message-format", "json", "missing.nnef"]);
    let log = std::fs::File::create(&path).unwrap();
    child.stdout(log.try_clone().unwrap()).stderr(log);
    assert_eq!(code(&finish(child, b"")), 2);
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
}

/// `/dev/stdout` is standard output, not a file to be replaced.
#[cfg(target_os = "linux")]
#[test]
fn the_name_of_standard_output_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, "before\n").unwrap();
    let mut child = command();
    child.args(["-", "-o", "/dev/stdout", "--to", "nnef"]);
    child.stdout(std::fs::File::options().append(true).open(&path).unwrap());
    assert_eq!(code(&finish(child, VALID.as_bytes())), 0);
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("before\nversion 1.0;"));
}

#[test]
fn help_and_version_are_0() {
    for args in [&["--help"][..], &["-h"], &["--version"], &["check", "--help"], &["help", "fmt"]] {
        let output = run(args, "");
        assert_eq!((code(&output), stderr(&output)), (0, ""), "{args:?}");
        assert!(stdout(&output).contains("nnef-flatten"), "{args:?}");
    }
    assert!(stdout(&run(&["--help"], "")).contains("Examples:"));
    assert!(stdout(&run(&["--color=always", "--help"], "")).contains('\u{1b}'));
    assert!(!stdout(&run(&["--color", "always", "--help", "--color=never"], "")).contains('\u{1b}'));
    assert!(!stdout(&run(&["-h"], "")).contains("Examples:"));
}

#[test]
fn text_that_is_not_utf8_is_refused_with_a_position() {
    let output = run(&["--message-format", "json", "-"], b"version 1.0;\n# \xc3\xa9 \xff\n");
    assert_eq!(code(&output), 1);
    let found = &diagnostics(&output)[0];
    assert_eq!((&found["code"], &found["line"], &found["column"]), (&"E0001".into(), &2.into(), &5.into()));
}

/// Every notation is read, and has the same locations, after a byte order mark.
#[test]
fn byte_order_marks_are_not_counted() {
    let graph = "version 1.0; graph G( x ) -> ( y ) { x = external(shape = [2]); y = relux(x); }";
    let model = "<ir_version: 8, opset_import: [\"\" : 18]> g (float[1] x) => (float[1] y) { y = Relux(x) }";
    let inputs = tempfile::tempdir().unwrap();
    let inputs = |text: &str| {
        let path = inputs.path().join("inputs.json");
        std::fs::write(&path, text).unwrap();
        path.into_os_string().into_string().unwrap()
    };
    let mark = "\u{FEFF}";
    for (args, text) in [
        (&["--from", "nnef"][..], graph),
        (&["--from", "nnef-draft"], &graph.replace("1.0;", "1.0")),
        (&["check", "--from", "onnxtxt"], model),
        (&["--from", "pnnx"], "7767518\n"),
        (&["--from", "loops"], "{\"inputs\": 1}"),
        (&["expr", "-"], "mul(@0"),
    ] {
        for form in ["human", "short", "json"] {
            let args = [args, &["--message-format", form]].concat();
            let [plain, marked] = [text.to_owned(), format!("{mark}{text}")].map(|text| run(&args, text));
            // Bytes are those of the file, where the mark takes three; lines and columns do not count it.
            let counted = |text: &str| {
                let mut parts = text.split("\"byte\":").map(str::to_owned).collect::<Vec<_>>();
                parts.iter_mut().skip(1).for_each(|part| *part = part.trim_start_matches(char::is_numeric).to_owned());
                parts
            };
            let told = |output: &Output| counted(&format!("{}{}", stdout(output), stderr(output)));
            assert_eq!((code(&plain), told(&plain)), (code(&marked), told(&marked)), "{args:?}");
            assert!(code(&plain) == 1 && told(&plain) != [""]);
            let bytes = |output: &Output| -> Vec<usize> {
                let text = format!("{}{}", stdout(output), stderr(output));
                let digits = |part: &str| -> usize { part.split([',', '}']).next().unwrap().parse().unwrap() };
                text.split("\"byte\":").skip(1).map(digits).collect()
            };
            assert_eq!(bytes(&marked), bytes(&plain).iter().map(|byte| byte + 3).collect::<Vec<_>>(), "{args:?}");
            assert_eq!(bytes(&plain).is_empty(), form != "json", "{args:?}");
        }
    }
    let told = |args: &[&str], text: &str, given: &str| {
        let inputs = inputs(given);
        let output = run(&[args, &["--inputs", &inputs]].concat(), text);
        (code(&output), stdout(&output).to_owned(), stderr(&output).to_owned())
    };
    for (args, text, fine, wrong) in [
        (&["run"][..], graph.replace("relux", "relu"), "{\"x\": [1, 2]}", "{\"x\": ]"),
        (&["expr"], "neg(@0)".to_owned(), "[1]", "[1, ]"),
    ] {
        let args = if args == ["expr"] { vec!["expr", &text] } else { args.to_vec() };
        for given in [fine, wrong] {
            assert_eq!(told(&args, &text, given), told(&args, &text, &format!("{mark}{given}")), "{args:?} {given}");
        }
        assert_eq!(told(&args, &text, fine).0, 0);
    }
}

#[test]
fn a_text_past_two_gibibytes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.nnef");
    // A sparse file, which takes no space on disk.
    let file = std::fs::File::create(&path).unwrap();
    if file.set_len((2 << 30) + 1).is_ok() {
        let output = run(&["--message-format", "json", path.to_str().unwrap()], "");
        assert_eq!(code(&output), 1);
        assert_eq!(diagnostics(&output)[0]["code"], "E0002");
    }
}

#[test]
fn colours_come_only_when_wanted() {
    let colored = |args: &[&str], variable: Option<(&str, &str)>| {
        let mut command = command();
        command.args(args).arg("-");
        if let Some((name, value)) = variable {
            command.env(name, value);
        }
        finish(command, INVALID.as_bytes()).stderr.contains(&0x1b)
    };
    assert!(!colored(&[], None), "standard error is not a terminal here");
    assert!(colored(&["--color", "always"], None));
    assert!(colored(&[], Some(("CLICOLOR_FORCE", "1"))));
    assert!(!colored(&["--color", "never"], Some(("CLICOLOR_FORCE", "1"))));
    assert!(!colored(&[], Some(("NO_COLOR", "1"))));
    assert!(!colored(&["--message-format", "json", "--color", "always"], None));
}

#[test]
fn a_reader_who_leaves_early_is_no_error() {
    // More than the buffer of a pipe.
    let lines: String = (0..20_000).map(|i| format!("    t{i} = relu(x);\n")).collect();
    let document = VALID.replace("    y =", &format!("{lines}    y ="));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.nnef");
    std::fs::write(&path, document).unwrap();
    let mut child = command().arg("--keep-unused").arg(&path).spawn().unwrap();
    let mut first = [0; 10];
    let mut pipe = child.stdout.take().unwrap();
    pipe.read_exact(&mut first).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stderr(&output)), (0, ""));
}

#[test]
fn the_status_is_that_of_the_work_when_nobody_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let files = [("good.nnef", VALID.to_owned()), ("bad.nnef", VALID.replace("relu(", "sigmoid(2.0, "))];
    let [good, bad] = files.map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    });
    let loose = folder.path().join("loose.nnef").display().to_string();
    std::fs::write(&loose, VALID.replace(" = ", "=").replace("relu", "exp")).unwrap();
    for (args, status) in [
        (&["check", &good][..], 0),
        (&["check", &bad], 1),
        (&["check", &bad, &good], 1),
        (&["check", &bad, "--message-format", "json"], 1),
        (&["diff", &good, &good], 0),
        (&["diff", &good, &loose], 1),
        (&["fmt", "--check", &loose], 1),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = command().args(args).stdout(writer).spawn().unwrap();
        assert_eq!(code(&child.wait_with_output().unwrap()), status, "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_2() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut stream = command();
    stream.arg("-").stdout(full);
    let output = finish(stream, VALID.as_bytes());
    assert_eq!(code(&output), 2);
    assert_eq!(stderr(&output), "nnef-flatten: <stdout>: No space left on device\n");
    for args in [&["--help"][..], &["--version"], &["man"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut stream = command();
        stream.args(args).stdout(full);
        assert_eq!(code(&finish(stream, b"")), 2, "{args:?}");
    }
    let output = run(&["-", "-o", "/dev/full"], VALID);
    assert_eq!((code(&output), stderr(&output)), (2, "nnef-flatten: /dev/full: No space left on device\n"));
}

/// A pipe cannot be replaced.
#[cfg(target_os = "linux")]
#[test]
fn what_a_pipe_gives_is_formatted_to_standard_output() {
    let output = run(&["fmt", "/dev/stdin"], VALID);
    assert_eq!((code(&output), stderr(&output)), (0, ""));
    assert_eq!(stdout(&output), stdout(&run(&["fmt", "-"], VALID)));
}

#[test]
fn explain_knows_codes_and_rules() {
    let output = run(&["explain", "e0401"], "");
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).starts_with("E0401 — operation is not declared (rule A1)\n"));
    let output = run(&["explain", "a1"], "");
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains("E0401  ") && stdout(&output).contains("E0411  "));
    let output = run(&["explain", "E0491"], "");
    assert_eq!((code(&output), stdout(&output)), (2, ""));
    assert!(stderr(&output).contains("did you mean `E0"), "{}", stderr(&output));
    let output = run(&["explain", "everything"], "");
    assert!(code(&output) == 2 && stderr(&output).contains("no diagnostic code or rule `everything`"));
}

#[test]
fn completions_and_manual_are_written() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&["completions", shell], "");
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("nnef-flatten"), "{shell}");
    }
    let output = run(&["man"], "");
    assert_eq!(code(&output), 0);
    assert!(stdout(&output).contains(".TH") && stdout(&output).contains("nnef"));
}

#[test]
fn files_of_declarations_are_formatted() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/library/std/registries/tract_core.nnef");
    let once = run(&["fmt", "-"], std::fs::read(file).unwrap());
    let twice = run(&["fmt", "-"], stdout(&once));
    assert!(stdout(&once) == stdout(&twice) && stdout(&once).contains("fragment tract_core_scan"));
}

/// Law 5: large results are written by several threads, and do not depend on their number.
#[test]
fn the_number_of_threads_shows_nowhere() {
    let body: String = (1..40_000).map(|i| format!("t{i} = add(t{}, x);\n", i - 1)).collect();
    let text =
        format!("version 1.0;\ngraph net( x ) -> ( t39999 )\n{{\nx = external(shape = [2]);\nt0 = exp(x);\n{body}}}\n");
    for to in ["nnef", "json"] {
        let written = |threads: &str| {
            let output = run(&["--to", to, "--threads", threads, "-"], &text);
            assert!(output.status.success());
            output.stdout
        };
        let one = written("1");
        assert!(one.len() > 1_000_000 && ["2", "3", "16"].into_iter().all(|threads| written(threads) == one), "{to}");
    }
}

/// Several inputs are checked at the same time, and reported in their order, those that take most memory, too.
#[test]
fn the_number_of_inputs_that_are_checked_together_shows_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    for i in 0..40 {
        let body: String = (1..200 * (40 - i)).map(|j| format!("t{j} = add(t{}, x);\n", j - 1)).collect();
        let last = if i % 7 == 0 { "y = exp(nothing);" } else { "y = exp(t0);" };
        let text = format!(
            "version 1.0;\ngraph net( x ) -> ( y )\n{{\nx = external(shape = [2]);\nt0 = exp(x);\n{body}{last}\n}}\n"
        );
        std::fs::write(folder.path().join(format!("{i:02}.nnef")), text).unwrap();
    }
    let folder = folder.path().to_str().unwrap();
    for limits in [&["--limits", "untrusted"][..], &["--max-memory", "800K"]] {
        let found = |threads: &str| {
            let arguments = [&["check", "--message-format", "short", "--threads", threads], limits, &[folder]].concat();
            let output = run(&arguments, "");
            assert_eq!(code(&output), 1);
            stdout(&output).to_owned()
        };
        let one = found("1");
        assert!(one.lines().count() > 5, "{one}");
        ["2", "3", "16"].into_iter().for_each(|threads| assert_eq!(found(threads), one, "{threads}"));
    }
}
