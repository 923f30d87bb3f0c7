//! Models in archives.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::error::ModelError;
use super::index::{ByteLocation, Index, ModelFile};
use super::input::{ArchiveSource, BOMB, GZIP, Packed, Plain};
use super::limits::Limits;
use super::names::{DATA, GRAPH, QUANT};
use super::tar::{Entries, EntryError, TarEntry, truncated};
use crate::diagnostics::Code;
use crate::tensor::dat::HEADER_LENGTH;

/// An archive.
#[derive(Debug)]
pub(super) struct Archive {
    file: File,
    compressed: bool,
}

impl Archive {
    /// Lists the files of an archive.
    pub(crate) fn open(name: &Path, mut file: File, limits: &Limits) -> Result<(Self, Index), ModelError> {
        let mut first = [0; 2];
        let mut start = || {
            file.seek(SeekFrom::Start(0))?;
            // A shorter file is not an archive of either kind, which listing its entries reports.
            let mut read = (&file).take(2);
            let count = read.read(&mut first)?;
            Ok(count == 2 && first == GZIP)
        };
        let compressed = start().map_err(|error| ModelError::io(name, error))?;
        let archive = Archive { file, compressed };
        let mut index = Index::default();
        let packed = compressed.then(|| archive.file.metadata().map(|data| data.len())).transpose();
        let packed = packed.map_err(|error| ModelError::io(name, error))?;
        archive.read(name, limits, |entries| list(entries, limits, packed, &mut index))?;
        Ok((archive, index))
    }

    /// The bytes of the archive itself.
    pub(crate) fn stored(&self) -> u64 {
        self.file.metadata().map_or(0, |data| data.len())
    }

    /// Whether it is compressed with gzip.
    pub(crate) fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// Calls a function with the entries of the archive, which is decompressed if necessary.
    fn read<T>(
        &self,
        name: &Path,
        limits: &Limits,
        run: impl FnOnce(&mut dyn EntryStream) -> Result<T, EntryError>,
    ) -> Result<T, ModelError> {
        let count = Cell::new(0);
        let result = if self.compressed {
            Packed::new(&self.file, &count, limits).map_err(EntryError::Io).and_then(|input| run_all(input, run))
        } else {
            Plain::new(&self.file).map_err(EntryError::Io).and_then(|input| run_all(input, run))
        };
        result.map_err(|error| convert(name, error))
    }

    /// Calls a function with each wanted file and its bytes.
    pub(crate) fn each(
        &self,
        name: &Path,
        index: &Index,
        limits: &Limits,
        wanted: impl Fn(&ModelFile) -> bool,
        mut each: impl FnMut(&ModelFile, &mut dyn Read) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        let mut failed = None;
        let outcome = self.read(name, limits, |entries| {
            while let Some(entry) = entries.next_entry()? {
                if entry.folder {
                    continue;
                }
                let known = index.find(&entry.path).filter(|file| file.size() == entry.size);
                let Some(file) = known else {
                    let message = format!("the archive changed while it was read: `{}` is new", entry.path);
                    return Err(EntryError::Refused(Code::ModelArchive, message));
                };
                if !wanted(file) {
                    continue;
                }
                if let Err(error) = each(file, entries.content()) {
                    failed = Some(error);
                    return Ok(());
                }
            }
            Ok(())
        });
        match failed {
            Some(error) => Err(error),
            None => outcome,
        }
    }

    /// The archive decompressed into a temporary file, or the archive itself if it is not compressed.
    pub(crate) fn unpacked(&self, limits: &Limits) -> io::Result<File> {
        if !self.compressed {
            return self.file.try_clone();
        }
        let count = Cell::new(0);
        super::spool::spool(&mut Packed::new(&self.file, &count, limits)?)
    }
}

/// The entries of any archive.
pub(super) trait EntryStream {
    /// The next entry.
    fn next_entry(&mut self) -> Result<Option<TarEntry>, EntryError>;

    /// The bytes of the current entry.
    fn content(&mut self) -> &mut dyn Read;
}

impl<I: ArchiveSource> EntryStream for Entries<I> {
    fn next_entry(&mut self) -> Result<Option<TarEntry>, EntryError> {
        self.next()
    }

    fn content(&mut self) -> &mut dyn Read {
        self
    }
}

fn run_all<T>(
    input: impl ArchiveSource,
    run: impl FnOnce(&mut dyn EntryStream) -> Result<T, EntryError>,
) -> Result<T, EntryError> {
    let mut entries = Entries::new(input);
    let result = run(&mut entries)?;
    entries.drain()?;
    Ok(result)
}

/// Lists entries, and keeps texts and the headers of data files. `packed` is the size of a compressed archive in bytes.
fn list(
    entries: &mut dyn EntryStream,
    limits: &Limits,
    packed: Option<u64>,
    index: &mut Index,
) -> Result<(), EntryError> {
    let mut seen = 0;
    while let Some(entry) = entries.next_entry()? {
        seen += 1;
        let added = match entry.folder {
            true => index.add_folders(&(entry.path + "/")),
            false => index.add(kept(entries, entry, limits, packed)?),
        };
        added.map_err(|(code, message)| EntryError::Refused(code, message))?;
        // The names of the entries can contain more folders than there are entries.
        if seen > limits.entries || index.exceeds(limits) {
            let entries = limits.entries;
            let message = format!("the archive has more than {entries} files and folders, or names that are too long");
            return Err(EntryError::Refused(Code::ModelLimit, message));
        }
    }
    Ok(())
}

/// A file with the bytes that are kept of it.
fn kept(
    entries: &mut dyn EntryStream,
    entry: TarEntry,
    limits: &Limits,
    packed: Option<u64>,
) -> Result<ModelFile, EntryError> {
    let keep = match entry.path.as_str() {
        GRAPH => limits.graph,
        QUANT => limits.quant,
        path if path.ends_with(DATA) => HEADER_LENGTH as u64,
        _ => 0,
    };
    let text = matches!(entry.path.as_str(), GRAPH | QUANT);
    if text && entry.size > keep {
        let message = format!("{} has {} bytes, at most {keep} are read", entry.path, entry.size);
        return Err(EntryError::Refused(Code::TooLarge, message));
    }
    let allowed = packed.map_or(u64::MAX, |packed| limits.inflated(limits.text, packed));
    if text && entry.size > allowed {
        return Err(EntryError::Refused(Code::ModelLimit, BOMB.to_string()));
    }
    let mut bytes = Vec::new();
    entries.content().take(keep).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < keep.min(entry.size) {
        return truncated();
    }
    let bytes = bytes.into_boxed_slice();
    let place =
        if text { ByteLocation::Kept(bytes) } else { ByteLocation::Packed { offset: entry.offset, head: bytes } };
    Ok(ModelFile::new(entry.path, entry.size, place))
}

/// Converts an error: failed system calls are I/O errors, defects of the archive are refusals.
fn convert(name: &Path, error: EntryError) -> ModelError {
    match error {
        EntryError::Refused(code, message) => ModelError::refused(code, name, message),
        EntryError::Io(error) if error.kind() == io::ErrorKind::QuotaExceeded && error.raw_os_error().is_none() => {
            ModelError::refused(Code::ModelLimit, name, BOMB)
        }
        EntryError::Io(error) if error.raw_os_error().is_some() => ModelError::io(name, error),
        EntryError::Io(_) => ModelError::refused(Code::ModelArchive, name, "the archive is damaged, or ends too early"),
    }
}
