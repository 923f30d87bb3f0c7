//! Messages for people and for programs.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};

use crate::diagnostics::json::{Located, failure, write_line};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Severity, render, visible};
use crate::source::Sources;
use anstream::{AutoStream, ColorChoice};
use clap::builder::StyledStr;
use serde_json::{Value, json};

use super::sarif::SarifLog;
use super::sink::{Messages, Sink};
use super::{github, short};
use crate::cli::args::{Level, MessageFormat, Reporting, Warnings};
use crate::cli::io::failure as failure_of;
use crate::cli::outcome::{Failure, RunResult, Status};

/// Writes diagnostics in the requested format, and counts them. A message that cannot be written does not
/// stop the run.
pub(crate) struct Reporter {
    sink: Sink,
    choice: clap::ColorChoice,
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
    /// The log, in the format that is one document.
    log: SarifLog,
    /// The path of the input that is checked.
    input: Option<String>,
    /// The first error of that input, as a line.
    first_error: Option<String>,
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

/// The result of checking an input.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// Whether it is accepted, refused, or could not be checked.
    pub(crate) status: Status,
    /// Its notation, if it was recognized.
    pub(crate) notation: Option<&'static str>,
    pub(crate) counts: Counts,
    /// The number of fixes that were applied.
    pub(crate) fixed: usize,
}

impl Verdict {
    /// The verdict as an object.
    pub(super) fn object(&self, path: &str) -> Value {
        let status = match self.status {
            Status::Done => "accepted",
            Status::Refused => "refused",
            Status::Failed => "failed",
        };
        let Counts { errors, warnings, suppressed } = self.counts;
        json!({
            "kind": "summary", "severity": null, "path": path, "notation": self.notation, "status": status,
            "errors": errors, "warnings": warnings, "not_shown": suppressed, "fixed": self.fixed,
        })
    }

    /// The verdict for people: `ok, 1 warning`.
    fn text(&self) -> String {
        let verdict = match (self.status, self.counts.summary()) {
            (Status::Done, None) => "ok".to_owned(),
            (Status::Done, Some(summary)) => format!("ok, {summary}"),
            (_, summary) => summary.unwrap_or_else(|| "refused".to_owned()),
        };
        match self.fixed {
            0 => verdict,
            1 => format!("{verdict}, 1 fix"),
            count => format!("{verdict}, {count} fixes"),
        }
    }
}

impl Reporter {
    /// A reporter with the options of the command.
    pub(crate) fn new(options: &Reporting) -> Self {
        Reporter {
            quiet: options.quiet,
            all: options.warnings == Warnings::All,
            levels: options.levels(),
            ..Reporter::in_format(options.message_format, options.color)
        }
    }

    /// A reporter for what is wrong with the arguments.
    pub(crate) fn in_format(format: MessageFormat, choice: clap::ColorChoice) -> Self {
        let color = color(choice, &io::stderr());
        Reporter {
            sink: Sink::stderr(color),
            choice,
            color: color != ColorChoice::Never,
            format,
            quiet: false,
            all: false,
            levels: Vec::new(),
            needs_values: false,
            total: Counts::default(),
            warned: BTreeMap::new(),
            log: SarifLog::default(),
            input: None,
            first_error: None,
        }
    }

    /// A reporter that keeps all messages for another program, as lines of JSON.
    pub(crate) fn kept(messages: &Messages) -> Self {
        let reporter = Reporter::in_format(MessageFormat::Json, clap::ColorChoice::Never);
        Reporter { sink: Sink::kept(messages), all: true, ..reporter }
    }

    /// Writes messages to standard output from now on: they are the result. Objects go to standard error, too, where
    /// they are for all subcommands.
    pub(crate) fn use_stdout(&mut self) {
        let color = color(self.choice, &io::stdout());
        self.color = color != ColorChoice::Never;
        self.sink = Sink::stdout(color, self.format == MessageFormat::Json);
    }

