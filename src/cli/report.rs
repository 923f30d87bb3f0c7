//! Messages on standard error.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Stderr, Write};

use crate::diagnostics::json::failure;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Severity, render, visible};
use crate::source::Sources;
use anstream::{AutoStream, ColorChoice};
use clap::builder::StyledStr;

use super::args::{Level, MessageFormat, Reporting, Warnings};
use super::outcome::{Failure, RunResult, Status};

/// Writes diagnostics in the requested format, and counts them. A message that cannot be written does not
/// stop the run.
pub(crate) struct Reporter {
    out: BufWriter<AutoStream<Stderr>>,
    color: bool,
    format: MessageFormat,
    quiet: bool,
    all: bool,
    levels: Vec<Level>,
    /// Whether documents need values, so that what makes them undefined is an error.
    needs_values: bool,
    total: Counts,
    /// Warnings by code: their number, and the first of them as a line.
    warned: BTreeMap<Code, (usize, String)>,
}

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
    /// The numbers as text; `None` if all are 0.
    pub(crate) fn summary(self) -> Option<String> {
        render::summary(self.errors, self.warnings, self.suppressed)
    }
}

impl Reporter {
    /// A reporter with the options of the command.
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
            all: options.warnings == Warnings::All,
            levels: options.levels(),
            needs_values: false,
            total: Counts::default(),
            warned: BTreeMap::new(),
        }
    }

    /// Treats warnings of what has no values as errors, unless an option says otherwise.
    pub(crate) fn need_values(&mut self) {
        self.needs_values = true;
    }

    /// The severity of a warning according to the options; `None` if it is not reported. The last option that
    /// names its code or all codes decides. Deviations that exporters commonly write are reported on request.
    fn level(&self, code: Code) -> Option<Severity> {
        let named = self.levels.iter().rev().find(|level| level.of.is_none_or(|of| of == code));
        match named {
            Some(level) => level.denied.then_some(Severity::Error),
            None if code.is_undefined() && self.needs_values => Some(Severity::Error),
            None if code.is_practice() && !self.all => None,
            None => Some(Severity::Warning),
        }
    }

    /// Reports the diagnostics of a stage and returns its result. If there are errors, also writes the summary.
    pub(crate) fn accepted<T>(&mut self, sources: &Sources, stage: Result<(T, Diagnostics), Diagnostics>) -> Option<T> {
        match stage {
            Ok((result, warnings)) => {
                if self.all(sources, warnings).errors > 0 {
                    self.summary();
                    return None;
                }
                Some(result)
            }
            Err(errors) => {
                self.all(sources, errors);
                self.summary();
                None
            }
        }
    }

    /// Reports why an input is refused; other failures are left to the caller.
    pub(crate) fn refused(&mut self, failure: Failure) -> RunResult {
        match failure {
            Failure::Refused(found) => {
                self.all(&found.sources, found.diagnostics);
                self.summary();
                Ok(Status::Refused)
            }
            failure => Err(failure),
        }
    }

    /// Reports one diagnostic.
    pub(crate) fn one(&mut self, sources: &Sources, diagnostic: &Diagnostic) {
        let denied;
        let diagnostic = match self.level(diagnostic.code).filter(|_| !diagnostic.is_error()) {
            Some(Severity::Error) => {
                denied = Diagnostic { severity: Severity::Error, ..diagnostic.clone() };
                &denied
            }
            None if !diagnostic.is_error() => return,
            _ => diagnostic,
        };
        if diagnostic.is_error() {
            self.total.errors += 1;
        } else if self.quiet {
            return;
        } else {
            self.total.warnings += 1;
            if self.format == MessageFormat::Human && !self.all {
                let line = || render::line(diagnostic, sources, self.color);
                self.warned.entry(diagnostic.code).or_insert_with(|| (0, line())).0 += 1;
                return;
            }
        }
        let _ = match self.format {
            MessageFormat::Human => diagnostic.write_human(&mut self.out, sources, self.color),
            MessageFormat::Json => diagnostic.write_json(&mut self.out, sources),
        };
    }

    /// Writes a line for each code of warnings so far, with their number.
    fn warnings(&mut self) {
        for (count, line) in std::mem::take(&mut self.warned).into_values() {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            let _ = writeln!(self.out, "{line}{times}");
        }
    }

    /// Reports all diagnostics of a document, in the order of their locations, and returns their numbers.
    pub(crate) fn all(&mut self, sources: &Sources, diagnostics: Diagnostics) -> Counts {
        let before = self.total;
        let suppressed = diagnostics.suppressed();
        let warnings: Vec<(Code, usize)> = diagnostics.suppressed_warnings().collect();
        let of_warnings: usize = warnings.iter().map(|(_, count)| count).sum();
        for diagnostic in diagnostics.into_sorted() {
            self.one(sources, &diagnostic);
        }
        self.total.suppressed += suppressed - of_warnings;
        for (code, count) in warnings {
            let level = self.level(code).filter(|level| *level == Severity::Error || !self.quiet);
            if let Some(warned) = self.warned.get_mut(&code) {
                warned.0 += count;
                self.total.warnings += count;
            } else if level.is_some() {
                self.total.suppressed += count;
            }
        }
        self.warnings();
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

    /// Writes a requested result: a remark for people, an object for programs.
    pub(crate) fn result(&mut self, text: &str, object: &serde_json::Value) {
        match self.format {
            MessageFormat::Human => self.remark(text),
            MessageFormat::Json => self.tell(text, object),
        }
    }

    /// Writes requested information in the requested format.
    pub(crate) fn tell(&mut self, text: &str, object: &serde_json::Value) {
        let _ = match self.format {
            MessageFormat::Human => self.out.write_all(visible::escaped(text).as_bytes()),
            MessageFormat::Json => writeln!(self.out, "{}", visible::escaped(&object.to_string())),
        };
    }

    /// Writes the total numbers of diagnostics for people.
    pub(crate) fn summary(&mut self) {
        if let Some(summary) = self.total.summary() {
            let more = self.total.warnings > 0 && !self.all && self.format == MessageFormat::Human;
            self.remark(&if more { format!("{summary}; see all with --warnings all") } else { summary });
        }
        let _ = self.out.flush();
    }

    /// Reports a failure on a file, between diagnostics.
    pub(crate) fn complain(&mut self, message: &str) {
        let _ = self.out.flush();
        complain(message, self.format);
    }

    /// Writes the usage of the command.
    pub(crate) fn help(&mut self, text: &StyledStr) {
        let _ = write!(self.out, "{}", text.ansi());
    }
}

/// Writes why the run failed: for programs as an object with the fields of a diagnostic, null but for the message.
pub(crate) fn complain(message: &str, format: MessageFormat) {
    let _ = match format {
        MessageFormat::Human => writeln!(io::stderr(), "nnef-flatten: {}", visible::clean(message)),
        MessageFormat::Json => writeln!(io::stderr(), "{}", visible::escaped(&failure(message).to_string())),
    };
}
