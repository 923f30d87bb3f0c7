//! Files and streams: reading whole texts, and writing them completely or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::diagnostics::{Code, Diagnostic};
use crate::source::{Location, Sources, Span};
use tempfile::NamedTempFile;

use super::Failure;

/// Larger inputs are refused.
const MAX_INPUT: u64 = 2 << 30;

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

/// Whether a path means the standard stream.
pub(crate) fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The file of an input: the path itself, or the document in a model folder.
pub(crate) fn document_path(path: &Path) -> PathBuf {
    if !is_stream(path) && path.is_dir() { path.join("graph.nnef") } else { path.to_owned() }
}

/// Reads a document from a file, a model folder, or standard input.
pub(crate) fn read(path: &Path) -> Result<Input, Unread> {
    let (name, bytes) = read_bytes(&document_path(path))?;
    text(name, bytes)
}

/// Decodes bytes as a text.
pub(crate) fn text(name: String, bytes: Vec<u8>) -> Result<Input, Unread> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Input { name, text }),
        Err(error) => Err(not_utf8(name, error.utf8_error().valid_up_to(), error.as_bytes())),
    }
}

/// Reads a file or standard input: the name for messages, and the bytes.
pub(crate) fn read_bytes(path: &Path) -> Result<(String, Vec<u8>), Unread> {
    let stream = is_stream(path);
    let name = if stream { "<stdin>".to_owned() } else { path.display().to_string() };
    let fail = |error: io::Error| Unread::Failure(failure(&name, &error));
    let bytes = if stream {
        read_all(&name, 0, &mut io::stdin().lock())?
    } else {
        let mut file = File::open(path).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        read_all(&name, size, &mut file)?
    };
    Ok((name, bytes))
}

/// Reads a stream to its end, which is expected after `size` bytes.
pub(crate) fn read_all(name: &str, size: u64, stream: &mut dyn Read) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    if size <= MAX_INPUT {
        bytes.reserve(size as usize);
        let read = stream.take(MAX_INPUT + 1).read_to_end(&mut bytes);
        read.map_err(|error| Unread::Failure(failure(name, &error)))?;
    }
    if size.max(bytes.len() as u64) > MAX_INPUT {
        return Err(too_large(name.to_owned()));
    }
    Ok(bytes)
}

fn too_large(name: String) -> Unread {
    refused(name, "", Span::default(), Code::TooLarge, "the text is larger than 2 GiB".to_owned())
}

fn not_utf8(name: String, at: usize, bytes: &[u8]) -> Unread {
    let text = String::from_utf8_lossy(bytes);
    let byte = bytes.get(at).copied().unwrap_or_default();
    let message = format!("the byte 0x{byte:02X} at offset {at} is not UTF-8");
    // In the lossy text the replacement character has this position.
    let end = at + char::REPLACEMENT_CHARACTER.len_utf8();
    refused(name, &text, Span::new(at as u32, end as u32), Code::NotUtf8, message)
}

/// A file that is refused, at a place of its text.
pub(crate) fn refused(name: String, text: &str, span: Span, code: Code, message: String) -> Unread {
    let mut sources = Sources::new();
    let file = sources.add(name, text.to_string());
    Unread::Refused(Box::new((sources, Diagnostic::new(code, Location::new(file, span), message))))
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

/// What the ending of a file's name means; none for a name without an ending.
///
/// # Errors
///
/// The ending means nothing: guessing a form would surprise.
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
        "{path}: `.{ending}` is the ending of no notation, those are {known}; --to names one"
    )))
}

/// A function that writes a result.
pub(crate) type Writing<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// Writes a result to standard output, locked once and buffered.
pub(crate) fn write_stdout(content: Writing) -> Result<(), Failure> {
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let result = content(&mut out).and_then(|()| out.flush());
    // After a failure, dropping the buffer must not try to write the rest.
    let _ = out.into_parts();
    result.map_err(|error| failure("<stdout>", &error))
}

/// Writes a result to a file, completely or not at all: into a temporary file beside it, which is then
/// renamed. Devices and pipes are written directly.
pub(crate) fn write_file(path: &Path, content: Writing) -> Result<(), Failure> {
    let fail = |error: io::Error| failure(&path.display().to_string(), &error);
    // A link is kept: its target is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(metadata) if metadata.is_file() => replace(&target, Some(metadata.permissions()), content).map_err(fail),
        Ok(_) => File::options().write(true).open(&target).and_then(|file| fill(file, content)).map_err(fail),
        Err(_) => replace(&target, None, content).map_err(fail),
    }
}

fn replace(target: &Path, permissions: Option<fs::Permissions>, content: Writing) -> io::Result<()> {
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Gives a better message than the failure to make a temporary file.
    fs::metadata(folder)?;
    let file = new_file(folder)?;
    fill(file.as_file(), content)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}

/// A temporary file with the usual permissions of new files.
fn new_file(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nnef-flatten-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // A message does not show the name of the temporary file.
    builder.tempfile_in(folder).map_err(|error| error.kind().into())
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
    fn a_failed_write_leaves_the_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.nnef");
        write_file(&path, &mut |out| out.write_all(b"one")).unwrap();
        let failed = write_file(&path, &mut |out| {
            out.write_all(b"two")?;
            Err(io::Error::other("no more"))
        });
        assert!(matches!(failed, Err(Failure::Message(message)) if message.ends_with("out.nnef: no more")));
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        write_file(&path, &mut |out| out.write_all(b"three")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&path, "one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        write_file(&link, &mut |out| out.write_all(b"two")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_bad_byte_has_a_position() {
        let Unread::Refused(refused) = not_utf8("t".into(), 4, b"a\n\xc3\xa9\xffb") else { panic!() };
        let (sources, diagnostic) = *refused;
        let position = sources.start(diagnostic.at);
        assert_eq!((position.line, position.column), (2, 2));
        assert_eq!(sources.text(diagnostic.at), "\u{fffd}");
    }
}
