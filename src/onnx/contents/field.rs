//! The payload of a field: in memory, or a range of a file.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;

use super::disk::PIECE;
use super::held::GappedFile;
use crate::sink::ByteSink;

/// The bytes of a field. Those of a long constant of a file stay there until they are needed. Copies share them.
#[derive(Clone, Debug)]
pub(crate) struct FieldBytes(FieldPlace);

#[derive(Clone, Debug)]
enum FieldPlace {
    Held(Bytes),
    InFile(Arc<FileRange>),
}

/// A range of a file.
#[derive(Debug)]
struct FileRange {
    file: Arc<GappedFile>,
    start: u64,
    len: usize,
}

impl From<Bytes> for FieldBytes {
    fn from(bytes: Bytes) -> Self {
        FieldBytes(FieldPlace::Held(bytes))
    }
}

impl From<Vec<u8>> for FieldBytes {
    fn from(bytes: Vec<u8>) -> Self {
        FieldBytes::from(Bytes::from(bytes))
    }
}

/// The bytes are compared, those in files piece by piece. Bytes that cannot be read equal none.
impl PartialEq for FieldBytes {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (FieldPlace::Held(a), FieldPlace::Held(b)) => a == b,
            (FieldPlace::InFile(a), FieldPlace::InFile(b)) if a.is_same(b) => true,
            _ => self.len() == other.len() && self.same_pieces(other).unwrap_or(false),
        }
    }
}

impl FileRange {
    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file, &other.file) && (self.start, self.len) == (other.start, other.len)
    }
}

impl FieldBytes {
    pub(super) fn in_file(file: Arc<GappedFile>, start: u64, len: usize) -> Self {
        FieldBytes(FieldPlace::InFile(Arc::new(FileRange { file, start, len })))
    }

    fn same_pieces(&self, other: &Self) -> io::Result<bool> {
        for start in (0..self.len()).step_by(PIECE) {
            let range = start..self.len().min(start + PIECE);
            if self.part(range.clone())? != other.part(range)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The number of bytes.
    pub(crate) fn len(&self) -> usize {
        match &self.0 {
            FieldPlace::Held(bytes) => bytes.len(),
            FieldPlace::InFile(range) => range.len,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes, if they are in memory: those of numbers, names and short constants always are.
    pub(crate) fn held(&self) -> Option<&Bytes> {
        match &self.0 {
            FieldPlace::Held(bytes) => Some(bytes),
            FieldPlace::InFile(_) => None,
        }
    }

    /// The number of a field with one.
    pub(crate) fn number(&self) -> u64 {
        let bytes = self.held().map_or(&[][..], |bytes| bytes);
        let mut bits = [0; 8];
        bits.iter_mut().zip(bytes).for_each(|(bit, byte)| *bit = *byte);
        u64::from_le_bytes(bits)
    }

    /// The bytes, which are read if they are in a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has changed.
    pub(crate) fn load(&self) -> io::Result<Bytes> {
        self.part(0..self.len())
    }

    /// A part of the bytes, which is read if they are in a file.
    ///
    /// # Errors
    ///
    /// The part leaves the bytes, or the file cannot be read or has changed.
    pub(crate) fn part(&self, part: Range<usize>) -> io::Result<Bytes> {
        if part.start > part.end || part.end > self.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match &self.0 {
            FieldPlace::Held(bytes) => Ok(bytes.slice(part)),
            FieldPlace::InFile(_) => {
                let mut bytes = vec![0; part.len()];
                self.fill(part.start, &mut bytes)?;
                Ok(Bytes::from(bytes))
            }
        }
    }

    /// Fills a buffer with the bytes from an offset on.
    ///
    /// # Errors
    ///
    /// They end before the buffer is full, or the file cannot be read or has changed.
    pub(crate) fn fill(&self, at: usize, buffer: &mut [u8]) -> io::Result<()> {
        let end = at.checked_add(buffer.len()).filter(|end| *end <= self.len());
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        match &self.0 {
            FieldPlace::Held(bytes) => buffer.copy_from_slice(&bytes[at..end]),
            FieldPlace::InFile(range) => {
                range.file.disk.read_at(buffer, range.start + at as u64)?;
                range.file.disk.unchanged()?;
            }
        }
        Ok(())
    }

    /// Gives the bytes to a function, piece by piece, so that they are never all in memory.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has changed.
    pub(crate) fn pieces(&self, mut take: impl FnMut(&[u8])) -> io::Result<()> {
        match &self.0 {
            FieldPlace::Held(bytes) => take(bytes),
            FieldPlace::InFile(range) => {
                range.file.disk.pieces(range.start, range.len as u64, |piece| {
                    take(piece);
                    Ok(())
                })?;
                range.file.disk.unchanged()?;
            }
        }
        Ok(())
    }

    /// Writes bytes that are in a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the output fails.
    pub(crate) fn copy(&self, out: &mut dyn ByteSink) -> io::Result<()> {
        match &self.0 {
            FieldPlace::Held(bytes) => out.write_all(bytes),
            FieldPlace::InFile(range) => range.file.disk.copy((range.start, range.len as u64), out),
        }
    }
}
