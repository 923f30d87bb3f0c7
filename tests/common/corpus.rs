//! Shared by the tests of the library.
#![allow(clippy::unwrap_used, dead_code)]

use std::path::{Path, PathBuf};

use nnef_flatten::diagnostics::Severity;
use nnef_flatten::{Graph, Options, expand, parse};

/// The codes of the diagnostics of a run, errors and warnings.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub errors: Vec<String>,
    pub warnings: Vec<String>,
}

/// Flattens a text.
pub fn flatten(text: &str, options: &Options) -> (Option<Graph>, Found) {
    let parsed = parse("test.nnef", text.to_string(), options);
    let mut list: Vec<_> = parsed.diagnostics.iter().cloned().collect();
    let mut graph = None;
    if !parsed.diagnostics.has_errors() {
        match expand(&parsed.document, options) {
            Ok(expansion) => {
                list.extend(expansion.diagnostics);
                graph = Some(expansion.graph);
            }
            Err(errors) => list.extend(errors),
        }
    }
    let mut found = Found::default();
    for finding in list {
        let text = format!("{} {}", finding.code.as_str(), finding.message);
        if finding.severity == Severity::Error { found.errors.push(text) } else { found.warnings.push(text) }
    }
    (graph, found)
}

/// The text of a graph.
pub fn text(graph: &Graph) -> String {
    let mut out = Vec::new();
    graph.write_nnef(&mut out).unwrap();
    assert_eq!(graph.verify(), Vec::<String>::new());
    String::from_utf8(out).unwrap()
}

/// The flat text of a document without errors, and its diagnostics.
pub fn flat(source: &str, options: &Options) -> (String, Found) {
    let (graph, found) = flatten(source, options);
    let graph = graph.unwrap_or_else(|| panic!("{found:?}\n{source}"));
    (text(&graph), found)
}

/// The cases of the conformance suite in files whose names start so.
pub fn cases(prefix: &str) -> Vec<serde_json::Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/tables/nnef");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)));
    files.sort();
    let read = |path: &PathBuf| -> Vec<serde_json::Value> {
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    files.iter().flat_map(read).collect()
}
