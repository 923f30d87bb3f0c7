//! The stream that messages go to.

use std::io::{self, BufWriter, Stderr, Write};
use std::sync::{Arc, Mutex, PoisonError};

use anstream::{AutoStream, ColorChoice};

use crate::cli::progress::Undisturbed;

/// A buffered stream for messages. What cannot be written does not stop a run; the first failure is kept.
pub(super) struct Sink {
    out: BufWriter<Box<dyn Write>>,
    /// Standard error beside standard output: readers of messages from all subcommands expect objects there.
    copy: Option<BufWriter<Undisturbed<Stderr>>>,
    /// Whether messages are results, on standard output.
    is_output: bool,
    failed: Option<io::Error>,
}

impl Sink {
    /// Standard error.
    pub(super) fn stderr(choice: ColorChoice) -> Self {
        Sink::new(Box::new(Undisturbed(AutoStream::new(io::stderr(), choice))), false)
    }

    /// Standard output. With `copied`, what is written for programs also goes to standard error, unless that is the same
    /// stream.
    pub(super) fn stdout(choice: ColorChoice, copied: bool) -> Self {
        let copy = (copied && !is_one_stream()).then(|| BufWriter::new(Undisturbed(io::stderr())));
        Sink { copy, ..Sink::new(Box::new(Undisturbed(AutoStream::new(io::stdout(), choice))), true) }
    }

    /// A buffer of another program.
    pub(super) fn kept(messages: &Messages) -> Self {
        Sink::new(Box::new(messages.clone()), false)
    }

    fn new(out: Box<dyn Write>, is_output: bool) -> Self {
        Sink { out: BufWriter::new(out), copy: None, is_output, failed: None }
    }

    /// Writes something.
    pub(super) fn write(&mut self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if let Err(error) = content(&mut self.out) {
            self.failed.get_or_insert(error);
        }
    }

    /// Writes something for programs, which goes to both streams.
    pub(super) fn write_both(&mut self, content: impl Fn(&mut dyn Write) -> io::Result<()>) {
        self.write(&content);
        if let Some(copy) = &mut self.copy {
            let _ = content(copy);
        }
    }

    /// Writes something that is not a result to standard error, after all that was written before.
    pub(super) fn write_aside(&mut self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if !self.is_output {
            return self.write(content);
        }
        self.flush();
        let _ = content(&mut Undisturbed(io::stderr()));
    }

    /// Writes why an input is refused to standard error, where messages are on standard output and that is another
    /// stream: whoever keeps the results in a file still sees it.
    pub(super) fn write_apart(&mut self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.is_output && !is_one_stream() {
            let _ = content(&mut Undisturbed(io::stderr()));
        }
    }

    /// Writes what is still in the buffers.
    pub(super) fn flush(&mut self) {
        self.write(|out| out.flush());
        if let Some(copy) = &mut self.copy {
            let _ = copy.flush();
        }
    }

    /// The first failure, if messages are results.
    pub(super) fn failure(&mut self) -> Option<io::Error> {
        self.failed.take().filter(|_| self.is_output)
    }
}

/// Messages that are kept for another program.
#[derive(Clone, Default)]
pub(crate) struct Messages(Arc<Mutex<Vec<u8>>>);

impl Messages {
    /// What was written so far.
    pub(crate) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Messages {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether standard output and standard error are the same file, pipe or terminal.
#[cfg(unix)]
fn is_one_stream() -> bool {
    let of = |stream: rustix::io::Result<rustix::fs::Stat>| stream.ok().map(|stat| (stat.st_dev, stat.st_ino));
    let (out, error) = (of(rustix::fs::fstat(io::stdout())), of(rustix::fs::fstat(io::stderr())));
    out.is_some() && out == error
}

#[cfg(not(unix))]
fn is_one_stream() -> bool {
    use std::io::IsTerminal;
    io::stdout().is_terminal() && io::stderr().is_terminal()
}
