//! Where the bytes of a result go.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};

use crate::progress::Metered;

/// The most bytes of an output; as an error, that an output would have more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputLimit(pub(crate) u64);

impl fmt::Display for OutputLimit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "it would have more than {} bytes", self.0)
    }
}

impl std::error::Error for OutputLimit {}

impl OutputLimit {
    /// No limit, for texts of the program itself.
    pub(crate) const NONE: OutputLimit = OutputLimit(u64::MAX);

    /// The limit that an error is about, if it is one.
    pub(crate) fn of(error: &io::Error) -> Option<OutputLimit> {
        error.get_ref()?.downcast_ref().copied()
    }
}

/// An output that fails beyond the limit. Ranges of files that the system copies do not count: they are of inputs.
pub(crate) struct Bounded<S> {
    sink: S,
    limit: OutputLimit,
    left: u64,
}

impl<S> Bounded<S> {
    /// An output with a limit.
    pub(crate) fn new(sink: S, limit: OutputLimit) -> Self {
        Bounded { sink, limit, left: limit.0 }
    }
}

impl<S: Write> Write for Bounded<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            return Err(io::Error::other(self.limit));
        }
        let count = self.sink.write(bytes)?;
        self.left -= count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

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
pub(crate) type FileSink<'f> = BufWriter<Bounded<Metered<&'f File>>>;

impl ByteSink for FileSink<'_> {
    fn file(&mut self) -> io::Result<Option<&File>> {
        self.flush()?;
        Ok(Some(self.get_ref().sink.0))
    }
}

/// An output into a file, at its position.
pub(crate) fn into_file(file: &File, limit: OutputLimit) -> FileSink<'_> {
    BufWriter::with_capacity(BUFFER, Bounded::new(Metered(file), limit))
}
