//! Messages on standard error.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Stderr, Write};

use crate::diagnostics::{Code, Diagnostic, Diagnostics, render, visible};
use crate::source::Sources;
use anstream::{AutoStream, ColorChoice};

use super::args::{MessageFormat, Reporting};

/// Writes diagnostics in the form that was asked for, and counts them. A message that cannot be
/// written does not stop the run.
pub(crate) struct Reporter {
    out: BufWriter<AutoStream<Stderr>>,
    color: bool,
    format: MessageFormat,
    quiet: bool,
    total: Counts,
    warned: BTreeMap<Code, usize>,
}

/// The most warnings of one code in the form for people; JSON has all of them.
const SHOWN_PER_CODE: usize = 3;

/// The numbers of diagnostics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Errors shown.
    pub(crate) errors: usize,
    /// Warnings shown.
    pub(crate) warnings: usize,
    /// Diagnostics not shown.
    pub(crate) suppressed: usize,
}

impl Counts {
    /// As text; none if there were none.
    pub(crate) fn summary(self) -> Option<String> {
        render::summary(self.errors, self.warnings, self.suppressed)
    }
}

impl Reporter {
    /// A reporter by the options.
    pub(crate) fn new(options: &Reporting) -> Self {
        let choice = match options.color {
            clap::ColorChoice::Always => ColorChoice::Always,
            clap::ColorChoice::Never => ColorChoice::Never,
            clap::ColorChoice::Auto => AutoStream::choice(&io::stderr()),
        };
        Reporter {
            out: BufWriter::new(AutoStream::new(io::stderr(), choice)),
            color: choice != ColorChoice::Never,
            format: options.message_format,
            quiet: options.quiet,
            total: Counts::default(),
            warned: BTreeMap::new(),
        }
    }

    /// Reports what a stage found, and gives its result. Where there is none, that was all.
    pub(crate) fn accepted<T>(&mut self, sources: &Sources, stage: Result<(T, Diagnostics), Diagnostics>) -> Option<T> {
        match stage {
            Ok((result, warnings)) => {
                self.all(sources, warnings);
                Some(result)
            }
            Err(errors) => {
                self.all(sources, errors);
                self.summary();
                None
            }
        }
    }

    /// Reports one diagnostic.
    pub(crate) fn one(&mut self, sources: &Sources, diagnostic: &Diagnostic) {
        if diagnostic.is_error() {
            self.total.errors += 1;
        } else if self.quiet {
            return;
        } else {
            let count = self.warned.entry(diagnostic.code).or_default();
            *count += 1;
            if *count > SHOWN_PER_CODE && self.format == MessageFormat::Human {
                self.total.suppressed += 1;
                return;
            }
            self.total.warnings += 1;
        }
        let _ = match self.format {
            MessageFormat::Human => diagnostic.write_human(&mut self.out, sources, self.color),
            MessageFormat::Json => diagnostic.write_json(&mut self.out, sources),
        };
    }

    /// Reports all diagnostics of a document, in the order of their places, and returns how many.
    pub(crate) fn all(&mut self, sources: &Sources, diagnostics: Diagnostics) -> Counts {
        let before = self.total;
        let suppressed = diagnostics.suppressed();
        let hidden = self.quiet && !diagnostics.has_errors();
        for diagnostic in diagnostics.into_sorted() {
            self.one(sources, &diagnostic);
        }
        if !hidden {
            self.total.suppressed += suppressed;
        }
        Counts {
            errors: self.total.errors - before.errors,
            warnings: self.total.warnings - before.warnings,
            suppressed: self.total.suppressed - before.suppressed,
        }
    }

    /// Whether to show the progress of long work.
    pub(crate) fn interactive(&self) -> bool {
        self.format == MessageFormat::Human && !self.quiet && io::stderr().is_terminal()
    }

    /// Writes a remark for people, such as the result for a file.
    pub(crate) fn remark(&mut self, text: &str) {
        if self.format == MessageFormat::Human && !self.quiet {
            let _ = writeln!(self.out, "{}", visible::clean(text));
        }
    }

    /// Writes requested information in the form that was asked for.
    pub(crate) fn tell(&mut self, text: &str, object: &serde_json::Value) {
        let _ = match self.format {
            MessageFormat::Human => self.out.write_all(visible::escaped(text).as_bytes()),
            MessageFormat::Json => writeln!(self.out, "{}", visible::escaped(&object.to_string())),
        };
    }

    /// Writes the total numbers of diagnostics for people.
    pub(crate) fn summary(&mut self) {
        if let Some(summary) = self.total.summary() {
            self.remark(&summary);
        }
        let _ = self.out.flush();
    }

    /// Reports a failure on a file, between diagnostics.
    pub(crate) fn complain(&mut self, message: &str) {
        let _ = self.out.flush();
        complain(message);
    }
}

/// Writes why the run failed.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "nnef-flatten: {}", visible::clean(message));
}
