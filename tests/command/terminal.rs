//! Characters that control a terminal never reach one: neither from names of files in messages nor
//! from strings of documents. A file or a pipe gets results as they are.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output, Stdio};

// The program that is built with the tests is slow enough to show its progress.
use crate::common::command::{call, feed, messages};

/// Clears the screen; a second way to say so in one character; deletes; turns the text around.
const STRANGE: &str = "a\u{1b}[2Jb\u{9b}c\u{7f}d\u{202e}e";

fn document() -> String {
    format!(
        "version 1.0;\ngraph G( x ) -> ( y )\n{{\n    # {STRANGE}\n    x = external(shape = [2]);\n    \
         y = vendor_op(x, text = '{STRANGE}');\n}}\n"
    )
}

fn command(args: &[&str]) -> Command {
    let mut command = call(args).command();
    command.stdin(Stdio::piped());
    command
}

fn run(args: &[&str], stdin: &str) -> Output {
    feed(args, stdin)
}

/// What a terminal gets on standard output and standard error.
fn on_terminal(args: &[&str], stdin: &str) -> String {
    on_streams(args, stdin, None)
}

/// What a terminal gets on standard error, and on standard output unless that is a file.
fn on_streams(args: &[&str], stdin: &str, stdout: Option<File>) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let inner = File::options().read(true).write(true).open(OsStr::from_bytes(name.as_bytes())).unwrap();
    let mut command = command(args);
    command.stdout(stdout.unwrap_or_else(|| inner.try_clone().unwrap())).stderr(inner);
    let mut child = command.spawn().unwrap();
    // The terminal ends when nobody has its inner side.
    drop(command);
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    let (mut terminal, mut shown, mut part) = (File::from(terminal), Vec::new(), [0; 4096]);
    while let Ok(count) = terminal.read(&mut part) {
        if count == 0 {
            break;
        }
        shown.extend_from_slice(&part[..count]);
    }
    child.wait().unwrap();
    String::from_utf8(shown).unwrap()
}

/// The characters of a text that control a terminal.
fn harmful(text: &str) -> Vec<char> {
    let directional = |c: char| ('\u{202a}'..='\u{202e}').contains(&c);
    text.chars().filter(|c| c.is_control() && !"\n\r\t".contains(*c) || directional(*c)).collect()
}

#[test]
fn results_on_a_terminal_are_harmless() {
    for args in [&["-"][..], &["--to", "json", "-"], &["--to", "dot", "-"], &["--to", "svg", "-"], &["fmt", "-"]] {
        let shown = on_terminal(&[&["-q"], args].concat(), &document());
        assert!(shown.contains("vendor_op") && harmful(&shown).is_empty(), "{args:?}: {:?}", harmful(&shown));
    }
    // Pictures show names, which have such characters in models of ONNX only.
    let named = format!(
        "<ir_version: 10, opset_import: [\"\" : 21]>
        \"g{STRANGE}\" (float[2] \"x{STRANGE}\") => (float[2] y) {{ y = Neg (\"x{STRANGE}\") }}"
    );
    for to in ["dot", "svg"] {
        let shown = on_terminal(&["-q", "--to", to, "-"], &named);
        assert!(shown.contains("[2J") && harmful(&shown).is_empty(), "{to}: {:?}", harmful(&shown));
    }
    let shown = on_terminal(&["-q", "-"], &document());
    assert!(shown.contains(r"a\u001b[2Jb\u009bc\u007fd\u202ee"), "{shown}");
    // Not on a terminal nothing changes.
    let output = run(&["-q", "-"], &document());
    assert!(String::from_utf8(output.stdout).unwrap().contains(STRANGE));
    let output = run(&["fmt", "-"], &document());
    assert!(String::from_utf8(output.stdout).unwrap().contains(STRANGE));
    let relu = document().replace("vendor_op(x", "relu(x); # (");
    let shown = on_terminal(&["run", "--to", "npy", "-"], &relu);
    assert!(shown.contains("not written to a terminal"), "{shown}");
}

#[test]
fn messages_are_harmless_wherever_they_go() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (missing, there) = (path(&format!("{STRANGE}.nnef")), path(&format!("there{STRANGE}.nnef")));
    std::fs::write(&there, document()).unwrap();
    std::fs::create_dir_all(path("model")).unwrap();
    std::fs::write(path(&format!("model/{STRANGE}")), "precious").unwrap();
    let (model, nowhere) = (path("model"), path(&format!("{STRANGE}/x.nnef")));
    let mut count = 0;
    for args in [
        &[missing.as_str()][..],
        &["check", &missing, &there],
        &["check", &there],
        &["fmt", &missing],
        &["run", &there, "--inputs", &missing],
        &[&there, "-o", &nowhere],
        &[&there, "-o", &missing.replace(".nnef", ".txt")],
        &[&there, "-o", &model],
        &[&there, "--fragments", &missing],
        &[&there, &missing],
        &[&there, "check", &missing],
        &["--keep", STRANGE, &there],
        &[STRANGE, "explain", STRANGE],
        &["explain", STRANGE],
        &["man", STRANGE],
        &["--to", STRANGE],
        &[&format!("--{STRANGE}")],
        &["--verify", &there, "--inputs", &missing],
    ] {
        for format in ["human", "short", "json", "sarif", "github"] {
            let args = [&["--message-format", format], args].concat();
            let output = run(&args, "");
            // The messages of `check` are on standard output.
            let told = match args.contains(&"check") {
                true => messages(&output),
                false => String::from_utf8(output.stderr).unwrap(),
            };
            assert!(!told.is_empty() && harmful(&told).is_empty(), "{args:?}: {:?} in {told}", harmful(&told));
            count += usize::from(told.contains(r"\u{1b}") || told.contains(r"\u001b"));
        }
    }
    assert!(count > 25, "only {count} messages had something to escape");
    // The JSON form says what it is all the same.
    let output = run(&["--message-format", "json", &there], "");
    let told = String::from_utf8(output.stderr).unwrap();
    let first: serde_json::Value = serde_json::from_str(told.lines().next().unwrap()).unwrap();
    assert_eq!(first["file"], there);
}

