//! What the files of an input are like, as far as the system tells without reading them.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

/// The extension of data beside the texts of PNNX and ncnn.
const DATA: &str = "bin";
/// The extensions of the files of a model in a folder; others may be beside them.
const OF_MODELS: [&str; 3] = ["nnef", "dat", "quant"];
/// The most files and folders of a model that are looked at.
const MAX_FILES: usize = 200_000;

/// The files of an input with what they were like when they were read first.
#[derive(Debug, Default)]
pub(crate) struct Stamps(Mutex<BTreeMap<PathBuf, Stamp>>);

impl Stamps {
    /// Those that were noted elsewhere.
    pub(crate) fn again(noted: Vec<(PathBuf, u64)>) -> Stamps {
        Stamps(Mutex::new(noted.into_iter().map(|(path, stamp)| (path, Stamp(stamp))).collect()))
    }

    /// All that were noted, to be noted elsewhere.
    pub(crate) fn noted(&self) -> Vec<(PathBuf, u64)> {
        self.files().iter().map(|(path, stamp)| (path.clone(), stamp.0)).collect()
    }

    /// Notes a file as it is now, if it is there and was not noted before.
    pub(crate) fn note(&self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if let Some(now) = Stamp::of(&path) {
            self.files().entry(path).or_insert(now);
        }
    }

    /// A file that is not as it was. Those that are gone are not: who reads them says so.
    pub(crate) fn changed(&self) -> Option<PathBuf> {
        let files = self.files();
        let changed = |(path, first): &(&PathBuf, &Stamp)| Stamp::of(path).is_some_and(|now| now != **first);
        files.iter().find(changed).map(|(path, _)| path.clone())
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Stamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sizes and the times of the last changes of all files. It is the same number in every process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp(u64);

impl Stamp {
    /// That of a file, with the data beside it, or of the files of a model in a folder; none if there is no such file.
    fn of(path: &Path) -> Option<Stamp> {
        let metadata = fs::metadata(path).ok()?;
        let mut stamp = Stamp(FNV_START);
        if metadata.is_dir() {
            stamp.folder(path);
        } else if metadata.is_file() {
            stamp.file(&metadata);
            if let Ok(beside) = fs::metadata(path.with_extension(DATA)) {
                stamp.file(&beside);
            }
        }
        Some(stamp)
    }

    /// Adds the files of a model in a folder, in the order of names.
    fn folder(&mut self, path: &Path) {
        let mut left = MAX_FILES;
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop() {
            let entries = fs::read_dir(&path).into_iter().flatten().filter_map(Result::ok);
            let mut entries: Vec<_> = entries.take(left).map(|entry| (entry.file_name(), entry)).collect();
            left -= entries.len();
            entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            for (name, entry) in entries {
                let Ok(metadata) = entry.metadata() else { continue };
                let is_of_model =
                    || OF_MODELS.iter().any(|of| Path::new(&name).extension().is_some_and(|own| own == *of));
                if metadata.is_dir() {
                    open.push(entry.path());
                } else if is_of_model() {
                    self.bytes(name.as_encoded_bytes());
                    self.file(&metadata);
                }
            }
        }
    }

    fn file(&mut self, metadata: &Metadata) {
        let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        self.bytes(&metadata.len().to_le_bytes());
        self.bytes(&since.unwrap_or_default().as_nanos().to_le_bytes());
    }

    /// Adds bytes by the hash of Fowler, Noll and Vo.
    fn bytes(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
    }
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
