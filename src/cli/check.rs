//! `nnef-flatten check`: all checks, no output.

use std::path::{Path, PathBuf};

use crate::Diagnostics;
use crate::source::Sources;

use super::args::{From, Language};
use super::io::Unread;
use super::report::Reporter;
use super::{Failure, RunResult, Status, flatten, models, onnx};

/// Checks every input and reports the result of each.
pub(crate) fn run(inputs: &[PathBuf], language: &Language, reporter: &mut Reporter) -> RunResult {
    language.usable()?;
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

/// Checks one input. Only a closed standard output stops the run.
fn check(input: &Path, language: &Language, reporter: &mut Reporter) -> RunResult {
    let name = if super::io::is_stream(input) { "<stdin>".to_owned() } else { input.display().to_string() };
    if language.from == Some(From::Loops) {
        // A network is checked even if its loops cannot be unrolled.
        let read = super::loops::check(input, language);
        return verdict(&name, read.map(|(sources, found)| (sources, !found.has_errors(), found)), reporter);
    }
    if let Some(form) = onnx::form(input, language.from) {
        return verdict(&name, onnx::check(input, form, language), reporter);
    }
    if super::pnnx::is_one(input, language.from) {
        return verdict(&name, super::pnnx::check(input, language), reporter);
    }
    let processed = models::open(input, &language.limits).and_then(|opened| {
        let (mut document, mut result) = flatten::process_for_use(opened.input, language)?;
        if let Ok((graph, found)) = &mut result
            && let Some(model) = models::whole(&opened.origin, &language.limits)?
        {
            models::examine(&model, &mut document, graph, found)?;
        }
        let (accepted, found) = match result {
            Ok((_, found)) => (!found.has_errors(), found),
            Err(errors) => (false, errors),
        };
        Ok((document, accepted, found))
    });
    verdict(&name, processed, reporter)
}

/// An input with the texts that diagnostics refer to.
trait Texts {
    fn texts(&self) -> &Sources;
}

impl Texts for Sources {
    fn texts(&self) -> &Sources {
        self
    }
}

impl Texts for crate::Document {
    fn texts(&self) -> &Sources {
        self.sources()
    }
}

/// Reports the diagnostics of an input, and its result.
fn verdict(name: &str, checked: Result<(impl Texts, bool, Diagnostics), Unread>, reporter: &mut Reporter) -> RunResult {
    match checked {
        Ok((document, accepted, diagnostics)) => {
            let counts = reporter.all(document.texts(), diagnostics);
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
