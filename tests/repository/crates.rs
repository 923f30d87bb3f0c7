//! The crates and features that the package is built from.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::process::Command;

use crate::common::left_out;

/// Lines that cargo tells about crates; none where the tests run without it.
fn told(words: &[&str]) -> Option<BTreeSet<String>> {
    let Some(cargo) = std::env::var_os("CARGO") else {
        left_out("this is not run by cargo");
        return None;
    };
    let output = Command::new(cargo).args(words).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(told.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect())
}

/// The crates with their features, those of the target: what runs at build time is apart.
fn crates(edges: &str, features: &[&str]) -> Option<BTreeSet<String>> {
    let words = ["tree", "--offline", "--prefix", "none", "--format", "{p} {f}", "--edges", edges];
    told(&[&words, features].concat())
}

#[test]
fn tests_use_the_crates_that_the_command_uses() {
    let (Some(used), Some(tested)) = (crates("normal", &[]), crates("normal,dev", &[])) else { return };
    let compiled_twice: Vec<_> = used.difference(&tested).collect();
    assert!(compiled_twice.is_empty(), "a crate for development adds features to {compiled_twice:?}");
}

#[test]
fn all_features_are_default_ones() {
    let (Some(default), Some(all)) = (crates("normal", &[]), crates("normal", &["--all-features"])) else { return };
    assert_eq!(default, all);
}

/// The names in the tables of dependencies of a manifest.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut listed = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            listed = line.ends_with("dependencies]");
        } else if let Some((name, _)) = line.split_once(" = ").filter(|_| listed && !line.starts_with('#')) {
            names.push(name);
        }
    }
    names
}

#[test]
fn every_feature_is_on_the_page_of_the_library() {
    let read =
        |name: &str| std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let (manifest, page) = (read("Cargo.toml"), read("docs/library.md"));
    let (_, listed) = manifest.split_once("\n[features]\n").unwrap();
    let rows = listed.lines().take_while(|line| !line.starts_with('['));
    let names: Vec<&str> = rows.filter_map(|line| Some(line.split_once(" = ")?.0)).collect();
    assert!(names.contains(&"onnx"), "{names:?}");
    let told = page.split_once("\n## Findings and features\n").unwrap().1;
    let missing: Vec<&&str> =
        names.iter().filter(|name| **name != "default" && !told.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/library.md does not tell of {missing:?}");
}

#[test]
fn every_crate_has_a_reason() {
    let read =
        |name: &str| std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
    let (manifest, page) = (read("Cargo.toml"), read("docs/decisions-structure.md"));
    let crates = page.split("\n## Crates\n").nth(1).unwrap();
    let named = dependencies(&manifest);
    assert!(named.contains(&"chumsky") && named.contains(&"proptest"), "{named:?}");
    let missing: Vec<&str> = named.into_iter().filter(|name| !crates.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "no reason in docs/decisions-structure.md for {missing:?}");
}
