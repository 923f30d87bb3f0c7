//! Files and streams: reading whole texts, and writing them completely or not at all.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use crate::diagnostics::{Code, Diagnostic, ReadLimit};
use crate::files;
use crate::input::Refusal;
use crate::input::text::{self, Text};
use crate::progress::{self, Metered, Phase};
use crate::sink::{self, Bounded, ByteSink, OutputLimit};
use crate::source::{Location, Span};

use super::interrupt;
use super::outcome::Failure;
use super::progress::Undisturbed;
use super::terminal::Visible;

/// The command line that helps becomes a part of the help.
impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Io { name, error } => failure(&name, &error),
            Refusal::Unfit(message) => Failure::Message(message),
            Refusal::Found(mut found) => {
                if let Some(command) = found.command.take() {
                    for diagnostic in found.diagnostics.iter_mut() {
                        let before = diagnostic.help.take().map(|help| help + ": ").unwrap_or_default();
                        diagnostic.help = Some(before + &command);
                    }
                }
                Failure::Refused(found)
            }
        }
    }
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
pub(crate) fn read(path: &Path, limit: u64) -> Result<Text, Failure> {
    let (name, bytes) = read_bytes(path, limit)?;
    Ok(text::text(name, bytes)?)
}

/// Reads at most `limit` bytes from a file or standard input. Returns the name for messages, and the bytes.
pub(crate) fn read_bytes(path: &Path, limit: impl Into<ReadLimit>) -> Result<(String, Vec<u8>), Failure> {
    if !is_stream(path) {
        return Ok(text::read_bytes(path, limit)?);
    }
    let name = "<stdin>".to_owned();
    let bytes = text::read_all(&name, 0, limit, &mut io::stdin().lock())?;
    Ok((name, bytes))
}

/// The refusal of a file, at a location in its text.
pub(crate) fn refused(name: String, text: &str, span: Span, code: Code, message: String) -> Failure {
    Refusal::at(name, text, span, code, message).into()
}

/// The refusal of a file; `diagnostic` gets the location of its start.
pub(crate) fn refuse(name: String, text: String, diagnostic: impl FnOnce(Location) -> Diagnostic) -> Failure {
    Refusal::of(name, text, diagnostic).into()
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
pub(crate) type Writing<'a> = &'a mut dyn FnMut(&mut dyn ByteSink) -> io::Result<()>;

/// Writes a result to standard output, locked once and buffered. On a terminal, characters that would
/// control it are shown as escapes; a file or a pipe gets the bytes unchanged.
///
/// Standard output that was closed before the start cannot be told from one that others have sent to `/dev/null`: the runtime
/// opens that in its place before `main`, for reading and writing, as do Python (`subprocess.DEVNULL`), Node and `1<>/dev/null`;
/// flags, position, inode and mount are the same.
pub(crate) fn write_stdout(limit: OutputLimit, content: Writing) -> Result<(), Failure> {
    let stdout = io::stdout().lock();
    let stdout: Box<dyn Write> = if stdout.is_terminal() {
        // The result itself is seen to grow.
        progress::enter(Phase::Quiet);
        Box::new(Bounded::new(Undisturbed(Visible::new(stdout)), limit))
    } else {
        progress::enter(Phase::Writing);
        Box::new(Bounded::new(Metered(stdout), limit))
    };
    let mut out = BufWriter::with_capacity(1 << 16, stdout);
    let result = content(&mut (&mut out as &mut dyn Write)).and_then(|()| out.flush());
    // After a failure, dropping the buffer must not try to write the rest.
    let _ = out.into_parts();
    result.map_err(|error| unwritten("<stdout>", &error))
}

/// Writes a result to a file, completely or not at all.
pub(crate) fn write_file(path: &Path, limit: OutputLimit, content: Writing) -> Result<(), Failure> {
    write_file_beside(path, &[], limit, content)
}

/// Writes a result to a file and copies others beside it, all of them or none.
pub(crate) fn write_file_beside(
    path: &Path,
    others: &[files::Beside],
    limit: OutputLimit,
    content: Writing,
) -> Result<(), Failure> {
    interrupt::watch();
    let written = files::write_beside(path, others, |error| error, |file| fill(file, limit, content));
    written.map_err(|error| unwritten(&path.display().to_string(), &error))
}

/// Why an output was not written: its size is that of the result, so that the input is refused.
pub(super) fn unwritten(name: &str, error: &io::Error) -> Failure {
    let Some(limit) = OutputLimit::of(error) else { return failure(name, error) };
    refuse(name.to_owned(), String::new(), |at| {
        let found = Diagnostic::new(Code::OutputTooLarge, at, format!("the output is refused: {limit}"));
        found.help("raise the limit with --max-output")
    })
}

fn fill(file: &File, limit: OutputLimit, content: Writing) -> io::Result<()> {
    progress::enter(Phase::Writing);
    let mut out = sink::into_file(file, limit);
    content(&mut out)?;
    out.flush()
}
