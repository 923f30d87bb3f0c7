//! Cases of the command as files.
//!
//! Each file of `tests/commands` and its folders is a case: a comment; the files that there are, each below a line
//! `--- NAME`; then the calls, one after the other in a folder with these files. A call is a line `$ nnef-flatten …`, as
//! in a shell: words in single quotes may have blanks, and `< NAME` is standard input, which is empty otherwise. The
//! lines below it are what it does:
//!
//! * `| ` before each line of standard output, `! ` before each of standard error;
//! * `wrote NAME` for each file that is new or changed, with its lines after `+ `, or its size if it is not a text;
//! * `exit N`.
//!
//! `\` ends a text without a line break at its end. With `UPDATE_SNAPSHOTS=1` in the environment what the calls do is
//! rewritten; look at the difference before committing it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::common::command::call;
use crate::common::files_below;

/// What a call begins with.
const CALL: &str = "$ nnef-flatten";

/// A case: what stands before the first call, and the calls.
struct Case<'t> {
    head: &'t str,
    files: Vec<(&'t str, String)>,
    calls: Vec<&'t str>,
}

impl<'t> Case<'t> {
    fn read(text: &'t str) -> Case<'t> {
        let at = text.find(&format!("\n{CALL}")).expect("a case has a call") + 1;
        let (head, calls) = text.split_at(at);
        assert!(head.starts_with("# "), "a case begins with a comment");
        let mut files: Vec<(&str, String)> = Vec::new();
        for line in head.split_inclusive('\n') {
            match (line.strip_prefix("--- "), files.last_mut()) {
                (Some(name), _) => files.push((name.trim_end(), String::new())),
                (None, Some((_, content))) => content.push_str(line),
                (None, None) => {}
            }
        }
        Case { head, files, calls: calls.lines().filter(|line| line.starts_with(CALL)).collect() }
    }

    /// The case with what its calls do.
    fn run(&self) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in &self.files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let mut told = self.head.to_owned();
        for (i, line) in self.calls.iter().enumerate() {
            let separator = if i > 0 { "\n" } else { "" };
            write!(told, "{separator}{line}\n{}", outcome(&line[CALL.len()..], folder.path())).unwrap();
        }
        told
    }
}

/// What a call does in a folder.
fn outcome(line: &str, folder: &Path) -> String {
    let mut words = words(line);
    let mut stdin = Vec::new();
    if let Some(at) = words.iter().position(|word| word == "<") {
        stdin = fs::read(folder.join(&words[at + 1])).unwrap();
        words.drain(at..at + 2);
    }
    let before = files(folder);
    let output = call(&words).within(folder).stdin(stdin).run();
    let mut told = String::new();
    lines(&mut told, '|', &output.stdout);
    lines(&mut told, '!', &output.stderr);
    for (name, content) in files(folder) {
        if before.get(&name) != Some(&content) {
            writeln!(told, "wrote {name}").unwrap();
            lines(&mut told, '+', &content);
        }
    }
    writeln!(told, "exit {}", output.status.code().expect("an exit status, not a signal")).unwrap();
    told
}

/// The words of a line.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (i, part) in line.split('\'').enumerate() {
        match i % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

/// Appends the lines of a text, each after a mark. Of a file that is not a text, the size.
fn lines(told: &mut String, mark: char, text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        writeln!(told, "{mark} {} bytes", text.len()).unwrap();
        return;
    };
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, "\\"), |line| (line, ""));
        let blank = if line.is_empty() { "" } else { " " };
        writeln!(told, "{mark}{blank}{line}{end}").unwrap();
    }
}

/// The files of a folder and of those in it, by their paths.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let name = |path: &Path| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
    files_below(folder).iter().map(|path| (name(path), fs::read(path).unwrap())).collect()
}

#[test]
fn calls_do_what_cases_say() {
    let cases = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands"));
    let update = std::env::var_os("UPDATE_SNAPSHOTS").is_some();
    let mut wrong = Vec::new();
    assert!(cases.len() > 50, "only {} files", cases.len());
    for (name, text) in cases {
        let text = String::from_utf8(text).unwrap();
        let told = Case::read(&text).run();
        if told == text {
            continue;
        }
        if update {
            fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands").join(&name), told).unwrap();
        } else {
            wrong.push(format!("{name}:\n{}", difference(&text, &told)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The first lines that differ.
fn difference(wanted: &str, told: &str) -> String {
    let at = wanted.lines().zip(told.lines()).take_while(|(wanted, told)| wanted == told).count();
    let from = |text: &str| text.lines().skip(at).take(8).map(|line| format!("    {line}\n")).collect::<String>();
    format!("  line {}, wanted:\n{}  found:\n{}", at + 1, from(wanted), from(told))
}
