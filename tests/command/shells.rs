//! Completion scripts, run in the shells that are installed, and manual pages.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::process::{Command, Stdio};

use crate::common::command;
use crate::common::left_out;

/// What is typed, and what a completion makes of it.
const LINES: &[(&str, &str)] = &[
    ("nnef-flatten ch", "nnef-flatten check"),
    ("nnef-flatten gru", "nnef-flatten gru.nnef"),
    ("nnef-flatten gru.nnef --stat", "nnef-flatten gru.nnef --stats"),
    ("nnef-flatten check --st", "nnef-flatten check --strict"),
    ("nnef-flatten check gr", "nnef-flatten check gru.nnef"),
    ("nnef-flatten check a.nnef gr", "nnef-flatten check a.nnef gru.nnef"),
    ("nnef-flatten --strict check --frag", "nnef-flatten --strict check --fragments"),
    ("nnef-flatten -o x.json fmt --ch", "nnef-flatten -o x.json fmt --check"),
    ("nnef-flatten --to js", "nnef-flatten --to json"),
    ("nnef-flatten check --from l", "nnef-flatten check --from loops"),
    ("nnef-flatten run gru.nnef --max-w", "nnef-flatten run gru.nnef --max-work"),
    ("nnef-flatten completions z", "nnef-flatten completions zsh"),
    ("nnef-flatten help ru", "nnef-flatten help run"),
];

fn run(args: &[&str]) -> (i32, String, String) {
    let output = command::run(args);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Runs a script in a folder that has the completion script and the lines to be completed, and gives
/// what it writes; none if there is no such shell.
fn in_shell(shell: &str, args: &[&str], script: &str) -> Option<Vec<String>> {
    if Command::new(shell).args(["-c", "exit"]).status().is_err() {
        left_out(&format!("there is no {shell}"));
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("gru.nnef", "");
    write("completion", &run(&["completions", shell]).1);
    write("lines", &LINES.iter().map(|(line, _)| format!("{line}\n")).collect::<String>());
    write("script", script);
    let program = command::program();
    let bin = program.parent().unwrap();
    let path = std::env::join_paths(
        [bin.to_owned()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let output = Command::new(shell)
        .args(args)
        .arg("script")
        .current_dir(folder.path())
        .env("PATH", path.unwrap())
        .env("HOME", folder.path())
        .env("XDG_CONFIG_HOME", folder.path())
        .env("XDG_DATA_HOME", folder.path())
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.contains("no zpty") {
        left_out(&format!("{shell} has no module zpty"));
        return None;
    }
    assert!(!text.is_empty(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    Some(text.lines().map(|line| line.trim_end().to_owned()).collect())
}

fn completed() -> Vec<String> {
    LINES.iter().map(|(_, line)| (*line).to_owned()).collect()
}

#[test]
fn bash_completes_words() {
    let script = r#"
        source completion
        compopt() { :; }
        complete_with=$(complete -p nnef-flatten | sed 's/.*-F \([^ ]*\).*/\1/')
        while IFS= read -r line; do
            read -ra COMP_WORDS <<< "$line"
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            current=${COMP_WORDS[COMP_CWORD]}
            "$complete_with" nnef-flatten "$current" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${line%"$current"}${COMPREPLY[*]}"
        done < lines
    "#;
    if let Some(found) = in_shell("bash", &["--norc"], script) {
        assert_eq!(found, completed());
    }
}

#[test]
fn fish_completes_words() {
    let script = r#"
        source completion
        while read line
            set words (string split ' ' -- $line)
            set found (complete -C $line | string split -f 1 \t)
            echo "$words[1..-2] $found"
        end < lines
    "#;
    if let Some(found) = in_shell("fish", &["--no-config"], script) {
        assert_eq!(found, completed());
    }
}

/// Zsh completes lines that are typed only: a second one is typed at.
#[test]
fn zsh_completes_words() {
    let script = r#"
        zmodload zsh/zpty 2>/dev/null || { print 'no zpty'; exit 0 }
        zpty typed zsh -f -i
        zpty -w typed "stty cols 300; autoload -U compinit; compinit -u -d dump; source ./completion; setopt no_beep"
        zpty -w typed 'note() { print -r -- "$BUFFER" >> found; BUFFER= }; zle -N note; bindkey "^X" note; print >> ready'
        for i in {1..300}; do [[ -e ready ]] && break; sleep 0.1; done
        for line in "${(@f)$(<lines)}"; do
            zpty -w -n typed "$line"$'\t'$'\x18'
            for i in {1..300}; do zpty -r -t typed shown; [[ -e found ]] && (( $(wc -l < found) > count )) && break; sleep 0.1; done
            (( count += 1 ))
        done
        cat found
        zpty -d typed
    "#;
    if let Some(found) = in_shell("zsh", &["-f"], script) {
        assert_eq!(found, completed());
    }
}

#[test]
fn every_subcommand_has_a_manual_page() {
    let (status, main, _) = run(&["man"]);
    assert_eq!(status, 0);
    let folder = tempfile::tempdir().unwrap();
    let (status, out, err) = run(&["man", "--folder", folder.path().to_str().unwrap()]);
    assert_eq!((status, out.as_str(), err.as_str()), (0, "", ""));
    let mut named: Vec<String> = main
        .split("nnef\\-flatten\\-")
        .skip(1)
        .filter_map(|rest| Some(format!("nnef-flatten-{}.1", rest.split_once("(1)")?.0)))
        .collect();
    assert!(named.len() >= 6, "{named:?}");
    named.push("nnef-flatten.1".to_owned());
    named.sort();
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let mut found: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    assert_eq!(found, named);
    for file in named.iter().filter(|file| *file != "nnef-flatten.1") {
        let title = file.strip_suffix(".1").unwrap();
        let (status, page, _) = run(&["man", title.strip_prefix("nnef-flatten-").unwrap()]);
        assert_eq!(status, 0);
        assert!(page.contains(&format!(".TH {title} 1")) && page.contains(".SH SYNOPSIS"), "{page}");
        assert_eq!(std::fs::read_to_string(folder.path().join(file)).unwrap(), page);
    }
    let (status, _, err) = run(&["man", "chek"]);
    assert!(status == 2 && err.contains("did you mean `check`?"), "{err}");
}
