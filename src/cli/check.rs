//! `nnef-flatten check`: all checks, no output.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use crate::Options;
use crate::input::Findings;
use crate::input::settings::Settings;
use crate::input::source::Source;
use crate::progress;
use crate::threads::ordered::in_order;

use super::args::Language;
use super::outcome::{Failure, RunResult, Status};
use super::report::{Counts, Reporter, Verdict};
use super::walk::{self, Found};
use super::{fixes, inputs, io};

/// Checks every input, several at the same time, and reports the result of each in their order. With `fix`, documents are
/// changed first where that is certain.
pub(crate) fn run(inputs: &[PathBuf], asked: Checking, language: &Language, reporter: &mut Reporter) -> RunResult {
    reporter.need_values();
    let (mut status, mut count) = (Status::Done, 0);
    let threads = asked.threads(inputs);
    let all = (1..).zip(inputs.iter().flat_map(|input| walk::inputs(input)));
    let check = |(number, found): &(u64, Found)| {
        if *number > 1 || inputs.len() > 1 {
            progress::input(*number);
        }
        match found {
            Found::Input(path) => Some(self::check(path, asked.fix, language)),
            Found::Failed(..) => None,
        }
    };
    in_order(threads, all, check, |(number, found), checked| {
        count = number;
        let (path, checked) = match found {
            Found::Input(path) => (path, checked),
            Found::Failed(path, failure) => (path, Some(CheckedInput::failed(failure))),
        };
        if let Some(checked) = checked {
            status = status.max(reported(&path, checked, reporter)?);
        }
        Ok::<(), Failure>(())
    })?;
    if count > 1 {
        reporter.summary();
    }
    Ok(status)
}

/// How inputs are checked.
#[derive(Clone, Copy)]
pub(crate) struct Checking {
    pub(crate) fix: bool,
    pub(crate) threads: Option<NonZeroUsize>,
}

impl Checking {
    /// The number of threads. Files that are changed, and streams, are read one after the other; a single input needs none.
    fn threads(self, inputs: &[PathBuf]) -> usize {
        let single = inputs.len() < 2 && !inputs.first().is_some_and(|input| input.is_dir());
        if self.fix || single || inputs.iter().any(|input| io::is_stream(input)) {
            return 1;
        }
        self.threads.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get)
    }
}

/// What was found about an input.
struct CheckedInput {
    /// The options that change nothing.
    remarks: Vec<String>,
    notation: Option<&'static str>,
    fixed: usize,
    findings: Result<Findings, Failure>,
}

impl CheckedInput {
    /// An input that is not one.
    fn failed(failure: Failure) -> Self {
        CheckedInput { remarks: Vec::new(), notation: None, fixed: 0, findings: Err(failure) }
    }
}

/// Checks one input.
fn check(input: &Path, fix: bool, language: &Language) -> CheckedInput {
    let (mut remarks, mut notation) = (Vec::new(), None);
    let fixed = if fix { fixes::apply(input, language) } else { Ok(0) };
    let checked = fixed.and_then(|fixed| {
        let read = read(input, language, |remark| remarks.push(remark.to_owned()))?;
        notation = Some(read.notation);
        read.check().map(|findings| (findings, fixed))
    });
    let (findings, fixed) = match checked {
        Ok((findings, fixed)) => (Ok(findings), fixed),
        Err(failure) => (Err(failure), 0),
    };
    CheckedInput { remarks, notation, fixed, findings }
}

/// Reports what was found about an input. Only standard output that is full stops the run.
fn reported(input: &Path, checked: CheckedInput, reporter: &mut Reporter) -> RunResult {
    let name = if io::is_stream(input) { "<stdin>".to_owned() } else { input.display().to_string() };
    reporter.about(&name);
    checked.remarks.iter().for_each(|remark| reporter.remark(remark));
    ended(checked.findings, checked.notation, checked.fixed, reporter)
}

/// An input that was read.
pub(super) struct ReadInput {
    pub(super) source: Box<dyn Source>,
    settings: Settings,
    language: Language,
    pub(super) notation: &'static str,
}

/// Reads an input to be checked. A function is told which options change nothing.
///
/// # Errors
///
/// It cannot be read, or an option does not apply to it.
pub(super) fn read(input: &Path, language: &Language, mut tell: impl FnMut(&str)) -> Result<ReadInput, Failure> {
    let mut input = inputs::open(input, language)?;
    input.held("")?.iter().for_each(|held| tell(held));
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
    Failure::unless_left(reporter.verdict(&Verdict { status, notation, counts, fixed }))?;
    Ok(status)
}
