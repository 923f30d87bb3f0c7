//! The list of a model's files.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::limits::Limits;
use crate::diagnostics::Code;
use crate::tensor::dat::MadeFile;

/// A file of a model.
#[derive(Debug)]
pub struct ModelFile {
    path: Box<str>,
    size: u64,
    pub(super) place: ByteLocation,
}

/// The location of a file's bytes.
#[derive(Debug)]
pub(super) enum ByteLocation {
    /// A file on disk.
    Disk(PathBuf),
    /// A part of the archive. The headers of data files are kept in memory.
    Packed {
        /// The offset in the decompressed archive.
        offset: u64,
        /// The first bytes, at most the size of a header.
        head: Box<[u8]>,
    },
    /// In memory: the bytes of a text in an archive.
    Kept(Box<[u8]>),
    /// A data file that is made while it is read.
    Made(MadeFile),
}

impl ModelFile {
    pub(super) fn new(path: String, size: u64, place: ByteLocation) -> Self {
        ModelFile { path: path.into(), size, place }
    }

    /// Its name within the model; the parts are separated by `/`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The number of bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The file on disk, unless it is part of an archive.
    pub(crate) fn on_disk(&self) -> Option<&Path> {
        match &self.place {
            ByteLocation::Disk(path) => Some(path),
            _ => None,
        }
    }
}

/// Files in order and by name.
#[derive(Debug, Default)]
pub(super) struct Index {
    files: Vec<ModelFile>,
    /// The indices of files by name; none for folders.
    names: FxHashMap<Box<str>, Option<u32>>,
    /// Folders that exist also without files in them.
    bare: Vec<Box<str>>,
    /// The total length of all names in bytes.
    bytes: usize,
}

impl Index {
    /// The files in order.
    pub(crate) fn files(&self) -> &[ModelFile] {
        &self.files
    }

    /// A file by its name.
    pub(crate) fn find(&self, path: &str) -> Option<&ModelFile> {
        self.names.get(path).copied().flatten().map(|i| &self.files[i as usize])
    }

    /// Whether there are too many files and folders, or their names are too long.
    pub(crate) fn exceeds(&self, limits: &Limits) -> bool {
        self.names.len() > limits.entries || self.bytes > limits.names
    }

    /// Adds a file; fails if its name is already used.
    pub(crate) fn add(&mut self, file: ModelFile) -> Result<(), (Code, String)> {
        self.add_folders(&file.path)?;
        self.bytes += file.path.len();
        if let Some(other) = self.names.insert(file.path.clone(), Some(self.files.len() as u32)) {
            let what = if other.is_some() { "occurs twice" } else { "is a file and a folder" };
            return Err((Code::ModelDuplicate, format!("`{}` {what}", file.path)));
        }
        self.files.push(file);
        Ok(())
    }

    /// Folders that exist also without files in them, each once.
    pub(crate) fn bare(&self) -> impl Iterator<Item = &str> {
        self.bare.iter().map(|folder| &**folder)
    }

    /// Adds a folder that exists also without files in it.
    pub(crate) fn add_bare(&mut self, folder: &str) -> Result<(), (Code, String)> {
        if !self.names.contains_key(folder) {
            self.bare.push(folder.into());
        }
        self.add_folders(&format!("{folder}/"))
    }

    /// Adds the folders in a name, which are the parts before each slash.
    pub(crate) fn add_folders(&mut self, path: &str) -> Result<(), (Code, String)> {
        let mut rest = path;
        while let Some((folder, _)) = rest.rsplit_once('/') {
            match self.names.get(folder) {
                _ if folder.is_empty() => break,
                Some(None) => break,
                Some(Some(_)) => return Err((Code::ModelDuplicate, format!("`{folder}` is a file and a folder"))),
                None => self.names.insert(folder.into(), None),
            };
            self.bytes += folder.len();
            rest = folder;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> ModelFile {
        ModelFile::new(path.to_string(), 1, ByteLocation::Kept(Box::default()))
    }

    #[test]
    fn a_name_is_one_thing() {
        let mut index = Index::default();
        for path in ["a/b/c", "a/b/d", "a/e", "f"] {
            assert_eq!(index.add(file(path)), Ok(()));
        }
        for path in ["f", "a", "a/b", "f/g", "a/b/c/d"] {
            assert_eq!(index.add(file(path)).map_err(|(code, _)| code), Err(Code::ModelDuplicate), "{path}");
        }
        assert_eq!(index.find("a/b/d").map(ModelFile::path), Some("a/b/d"));
        assert!(index.find("a/b").is_none() && index.find("x").is_none());
    }

    #[test]
    fn folders_may_be_empty() {
        let mut index = Index::default();
        assert_eq!(index.add(file("a/b/c")), Ok(()));
        for folder in ["a/b", "a/d/e", "a/d", "f", "f"] {
            assert_eq!(index.add_bare(folder), Ok(()));
        }
        assert_eq!(index.bare().collect::<Vec<_>>(), ["a/d/e", "f"]);
        assert!(index.add(file("f")).is_err() && index.add_bare("a/b/c").is_err());
    }

    #[test]
    fn folders_count_too() {
        let mut index = Index::default();
        assert_eq!(index.add(file("a/b/c")), Ok(()));
        let limits = |entries, names| Limits { entries, names, ..Limits::default() };
        assert!(!index.exceeds(&limits(3, 9)));
        assert!(index.exceeds(&limits(2, 9)) && index.exceeds(&limits(3, 8)));
    }
}
