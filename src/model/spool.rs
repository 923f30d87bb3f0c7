//! Streams that are read twice.

use std::fs::File;
use std::io::{self, Read, Seek};

/// Copies a stream into an anonymous temporary file, so that it can be read twice.
///
/// # Errors
///
/// Reading or writing failed.
pub(crate) fn spool(stream: &mut dyn Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(stream, &mut file)?;
    file.rewind()?;
    Ok(file)
}
