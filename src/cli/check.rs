//! `nnef-flatten check`: all checks, no output.

use std::path::{Path, PathBuf};

use super::args::Language;
use super::inputs::opened::Checked;
use super::inputs::{self, Input};
use super::io::Unread;
use super::report::Reporter;
use super::{Failure, RunResult, Status};

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
        input.usable("", reporter).map_err(Unread::Failure)?;
        let Input { opened, notation, language } = input;
        // What no output needs is checked, too.
        let language = Language { keep_unused: true, ..language };
        (notation.verbs.check)(opened, &language)
    });
    verdict(&name, checked, reporter)
}

/// Reports the diagnostics of an input, and its result.
fn verdict(name: &str, checked: Result<Checked, Unread>, reporter: &mut Reporter) -> RunResult {
    match checked {
        Ok((sources, accepted, diagnostics)) => {
            let counts = reporter.all(&sources, diagnostics);
            let accepted = accepted && counts.errors == 0;
            let verdict = match (accepted, counts.summary()) {
                (true, None) => "ok".to_owned(),
                (true, Some(summary)) => format!("ok, {summary}"),
                (false, summary) => summary.unwrap_or_else(|| "refused".to_owned()),
            };
            reporter.remark(&format!("{name}: {verdict}"));
            Ok(if accepted { Status::Done } else { Status::Refused })
        }
        Err(Unread::Refused(refused)) => {
            reporter.one(&refused.0, &refused.1);
            reporter.remark(&format!("{name}: 1 error"));
            Ok(Status::Refused)
        }
        Err(Unread::Failure(Failure::Message(message))) => {
            reporter.complain(&message);
            Ok(Status::Failed)
        }
        Err(Unread::Failure(failure)) => Err(failure),
    }
}
