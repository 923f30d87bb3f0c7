//! The documents of `examples`: all flatten under `--strict` as recorded in `tests/examples`, and
//! `mistakes.nnef` has all of its mistakes reported in one run.
//!
//! With `UPDATE_SNAPSHOTS=1` in the environment the flat texts are rewritten.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nnef_flatten::diagnostics::Diagnostics;
use nnef_flatten::{Lower, Options, check, expand, parse};

const MISTAKES: &str = "mistakes.nnef";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Names and texts of the examples without mistakes.
fn examples() -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let documents = entries.filter(|path| path.extension().is_some_and(|extension| extension == "nnef"));
    documents
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), std::fs::read_to_string(path).unwrap()))
        .filter(|(name, _)| name != MISTAKES)
        .collect()
}

/// The flat text of a document without mistakes.
fn flatten(name: &str, text: &str, lower: Lower) -> String {
    let options = Options::default().with(|o| {
        o.strict = true;
        o.lower = lower;
    });
    let parsed = parse(name, text.to_string(), &options);
    let messages = |found: &Diagnostics| found.iter().map(|d| d.message.clone()).collect::<Vec<_>>();
    assert!(parsed.diagnostics.is_empty(), "{name}: {:?}", messages(&parsed.diagnostics));
    let expansion = expand(&parsed.document, &options).unwrap_or_else(|found| panic!("{name}: {:?}", messages(&found)));
    assert!(expansion.diagnostics.is_empty(), "{name}: {:?}", messages(&expansion.diagnostics));
    let mut flat = Vec::new();
    expansion.graph.write_nnef(&mut flat).unwrap();
    String::from_utf8(flat).unwrap()
}

fn recorded(name: &str, level: &str) -> PathBuf {
    let stem = name.strip_suffix(".nnef").unwrap();
    root().join("tests/examples").join(format!("{stem}.{level}.flat.nnef"))
}

#[test]
fn examples_flatten_with_their_fragments_kept() {
    for (name, text) in examples() {
        let kept = flatten(&name, &text, Lower::None);
        assert!(kept.contains("\nfragment "), "{name}:\n{kept}");
        // The result with kept operations can be flattened completely.
        assert_eq!(flatten(&name, &kept, Lower::Custom), flatten(&name, &text, Lower::Custom), "{name}");
    }
}

#[test]
fn examples_flatten_as_recorded() {
    let update = std::env::var("UPDATE_SNAPSHOTS").is_ok_and(|value| value == "1");
    for (name, text) in examples() {
        for (level, lower) in [("custom", Lower::Custom), ("all", Lower::All)] {
            let flat = flatten(&name, &text, lower);
            let path = recorded(&name, level);
            if update {
                std::fs::write(path, flat).unwrap();
            } else {
                let wanted = std::fs::read_to_string(&path).unwrap_or_default();
                assert!(flat == wanted, "{name}, lower {level}; UPDATE_SNAPSHOTS=1 records what is found:\n{flat}");
            }
        }
    }
}

#[test]
fn flat_documents_flatten_to_themselves() {
    for (name, text) in examples() {
        for lower in [Lower::Custom, Lower::All] {
            let flat = flatten(&name, &text, lower.clone());
            assert_eq!(flatten(&name, &flat, lower.clone()), flat, "{name}, {lower:?}");
        }
    }
}

#[test]
fn lowering_in_two_steps_is_lowering_at_once() {
    for (name, text) in examples() {
        let custom = flatten(&name, &text, Lower::Custom);
        assert_eq!(flatten(&name, &custom, Lower::All), flatten(&name, &text, Lower::All), "{name}");
    }
}

#[test]
fn no_recorded_text_is_left_over() {
    let names = examples();
    for entry in std::fs::read_dir(root().join("tests/examples")).unwrap() {
        let path = entry.unwrap().path();
        assert!(
            names.keys().any(|name| ["custom", "all"].iter().any(|level| recorded(name, level) == path)),
            "{path:?}"
        );
    }
}

/// The places of the numbered mistakes: from the comment with the number to the next one.
fn mistakes(text: &str) -> Vec<(u32, u32, u32)> {
    let starts: Vec<(u32, u32)> = text
        .lines()
        .enumerate()
        .filter_map(|(i, line)| {
            let (number, _) = line.trim().strip_prefix("# ")?.split_once(". ")?;
            Some((number.parse().ok()?, i as u32 + 1))
        })
        .collect();
    let ends = starts.iter().skip(1).map(|(_, line)| *line).chain([u32::MAX]);
    starts.iter().zip(ends).map(|(&(number, start), end)| (number, start, end)).collect()
}

#[test]
fn every_mistake_is_reported_in_one_run() {
    let text = std::fs::read_to_string(root().join("examples").join(MISTAKES)).unwrap();
    let options = Options::default().with(|o| o.strict = true);
    let parsed = parse(MISTAKES, text.clone(), &options);
    let sources = parsed.document.sources();
    let checked = check(&parsed.document, &options);
    let found: Vec<(u32, String)> = parsed
        .diagnostics
        .iter()
        .chain(checked.iter())
        .map(|d| (sources.start(d.at).line, format!("{} {}", d.code.as_str(), d.message)))
        .collect();
    let told: String = found.iter().map(|(line, message)| format!("\n{line}: {message}")).collect();
    let mistakes = mistakes(&text);
    assert_eq!(mistakes.len(), 18);
    for (number, start, end) in &mistakes {
        assert!(found.iter().any(|(line, _)| start < line && line < end), "mistake {number} is not found:{told}");
    }
    for (line, message) in &found {
        assert!(
            mistakes.iter().any(|(_, start, end)| start < line && line < end),
            "{line}: {message} is not a mistake"
        );
    }
    assert_eq!(found.len(), mistakes.len(), "one finding each:{told}");
}
