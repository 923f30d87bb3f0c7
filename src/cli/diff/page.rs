//! `--page`: a page with both graphs, on which the changes are marked.

use std::path::Path;

use crate::Diagnostics;
use crate::cli::io;
use crate::cli::outcome::Failure;
use crate::diff::{ChangedTensors, Difference, What};
use crate::input::differ::DiffInput;
use crate::input::{Findings, Refusal};
use crate::picture::{Comparison, MarkKind, MarkedChange, Picture};
use crate::sink::OutputLimit;
use crate::threads::both;
use crate::write::encode::picture;

/// Refuses to write the page where the changes go, or over an input.
pub(super) fn check(path: &Path, inputs: [&Path; 2]) -> Result<(), Failure> {
    if io::is_stdout(path) {
        let message = "page and changes cannot both go to standard output; name a file";
        return Err(Failure::Message(message.to_owned()));
    }
    if inputs.into_iter().any(|input| io::is_same_file(input, path)) {
        let message = format!("the page would replace the input `{}`; name another file", path.display());
        return Err(Failure::Message(message));
    }
    Ok(())
}

/// Writes the page, completely or not at all.
pub(super) fn write(
    path: &Path,
    limit: OutputLimit,
    difference: &Difference,
    inputs: &[DiffInput; 2],
) -> Result<(), Failure> {
    let [a, b] = inputs;
    let (drawn_a, drawn_b) = both(|| draw(a), || draw(b)).map_err(|error| Refusal::io("a thread", error))?;
    let (drawn_a, drawn_b) = (drawn_a.map_err(|found| refused(a, found))?, drawn_b.map_err(|found| refused(b, found))?);
    let told = told(difference, inputs);
    io::write_file(path, limit, &mut |out| drawn_a.write_comparison(&drawn_b, &told, out))
}

fn draw(input: &DiffInput) -> Result<Picture<'_>, Diagnostics> {
    picture(&input.graph, &input.findings.sources)
}

fn refused(input: &DiffInput, found: Diagnostics) -> Failure {
    Failure::Refused(Box::new(Findings::new(input.findings.sources.clone(), found)))
}

/// What the page tells.
fn told(difference: &Difference, inputs: &[DiffInput; 2]) -> Comparison {
    let tensors = ChangedTensors::new(inputs.each_ref().map(|input| &input.graph));
    let mut changes = Vec::with_capacity(difference.changes.len());
    for (module, of_module) in difference.by_module() {
        changes.extend(of_module.into_iter().map(|change| MarkedChange {
            kind: match change.sign() {
                '+' => MarkKind::Added,
                '-' => MarkKind::Removed,
                _ => MarkKind::Changed,
            },
            module: module.to_owned(),
            text: change.without_places(),
            tensors: tensors.of(change),
            is_output: change.what == What::Output,
        }));
    }
    Comparison {
        names: inputs.each_ref().map(|input| file_name(&input.name)),
        summary: difference.summary(),
        notes: difference.notes.clone(),
        changes,
    }
}

/// The name of an input without its folder: pages do not depend on where files are.
fn file_name(name: &str) -> String {
    Path::new(name).file_name().map_or_else(|| name.to_owned(), |name| name.to_string_lossy().into_owned())
}
