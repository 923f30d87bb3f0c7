//! Inputs that are written in their own notation: models of ONNX with their external data, files of PNNX with theirs.

use crate::graph::stats::NO_DATA;
use crate::input::edit::{Edited, File, FlatModel, InlinedModel};
use crate::input::settings::Settings;
use crate::input::source::Source;
use crate::pnnx::data::Archive;

use super::external::{ModelOrigin, OutputPlace};
use super::flatten::{self, write_source_map};
use super::outcome::{RunResult, Status};
use super::process;
use super::report::Reporter;
use super::request::Request;
use super::stats::{self, Passed};
use super::verify::Comparison;

/// Edits an input and writes it.
pub(super) fn run(
    source: Box<dyn Source>,
    compared: Option<Box<dyn Source>>,
    origin: &ModelOrigin,
    request: Request,
    reporter: &mut Reporter,
) -> RunResult {
    let output = request.output;
    let uses = [("--stats", output.stats), ("--source-map", output.source_map.is_some())];
    let viewed = uses.iter().find(|(_, given)| *given).map(|(option, _)| (*option).to_owned());
    let settings = Settings { viewed, ..request.settings.clone() };
    match source.edit(&settings)? {
        Edited::Model(model) => write_model(*model, origin, compared, request, reporter),
        Edited::File(file) => write_file(*file, Comparison::of(compared, &request), &request, reporter),
    }
}

/// Writes a model of ONNX, by default in the form of the input.
fn write_model(
    model: InlinedModel,
    origin: &ModelOrigin,
    compared: Option<Box<dyn Source>>,
    mut request: Request,
    reporter: &mut Reporter,
) -> RunResult {
    let (output, to, settings) = (request.output, request.to(), request.settings);
    let target = request.destination.target.take();
    let InlinedModel { mut sources, mut found, document, graph, before, simplified } = model;
    request.language.locate(&mut found, |option, name| sources.add(option, name.to_owned()));
    let flat = document.zip(to.onnx_form());
    let flat = flat.and_then(|(document, form)| FlatModel::new(document, form, settings.options.strict, &mut found));
    let place = flat
        .as_ref()
        .map(|flat| OutputPlace::new(&flat.document, origin, to, target, output, &settings.model, &mut found));
    // Warnings that are denied are errors for the reporter only.
    let accepted = reporter.all(&sources, found).errors == 0;
    let place = place.transpose()?;
    if let Some(graph) = graph.as_deref().filter(|_| output.stats) {
        let passed = Passed { simplified: simplified.as_ref(), removed: None };
        stats::tell(before.as_deref(), graph, NO_DATA, passed, reporter);
    }
    let Some((flat, place)) = flat.zip(place).filter(|_| accepted) else {
        reporter.summary();
        return Ok(Status::Refused);
    };
    let comparison = Comparison::of(compared, &request).map(|of| of.in_folder(origin.folder()));
    place.write(&mut |out| flat.write(output.threads, out), comparison, &request, reporter)?;
    reporter.summary();
    // Freeing a million nodes one by one takes a tenth of the time of making them.
    process::leave(flat);
    if let Some(graph) = &graph {
        write_source_map(graph, &sources, &request)?;
    }
    Ok(Status::Done)
}

/// Writes a file of PNNX; if the output is a file, its data are copied.
fn write_file(file: File, comparison: Option<Comparison>, request: &Request, reporter: &mut Reporter) -> RunResult {
    let File { mut sources, mut found, text, archive } = file;
    request.language.locate(&mut found, |option, name| sources.add(option, name.to_owned()));
    // Warnings that are denied are errors for the reporter only.
    let accepted = reporter.all(&sources, found).errors == 0;
    if let Some(text) = text.as_deref().filter(|_| accepted) {
        let data = request.to().data_beside().zip(archive.as_ref().map(Archive::bytes));
        flatten::write_file(&mut |out| out.write_all(text.as_bytes()), data, comparison, request, reporter)?;
    }
    reporter.summary();
    Ok(if accepted && text.is_some() { Status::Done } else { Status::Refused })
}
