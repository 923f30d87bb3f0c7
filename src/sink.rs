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

impl ByteSink for Vec<u8> {}

/// An output that is not known to be a file.
pub(crate) struct PlainSink<W>(pub(crate) W);

impl<W: Write> Write for PlainSink<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write> ByteSink for PlainSink<W> {}

/// A file, with a buffer before it.
pub(crate) struct FileSink<'f>(BufWriter<Metered<&'f File>>);

impl<'f> FileSink<'f> {
    /// An output into a file, at its position.
    pub(crate) fn new(file: &'f File) -> Self {
        FileSink(BufWriter::with_capacity(BUFFER, Metered(file)))
    }
}

impl Write for FileSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl ByteSink for FileSink<'_> {
    fn file(&mut self) -> io::Result<Option<&File>> {
        self.0.flush()?;
        Ok(Some(self.0.get_ref().0))
    }
}
