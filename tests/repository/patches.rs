//! What a contribution touches: each patch of `tests/patches` adds one of a kind, and says so by its files of `src`.
//!
//! A patch has to apply to the tree; `.ci/run` also builds the tree with it. `CONTRIBUTING.md` says how a patch is
//! brought up to date.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::left_out;

/// Each patch with the number of files of `src` that it may touch; new files count.
const LIMITS: &[(&str, usize)] = &[
    // An operation with a meaning in NNEF, ONNX and torch.
    ("operation", 3),
    // An option of the command.
    ("option", 2),
    // An input notation.
    ("notation", 3),
];

/// The folder of the package.
fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files that a patch changes, adds or removes.
fn touched(patch: &str) -> Vec<&str> {
    let heads = patch.lines().filter_map(|line| line.strip_prefix("diff --git a/"));
    heads.map(|head| head.split_once(" b/").unwrap().0).collect()
}

#[test]
fn every_patch_has_a_limit() {
    let files = fs::read_dir(package().join("tests/patches")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut found: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
    let mut known: Vec<String> = LIMITS.iter().map(|(name, _)| format!("{name}.patch")).collect();
    found.sort();
    known.sort();
    assert_eq!(found, known);
}

#[test]
fn patches_touch_few_files() {
    for (name, limit) in LIMITS {
        let patch = fs::read_to_string(package().join(format!("tests/patches/{name}.patch"))).unwrap();
        let files: Vec<&str> = touched(&patch).into_iter().filter(|file| file.starts_with("src/")).collect();
        assert!(!files.is_empty() && files.len() <= *limit, "{name}.patch touches {files:?}, at most {limit}");
    }
}

#[test]
fn patches_apply() {
    let git = |args: &[&str]| Command::new("git").args(args).current_dir(package()).output();
    if git(&["--version"]).is_err() {
        left_out("there is no git");
        return;
    }
    for (name, _) in LIMITS {
        let output = git(&["apply", "--check", &format!("tests/patches/{name}.patch")]).unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}.patch has to be brought up to date (CONTRIBUTING.md):\n{told}");
    }
}
