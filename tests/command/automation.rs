//! The hooks of pre-commit and the action of GitHub: they call the command with options that it has, and do what they say.
//! Their syntax is checked by `.ci/run` against the schemas of both programs.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::command::{call, messages, program, run};
use crate::common::left_out;

const GOOD: &str = "version 1.0;\ngraph G( x ) -> ( y ) { x = external(shape = [2]); y = relu(x); }\n";
const BAD: &str = "version 1.0;\ngraph G( x ) -> ( y ) { x = external(shape = [2]); y = rleu(x); }\n";

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The values of a key in the lines of a file.
fn values<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let value = |line: &'t str| line.trim_start_matches([' ', '-']).strip_prefix(key)?.strip_prefix(": ");
    text.lines().filter_map(value).collect()
}

/// Whether the options of a call are listed in the help of its subcommand.
fn is_known(call: &str) -> bool {
    let mut words = call.split_whitespace();
    assert_eq!(words.next(), Some("nnef-flatten"));
    let help = run(&[words.next().unwrap(), "--help"]);
    let help = String::from_utf8(help.stdout).unwrap();
    words.filter(|word| word.starts_with("--")).all(|option| help.contains(option))
}

#[test]
fn hooks_call_what_the_command_has() {
    let hooks = page(".pre-commit-hooks.yaml");
    let entries = values(&hooks, "entry");
    assert_eq!((entries.len(), values(&hooks, "id").len(), values(&hooks, "files").len()), (3, 3, 3));
    for entry in entries {
        assert!(is_known(entry), "{entry}");
        // A hook gets the names of files as further words.
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("good.nnef"), GOOD).unwrap();
        fs::write(folder.path().join("bad.nnef"), BAD).unwrap();
        let words: Vec<&str> = entry.split_whitespace().skip(1).collect();
        let good = call(&words).args(["good.nnef"]).within(folder.path()).run();
        assert_eq!(good.status.code(), Some(0), "{entry}: {}", messages(&good));
        let bad = call(&words).args(["bad.nnef", "good.nnef"]).within(folder.path()).run();
        let checks = entry.contains(" check ");
        assert_eq!(bad.status.code(), Some(i32::from(checks)), "{entry}: {}", messages(&bad));
        assert!(!checks || messages(&bad).starts_with("bad.nnef:2:"), "{entry}: {}", messages(&bad));
    }
}

/// The script of the step of the action that checks.
fn script() -> String {
    let action = page("action.yml");
    let (_, check) = action.split_once("    - name: Check\n").unwrap();
    let (_, script) = check.split_once("      run: |\n").unwrap();
    script.lines().map(|line| format!("{}\n", line.trim_start_matches("        "))).collect()
}

fn act(folder: &Path, paths: &str, arguments: &str, sarif: &str) -> Output {
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script()]).current_dir(folder);
    bash.env("COMMAND", program()).env("PATHS", paths);
    bash.env("ARGUMENTS", arguments).env("SARIF_FILE", sarif).output().unwrap()
}

#[test]
fn the_action_annotates_and_logs() {
    if Command::new("bash").arg("--version").output().is_err() {
        left_out("there is no bash");
        return;
    }
    let action = page("action.yml");
    for input in ["paths", "arguments", "sarif-file"] {
        assert!(action.contains(&format!("\n  {input}:\n")) && action.contains(&format!("${{{{ inputs.{input} }}}}")));
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.nnef"), GOOD).unwrap();
    let good = act(folder.path(), ".", "--strict", "");
    assert_eq!((good.status.code(), messages(&good).as_str()), (Some(0), ""));
    fs::write(folder.path().join("bad.nnef"), BAD).unwrap();
    let bad = act(folder.path(), "*.nnef", "--limits untrusted", "log.sarif");
    assert_eq!(bad.status.code(), Some(1), "{}", messages(&bad));
    assert!(messages(&bad).starts_with("::error file=bad.nnef,line=2,"), "{}", messages(&bad));
    let log = || -> serde_json::Value {
        serde_json::from_slice(&fs::read(folder.path().join("log.sarif")).unwrap()).unwrap()
    };
    assert_eq!(log()["runs"][0]["results"].as_array().unwrap().len(), 1);
    assert_eq!(log()["runs"][0]["artifacts"].as_array().unwrap().len(), 2);
    // Both calls get the arguments.
    fs::write(folder.path().join("vendor.nnef"), BAD.replace("rleu", "vendor_op")).unwrap();
    let warned = act(folder.path(), "vendor.nnef", "", "log.sarif");
    assert!(warned.status.code() == Some(0) && messages(&warned).starts_with("::warning "), "{}", messages(&warned));
    assert_eq!(log()["runs"][0]["results"][0]["level"], "warning");
    let strict = act(folder.path(), "vendor.nnef", "--strict", "log.sarif");
    assert!(strict.status.code() == Some(1) && messages(&strict).starts_with("::error "), "{}", messages(&strict));
    assert_eq!(log()["runs"][0]["results"][0]["level"], "error");
    let missing = act(folder.path(), "missing.nnef", "", "");
    assert!(missing.status.code() == Some(2) && messages(&missing).contains("missing.nnef"), "{}", messages(&missing));
}
