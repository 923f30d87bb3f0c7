//! A file of which ranges are read later. Whether it has changed since is found out whenever something of it is used.

use std::fmt::Display;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use crate::progress;
use crate::sink::ByteSink;

/// The bytes that are copied at once. Smaller pieces take longer, as the system is called for each, and larger ones, as they
/// have left the cache of the processor when they are written.
pub(super) const PIECE: usize = 1 << 18;

/// The bytes that the system copies at once: the progress is seen after each piece.
const LONG_PIECE: u64 = 1 << 26;

/// An open file.
#[derive(Debug)]
pub(crate) struct DiskFile {
    file: Arc<File>,
    /// The name for messages.
    name: String,
    len: u64,
    modified: Option<SystemTime>,
    /// Why bytes that were needed could not be read.
    failed: OnceLock<String>,
    /// Held by the one that uses the position of the file.
    position: Mutex<()>,
}

impl DiskFile {
    /// An open file, with its name for messages. Its position changes while it is scanned or copied.
    ///
    /// # Errors
    ///
    /// The system does not tell its size.
    pub(crate) fn new(file: Arc<File>, name: &str) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let (len, modified) = stamp(&metadata);
        Ok(DiskFile { file, name: name.to_owned(), len, modified, failed: OnceLock::new(), position: Mutex::new(()) })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// The number of bytes when it was opened.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Fills a buffer with the bytes from an offset on.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has become shorter.
    pub(crate) fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        self.noted(self.read_exact_at(buffer, at))
    }

    #[cfg(unix)]
    fn read_exact_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self.file(), buffer, at)
    }

    /// Without reading at an offset, the position of the file is shared, and used by one at a time.
    #[cfg(not(unix))]
    fn read_exact_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        let _held = self.position.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = self.file();
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(buffer)
    }

    /// Gives the bytes of a range to a function, in pieces.
    ///
    /// # Errors
    ///
    /// The file cannot be read or has changed, or the function fails.
    pub(super) fn pieces(
        &self,
        mut at: u64,
        mut len: u64,
        mut take: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; PIECE.min(usize::try_from(len).unwrap_or(PIECE))];
        while len > 0 {
            let count = len.min(buffer.len() as u64);
            let piece = &mut buffer[..count as usize];
            self.read_at(piece, at)?;
            take(piece)?;
            (at, len) = (at + count, len - count);
        }
        Ok(())
    }

    /// Writes the bytes of a range. Into a file, the system copies them, where it can: then they do not pass through the
    /// memory of the process.
    ///
    /// # Errors
    ///
    /// The file cannot be read or has changed, or the output fails.
    pub(super) fn copy(&self, range: (u64, u64), out: &mut dyn ByteSink) -> io::Result<()> {
        match out.file()? {
            Some(to) if cfg!(target_os = "linux") => self.copy_to_file(range.0, range.1, to),
            _ => self.pieces(range.0, range.1, |piece| out.write_all(piece)),
        }
    }

    fn copy_to_file(&self, at: u64, mut len: u64, mut to: &File) -> io::Result<()> {
        let _held = self.position.lock().unwrap_or_else(PoisonError::into_inner);
        let mut from = self.file();
        self.noted(from.seek(SeekFrom::Start(at)))?;
        while len > 0 {
            let count = io::copy(&mut from.take(len.min(LONG_PIECE)), &mut to)?;
            if count == 0 {
                return self.noted(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            progress::add(count);
            len -= count;
        }
        Ok(())
    }

    /// Fails if the file has changed since it was opened, or a part of it could not be read: what was made of it may mix
    /// two versions.
    pub(crate) fn unchanged(&self) -> io::Result<()> {
        if let Some(failure) = self.failed.get() {
            return Err(io::Error::other(failure.clone()));
        }
        let now = self.noted(self.file.metadata())?;
        match stamp(&now) == (self.len, self.modified) {
            true => Ok(()),
            false => self.noted(Err(changed())),
        }
    }

    /// A result with the name of the file in its error, which is remembered.
    fn noted<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let error = named(&error, &self.name);
            let _ = self.failed.set(error.to_string());
            error
        })
    }
}

/// A file that is opened for each part that is read of it: there may be more such files than a process can have open.
#[derive(Clone, Debug)]
pub(crate) struct ClosedFile {
    path: Arc<Path>,
    stamp: (u64, Option<SystemTime>),
}

impl ClosedFile {
    /// The file at a path.
    ///
    /// # Errors
    ///
    /// The system does not tell its size.
    pub(crate) fn new(path: Arc<Path>) -> io::Result<Self> {
        let stamp = stamp(&std::fs::metadata(&path)?);
        Ok(ClosedFile { path, stamp })
    }

    /// Fills a buffer with the bytes from an offset on.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has changed since [`Self::new`].
    pub(crate) fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        self.read(buffer, at).map_err(|error| named(&error, &self.path.display()))
    }

    fn read(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        if stamp(&file.metadata()?) != self.stamp {
            return Err(changed());
        }
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(buffer)
    }
}

/// An error of reading with the name of the file: an end that was not there before is a change.
fn named(error: &io::Error, name: &dyn Display) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => named(&changed(), name),
        kind => io::Error::new(kind, format!("`{name}`: {error}")),
    }
}

fn changed() -> io::Error {
    io::Error::other("the file changed while it was read")
}

/// What tells versions of a file apart.
fn stamp(of: &Metadata) -> (u64, Option<SystemTime>) {
    (of.len(), of.modified().ok())
}
