//! Characters that control a terminal never reach one: neither from names of files in messages nor
//! from strings of documents. A file or a pipe gets results as they are.
#![cfg(all(feature = "cli", unix))]
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/command.rs"]
mod command;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Output, Stdio};

/// Clears the screen; a second way to say so in one character; deletes; turns the text around.
const STRANGE: &str = "a\u{1b}[2Jb\u{9b}c\u{7f}d\u{202e}e";

fn document() -> String {
    format!(
        "version 1.0;\ngraph G( x ) -> ( y )\n{{\n    # {STRANGE}\n    x = external(shape = [2]);\n    \
         y = vendor_op(x, text = '{STRANGE}');\n}}\n"
    )
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nnef-flatten"));
    command.args(args).env("NO_COLOR", "1").stdin(Stdio::piped());
    command
}

fn run(args: &[&str], stdin: &str) -> Output {
    command::feed(args, stdin)
}

/// What a terminal gets on standard output and standard error.
fn on_terminal(args: &[&str], stdin: &str) -> String {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let inner = File::options().read(true).write(true).open(OsStr::from_bytes(name.as_bytes())).unwrap();
    let mut command = command(args);
    command.stdout(inner.try_clone().unwrap()).stderr(inner);
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
        for format in ["human", "json"] {
            let args = [&["--message-format", format], args].concat();
            let output = run(&args, "");
            let told = String::from_utf8(output.stderr).unwrap();
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
