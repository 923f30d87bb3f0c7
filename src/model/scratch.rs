//! Models whose files are made by the program: the data of other notations as files of NNEF.

use std::fs::File;
use std::io::{self, BufWriter, Seek};
use std::path::Path;

use tar::{Builder, EntryType};

use super::stored_model::Model;
use super::write::header;
use super::{Limits, ModelError};

/// Files that are collected in an anonymous temporary file, an archive. A file of each on disk would take the system
/// longer than everything else for many small tensors.
pub(crate) struct Scratch(Builder<BufWriter<File>>);

impl Scratch {
    /// An archive without files.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Scratch(Builder::new(BufWriter::with_capacity(1 << 18, tempfile::tempfile()?))))
    }

    /// Adds a file.
    pub(crate) fn add(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.0.append_data(&mut header(EntryType::Regular, bytes.len() as u64, 0o644), name, bytes)
    }

    /// The files as a model. Messages call it `name`.
    ///
    /// # Errors
    ///
    /// The temporary file cannot be written, a name is not allowed in a model, or there are more files than the limits
    /// allow.
    pub(crate) fn model(self, name: &Path, limits: &Limits) -> Result<Model, ModelError> {
        let written = self.0.into_inner().and_then(|out| out.into_inner().map_err(io::IntoInnerError::into_error));
        let rewound = written.and_then(|mut file| file.rewind().map(|()| file));
        Model::from_file(name, rewound.map_err(|error| ModelError::io(name, error))?, limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_again() {
        let mut scratch = Scratch::new().unwrap();
        let names = ["a.dat".to_owned(), format!("{}/w.dat", "long".repeat(60))];
        names.iter().for_each(|name| scratch.add(name, name.as_bytes()).unwrap());
        let model = scratch.model(Path::new("x.pnnx.bin"), &Limits::default()).unwrap();
        let files: Vec<_> = model.files().map(|file| (file.path().to_owned(), file.size())).collect();
        assert_eq!(files, names.map(|name| (name.clone(), name.len() as u64)));
    }
}
