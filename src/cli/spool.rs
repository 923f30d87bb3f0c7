//! Results that are read before they get their place: they are written into a temporary folder, and copied from there.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::files::temporary;
use crate::sink::{self, ByteSink, OutputLimit};
use crate::write::Notation;

use super::interrupt;
use super::io::{Writing, unwritten};
use super::outcome::Failure;

/// A result in a temporary folder, with the data beside it.
pub(super) struct Spool {
    path: PathBuf,
    _folder: temporary::Folder,
}

impl Spool {
    /// Writes a result in a notation, and data into a file with another extension.
    pub(super) fn new(
        to: &Notation,
        limit: OutputLimit,
        content: Writing,
        data: Option<(&str, &[u8])>,
    ) -> Result<Self, Failure> {
        let place = std::env::temp_dir().join("result");
        interrupt::watch();
        let mut write = || -> io::Result<Spool> {
            let folder = temporary::Folder::beside(&place)?;
            let path = folder.path().join("result").with_extension(to.extensions.first().copied().unwrap_or_default());
            let file = File::create_new(&path)?;
            let mut out = sink::into_file(&file, limit);
            content(&mut out)?;
            out.flush()?;
            if let Some((extension, data)) = data {
                let file = File::create_new(path.with_extension(extension))?;
                let mut out = sink::into_file(&file, limit);
                out.write_all(data)?;
                out.flush()?;
            }
            drop(out);
            Ok(Spool { path, _folder: folder })
        };
        write().map_err(|error| unwritten(&place.display().to_string(), &error))
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Copies the bytes of the result.
    pub(super) fn write(&self, out: &mut dyn ByteSink) -> io::Result<()> {
        io::copy(&mut File::open(&self.path)?, out).map(drop)
    }
}
