//! Models of ONNX on the command line: flattening and checking.

use std::io::Write;

use crate::diagnostics::Diagnostics;
use crate::graph::stats::{ONNX, Setting, Stats};
use crate::layout::Removed;
use crate::onnx::Document;
use crate::source::Sources;
use crate::write::{Notation, OnnxForm, Writer};
use crate::{Graph, Options};

use super::args::{self, Language};
use super::inputs::opened::{Checked, Opened};
use super::io::Unread;
use super::pipeline::{self, Source};
use super::report::Reporter;
use super::request::Request;
use super::{Failure, RunResult, Status, external, flatten, stats};

/// The sources, the document if it could be read, and the diagnostics.
type Read = (Sources, Option<Document>, Diagnostics);

fn read(input: Opened, form: OnnxForm, language: &Language, options: &Options) -> Result<Read, Unread> {
    let mut sources = Sources::new();
    let origin = external::Origin::new(&input);
    let (mut document, diagnostics) = match form {
        OnnxForm::Text => {
            let input = input.text(options.max_text)?;
            let file = sources.add(input.name, input.text);
            Document::parse_part(&sources, file, language.production.unwrap_or_default(), options)
        }
        OnnxForm::Protobuf => {
            let (name, bytes) = input.bytes(options.max_text)?;
            Document::decode(&name, bytes, &mut sources, options)
        }
    };
    if let (Some(document), Some(folder)) = (&mut document, origin.folder()) {
        document.set_folder(folder);
    }
    Ok((sources, document, diagnostics))
}

/// Checks a model and expands its calls. Returns the sources, whether it is accepted, and the diagnostics.
pub(crate) fn check(input: Opened, form: OnnxForm, language: &Language) -> Result<Checked, Unread> {
    let options = flatten::options(language);
    let origin = external::Origin::new(&input);
    let (mut sources, document, mut diagnostics) = read(input, form, language, &options)?;
    if let Some(document) = document {
        diagnostics.extend(document.check(&options));
        external::warn_unknown(&document, origin.folder(), &mut diagnostics);
        if !diagnostics.has_errors() {
            flatten(document, &options, &mut diagnostics);
        }
    }
    language.locate(&mut diagnostics, |option, name| sources.add(option, name.to_owned()));
    let accepted = !diagnostics.has_errors();
    Ok((sources, accepted, diagnostics))
}

/// Flattens a model and writes it, by default in the form of the input.
pub(crate) fn run(input: Opened, form: OnnxForm, request: Request, reporter: &mut Reporter) -> RunResult {
    let (language, output, to) = (request.language, request.output, request.to());
    let options = flatten::options(language);
    let origin = external::Origin::new(&input);
    let (mut sources, document, mut diagnostics) = match read(input, form, language, &options) {
        Ok(read) => read,
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    let before = document.as_ref().filter(|_| output.stats).and_then(|document| document.graph(&options));
    let before = before.map(|graph| Stats::new(&graph, Setting::without_data(ONNX)));
    let mut document = document.and_then(|document| flatten(document, &options, &mut diagnostics));
    language.locate(&mut diagnostics, |option, name| sources.add(option, name.to_owned()));
    if let Some(document) = document.as_mut().filter(|_| output.provenance)
        && let Err(over) = document.note_origins_within(&options)
    {
        diagnostics.report(*over);
    }
    let graph = graph(document.as_ref(), &options, output, to, &mut diagnostics)?;
    document = document.filter(|_| !diagnostics.has_errors());
    let Writer::Onnx(form) = to.writer else {
        let result = match graph {
            Some(graph) => Ok((graph, diagnostics)),
            None => Err(diagnostics),
        };
        return pipeline::run(Ok((Models { sources, before }, result)), request, reporter);
    };
    let flat = document.and_then(|document| Flat::new(document, form, language.strict, &mut diagnostics));
    let place = flat.as_ref().map(|flat| {
        external::Place::new(&flat.document, &origin, (request.destination, output), &language.limits, &mut diagnostics)
    });
    // Warnings that are denied are errors for the reporter only.
    let accepted = reporter.all(&sources, diagnostics).errors == 0;
    let place = match place.transpose() {
        Ok(place) => place,
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    if let Some(graph) = graph.as_ref().filter(|_| output.stats) {
        stats::tell(before.as_ref(), (graph, Setting::without_data(ONNX)), None, reporter);
    }
    reporter.summary();
    let Some((flat, place)) = flat.zip(place).filter(|_| accepted) else { return Ok(Status::Refused) };
    place.write(&mut |out| flat.write(out), reporter)?;
    // The process ends soon; freeing a million nodes one by one takes a tenth of the time of making them.
    std::mem::forget(flat);
    if let Some(graph) = &graph {
        pipeline::write_source_map(graph, &sources, output)?;
    }
    Ok(Status::Done)
}

/// A model whose graph is written in another notation.
struct Models {
    sources: Sources,
    /// The statistics before the expansion.
    before: Option<Stats>,
}

impl Source for Models {
    fn sources(&self) -> &Sources {
        &self.sources
    }

    fn stats(&self, graph: &Graph, removed: Option<Removed>, _: &Request, reporter: &mut Reporter) {
        stats::tell(self.before.as_ref(), (graph, Setting::without_data(ONNX)), removed, reporter);
    }
}

/// A flat model that is written.
struct Flat {
    document: Document,
    /// The text. Protobuf is written from the document; a text is made before, because parts of it may be impossible.
    text: Option<String>,
}

impl Flat {
    /// A model in a form; none if it is not possible in a text.
    fn new(document: Document, form: OnnxForm, strict: bool, found: &mut Diagnostics) -> Option<Self> {
        let text = match form {
            OnnxForm::Protobuf => None,
            OnnxForm::Text => Some(found.take(document.to_text(strict))?),
        };
        Some(Flat { document, text })
    }

    fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        match &self.text {
            Some(text) => out.write_all(text.as_bytes()),
            None => self.document.write_protobuf(out),
        }
    }
}

/// The graph of a model, if an option needs it.
fn graph(
    document: Option<&Document>,
    options: &Options,
    output: &args::Output,
    to: &Notation,
    diagnostics: &mut Diagnostics,
) -> Result<Option<Graph>, Failure> {
    let to_option = format!("--to {}", to.name);
    let uses = [
        (to_option.as_str(), !matches!(to.writer, Writer::Onnx(_))),
        ("--stats", output.stats),
        ("--source-map", output.source_map.is_some()),
    ];
    let (Some(document), Some((option, _))) = (document, uses.iter().find(|(_, given)| *given)) else {
        return Ok(None);
    };
    match document.view(options) {
        Ok(Some(graph)) => Ok(Some(graph)),
        Ok(None) => Err(Failure::Message(format!("{option}: a part of a model has no graph"))),
        Err(found) => {
            diagnostics.report(*found);
            Ok(None)
        }
    }
}

/// Expands calls; `None` if that fails.
fn flatten(mut document: Document, options: &Options, found: &mut Diagnostics) -> Option<Document> {
    let flattened = document.flatten(options);
    found.take(flattened.map(|warnings| (document, warnings)))
}
