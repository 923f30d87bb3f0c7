//! `nnef-flatten fmt`: formats documents.

use std::path::{Path, PathBuf};

use crate::Options;
use crate::input::models::{self, Written};
use crate::nnef::document::is_library;

use super::args::Language;
use super::inputs;
use super::io;
use super::models::write_document;
use super::outcome::{Failure, RunResult, Status};
use super::report::Reporter;
use super::walk::{self, Found};

/// Formats every input; with `check`, only lists those that would change.
pub(crate) fn run(inputs: &[PathBuf], check: bool, language: &Language, reporter: &mut Reporter) -> RunResult {
    let mut status = Status::Done;
    for found in inputs.iter().flat_map(|input| walk::inputs(input)) {
        let outcome = match found {
            Found::Failed(_, failure) => Err(failure),
            Found::Input(input) if is_passed_over(&input, inputs) => continue,
            Found::Input(input) => format(&input, check, language, reporter),
        };
        let outcome = match outcome {
            Err(Failure::Message(message)) => {
                reporter.complain(&message);
                Status::Failed
            }
            outcome => outcome?,
        };
        status = status.max(outcome);
    }
    reporter.summary();
    Ok(status)
}

/// Whether a file in a folder that is given is passed over: only documents of NNEF are formatted.
fn is_passed_over(found: &Path, given: &[PathBuf]) -> bool {
    let name = found.file_name().unwrap_or_default().to_string_lossy();
    let is_document = found.is_dir() || name.ends_with(".nnef") || name.contains(".nnef.");
    !is_document && !given.iter().any(|input| input == found)
}

/// Reads an input, which has to be NNEF: other notations are not formatted.
fn read(path: &Path, language: &Language) -> Result<Written, Failure> {
    let input = inputs::open(path, language)?;
    if input.notation.dialect.is_none() {
        return Err(input.refused("fmt", |notation| notation.dialect.is_some()));
    }
    input.language.usable(Some(input.notation))?;
    Ok(models::open(input.opened, &language.settings())?)
}

fn format(path: &Path, check: bool, language: &Language, reporter: &mut Reporter) -> RunResult {
    let Written { text: input, origin } = match read(path, language) {
        Ok(opened) => opened,
        Err(Failure::Refused(found)) => {
            reporter.all(&found.sources, found.diagnostics);
            return Ok(Status::Refused);
        }
        Err(failure) => return Err(failure),
    };
    let options = &Options { dialect: language.from.and_then(|from| from.0?.dialect), ..language.limits.options() };
    let before = input.text.clone();
    let parse = if is_library(&input.text) { crate::parse_library } else { crate::parse };
    let parsed = parse(&input.name, input.text, options);
    if parsed.diagnostics.has_errors() {
        // A formatter does not report deviations that the default mode tolerates.
        for error in parsed.diagnostics.into_sorted().iter().filter(|diagnostic| diagnostic.is_error()) {
            reporter.one(parsed.document.sources(), error);
        }
        return Ok(Status::Refused);
    }
    let text = parsed.document.format();
    let same = text == before;
    if check {
        if !same {
            let written = io::write_stdout(language.limits.output(), &mut |out| writeln!(out, "{}", input.name));
            Failure::unless_left(written)?;
        }
        return Ok(if same { Status::Done } else { Status::Refused });
    }
    // A stream is copied, changed or not.
    let in_place = path.is_file() || path.is_dir();
    if !(same && in_place) {
        write_document(path, &origin, &text, language.limits.output())?;
    }
    Ok(Status::Done)
}
