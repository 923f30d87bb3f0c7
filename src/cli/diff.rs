//! `nnef-flatten diff`: what differs between two inputs.

mod page;

use std::path::Path;

use crate::diff::Difference;
use crate::input::differ::differ;
use crate::input::{Findings, Input, Refusal};
use crate::sink::OutputLimit;
use crate::threads::both;

use super::args::{self, Language, MessageFormat};
use super::inputs::NotationInput;
use super::outcome::{Failure, RunResult, Status};
use super::report::Reporter;
use super::{inputs, io, process};

/// Compares two inputs, and writes the changes to standard output.
pub(crate) fn run(
    paths: [&Path; 2],
    arguments: &args::Diff,
    language: &Language,
    reporter: &mut Reporter,
) -> RunResult {
    arguments.page.as_deref().map_or(Ok(()), |path| page::check(path, paths))?;
    let [a, b] = paths.map(|path| open(path, language, reporter));
    let (a, b) = (a?, b?);
    let (a, b) = both(|| read(a), || read(b)).map_err(|error| Refusal::io("a thread", error))?;
    let (difference, inputs) = differ([a?, b?], arguments.details())?;
    let mut accepted = true;
    for input in &inputs {
        let Findings { mut sources, mut diagnostics, .. } = input.findings.clone();
        language.locate(&mut diagnostics, |option, name| sources.add(option, name.to_owned()));
        accepted &= reporter.all(&sources, diagnostics).errors == 0;
    }
    reporter.summary();
    // Warnings that are denied are errors for the reporter only.
    if !accepted {
        return Ok(Status::Refused);
    }
    let limit = language.limits.output();
    if let Some(path) = &arguments.page {
        page::write(path, limit, &difference, &inputs)?;
    }
    Failure::unless_left(tell(&difference, limit, reporter))?;
    let status = if difference.is_equal() { Status::Done } else { Status::Refused };
    process::leave(inputs);
    Ok(status)
}

/// Opens an input to be compared.
fn open(path: &Path, language: &Language, reporter: &mut Reporter) -> Result<NotationInput, Failure> {
    let mut input = inputs::open(path, language)?;
    input.usable("", reporter)?;
    Ok(input)
}

/// Reads an input, with its name for messages.
fn read(input: NotationInput) -> Result<(String, Input), Failure> {
    let (name, notation) = (input.opened.name.clone(), input.notation);
    let (source, settings, _) = input.read()?;
    let notation = source.dialect().map_or(notation, crate::input::table::Notation::of_dialect);
    Ok((name, Input::new(source, notation, settings)))
}

/// Writes the changes as the format of messages asks for.
fn tell(difference: &Difference, limit: OutputLimit, reporter: &mut Reporter) -> Result<(), Failure> {
    let renames = &difference.renames;
    match reporter.format() {
        MessageFormat::Json => io::write_stdout(limit, &mut |out| difference.write_json(out)),
        MessageFormat::Human | MessageFormat::Short => io::write_stdout(limit, &mut |out| {
            let is_told = !reporter.is_quiet();
            difference.notes.iter().filter(|_| is_told).try_for_each(|note| writeln!(out, "{note}"))?;
            difference.write_changes(out)?;
            renames.iter().try_for_each(|names| writeln!(out, "{}", rename(names)))?;
            if is_told { writeln!(out, "{}", difference.summary()) } else { Ok(()) }
        }),
        MessageFormat::Sarif | MessageFormat::Github => {
            difference.changes.iter().for_each(|change| reporter.tell(&change.line(), &change.object()));
            renames.iter().for_each(|names| reporter.tell(&rename(names), &Difference::rename_object(names)));
            reporter.tell(&difference.summary(), &difference.summary_object());
            Ok(())
        }
    }
}

/// The other name of a tensor on a line.
fn rename((old, new): &(String, String)) -> String {
    format!("= {old} -> {new}")
}
