//! What the files of an input are like, as far as the system tells without reading them.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, Metadata};
use std::hash::{Hash, Hasher};
use std::path::Path;

/// The extension of data beside the texts of PNNX and ncnn.
const DATA: &str = "bin";
/// The extensions of the files of a model in a folder; others may be beside them.
const OF_MODELS: [&str; 3] = ["nnef", "dat", "quant"];
/// The most files and folders of a model that are looked at.
const MAX_FILES: usize = 200_000;

/// The sizes and the times of the last changes of all files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// That of a file, with the data beside it, or of the files of a model in a folder; none if there is no such file.
    pub(crate) fn of(path: &Path) -> Option<Stamp> {
        let metadata = fs::metadata(path).ok()?;
        let mut hasher = DefaultHasher::new();
        if metadata.is_dir() {
            let mut left = MAX_FILES;
            folder(path, &mut left, &mut hasher);
        } else if metadata.is_file() {
            note(&metadata, &mut hasher);
            if let Ok(beside) = fs::metadata(path.with_extension(DATA)) {
                note(&beside, &mut hasher);
            }
        }
        Some(Stamp(hasher.finish()))
    }
}

/// Notes the files of a model in a folder, in the order of names.
fn folder(path: &Path, left: &mut usize, hasher: &mut DefaultHasher) {
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        let entries = fs::read_dir(&path).into_iter().flatten().filter_map(Result::ok);
        let mut entries: Vec<_> = entries.take(*left).map(|entry| (entry.file_name(), entry)).collect();
        *left -= entries.len();
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for (name, entry) in entries {
            let Ok(metadata) = entry.metadata() else { continue };
            let is_of_model = || OF_MODELS.iter().any(|of| Path::new(&name).extension().is_some_and(|own| own == *of));
            if metadata.is_dir() {
                open.push(entry.path());
            } else if is_of_model() {
                name.hash(hasher);
                note(&metadata, hasher);
            }
        }
    }
}

fn note(metadata: &Metadata, hasher: &mut DefaultHasher) {
    (metadata.len(), metadata.modified().ok()).hash(hasher);
}
