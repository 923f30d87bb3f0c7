//! Inputs that are written in their own notation: models of ONNX with their external data, files of PNNX with theirs.

use crate::graph::stats::{ONNX, Setting};
use crate::input::edit::{Edited, File, FlatModel, InlinedModel};
use crate::input::settings::Settings;
use crate::input::source::Source;

use super::external::{ModelOrigin, OutputPlace};
use super::flatten::write_source_map;
use super::io;
use super::outcome::{RunResult, Status};
use super::report::Reporter;
use super::request::{Request, path};
use super::{stats, verify};

/// Edits an input and writes it.
pub(super) fn run(
    source: Box<dyn Source>,
    origin: &ModelOrigin,
    request: Request,
    reporter: &mut Reporter,
) -> RunResult {
    let output = request.output;
    let uses = [("--stats", output.stats), ("--source-map", output.source_map.is_some())];
    let viewed = uses.iter().find(|(_, given)| *given).map(|(option, _)| (*option).to_owned());
    let settings = Settings { viewed, compared: request.verification.verify, ..request.settings.clone() };
    match source.edit(&settings)? {
        Edited::Model(model) => write_model(*model, origin, request, reporter),
        Edited::File(file) => write_file(file, &request, reporter),
    }
}

/// Writes a model of ONNX, by default in the form of the input.
fn write_model(model: InlinedModel, origin: &ModelOrigin, request: Request, reporter: &mut Reporter) -> RunResult {
    let (output, to, settings) = (request.output, request.to(), request.settings);
    let compared = (request.language, request.verification, settings);
    let InlinedModel { mut sources, mut found, document, source, graph, before } = model;
    request.language.locate(&mut found, |option, name| sources.add(option, name.to_owned()));
    let flat = document.zip(to.onnx_form());
    let flat = flat.and_then(|(document, form)| FlatModel::new(document, form, settings.options.strict, &mut found));
    let place = flat.as_ref().map(|flat| {
        OutputPlace::new(&flat.document, origin, (request.destination, output), &settings.model, &mut found)
    });
    // Warnings that are denied are errors for the reporter only.
    let accepted = reporter.all(&sources, found).errors == 0;
    let place = place.transpose()?;
    if let Some((source, flat)) = source.as_deref().zip(flat.as_ref()).filter(|_| accepted)
        && !verify::model([source, &flat.document], &sources, compared, reporter)?
    {
        return Ok(Status::Refused);
    }
    if let Some(graph) = graph.as_deref().filter(|_| output.stats) {
        stats::tell(before.as_deref(), (graph, Setting::without_data(ONNX)), None, reporter);
    }
    reporter.summary();
    let Some((flat, place)) = flat.zip(place).filter(|_| accepted) else { return Ok(Status::Refused) };
    place.write(&mut |out| flat.write(out))?;
    // The process ends soon; freeing a million nodes one by one takes a tenth of the time of making them.
    std::mem::forget(flat);
    if let Some(graph) = &graph {
        write_source_map(graph, &sources, output)?;
    }
    Ok(Status::Done)
}

/// Writes a file of PNNX; if the output is a file, its data are copied.
fn write_file(file: File, request: &Request, reporter: &mut Reporter) -> RunResult {
    let File { sources, found, text, archive } = file;
    // Warnings that are denied are errors for the reporter only.
    let accepted = reporter.all(&sources, found).errors == 0;
    reporter.summary();
    let Some(text) = text.filter(|_| accepted) else { return Ok(Status::Refused) };
    let Some(path) = path(request.output) else {
        return io::write_stdout(&mut |out| out.write_all(text.as_bytes())).map(|()| Status::Done);
    };
    if let (Some(archive), Some(extension)) = (&archive, request.to().data_beside()) {
        io::write_file(&path.with_extension(extension), &mut |out| out.write_all(archive.bytes()))?;
    }
    io::write_file(path, &mut |out| out.write_all(text.as_bytes())).map(|()| Status::Done)
}
