//! An input that is open, with its first bytes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::looks::Start;
use crate::cli::io::{Input, Unread, failure, is_stream, read_all, text};
use crate::cli::models;
use crate::diagnostics::Diagnostics;
use crate::source::Sources;

/// The sources, whether the input is accepted, and the diagnostics.
pub(crate) type Checked = (Sources, bool, Diagnostics);

/// How many bytes are read to recognize an input.
const FIRST: u64 = 4096;

/// What an input is for the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    /// A file with a number of bytes.
    File(u64),
    /// Standard input, a pipe or a device: it can be read only once.
    Stream,
}

/// An input whose first bytes are known. It can be read to its end once.
pub(crate) struct Opened {
    /// The path as it was given; `-` for standard input.
    pub(crate) path: PathBuf,
    /// The name for messages.
    pub(crate) name: String,
    kind: Kind,
    first: Vec<u8>,
    rest: Box<dyn Read>,
}

impl Opened {
    /// Opens an input.
    ///
    /// # Errors
    ///
    /// The system does not open or read it.
    pub(crate) fn open(path: &Path) -> Result<Self, Unread> {
        let stream = is_stream(path);
        let name = if stream { "<stdin>".to_owned() } else { path.display().to_string() };
        let fail = |error: io::Error| Unread::Failure(failure(&name, &error));
        let (kind, mut rest): (_, Box<dyn Read>) = if stream {
            (Kind::Stream, Box::new(io::stdin().lock()))
        } else if path.is_dir() {
            (Kind::Folder, Box::new(io::empty()))
        } else if let Some((file, size)) = models::graph_at(path)? {
            (Kind::File(size), Box::new(file))
        } else {
            let file = File::open(path).map_err(fail)?;
            let metadata = file.metadata().map_err(fail)?;
            (if metadata.is_file() { Kind::File(metadata.len()) } else { Kind::Stream }, Box::new(file))
        };
        let mut first = Vec::new();
        rest.as_mut().take(FIRST).read_to_end(&mut first).map_err(fail)?;
        Ok(Opened { path: path.to_owned(), name, kind, first, rest })
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.kind == Kind::Folder
    }

    /// Whether it is a file, which can be opened again.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.kind, Kind::File(_))
    }

    /// The first bytes, to recognize the format.
    pub(crate) fn start(&self) -> Start<'_> {
        Start::new(&self.first, (self.first.len() as u64) < FIRST)
    }

    /// All bytes, as a stream.
    pub(crate) fn stream(self) -> impl Read {
        io::Cursor::new(self.first).chain(self.rest)
    }

    /// All bytes, at most `limit`, with the name for messages.
    pub(crate) fn bytes(self, limit: u64) -> Result<(String, Vec<u8>), Unread> {
        if self.is_folder() {
            // Fails with the error of the system.
            fs::read(&self.path).map_err(|error| Unread::Failure(failure(&self.name, &error)))?;
        }
        let size = if let Kind::File(size) = self.kind { size } else { 0 };
        let name = self.name.clone();
        let bytes = read_all(&name, (size, limit), &mut self.stream())?;
        Ok((name, bytes))
    }

    /// The text, at most `limit` bytes.
    pub(crate) fn text(self, limit: u64) -> Result<Input, Unread> {
        let (name, bytes) = self.bytes(limit)?;
        text(name, bytes)
    }
}