    /// Begins the log, if the format has one: it is written even if there is nothing to tell.
    pub(crate) fn begin(&mut self) {
        if self.format == MessageFormat::Sarif {
            self.sink.write(|out| self.log.begin(out));
        }
    }

    /// Reports on an input with this path from now on.
    pub(crate) fn about(&mut self, path: &str) {
        (self.input, self.first_error) = (Some(path.to_owned()), None);
    }

    /// Reports the verdict on the current input.
    pub(crate) fn verdict(&mut self, verdict: &Verdict) -> Result<(), Failure> {
        let path = self.input.take().unwrap_or_default();
        match self.format {
            MessageFormat::Human if verdict.status != Status::Failed => {
                self.remark(&format!("{path}: {}", verdict.text()));
            }
            MessageFormat::Json => self.sink.write(|out| write_line(out, &verdict.object(&path))),
            MessageFormat::Sarif => self.log.artifact(&path, verdict),
            _ => {}
        }
        if let Some(error) = self.first_error.take().filter(|_| self.format != MessageFormat::Json) {
            let more = match verdict.counts.errors {
                0 | 1 => String::new(),
                2 => "; and 1 more error".to_owned(),
                errors => format!("; and {} more errors", errors - 1),
            };
            self.sink.write_apart(|out| writeln!(out, "nnef-flatten: refused: {error}{more}"));
        }
        self.flush()
    }

    /// Writes what is still in the buffers.
    ///
    /// # Errors
    ///
    /// Messages are results, and could not be written.
    fn flush(&mut self) -> Result<(), Failure> {
        self.sink.flush();
        self.sink.failure().map_or(Ok(()), |error| Err(failure_of("<stdout>", &error)))
    }

