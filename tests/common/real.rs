//! Documents and models that no test makes: those of this repository, and those of `../shared`, which not everybody has. The
//! first suffice for what a test requires; the others are more of the same. Unit tests of the library use this file, too.

use std::io::Write;
use std::path::{Path, PathBuf};

/// A document that is not made by a test.
pub struct RealDocument {
    /// For messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Tells that the running test, or a part of it, is left out, and why. `.ci/run` repeats these lines at its end.
pub fn left_out(why: &str) {
    let thread = std::thread::current();
    let line = format!("skipped: {}: {why}\n", thread.name().unwrap_or("a test"));
    // What `eprintln!` writes is only shown where the test fails.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// A folder of the repository.
pub fn repository(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)
}

/// A folder beside the repository. Where it is not there, this is told.
pub fn shared(folder: &str) -> Option<PathBuf> {
    let path = repository("../shared").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    left_out(&format!("there is no ../shared/{folder}"));
    None
}

/// What is in a folder, sorted.
pub fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The files below a folder, sorted.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let parts = sorted_entries(folder).into_iter();
    parts.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// [`files_below`] with an extension.
pub fn files_of(folder: &Path, extension: &str) -> impl Iterator<Item = PathBuf> {
    files_below(folder).into_iter().filter(move |path| path.extension().is_some_and(|own| own == extension))
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn document(name: String, file: &Path) -> Option<RealDocument> {
    let text = std::fs::read(file).ok()?;
    Some(RealDocument { name, text: String::from_utf8_lossy(&text).into_owned() })
}

/// Folders of whole models of NNEF: `tests/networks` and `../shared/models`.
pub fn networks() -> Vec<PathBuf> {
    let folders = [Some(repository("tests/networks")), shared("models")];
    let found = folders.iter().flatten().flat_map(|folder| sorted_entries(folder));
    found.filter(|path| path.join("graph.nnef").is_file()).collect()
}

/// The documents of `examples` without mistakes, and the graphs of all networks.
pub fn models() -> Vec<RealDocument> {
    let is_document = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "nnef");
    let examples = sorted_entries(&repository("examples"));
    let examples = examples.iter().filter(is_document).filter_map(|path| document(name(path), path));
    let networks = networks();
    let networks = networks.iter().filter_map(|path| document(name(path), &path.join("graph.nnef")));
    let found: Vec<RealDocument> = examples.filter(|example| example.name != "mistakes.nnef").chain(networks).collect();
    assert!(found.len() > 10, "only {} documents", found.len());
    found
}

/// Those that are small enough to be evaluated many times.
pub fn small_models() -> Vec<RealDocument> {
    let mut found = models();
    let own = repository("tests/networks");
    found.retain(|model| {
        model.name.ends_with(".nnef") || model.name.starts_with("tiny_") || own.join(&model.name).is_dir()
    });
    found
}
