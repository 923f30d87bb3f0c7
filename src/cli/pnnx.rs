//! Files of PNNX on the command line: flattening, evaluation and checks.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::eval::Evaluator;
use crate::graph::stats::{NNEF, Setting};
use crate::layout::Removed;
use crate::model::{Model as Stored, Scratch, Target};
use crate::pnnx::data::{Archive, Weights};
use crate::pnnx::model::Model;
use crate::source::{FileId, Location, Sources, Span};
use crate::write::Writer;
use crate::{Graph, Lower, Options};

use super::args::{self, Language};
use super::encode::{self, Encode};
use super::inputs::opened::{Checked, Opened};
use super::io::{self, Unread};
use super::models::{Expanded, Whole};
use super::pipeline::{self, Source};
use super::report::Reporter;
use super::request::{Request, path};
use super::{Failure, RunResult, Status, flatten, stats};

/// A file that was read.
struct Read {
    sources: Sources,
    file: FileId,
    model: Option<Model>,
    archive: Option<Archive>,
    found: Diagnostics,
}

/// The path of the data file of a PNNX file; `None` for standard input.
fn data_path(input: &Path) -> Option<PathBuf> {
    (!io::is_stream(input)).then(|| input.with_extension(encode::PNNX_DATA))
}

fn read(input: Opened, language: &Language, options: &Options) -> Result<Read, Unread> {
    let data_path = data_path(&input.path);
    let text = input.text(options.max_text)?;
    let mut sources = Sources::new();
    let file = sources.add(text.name, text.text);
    let mut found = Diagnostics::new(options.strict);
    let model = found.take(Model::read(sources.file(file).text(), file, options.strict));
    let mut archive = None;
    if let (Some(model), Some(path)) = (&model, data_path.filter(|path| path.is_file())) {
        let (name, bytes) = io::read_bytes(&path, language.limits.arrays())?;
        match Archive::new(bytes) {
            Ok(read) => {
                for (at, key, message) in read.check(model) {
                    let span = model.operators.get(at).map_or(Span::default(), |operator| {
                        let param = operator.params.iter().find(|param| param.key == key);
                        param.map_or(operator.span, |param| param.span)
                    });
                    found.report(Diagnostic::new(Code::PnnxData, Location::new(file, span), message));
                }
                archive = Some(read);
            }
            Err(error) => {
                let at = Location::new(sources.add(name, ""), Span::default());
                found.report(Diagnostic::new(Code::PnnxData, at, error.to_string()));
            }
        }
    }
    Ok(Read { sources, file, model, archive, found })
}

/// The sources, a graph or errors, and the data of the graph.
type Imported = (Sources, Expanded, Weights);

fn expanded(read: Read, options: &Options) -> Imported {
    let Read { sources, file, model, archive, mut found } = read;
    let Some(model) = model.filter(|_| !found.has_errors()) else { return (sources, Err(found), Weights::default()) };
    let graph = model.graph(file, options).map(|(graph, members, warnings)| ((graph, members), warnings));
    match found.take(graph) {
        Some((graph, members)) => (sources, Ok((graph, found)), Weights { archive, members }),
        None => (sources, Err(found), Weights::default()),
    }
}

/// The graph of a file.
pub(crate) fn graph(input: Opened, language: &Language) -> Result<(Sources, Expanded), Unread> {
    let options = options(language);
    let (sources, result, _) = expanded(read(input, language, &options)?, &options);
    Ok((sources, result))
}

/// The options of the library, with the values of symbols in the shapes of inputs.
fn options(language: &Language) -> Options {
    let shapes = language.shapes();
    Options { shapes: shapes.resolved().unwrap_or(shapes), ..flatten::options(language) }
}

/// Checks a file. Returns the sources, whether it is accepted, and the diagnostics.
pub(crate) fn check(input: Opened, language: &Language) -> Result<Checked, Unread> {
    let options = options(language);
    let (sources, result, _) = expanded(read(input, language, &options)?, &options);
    Ok(match result {
        Ok((_, found)) => (sources, !found.has_errors(), found),
        Err(found) => (sources, false, found),
    })
}

/// A file with the data of its graph.
struct Files {
    sources: Sources,
    weights: Weights,
}

impl Files {
    /// The data of the graph, if there is one.
    fn data(&self, result: &Expanded, language: &Language) -> Result<Option<Stored>, Unread> {
        if result.is_err() {
            return Ok(None);
        }
        stored(&self.weights, language).map_err(Unread::Failure)
    }
}

