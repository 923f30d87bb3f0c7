//! `nnef-flatten check`: all checks, no output.

use std::path::{Path, PathBuf};

use crate::Options;
use crate::input::Findings;
use crate::input::settings::Settings;
use crate::input::source::Source;
use crate::progress;

use super::args::Language;
use super::outcome::{Failure, RunResult, Status};
use super::report::{Counts, Reporter, Verdict};
use super::walk::{self, Found};
use super::{fixes, inputs, io};

/// Checks every input and reports the result of each. With `fix`, documents are changed first where that is certain.
pub(crate) fn run(inputs: &[PathBuf], fix: bool, language: &Language, reporter: &mut Reporter) -> RunResult {
    reporter.need_values();
    let (mut status, mut count) = (Status::Done, 0);
    for found in inputs.iter().flat_map(|input| walk::inputs(input)) {
        count += 1;
        if count > 1 || inputs.len() > 1 {
            progress::input(count);
        }
        status = status.max(match found {
            Found::Input(path) => check(&path, fix, language, reporter)?,
            Found::Failed(path, failure) => {
                reporter.about(&path.display().to_string());
                ended(Err(failure), None, 0, reporter)?
            }
        });
    }
    if count > 1 {
        reporter.summary();
    }
    Ok(status)
}

/// Checks one input. Only standard output that is closed or full stops the run.
fn check(input: &Path, fix: bool, language: &Language, reporter: &mut Reporter) -> RunResult {
    let name = if io::is_stream(input) { "<stdin>".to_owned() } else { input.display().to_string() };
    reporter.about(&name);
    let mut notation = None;
    let fixed = if fix { fixes::apply(input, language) } else { Ok(0) };
    let checked = fixed.and_then(|fixed| {
        let read = read(input, language, Some(reporter))?;
        notation = Some(read.notation);
        read.check().map(|findings| (findings, fixed))
    });
    let (findings, fixed) = match checked {
        Ok((findings, fixed)) => (Ok(findings), fixed),
        Err(failure) => (Err(failure), 0),
    };
    ended(findings, notation, fixed, reporter)
}

/// An input that was read.
pub(super) struct ReadInput {
    pub(super) source: Box<dyn Source>,
    settings: Settings,
    language: Language,
    pub(super) notation: &'static str,
}

/// Reads an input to be checked. A reporter is told which options change nothing.
///
/// # Errors
///
/// It cannot be read, or an option does not apply to it.
pub(super) fn read(input: &Path, language: &Language, reporter: Option<&mut Reporter>) -> Result<ReadInput, Failure> {
    let mut input = inputs::open(input, language)?;
    if let Some(reporter) = reporter {
        input.usable("", reporter)?;
    }
    let notation = input.notation.name;
    let (source, settings, language) = input.read()?;
    let notation = source.dialect().map_or(notation, |dialect| crate::input::table::Notation::of_dialect(dialect).name);
    // What no output needs is checked, too.
    let options = Options { keep_unused: true, ..settings.options };
    Ok(ReadInput { source, settings: Settings { options, ..settings }, language, notation })
}

impl ReadInput {
    /// What is found.
    ///
    /// # Errors
    ///
    /// Files that belong to the input cannot be read.
    pub(super) fn check(self) -> Result<Findings, Failure> {
        let Findings { mut sources, mut diagnostics, .. } = self.source.check(&self.settings)?;
        self.language.locate(&mut diagnostics, |option, name| sources.add(option, name.to_owned()));
        Ok(Findings::new(sources, diagnostics))
    }
}

/// Reports what was found about the current input, with the verdict.
fn ended(
    checked: Result<Findings, Failure>,
    notation: Option<&'static str>,
    fixed: usize,
    reporter: &mut Reporter,
) -> RunResult {
    let (status, counts) = match checked {
        Ok(Findings { sources, diagnostics, .. }) => {
            let counts = reporter.all(&sources, diagnostics);
            (if counts.errors == 0 { Status::Done } else { Status::Refused }, counts)
        }
        Err(Failure::Refused(found)) => (Status::Refused, reporter.all(&found.sources, found.diagnostics)),
        Err(Failure::Message(message)) => {
            reporter.complain(&message);
            (Status::Failed, Counts { errors: 1, ..Counts::default() })
        }
        Err(Failure::BrokenPipe) => return Err(Failure::BrokenPipe),
    };
    reporter.verdict(&Verdict { status, notation, counts, fixed })?;
    Ok(status)
}
