//! The public surface, item by item, and the types that must not be in it.
//!
//! `tests/api.txt` lists the items; with `UPDATE_SNAPSHOTS=1` in the environment it is rewritten.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use crate::common::files_of;

/// The public modules of `src/lib.rs`, except for the command's.
fn public_modules(root: &str) -> Vec<String> {
    let modules = root.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    modules.filter(|module| *module != "cli").map(str::to_string).collect()
}

fn source(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The public items of a file: declarations and re-exports.
fn items(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let joined = text.replace("{\n    ", "{").replace(",\n    ", ", ").replace(",\n}", "}");
    for line in joined.lines().filter_map(|line| line.strip_prefix("pub ")) {
        let (kind, rest) = line.split_once(' ').unwrap();
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        match kind {
            "use" => {
                let names = rest.trim_end_matches(';').rsplit("::").next().unwrap();
                found.extend(names.trim_matches(['{', '}']).split(", ").map(str::to_string));
            }
            "mod" if name == "cli" => {}
            _ => found.push(name),
        }
    }
    found
}

/// All public items, with the names of their modules.
fn surface() -> Vec<String> {
    let root = source("src/lib.rs");
    let mut found = items(&root);
    for module in public_modules(&root) {
        let text = source(&format!("src/{module}/mod.rs"));
        found.extend(items(&text).into_iter().map(|item| format!("{module}::{item}")));
    }
    // Items that are re-exported at the root are counted there only.
    let at_root = found.clone();
    let again = |item: &str| item.split_once("::").is_some_and(|(_, name)| at_root.iter().any(|other| other == name));
    found.retain(|item| !again(item) || item == "graph::Tensor");
    found.sort();
    found
}

#[test]
fn the_public_items_are_those_listed() {
    let found = surface().join("\n") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api.txt");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&path, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(&path).unwrap());
    assert!(found.lines().count() <= 89, "{} public items", found.lines().count());
}

/// The public declarations of a text: functions up to their bodies, enumerations and traits with theirs, others by their
/// line. Of structs, the fields that are public are declarations of their own.
fn declarations(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let inner = line.trim_start();
        let Some(item) = inner.strip_prefix("pub ").filter(|item| !item.starts_with("struct ")) else { continue };
        let end = format!("{}}}", &line[..line.len() - inner.len()]);
        let has_members = ["enum ", "trait "].iter().any(|kind| item.starts_with(kind)) && line.ends_with('{');
        let goes_on = item.contains("fn ") && !line.contains(['{', ';']);
        let mut declared = vec![line];
        while has_members && declared.last() != Some(&end.as_str())
            || goes_on && !declared.last().is_some_and(|line| line.contains(['{', ';']))
        {
            declared.push(lines.next().unwrap());
        }
        found.push(declared.join("\n"));
    }
    found
}

/// No public declaration may name a type of these dependencies. The lint `unreachable_pub` ensures that
/// only public items are declared `pub`.
#[test]
fn no_type_of_a_dependency_is_in_a_signature() {
    let foreign =
        ["SmallVec", "FxHash", "HashMap", "IndexMap", "ArrayD", "ndarray::", "logos::", "chumsky::", "ariadne::"];
    let mut count = 0;
    for path in files_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "rs") {
        for declared in declarations(&fs::read_to_string(&path).unwrap()) {
            count += 1;
            assert!(!foreign.iter().any(|name| declared.contains(name)), "{}: {declared}", path.display());
        }
    }
    assert!(count > 400, "only {count} declarations");
}

#[test]
fn declarations_end_with_their_bodies() {
    let text = "pub fn f(\n    a: A,\n) -> B {\n    c\n}\npub struct S {\n    pub d: D,\n    e: E,\n}\n\
        pub(crate) fn g(h: H) {}\npub enum I {\n    J(K),\n}\npub fn l(m: M) {}\npub type N = O;\n";
    let found = declarations(text);
    let wanted = [
        "pub fn f(\n    a: A,\n) -> B {",
        "    pub d: D,",
        "pub enum I {\n    J(K),\n}",
        "pub fn l(m: M) {}",
        "pub type N = O;",
    ];
    assert_eq!(found, wanted);
}