impl Source for Files {
    fn sources(&self) -> &Sources {
        &self.sources
    }

    fn whole(&mut self, target: Target, result: &mut Expanded, request: &Request) -> Result<Whole, Unread> {
        Ok(Whole::with_data(target, self.data(result, request.language)?))
    }

    fn encode(&mut self, result: &Expanded, request: &Request) -> Result<Option<Encode>, Unread> {
        let has_data = matches!(request.to().writer, Writer::Onnx(_));
        let data = if has_data { self.data(result, request.language)? } else { None };
        Ok(Encode::new(request.to(), path(request.output), request.language, data.map(Rc::new)))
    }

    fn stats(&self, graph: &Graph, removed: Option<Removed>, _: &Request, reporter: &mut Reporter) {
        let stored = |label: &str| self.weights.bytes(label);
        stats::tell(None, (graph, Setting { known: NNEF, stored: &stored }), removed, reporter);
    }
}

/// Flattens a file and writes it.
pub(crate) fn run(input: Opened, request: Request, reporter: &mut Reporter) -> RunResult {
    if matches!(request.to().writer, Writer::Pnnx(_)) {
        return rewrite(input, request.language, request.output, reporter);
    }
    let options = options(request.language);
    let flat = read(input, request.language, &options).map(|read| {
        let (sources, result, weights) = expanded(read, &options);
        (Files { sources, weights }, result)
    });
    pipeline::run(flat, request, reporter)
}

/// The data as files of a model; `None` without data.
fn stored(weights: &Weights, language: &Language) -> Result<Option<Stored>, Failure> {
    let Some(archive) = &weights.archive else { return Ok(None) };
    let fail = |error: &dyn std::fmt::Display| Failure::Message(format!("the data cannot be stored: {error}"));
    let mut files = Scratch::new().map_err(|error| fail(&error))?;
    for (label, (member, typed)) in &weights.members {
        let tensor = archive.tensor(member, typed).map_err(|error| fail(&error))?;
        let bytes = tensor.to_dat().map_err(|error| fail(&error))?;
        files.add(&format!("{label}.dat"), &bytes).map_err(|error| fail(&error))?;
    }
    files.model(Path::new("data of PNNX"), &language.limits.model()).map(Some).map_err(|error| fail(&error))
}

/// Writes a PNNX file again, with its expressions expanded; if the output is a file, its data are copied.
fn rewrite(input: Opened, language: &Language, output: &args::Output, reporter: &mut Reporter) -> RunResult {
    let options = options(language);
    let Read { sources, file, model, archive, mut found } = match read(input, language, &options) {
        Ok(read) => read,
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    let model = model.filter(|_| !found.has_errors()).and_then(|model| match options.lower {
        Lower::None => Some(model),
        _ => found.take(model.flattened(file, &options)),
    });
    // Warnings that are denied are errors for the reporter only.
    let accepted = reporter.all(&sources, found).errors == 0;
    reporter.summary();
    let Some(text) = model.filter(|_| accepted).map(|model| model.print()) else { return Ok(Status::Refused) };
    match path(output) {
        None => io::write_stdout(&mut |out| out.write_all(text.as_bytes()))?,
        Some(path) => {
            if let Some(archive) = &archive {
                io::write_file(&path.with_extension(encode::PNNX_DATA), &mut |out| out.write_all(archive.bytes()))?;
            }
            io::write_file(path, &mut |out| out.write_all(text.as_bytes()))?;
        }
    }
    Ok(Status::Done)
}

/// Evaluates a file, whose operators become operations of NNEF.
pub(crate) fn evaluate(
    input: Opened,
    arguments: &args::Run,
    (path, to): super::tensors::Written,
    language: &Language,
    reporter: &mut Reporter,
) -> RunResult {
    let options = Options { lower: Lower::All, ..options(language) };
    let read = match read(input, language, &options) {
        Ok(read) => read,
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    let (sources, result, weights) = expanded(read, &options);
    let Some(mut graph) = reporter.accepted(&sources, result) else { return Ok(Status::Refused) };
    let inputs = match super::run::prepared(&mut graph, arguments, language, reporter) {
        Ok(inputs) => inputs,
        Err(ended) => return ended,
    };
    let evaluator = Evaluator::with_limits(language.limits.evaluation());
    super::run::evaluate(&evaluator, &graph, (&inputs, &weights), &sources, (path, to), reporter)
}
