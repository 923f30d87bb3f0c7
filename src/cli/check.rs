//! `nnef-flatten check`: all checks, no output.

use std::path::{Path, PathBuf};

use super::args::Language;
use super::flatten;
use super::io::Unread;
use super::report::Reporter;
use super::{Failure, Outcome, Status};

/// Checks every input and says what became of each.
pub fn run(inputs: &[PathBuf], language: &Language, reporter: &mut Reporter) -> Outcome {
    let language = Language { keep_unused: true, ..language.clone() };
    let mut status = Status::Done;
    for input in inputs {
        status = status.max(check(input, &language, reporter)?);
    }
    if inputs.len() > 1 {
        reporter.summary();
    }
    Ok(status)
}

/// Checks one input. Only a reader who went away stops the run.
fn check(input: &Path, language: &Language, reporter: &mut Reporter) -> Outcome {
    let name = if super::io::is_stream(input) { "<stdin>".to_owned() } else { input.display().to_string() };
    match flatten::process(input, language, false) {
        Ok((document, result)) => {
            let accepted = result.is_ok();
            let diagnostics = result.map_or_else(|errors| errors, |(_, warnings)| warnings);
            let counts = reporter.all(document.sources(), diagnostics);
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
