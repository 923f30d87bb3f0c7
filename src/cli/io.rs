//! Files and streams: reading whole texts, and writing them completely or not at all.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, Write};
use std::path::Path;

use crate::diagnostics::{Code, Diagnostic};
use crate::files;
use crate::source::{Location, Sources, Span, without_mark};

use super::terminal::Visible;
use super::{Failure, interrupt};

/// The number of bytes that a message shows from the first one that is not UTF-8.
const SHOWN: usize = 200;

/// A text that was read.
pub(crate) struct Input {
    /// The name for messages.
    pub(crate) name: String,
    /// The text.
    pub(crate) text: String,
}

/// Why an input was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It could not be read.
    Failure(Failure),
    /// It is not a valid text.
    Refused(Box<(Sources, Diagnostic)>),
}

/// Whether a path is `-`, which means a standard stream.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether two paths lead to the same file, which need not exist; not to the same device or pipe.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| files::real(path).unwrap_or_else(|_| path.to_owned());
    let (a, b) = (real(a), real(b));
    a == b && a.metadata().map_or(true, |metadata| metadata.is_file())
}

/// Whether an output is standard output: `-`, or its name on Unix, which must not be replaced by another file.
pub(crate) fn is_stdout(path: &Path) -> bool {
    is_stream(path) || path == Path::new("/dev/stdout")
}

/// Reads a text of at most `limit` bytes from a file or from standard input.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Input, Unread> {
    let (name, bytes) = read_bytes(path, limit)?;
    text(name, bytes)
}

/// Decodes bytes as a text.
pub(crate) fn text(name: String, bytes: Vec<u8>) -> Result<Input, Unread> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Input { name, text }),
        Err(error) => Err(not_utf8(name, error.utf8_error().valid_up_to(), error.into_bytes())),
    }
}

/// Reads at most `limit` bytes from a file or standard input. Returns the name for messages, and the bytes.
pub(crate) fn read_bytes(path: &Path, limit: u64) -> Result<(String, Vec<u8>), Unread> {
    let stream = is_stream(path);
    let name = if stream { "<stdin>".to_owned() } else { path.display().to_string() };
    let fail = |error: io::Error| Unread::Failure(failure(&name, &error));
    let bytes = if stream {
        read_all(&name, (0, limit), &mut io::stdin().lock())?
    } else {
        let mut file = File::open(path).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        read_all(&name, (size, limit), &mut file)?
    };
    Ok((name, bytes))
}

/// Reads a stream to its end, which is expected after `size` bytes, and refuses more than `limit`.
pub(crate) fn read_all(name: &str, (size, limit): (u64, u64), stream: &mut dyn Read) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    if size <= limit {
        bytes.reserve(size as usize);
        let read = stream.take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|error| Unread::Failure(failure(name, &error)))?;
    }
    if size.max(bytes.len() as u64) > limit {
        return Err(refuse(name.to_owned(), String::new(), |at| Diagnostic::too_large(at, limit)));
    }
    Ok(bytes)
}

/// Refuses bytes that are not UTF-8. The message shows only the line of the first wrong byte.
fn not_utf8(name: String, at: usize, mut bytes: Vec<u8>) -> Unread {
    let byte = bytes.get(at).copied().unwrap_or_default();
    let rest = &bytes[at.min(bytes.len())..];
    let shown = rest.iter().take(SHOWN).take_while(|byte| **byte != b'\n').count();
    let rest = String::from_utf8_lossy(&rest[..shown]).into_owned();
    bytes.truncate(at);
    let text = String::from_utf8(bytes).unwrap_or_default() + &rest;
    let message = format!("the byte 0x{byte:02X} at offset {at} is not UTF-8");
    // In the lossy text the replacement character has this position.
    let start = at - (text.len() - without_mark(&text).len()).min(at);
    let span = Span::new(start as u32, (start + char::REPLACEMENT_CHARACTER.len_utf8()) as u32);
    refuse(name, text, |file| Diagnostic::new(Code::NotUtf8, Location { span, ..file }, message))
}

/// The refusal of a file, at a location in its text.
pub(crate) fn refused(name: String, text: &str, span: Span, code: Code, message: String) -> Unread {
    refuse(name, text.to_owned(), |file| Diagnostic::new(code, Location { span, ..file }, message))
}

/// The refusal of a file; `diagnostic` gets the location of its start.
pub(crate) fn refuse(name: String, text: String, diagnostic: impl FnOnce(Location) -> Diagnostic) -> Unread {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    Unread::Refused(Box::new((sources, diagnostic(Location { file, ..Location::default() }))))
}

/// The message on a failed operation on a named file.
pub(crate) fn failure(name: &str, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Failure::BrokenPipe;
    }
    let mut reason = error.to_string();
    if let Some(end) = reason.find(" (os error") {
        reason.truncate(end);
    }
    Failure::Message(format!("{name}: {reason}"))
}

/// The meaning of a file's extension; `None` for a name without an extension.
///
/// # Errors
///
/// The extension is unknown: a default notation would be surprising.
pub(crate) fn by_ending<'e, T>(
    path: &Path,
    meaning: impl Fn(&str) -> Option<T>,
    known: impl Iterator<Item = &'e &'e str>,
) -> Result<Option<T>, Failure> {
    let Some(ending) = path.extension() else { return Ok(None) };
    let ending = ending.to_string_lossy();
    if let Some(found) = meaning(&ending) {
        return Ok(Some(found));
    }
    let known: Vec<String> = known.map(|ending| format!(".{ending}")).collect();
    let (path, known) = (path.display(), known.join(", "));
    Err(Failure::Message(format!(
        "{path}: no notation has the extension `.{ending}`; known extensions are {known}; --to names a notation"
    )))
}

/// A function that writes a result.
pub(crate) type Writing<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// Writes a result to standard output, locked once and buffered. On a terminal, characters that would
/// control it are shown as escapes; a file or a pipe gets the bytes unchanged.
pub(crate) fn write_stdout(content: Writing) -> Result<(), Failure> {
    let stdout = io::stdout().lock();
    let stdout: Box<dyn Write> = if stdout.is_terminal() { Box::new(Visible::new(stdout)) } else { Box::new(stdout) };
    let mut out = BufWriter::with_capacity(1 << 16, stdout);
    let result = content(&mut out).and_then(|()| out.flush());
    // After a failure, dropping the buffer must not try to write the rest.
    let _ = out.into_parts();
    result.map_err(|error| failure("<stdout>", &error))
}

/// Writes a result to a file, completely or not at all.
pub(crate) fn write_file(path: &Path, content: Writing) -> Result<(), Failure> {
    write_file_beside(path, &[], content)
}

/// Writes a result to a file and copies others beside it, all of them or none.
pub(crate) fn write_file_beside(path: &Path, others: &[files::Beside], content: Writing) -> Result<(), Failure> {
    interrupt::watch();
    let written = files::write_beside(path, others, |error| error, |file| fill(file, content));
    written.map_err(|error| failure(&path.display().to_string(), &error))
}

fn fill(file: impl Write, content: Writing) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    content(&mut out)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_byte_has_a_position() {
        for (bytes, at, wanted) in [(&b"a\n\xc3\xa9\xffb"[..], 4, (2, 2)), (b"\xef\xbb\xbfa\xffb", 4, (1, 2))] {
            let Unread::Refused(refused) = not_utf8("t".into(), at, bytes.to_vec()) else { panic!() };
            let (sources, diagnostic) = *refused;
            let position = sources.start(diagnostic.at);
            assert_eq!((position.line, position.column), wanted);
            assert_eq!(sources.text(diagnostic.at), "\u{fffd}");
        }
    }
}