    /// Ends the messages of the run.
    ///
    /// # Errors
    ///
    /// Messages are results, and could not be written.
    pub(crate) fn finish(&mut self) -> Result<(), Failure> {
        if self.format == MessageFormat::Sarif {
            self.sink.write(|out| self.log.end(out));
        }
        self.flush()
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

    /// As what a diagnostic is told; none if it is not.
    fn told_as(&self, diagnostic: &Diagnostic) -> Option<Severity> {
        match diagnostic.is_error() {
            true => Some(Severity::Error),
            false => self.level(diagnostic.code).filter(|level| *level == Severity::Error || !self.quiet),
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
        self.located(&Located::new(sources, std::iter::once(diagnostic)), diagnostic);
    }

    fn located(&mut self, located: &Located, diagnostic: &Diagnostic) {
        let denied;
        let diagnostic = match self.told_as(diagnostic) {
            None => return,
            Some(Severity::Error) if !diagnostic.is_error() => {
                denied = Diagnostic { severity: Severity::Error, ..diagnostic.clone() };
                &denied
            }
            Some(_) => diagnostic,
        };
        if diagnostic.is_error() {
            self.total.errors += 1;
            if self.input.is_some() {
                self.first_error.get_or_insert_with(|| render::line(diagnostic, located.sources, false));
            }
        } else {
            self.total.warnings += 1;
            if self.format == MessageFormat::Human && !self.all {
                let line = || render::line(diagnostic, located.sources, self.color);
                self.warned.entry(diagnostic.code).or_insert_with(|| (0, line())).0 += 1;
                return;
            }
        }
        self.write(located, diagnostic);
    }

    /// Writes a diagnostic in the requested format.
    fn write(&mut self, located: &Located, diagnostic: &Diagnostic) {
        match self.format {
            MessageFormat::Human => {
                self.sink.write(|mut out| diagnostic.write_human(&mut out, located.sources, self.color));
            }
            MessageFormat::Short => self.sink.write(|out| short::write(out, located, diagnostic)),
            MessageFormat::Json => {
                let path = self.input.as_deref().unwrap_or_else(|| located.sources.name(diagnostic.at.file));
                let object = located.finding(diagnostic, path);
                self.sink.write_both(|out| write_line(out, &object));
            }
            MessageFormat::Sarif => self.sink.write(|out| self.log.result(out, located, diagnostic)),
            MessageFormat::Github => self.sink.write(|out| github::write(out, located, diagnostic)),
        }
    }

    /// Writes a line for each code of warnings so far, with their number.
    fn warnings(&mut self) {
        for (count, line) in std::mem::take(&mut self.warned).into_values() {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            self.sink.write(|out| writeln!(out, "{line}{times}"));
        }
    }

    /// Reports all diagnostics of a document, in the order of their locations, and returns their numbers.
    pub(crate) fn all(&mut self, sources: &Sources, diagnostics: Diagnostics) -> Counts {
        let before = self.total;
        let suppressed = diagnostics.suppressed();
        let warnings: Vec<(Code, usize)> = diagnostics.suppressed_warnings().collect();
        let of_warnings: usize = warnings.iter().map(|(_, count)| count).sum();
        let sorted = diagnostics.into_sorted();
        // Lines are looked for only where something is told.
        let located = Located::new(sources, sorted.iter().filter(|diagnostic| self.told_as(diagnostic).is_some()));
        sorted.iter().for_each(|diagnostic| self.located(&located, diagnostic));
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

    /// The format of messages.
    pub(crate) fn format(&self) -> MessageFormat {
        self.format
    }

    /// Whether remarks are left out.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Writes a remark for people, such as the result for a file.
    pub(crate) fn remark(&mut self, text: &str) {
        if self.format == MessageFormat::Human && !self.quiet {
            self.sink.write(|out| writeln!(out, "{}", visible::clean(text)));
        }
    }

    /// Writes a requested result: a remark for people, an object for programs.
    pub(crate) fn result(&mut self, text: &str, object: &Value) {
        match self.format {
            MessageFormat::Human => self.remark(text),
            _ => self.tell(&format!("{text}\n"), object),
        }
    }

    /// Writes requested information in the requested format.
    pub(crate) fn tell(&mut self, text: &str, object: &Value) {
        match self.format {
            MessageFormat::Human | MessageFormat::Short => {
                self.sink.write(|out| out.write_all(visible::escaped(text).as_bytes()));
            }
            MessageFormat::Json => self.sink.write(|out| write_line(out, object)),
            MessageFormat::Sarif => self.log.note(text, object),
            MessageFormat::Github => self.sink.write(|out| github::note(out, text)),
        }
    }

    /// Writes the total numbers of diagnostics for people.
    pub(crate) fn summary(&mut self) {
        if let Some(summary) = self.total.summary() {
            let more = self.total.warnings > 0 && !self.all && self.format == MessageFormat::Human;
            self.remark(&if more { format!("{summary}; see all with --warnings all") } else { summary });
        }
        self.sink.flush();
    }

    /// Reports why a run, or the work on an input, failed: for people on standard error, for programs as an object with
    /// the fields of a diagnostic, null but for the message and the input.
    pub(crate) fn complain(&mut self, message: &str) {
        let path = self.input.as_deref();
        match self.format {
            MessageFormat::Human | MessageFormat::Short => {
                self.sink.write_aside(|out| writeln!(out, "nnef-flatten: {}", visible::clean(message)));
            }
            MessageFormat::Json => {
                let object = failure(message, path);
                self.sink.write_both(|out| write_line(out, &object));
            }
            MessageFormat::Sarif => self.log.failure(message, path),
            MessageFormat::Github => self.sink.write(|out| github::failure(out, message, path)),
        }
    }

    /// Writes the usage of the command.
    pub(crate) fn help(&mut self, text: &StyledStr) {
        self.sink.write(|out| write!(out, "{}", text.ansi()));
    }
}

/// Whether a stream gets colours.
fn color(choice: clap::ColorChoice, stream: &impl anstream::stream::RawStream) -> ColorChoice {
    match choice {
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
        clap::ColorChoice::Auto => AutoStream::choice(stream),
    }
}
