//! The steps of `.ci/run`: the table in `docs/testing.md` has each of them with its depth. The table of relations there has no
//! row without a law that something tries.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The steps that the lines of a text name, as depth and name.
fn steps<'t>(
    lines: impl Iterator<Item = &'t str>,
    step: impl Fn(&str) -> Option<(&str, &str)>,
) -> BTreeSet<(String, String)> {
    lines.filter_map(step).map(|(depth, name)| (depth.to_owned(), name.to_owned())).collect()
}

#[test]
fn the_table_of_steps_has_those_of_ci() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let (script, page) = (read(".ci/run"), read("docs/testing.md"));
    let called = steps(script.lines(), |line| {
        let (depth, rest) = line.trim_start().split_once(" \"")?;
        let (name, function) = rest.split_once("\" ")?;
        let is_step = matches!(depth, "commit" | "full") && !function.contains(' ');
        is_step.then_some((depth, name))
    });
    let (_, table) = page.split_once("| step | depth | seconds | what it checks |").unwrap();
    let told = steps(table.lines().take_while(|line| line.is_empty() || line.starts_with('|')), |line| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let (name, depth) = (cells.next()?, cells.next()?);
        matches!(depth, "commit" | "full").then_some((depth, name))
    });
    assert!(!called.is_empty());
    assert_eq!(called, told);
}

/// The numbers of a text, without the commas between their digits.
fn numbers(text: &str) -> Vec<String> {
    let plain = text.replace([',', '_'], "");
    let words = plain.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit())).map(str::to_owned).collect()
}

/// A row has a law, files that make its cases, their number as a file or `.ci/run` has it, and a date; or it says why not.
#[test]
fn relations_have_laws_that_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let page = read("docs/testing.md");
    let (_, table) = page.split_once("| pair | law | cases made by | runs | last |\n|---|---|---|---|---|\n").unwrap();
    let mut kinds = BTreeSet::new();
    for row in table.lines().take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [pair, law, made, runs, last] = cells[..] else { panic!("{row}: not five cells") };
        kinds.insert(pair.split([':', ',']).next().unwrap());
        if made == "–" {
            assert!(law.starts_with("none: ") && runs == "–" && last == "–", "{pair}: no reason");
            continue;
        }
        let files: Vec<&str> = made.split('`').filter(|name| name.contains('/')).collect();
        assert!(!files.is_empty() && files.iter().all(|file| root.join(file).exists()), "{pair}: {made}");
        let known: BTreeSet<String> =
            files.iter().copied().chain([".ci/run"]).flat_map(|file| numbers(&read(file))).collect();
        let unknown: Vec<String> = numbers(runs).into_iter().filter(|number| !known.contains(number)).collect();
        assert!(unknown.is_empty(), "{pair}: its files do not say {unknown:?}");
        let is_date = last.len() == 10 && numbers(&last.replace('-', " ")).len() == 3;
        assert!(is_date, "{pair}: no date");
    }
    let wanted = ["engine × engine", "pass × pass", "notation × notation", "written × read", "limit × path"];
    assert!(wanted.iter().all(|kind| kinds.contains(kind)), "{kinds:?}");
}
