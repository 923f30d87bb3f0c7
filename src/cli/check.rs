//! `nnef-flatten check`: all checks, no output.

use std::path::{Path, PathBuf};

use crate::Options;
use crate::input::Findings;
use crate::input::settings::Settings;

use super::args::Language;
use super::inputs;
use super::outcome::{Failure, RunResult, Status};
use super::report::Reporter;

/// Checks every input and reports the result of each.
pub(crate) fn run(inputs: &[PathBuf], language: &Language, reporter: &mut Reporter) -> RunResult {
    reporter.need_values();
    let mut status = Status::Done;
    for input in inputs {
        status = status.max(check(input, language, reporter)?);
    }
    if inputs.len() > 1 {
        reporter.summary();
    }
    Ok(status)
}

/// Checks one input. Only a closed standard output stops the run.
fn check(input: &Path, language: &Language, reporter: &mut Reporter) -> RunResult {
    let name = if super::io::is_stream(input) { "<stdin>".to_owned() } else { input.display().to_string() };
    let checked = inputs::open(input, language).and_then(|mut input| {
        input.usable("", reporter)?;
        let (source, settings, language) = input.read()?;
        // What no output needs is checked, too.
        let options = Options { keep_unused: true, ..settings.options };
        let Findings { mut sources, mut diagnostics, .. } = source.check(&Settings { options, ..settings })?;
        language.locate(&mut diagnostics, |option, name| sources.add(option, name.to_owned()));
        Ok(Findings::new(sources, diagnostics))
    });
    match checked {
        Ok(Findings { sources, diagnostics, .. }) => {
            let counts = reporter.all(&sources, diagnostics);
            let accepted = counts.errors == 0;
            let verdict = match (accepted, counts.summary()) {
                (true, None) => "ok".to_owned(),
                (true, Some(summary)) => format!("ok, {summary}"),
                (false, summary) => summary.unwrap_or_else(|| "refused".to_owned()),
            };
            reporter.remark(&format!("{name}: {verdict}"));
            Ok(if accepted { Status::Done } else { Status::Refused })
        }
        Err(Failure::Refused(found)) => {
            reporter.all(&found.sources, found.diagnostics);
            reporter.remark(&format!("{name}: 1 error"));
            Ok(Status::Refused)
        }
        Err(Failure::Message(message)) => {
            reporter.complain(&message);
            Ok(Status::Failed)
        }
        Err(failure) => Err(failure),
    }
}
