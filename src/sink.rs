//! Where the bytes of a result go.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use crate::progress::Metered;

/// The bytes that are collected before they are written to a file.
const BUFFER: usize = 1 << 16;

/// An output of bytes. If it is a file, the system can copy ranges of other files into it.
pub(crate) trait ByteSink: Write {
    /// The file that bytes go to, if they do; all bytes so far are in it.
    ///
    /// # Errors
    ///
    /// The bytes so far cannot be written.
    fn file(&mut self) -> io::Result<Option<&File>> {
        Ok(None)
    }
}

/// An output that is not known to be a file.
impl ByteSink for &mut (dyn Write + '_) {}

impl ByteSink for Vec<u8> {}

/// A file, with a buffer before it.
pub(crate) type FileSink<'f> = BufWriter<Metered<&'f File>>;

impl ByteSink for FileSink<'_> {
    fn file(&mut self) -> io::Result<Option<&File>> {
        self.flush()?;
        Ok(Some(self.get_ref().0))
    }
}

/// An output into a file, at its position.
pub(crate) fn into_file(file: &File) -> FileSink<'_> {
    BufWriter::with_capacity(BUFFER, Metered(file))
}
