//! The steps of `.ci/run`: the table in `docs/testing.md` has each of them with its depth.
#![allow(clippy::unwrap_used)]

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
