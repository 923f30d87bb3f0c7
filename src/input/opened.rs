//! An input that is open, with its first bytes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::looks::Start;
use super::text::{self, Text, read_all};
use super::{Refusal, models};
use crate::onnx::contents::{Contents, DiskFile, ScanError, scan};
use crate::progress::{self, Phase};
use bytes::Bytes;

/// How many bytes are read to recognize an input.
const FIRST: usize = 4096;

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
    first: Bytes,
    rest: Rest,
    /// Who is told of files beside it.
    pub(super) beside: Option<NoteFile>,
}

/// A function that is told of a file.
pub(super) type NoteFile = Arc<dyn Fn(&Path) + Send + Sync>;

/// Where the bytes after the first ones are.
enum Rest {
    /// All bytes, the first ones too, are in memory.
    Whole(Bytes),
    /// They are still to be read.
    Unread(Box<dyn Read + Send>),
}

impl Opened {
    /// Opens a file or a folder.
    ///
    /// # Errors
    ///
    /// The system does not open or read it.
    pub(crate) fn open(path: &Path) -> Result<Self, Refusal> {
        let name = path.to_string_lossy().into_owned();
        let fail = |error: io::Error| Refusal::io(&name, error);
        let (kind, file) = match models::graph_at(path)? {
            Some((file, size)) => (FileKind::File(size), Some(file)),
            None => match File::open(path) {
                Ok(file) => {
                    let metadata = file.metadata().map_err(fail)?;
                    if metadata.is_dir() {
                        (FileKind::Folder, None)
                    } else if metadata.is_file() {
                        (FileKind::File(metadata.len()), Some(file))
                    } else {
                        (FileKind::Stream, Some(file))
                    }
                }
                // Not every system opens folders.
                Err(_) if path.is_dir() => (FileKind::Folder, None),
                Err(error) => return Err(fail(error)),
            },
        };
        let (path, file) = (Some(path.to_owned()), file.map(Arc::new));
        match file {
            Some(file) => {
                Ok(Opened { file: Some(Arc::clone(&file)), ..Opened::new(path, name, kind, Box::new(file))? })
            }
            None => Ok(Opened { path, kind, ..Opened::memory(name, Bytes::new()) }),
        }
    }

    /// Bytes under a name for messages.
    pub(crate) fn memory(name: String, bytes: Bytes) -> Self {
        let first = bytes.slice(..bytes.len().min(FIRST));
        Opened { path: None, name, kind: FileKind::Stream, file: None, first, rest: Rest::Whole(bytes), beside: None }
    }

    /// A stream without a path, under a name for messages.
    ///
    /// # Errors
    ///
    /// Reading its first bytes failed.
    pub(crate) fn stream_of(name: &str, stream: impl Read + Send + 'static) -> Result<Self, Refusal> {
        Opened::new(None, name.to_owned(), FileKind::Stream, Box::new(stream))
    }

    fn new(
        path: Option<PathBuf>,
        name: String,
        kind: FileKind,
        mut rest: Box<dyn Read + Send>,
    ) -> Result<Self, Refusal> {
        match first_of(&mut *rest, kind) {
            // Small inputs are read by now.
            Ok(first) if first.len() < FIRST => Ok(Opened { path, kind, ..Opened::memory(name, first) }),
            Ok(first) => Ok(Opened { path, name, kind, file: None, first, rest: Rest::Unread(rest), beside: None }),
            Err(error) => Err(Refusal::io(&name, error)),
        }
    }

    /// The same bytes under another name for messages, of a file in another folder if one is given: data beside it are
    /// read from there.
    pub(super) fn known_as(self, name: &str, folder: Option<&Path>) -> Self {
        let file = self.path.as_deref().and_then(Path::file_name).map(PathBuf::from);
        let path = folder.zip(file).map(|(folder, file)| folder.join(file));
        Opened { name: name.to_owned(), path: path.or(self.path), ..self }
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
        let whole = match &self.rest {
            Rest::Whole(bytes) => bytes.len() == self.first.len(),
            Rest::Unread(_) => false,
        };
        Start::new(&self.first, whole)
    }

    /// All bytes, as a stream.
    pub(crate) fn stream(self) -> Box<dyn Read + Send> {
        match self.rest {
            Rest::Whole(bytes) => Box::new(io::Cursor::new(bytes)),
            Rest::Unread(rest) => Box::new(io::Cursor::new(self.first).chain(rest)),
        }
    }

    /// All bytes, at most `limit`, with the name for messages.
    pub(crate) fn bytes(self, limit: u64) -> Result<(String, Bytes), Refusal> {
        if self.is_folder() {
            // Fails with the error of the system.
            fs::read(self.word()).map_err(|error| Refusal::io(&self.name, error))?;
        }
        let Opened { name, kind, first, rest, .. } = self;
        let bytes = match rest {
            Rest::Whole(bytes) => {
                progress::enter(Phase::Reading);
                if bytes.len() as u64 > limit {
                    return Err(text::too_large(&name, limit));
                }
                bytes
            }
            Rest::Unread(rest) => {
                let size = if let FileKind::File(size) = kind { size } else { 0 };
                Bytes::from(read_all(&name, size, limit, &mut io::Cursor::new(first).chain(rest))?)
            }
        };
        Ok((name, bytes))
    }

    /// The contents of a model, at most `limit` bytes of which are read, with the name for messages. The long constants
    /// of a large file stay there.
    pub(crate) fn contents(self, limit: u64) -> Result<(String, Contents), Refusal> {
        let (FileKind::File(LARGE..), Some(file)) = (self.kind, &self.file) else {
            return self.bytes(limit).map(|(name, bytes)| (name, Contents::from(bytes)));
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
        text::text(name, bytes.into())
    }
}

/// The first bytes of a stream: fewer than [`FIRST`] if these are all.
fn first_of(stream: &mut dyn Read, kind: FileKind) -> io::Result<Bytes> {
    let size = match kind {
        // Files of the system have no size.
        FileKind::File(size @ 1..) => usize::try_from(size).unwrap_or(FIRST),
        _ => FIRST,
    };
    // A byte more than the file has tells that it has not grown.
    let (mut first, mut len) = (vec![0; size.saturating_add(1).min(FIRST)], 0);
    while len < FIRST {
        if len == first.len() {
            first.resize(FIRST, 0);
        }
        match stream.read(first.get_mut(len..).unwrap_or_default()) {
            Ok(0) => break,
            // A file that gives less than it was asked for is at its end.
            Ok(read) if len == 0 && read == size && size < FIRST => {
                len = read;
                break;
            }
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    first.truncate(len);
    Ok(Bytes::from(first))
}