/// A document that expands to a power of two of operations.
fn deep(levels: usize) -> String {
    let mut text = "version 1.0;\nextension KHR_enable_fragment_definitions KHR_enable_operator_expressions;\n\
        fragment f0( x: tensor<scalar> ) -> ( y: tensor<scalar> ) { y = relu(x); }\n"
        .to_owned();
    for i in 1..=levels {
        let inner = i - 1;
        text.push_str(&format!(
            "fragment f{i}( x: tensor<scalar> ) -> ( y: tensor<scalar> ) {{ y = f{inner}(f{inner}(x)); }}\n"
        ));
    }
    format!("{text}graph G( x ) -> ( y ) {{ x = external(shape = [4]); y = f{levels}(x); }}\n")
}

/// The lines that a terminal shows in the end.
fn screen(shown: &str) -> Vec<String> {
    let (mut lines, mut column) = (vec![Vec::new()], 0);
    for c in shown.chars() {
        match c {
            '\r' => column = 0,
            '\u{8}' => column -= 1,
            '\n' => {
                lines.push(Vec::new());
                column = 0;
            }
            c => {
                let line: &mut Vec<char> = lines.last_mut().unwrap();
                line.resize(line.len().max(column + 1), ' ');
                line[column] = c;
                column += 1;
            }
        }
    }
    lines.into_iter().map(|line| line.into_iter().collect::<String>().trim_end().to_owned()).collect()
}

/// What is shown of the first work that is long enough: with each level, there is twice as much. How fast the program and the
/// machine are is not known.
fn first_shown(work: impl Fn(usize) -> String, shows: impl Fn(&str) -> bool) -> String {
    let mut shown = (15..=22).map(work);
    shown.find(|shown| shows(shown)).expect("the progress of long work is shown")
}

#[test]
fn long_work_shows_its_progress_and_nothing_is_left_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("x.json"), r#"{"x": [1.0, 2.0, 3.0, 4.0]}"#).unwrap();
    let (deep_text, flat, out, inputs) = (path("deep.nnef"), path("flat.nnef"), path("out"), path("x.json"));
    for (args, phases) in [
        (&["check", &flat][..], &["reading"][..]),
        (&["run", &deep_text, "--inputs", &inputs], &["evaluating"]),
        // On a fast machine these are in their last phase when something is shown.
        (&[&deep_text, "--to", "svg", "-o", &out], &["drawing", "writing"]),
        (&[&deep_text, "--to", "onnx", "-o", &out], &["translating", "writing"]),
        // The last one, since what is silent below takes as long.
        (&[&deep_text, "-o", &flat], &["expanding"]),
    ] {
        let work = |levels| {
            std::fs::write(&deep_text, deep(levels)).unwrap();
            if args[0] == "check" {
                run(&["-q", &deep_text, "-o", &flat], "");
            }
            on_streams(args, "", Some(File::create(path("stdout")).unwrap()))
        };
        let shows = |shown: &str| {
            let line = |line: &str, phase: &str| {
                let unit = if matches!(phase, "reading" | "writing") { "MB" } else { "operations" };
                line.starts_with(&format!("{phase}: ")) && line.contains(unit)
            };
            phases.iter().any(|phase| shown.split('\r').any(|shown| line(shown, phase)))
        };
        let left = screen(&first_shown(work, shows)).join("\n");
        assert!(!left.contains(": "), "{phases:?}: {left:?} is left");
    }
    for args in [&["--message-format", "json", "check", &deep_text][..], &["-q", "check", &deep_text]] {
        let shown = on_streams(args, "", Some(File::create(path("stdout")).unwrap()));
        assert_eq!(shown, "", "{args:?}");
    }
    assert!(run(&["check", &deep_text], "").stderr.is_empty(), "not a terminal");
}

#[test]
fn messages_are_not_written_into_the_line_of_the_progress() {
    let folder = tempfile::tempdir().unwrap();
    let (good, bad) = (folder.path().join("a.nnef"), folder.path().join("b.nnef"));
    let work = |levels| {
        std::fs::write(&good, deep(levels)).unwrap();
        let result = format!("y = f{levels}(x)");
        std::fs::write(&bad, deep(levels).replace(&result, &format!("{result}; z = conc(x)"))).unwrap();
        on_terminal(&["check", good.to_str().unwrap(), bad.to_str().unwrap()], "")
    };
    // Both are checked at the same time where there are several processors: the number is that of the last one begun.
    let begun = |shown: &str| (1..=2).any(|input| shown.contains(&format!("input {input}, expanding: ")));
    let shown = first_shown(work, begun);
    let lines = screen(&shown);
    assert!(lines[0].ends_with("a.nnef: ok") && lines[1].starts_with("Error"), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("expanding")), "{lines:?}");
}
