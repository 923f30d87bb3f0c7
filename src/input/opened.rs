//! An input that is open, with its first bytes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::looks::Start;
use super::text::{self, Text, read_all};
use super::{Refusal, models};
use crate::onnx::contents::{Contents, DiskFile, ScanError, scan};
use bytes::Bytes;

/// How many bytes are read to recognize an input.
const FIRST: u64 = 4096;

/// The bytes from which on constants stay in a file: smaller files are read at once, which is faster.
const LARGE: u64 = 1 << 20;

/// What an input is for the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileKind {
    Folder,
    /// A file with a number of bytes.
    File(u64),
    /// A stream, a pipe or a device: it can be read only once.
    Stream,
}

/// An input whose first bytes are known. It can be read to its end once.
pub(crate) struct Opened {
    /// The path; none for standard input and for bytes in memory.
    pub(crate) path: Option<PathBuf>,
    /// The name for messages.
    pub(crate) name: String,
    kind: FileKind,
    /// The file that is read, if it is one.
    file: Option<Arc<File>>,
    first: Vec<u8>,
    rest: Box<dyn Read>,
}

impl Opened {
    /// Opens a file or a folder.
    ///
    /// # Errors
    ///
    /// The system does not open or read it.
    pub(crate) fn open(path: &Path) -> Result<Self, Refusal> {
        let name = path.display().to_string();
        let fail = |error: io::Error| Refusal::io(&name, error);
        let (kind, file) = if path.is_dir() {
            (FileKind::Folder, None)
        } else if let Some((file, size)) = models::graph_at(path)? {
            (FileKind::File(size), Some(Arc::new(file)))
        } else {
            let file = File::open(path).map_err(fail)?;
            let metadata = file.metadata().map_err(fail)?;
            let kind = if metadata.is_file() { FileKind::File(metadata.len()) } else { FileKind::Stream };
            (kind, Some(Arc::new(file)))
        };
        let rest: Box<dyn Read> = match &file {
            Some(file) => Box::new(Arc::clone(file)),
            None => Box::new(io::empty()),
        };
        Ok(Opened { file, ..Opened::new(Some(path.to_owned()), name, kind, rest)? })
    }

    /// A stream without a path, under a name for messages.
    ///
    /// # Errors
    ///
    /// Reading its first bytes failed.
    pub(crate) fn stream_of(name: &str, stream: impl Read + 'static) -> Result<Self, Refusal> {
        Opened::new(None, name.to_owned(), FileKind::Stream, Box::new(stream))
    }

    fn new(path: Option<PathBuf>, name: String, kind: FileKind, mut rest: Box<dyn Read>) -> Result<Self, Refusal> {
        let mut first = Vec::new();
        let read = rest.as_mut().take(FIRST).read_to_end(&mut first);
        read.map_err(|error| Refusal::io(&name, error))?;
        Ok(Opened { path, name, kind, file: None, first, rest })
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.kind == FileKind::Folder
    }

    /// Whether it is a file, which can be opened again.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self.kind, FileKind::File(_))
    }

    /// The path as a word of a command line: `-` if there is none.
    pub(super) fn word(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new("-"))
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
    pub(crate) fn bytes(self, limit: u64) -> Result<(String, Vec<u8>), Refusal> {
        if self.is_folder() {
            // Fails with the error of the system.
            fs::read(self.word()).map_err(|error| Refusal::io(&self.name, error))?;
        }
        let size = if let FileKind::File(size) = self.kind { size } else { 0 };
        let name = self.name.clone();
        let bytes = read_all(&name, (size, limit), &mut self.stream())?;
        Ok((name, bytes))
    }

    /// The contents of a model, at most `limit` bytes of which are read, with the name for messages. The long constants
    /// of a large file stay there.
    pub(crate) fn contents(self, limit: u64) -> Result<(String, Contents), Refusal> {
        let (FileKind::File(LARGE..), Some(file)) = (self.kind, &self.file) else {
            return self.bytes(limit).map(|(name, bytes)| (name, Contents::from(Bytes::from(bytes))));
        };
        let scanned =
            DiskFile::new(Arc::clone(file), &self.name).map_err(ScanError::Io).and_then(|disk| scan(disk, limit));
        match scanned {
            Ok(contents) => Ok((self.name, contents)),
            Err(ScanError::Io(error)) => Err(Refusal::io(&self.name, error)),
            Err(ScanError::TooLarge) => Err(text::too_large(&self.name, limit)),
        }
    }

    /// The text, at most `limit` bytes.
    pub(crate) fn text(self, limit: u64) -> Result<Text, Refusal> {
        let (name, bytes) = self.bytes(limit)?;
        text::text(name, bytes)
    }
}
