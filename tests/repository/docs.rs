//! Checks of the documentation: commands give the output shown, and tables agree with the code.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nnef_flatten::diagnostics::{Code, Severity};

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The cells of the rows of all tables of a page.
fn rows(page: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.trim().trim_matches('|').split(" | ").map(|cell| cell.trim().to_string()).collect();
    page.lines().filter(|line| line.starts_with("| ")).map(cells).collect()
}

#[test]
fn every_rule_has_a_row_with_its_codes() {
    let mut wanted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for code in Code::ALL {
        if let Some(rule) = code.rule() {
            wanted.entry(rule).or_default().push(code.as_str());
        }
    }
    let page = page("docs/rules.md");
    let rows: Vec<Vec<String>> = rows(&page).into_iter().filter(|row| row[0] != "rule").collect();
    let found: BTreeMap<&str, Vec<&str>> =
        rows.iter().map(|row| (row[0].as_str(), row[2].split(", ").collect())).collect();
    assert_eq!(found, wanted);
    assert_eq!(found.len(), rows.len(), "a rule has two rows");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for path in rows.iter().flat_map(|row| row[3].split(", ")) {
        assert!(source.join(path.trim_matches('`')).exists(), "no module {path}");
    }
}

#[test]
fn every_code_is_listed_with_the_rules() {
    let page = page("docs/rules.md");
    let listed: BTreeSet<&str> = page.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let missing: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).filter(|code| !listed.contains(code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn codes_that_pages_name_exist() {
    let known: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let is_code = |word: &&str| {
        let digits = word.strip_prefix('E').filter(|rest| rest.len() == 4);
        digits.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
    };
    let mut count = 0;
    for name in crate::pages::pages() {
        let page = page(&name);
        let named: Vec<&str> = page.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_code).collect();
        count += named.len();
        assert_eq!(named.iter().find(|code| !known.contains(*code)), None, "{name}");
    }
    assert!(count > 500, "only {count} codes are named");
}

#[test]
fn every_accepted_deviation_has_a_row() {
    let page = page("docs/dialects.md");
    let found: Vec<String> =
        rows(&page).into_iter().filter(|row| row[0].starts_with('E')).map(|row| row[0].clone()).collect();
    let accepted = |code: &&Code| code.severity(false) == Severity::Warning && code.severity(true) == Severity::Error;
    let wanted: Vec<&str> = Code::ALL.iter().filter(accepted).map(|code| code.as_str()).collect();
    assert_eq!(found, wanted);
}

/// The page names codes, and runs of them as `E0721 to E0725`.
#[test]
fn common_practice_is_listed() {
    let page = page("docs/dialects.md");
    let text = page.split_once("**common practice**").unwrap().1.split_once(". The library").unwrap().0;
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let number = |word: &str| word.strip_prefix('E').and_then(|rest| rest.parse::<u16>().ok());
    let mut found = BTreeSet::new();
    for (i, word) in words.iter().copied().enumerate() {
        if let Some(last) = number(word) {
            let first = if i > 1 && words[i - 1] == "to" { number(words[i - 2]).unwrap() } else { last };
            found.extend(first..=last);
        }
    }
    let wanted: BTreeSet<u16> =
        Code::ALL.iter().filter(|code| code.is_practice()).filter_map(|code| number(code.as_str())).collect();
    assert_eq!(found, wanted);
}

#[cfg(feature = "cli")]
mod commands {
    use super::page;
    use std::io::Read;
    use std::process::Stdio;

    use crate::common::command::{call, run};
    use crate::pages::pages;

    /// A command of a `console` block, and what the page shows of its output.
    struct Shown {
        place: String,
        command: String,
        output: String,
    }

    fn shown() -> Vec<Shown> {
        let mut all: Vec<Shown> = Vec::new();
        for name in pages() {
            let mut open = false;
            for (i, line) in page(&name).lines().enumerate() {
                if line.starts_with("```") {
                    open = line == "```console";
                } else if open && let Some(command) = line.strip_prefix("$ ") {
                    let place = format!("{name}:{}", i + 1);
                    all.push(Shown { place, command: command.to_string(), output: String::new() });
                } else if open {
                    let output = &mut all.last_mut().unwrap().output;
                    output.push_str(line);
                    output.push('\n');
                }
            }
        }
        all
    }

    /// Runs `nnef-flatten …` and `echo $?`, as a shell would. A block that shows no output says
    /// only that the command succeeds; `…` alone in a line stands for any number of lines.
    #[test]
    fn commands_do_what_is_shown() {
        // The examples write results to `target`, which cargo may have elsewhere.
        std::fs::create_dir_all(concat!(env!("CARGO_MANIFEST_DIR"), "/target")).unwrap();
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut status = 0;
        let mut count = 0;
        for shown in shown() {
            let place = &shown.place;
            if shown.command == "echo $?" {
                assert_eq!(shown.output.trim(), status.to_string(), "{place}");
                continue;
            }
            let args = shown.command.strip_prefix("nnef-flatten").unwrap_or_else(|| panic!("{place}: not our command"));
            let (args, stdin) = match args.split_once(" < ") {
                Some((args, file)) => (args, std::fs::File::open(root.join(file.trim())).unwrap().into()),
                None => (args, Stdio::null()),
            };
            // On a terminal both streams are one.
            let (mut reader, writer) = std::io::pipe().unwrap();
            // No argument in quotes has blanks.
            let mut child = call(args.split_whitespace().map(|arg| arg.trim_matches('\'')))
                .within(root)
                .command()
                .stdin(stdin)
                .stdout(writer.try_clone().unwrap())
                .stderr(writer)
                .spawn()
                .unwrap();
            let mut found = String::new();
            reader.read_to_string(&mut found).unwrap();
            count += 1;
            status = child.wait().unwrap().code().unwrap();
            if shown.output.is_empty() {
                assert_eq!(status, 0, "{place}: {found}");
            } else {
                assert!(matches(&shown.output, &found), "{place} shows\n{}but it is\n{found}", shown.output);
            }
        }
        assert!(count >= 6, "only {count} commands");
    }

    fn matches(shown: &str, found: &str) -> bool {
        let mut rest = found;
        let mut first = true;
        let trim = |text: &str| text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>();
        let found = trim(rest);
        rest = &found;
        let open_end = shown.ends_with("…\n");
        for part in shown.split("…\n") {
            let starts_line = |at: &usize| *at == 0 || rest[..*at].ends_with('\n');
            let Some(at) = rest.match_indices(part).map(|(at, _)| at).find(starts_line) else { return false };
            if first && at != 0 {
                return false;
            }
            rest = &rest[at + part.len()..];
            first = false;
        }
        open_end || rest.is_empty()
    }

    /// The rows of README's table of notations: an input of each, and the options that the row names.
    const NOTATIONS: &[(&str, &[&str])] = &[
        ("ONNX", &["--set", "batch=4", "--fold", "examples/onnx/heads.onnxtxt"]),
        ("NNEF", &["examples/model"]),
        ("PNNX", &["--lower", "all", "examples/pnnx/centre.pnnx.param"]),
        ("ncnn", &["--lower", "all", "examples/ncnn/edges.param"]),
        ("networks with loops", &["--unroll", "examples/loops/elman.json"]),
    ];

    #[test]
    fn the_table_of_notations_is_true() {
        let page = page("README.md");
        let table = page.split("\n| from |").nth(1).unwrap();
        let (columns, table) = table.split_once('\n').unwrap();
        let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
        let columns = cells(columns);
        let rows: Vec<_> = table.lines().skip(1).take_while(|line| line.starts_with('|')).map(cells).collect();
        assert_eq!(rows.len(), NOTATIONS.len());
        let folder = tempfile::tempdir().unwrap();
        let values = folder.path().join("values.json");
        std::fs::write(&values, r#"{"input": [[1.0, 2.0, 3.0, 4.0]]}"#).unwrap();
        // What `run` evaluates of each.
        let runs: [&[&str]; NOTATIONS.len()] = [
            &["examples/onnx/heads.onnxtxt", "--inputs", "examples/onnx/heads.inputs.json"],
            &["examples/model", "--inputs", values.to_str().unwrap()],
            &["examples/pnnx/centre.pnnx.param", "--inputs", "examples/pnnx/centre.inputs.json"],
            &["examples/ncnn/edges.param", "--inputs", "examples/ncnn/edges.inputs.json"],
            &["examples/loops/fibonacci.json"],
        ];
        for ((row, (name, given)), evaluated) in rows.iter().zip(NOTATIONS).zip(runs) {
            assert!(row[1].starts_with(&format!("[{name}]")), "{row:?}");
            assert_eq!(row.len(), columns.len() + 2, "{row:?}");
            for (column, cell) in columns.iter().zip(&row[2..]) {
                if column == "`check`, `diff`" {
                    // Neither changes a model, so that they do not fold.
                    let taken: Vec<&str> = given.iter().copied().filter(|word| *word != "--fold").collect();
                    let done = [
                        run(&[&["check"], &taken[..]].concat()),
                        run(&[&["diff", taken.last().unwrap()], &taken[..]].concat()),
                    ];
                    assert!(cell == "yes" && done.iter().all(|done| done.status.success()), "{name}: {done:?}");
                }
                if column == "`run`" {
                    let done = run(&[&["run"], evaluated].concat());
                    assert_eq!(done.status.success(), cell == "yes", "{name}: {cell}, {done:?}");
                }
                let outputs: &[&str] = match column.as_str() {
                    "ONNX" => &["onnx"],
                    "NNEF" => &["nnef"],
                    "PNNX" => &["pnnx.param"],
                    "JSON, pictures, pages" => &["json", "svg", "html"],
                    // What stands behind the last bar is no column.
                    "`check`, `diff`" | "`run`" | "" => continue,
                    other => panic!("{other} is not tried"),
                };
                for output in outputs {
                    let path = folder.path().join(format!("result.{output}"));
                    let done = run(&[&["-q", "-o", path.to_str().unwrap()], *given].concat());
                    assert_eq!(done.status.success(), cell == "yes", "{name} to {output}: {cell}, {done:?}");
                }
            }
        }
    }

    #[test]
    fn only_whole_outputs_match() {
        assert!(matches("a\n", "a \n") && !matches("a\n", "a\nb\n"));
        assert!(matches("a\n…\n", "a\nb\n") && matches("…\nb\n", "a\nb\n") && matches("a\n…\nc\n", "a\nb\nc\n"));
        assert!(!matches("b\n…\n", "a\nb\n") && !matches("…\nb\n", "ab\n") && matches("…\nb\n", "ab\nb\n"));
    }
}
