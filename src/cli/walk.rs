//! The inputs in folders.
//!
//! A folder with a `graph.nnef` is a model, and one input. In other folders, the inputs are the files with an extension of
//! a notation, of compressed models (`.nnef.tgz`), and texts of JSON that look like networks with loops. Folders are
//! visited in the order of their names, so that the order does not depend on the system. Hidden names, and links to folders
//! below the given one, are left out: neither can a loop of links be entered, nor is anything visited twice.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::input::table::Notation;
use crate::model::{self, GRAPH};

use super::io;
use super::outcome::Failure;

/// What a walk finds.
pub(super) enum Found {
    /// An input.
    Input(PathBuf),
    /// A folder that cannot be listed.
    Failed(PathBuf, Failure),
}

/// The inputs of a path: itself, or those in a folder that is not a model. A folder without inputs is one, so that the
/// reader explains what is missing.
pub(super) fn inputs(path: &Path) -> impl Iterator<Item = Found> {
    let is_folder = path.is_dir() && !is_model(path);
    let mut walk = Walk { open: Vec::new() };
    let listed = is_folder.then(|| walk.list(path));
    let first = match listed {
        Some(Some(failed)) => Some(failed),
        Some(None) => walk.next().or_else(|| Some(Found::Input(path.to_owned()))),
        None => Some(Found::Input(path.to_owned())),
    };
    first.into_iter().chain(walk)
}

fn is_model(folder: &Path) -> bool {
    folder.join(GRAPH).symlink_metadata().is_ok()
}

/// Whether a file in a folder is an input.
fn is_input(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
    let packed = model::has_archive_name(path) && name.contains(".nnef.");
    packed || Notation::is_file_of_any(path)
}

/// A walk through folders, without recursion: they can be nested deeper than the stack.
struct Walk {
    /// What is to be visited, the next one last.
    open: Vec<(PathBuf, bool)>,
}

impl Walk {
    /// Puts the entries of a folder in front. Returns the failure if it cannot be listed.
    fn list(&mut self, folder: &Path) -> Option<Found> {
        let entries = fs::read_dir(folder).and_then(|entries| {
            let entry =
                |entry: std::io::Result<fs::DirEntry>| entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)));
            entries.map(entry).collect::<std::io::Result<Vec<_>>>()
        });
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                let failure = io::failure(&folder.display().to_string(), &error);
                return Some(Found::Failed(folder.to_owned(), failure));
            }
        };
        entries.retain(|(path, _)| path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b".")));
        entries.sort_by(|(a, _), (b, _)| b.file_name().cmp(&a.file_name()));
        // As names in the current folder are written.
        let plain = |path: PathBuf| path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
        self.open.extend(entries.into_iter().map(|(path, kind)| (plain(path), kind.is_dir())));
        None
    }
}

impl Iterator for Walk {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        while let Some((path, is_folder)) = self.open.pop() {
            if is_folder && !is_model(&path) {
                if let Some(failed) = self.list(&path) {
                    return Some(failed);
                }
            } else if is_folder || path.is_file() && is_input(&path) {
                return Some(Found::Input(path));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(root: &Path) -> Vec<String> {
        let name = |found| match found {
            Found::Input(path) => path.strip_prefix(root).unwrap().display().to_string(),
            Found::Failed(path, _) => format!("failed: {}", path.strip_prefix(root).unwrap().display()),
        };
        inputs(root).map(name).collect()
    }

    #[test]
    fn folders_are_walked_in_order_and_models_stay_models() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        assert_eq!(names(root), [""], "an empty folder is explained by the reader");
        for (name, text) in [
            ("b.nnef", ""),
            ("a/model/graph.nnef", ""),
            ("a/model/part/other.nnef", ""),
            ("a/x.onnx", ""),
            ("a/y.txt", ""),
            ("a/z.json", "{}"),
            ("a/net.json", r#"{"inputs": {}, "layers": []}"#),
            ("c.nnef.tgz", ""),
            ("d.tgz", ""),
            (".hidden/e.nnef", ""),
            ("a.param", ""),
        ] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        assert_eq!(names(root), ["a/model", "a/net.json", "a/x.onnx", "a.param", "b.nnef", "c.nnef.tgz"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_back_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("a")).unwrap();
        fs::write(root.join("a/x.nnef"), "").unwrap();
        std::os::unix::fs::symlink(root, root.join("a/back")).unwrap();
        std::os::unix::fs::symlink(root.join("a/x.nnef"), root.join("y.nnef")).unwrap();
        std::os::unix::fs::symlink(root.join("nothing"), root.join("z.nnef")).unwrap();
        assert_eq!(names(root), ["a/x.nnef", "y.nnef"]);
    }
}
