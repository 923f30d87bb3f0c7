//! `nnef-flatten INPUT`: the flat graph of a document.

use std::io::IsTerminal;
use std::path::Path;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::Dialect;
use crate::graph::stats::{NNEF, Setting};
use crate::model;
use crate::nnef::standardize::standardize;
use crate::nnef::{dialect, registries};
use crate::onnx::from_nnef;
use crate::picture::{MAX_OPERATIONS, Picture};
use crate::source::Sources;
use crate::write::{NOTATIONS, Notation, OnnxForm, Writer};
use crate::{Document, Graph, Options};

use super::args::{self, Language};
use super::encode::{self, Encode};
use super::inputs::opened::Opened;
use super::io::{self, Input, Unread};
use super::models::{self, Whole};
use super::report::Reporter;
use super::{Failure, RunResult, Status, loops, passes, stats, verify};

/// What is asked of the flattening of an input.
pub(crate) struct Request<'a> {
    pub(super) language: &'a Language,
    pub(super) output: &'a args::Output,
    pub(super) verification: &'a args::Verification,
    pub(super) destination: Destination,
}

/// Flattens one input.
pub(crate) fn run(input: Opened, request: Request, reporter: &mut Reporter) -> RunResult {
    let Request { language, output, verification, destination: Destination { to, target } } = request;
    let opened = models::open(input, &language.limits).and_then(|opened| {
        let processed = process(opened.input, language, to)?;
        Ok((opened.origin, processed))
    });
    let (origin, (mut document, mut result)) = match opened {
        Ok(opened) => opened,
        Err(unread) => return report_unread(unread, reporter),
    };
    if let Ok((graph, _)) = &mut result {
        models::infer_shapes(&origin, graph, &language.limits);
    }
    let apart = match passes::apart(&origin, &mut document, &result, (output, language)) {
        Ok(apart) => apart,
        Err(unread) => return report_unread(unread, reporter),
    };
    let Some(removed) = passes::run((output, language), &apart, &mut result, reporter) else {
        return Ok(Status::Refused);
    };
    let whole = match target
        .map(|target| Whole::new(target, &origin, &mut document, &mut result, &language.limits))
        .transpose()
    {
        Ok(whole) => whole,
        Err(unread) => return report_unread(unread, reporter),
    };
    let graph = result.as_ref().ok().map(|(graph, _)| (&origin, graph, &mut document));
    let target = match Encode::of_input(to, path(output), language, graph) {
        Ok(model) => Target { output, to, whole, model },
        Err(unread) => return report_unread(unread, reporter),
    };
    finish(document.sources(), result, target, reporter, |graph, reporter| {
        let verified =
            !verification.verify || verify::verify(&origin, &document, graph, language, verification, reporter)?;
        if output.stats {
            let before = stats::before(&document, language, to.dialect == Some(Dialect::V1));
            // Data that cannot be read are reported where they are needed.
            let data = models::data(&origin, &[graph], &language.limits).ok().flatten();
            let stored = |label: &str| data.as_ref()?.stored_data(label);
            stats::tell(before, (graph, Setting { known: NNEF, stored: &stored }), removed, reporter);
        }
        Ok(verified)
    })
}

/// Flattens a network with loops.
pub(crate) fn network(input: Opened, request: Request, reporter: &mut Reporter) -> RunResult {
    let Request { language, output, verification, destination: Destination { to, target } } = request;
    let (sources, net, mut result) = match loops::process(input, language) {
        Ok(processed) => processed,
        Err(unread) => return report_unread(unread, reporter),
    };
    let whole = target.map(Whole::without_data);
    let Some(removed) = passes::run((output, language), &[], &mut result, reporter) else {
        return Ok(Status::Refused);
    };
    let target = Target { output, to, whole, model: Encode::new(to, path(output), language, None) };
    finish(&sources, result, target, reporter, |graph, reporter| {
        if output.stats {
            stats::tell(None, (graph, Setting::without_data(NNEF)), removed, reporter);
        }
        match net.filter(|_| verification.verify) {
            Some(net) => loops::verify(&net, graph, language, verification, &sources, reporter),
            None => Ok(true),
        }
    })
}

/// The form of the output: a file in a notation, or a whole model.
pub(super) struct Destination {
    pub(super) to: &'static Notation,
    pub(super) target: Option<model::Target>,
}

impl Destination {
    /// The form that an option or the path names, else that of inputs in a notation.
    ///
    /// # Errors
    ///
    /// The extension of the path is unknown.
    pub(super) fn new(output: &args::Output, from: args::From) -> Result<Self, Failure> {
        let path = path(output);
        let target = path.and_then(model::Target::of);
        let known = || NOTATIONS.iter().flat_map(|known| known.extensions);
        let to = match (output.to, path.filter(|_| target.is_none())) {
            (Some(to), _) => Some(to.0),
            (None, Some(path)) => io::by_ending(path, Notation::of_extension, known())?,
            (None, None) => None,
        };
        let default = || Notation::named(from.known().output).unwrap_or(&NOTATIONS[0]);
        Ok(Destination { to: to.unwrap_or_else(default), target })
    }

    /// Refuses a form that cannot be written there.
    ///
    /// # Errors
    ///
    /// Options that contradict each other.
    pub(super) fn possible(&self, output: &args::Output, from: args::From) -> Result<(), Failure> {
        if let Some(target) = self.target.as_ref().filter(|_| !from.known().whole.contains(&self.to.name)) {
            let (path, whole) = (target.path().display(), from.known().whole.join(" or "));
            let message = format!("folders and archives hold models, which are {whole} here; leave out --to");
            return Err(Failure::Message(format!("{path}: {message}")));
        }
        fits_stdout(self.to, output)?;
        distinct(output, self.to)
    }
}

/// Refuses protobuf on a terminal.
fn fits_stdout(to: &Notation, output: &args::Output) -> Result<(), Failure> {
    if !matches!(to.writer, Writer::Onnx(OnnxForm::Protobuf))
        || path(output).is_some()
        || !std::io::stdout().is_terminal()
    {
        return Ok(());
    }
    Err(Failure::Message("protobuf is not written to a terminal: name a file with -o, or use --to onnxtxt".to_owned()))
}

/// Refuses to write two results to the same stream or file: the graph, the data of a PNNX file, the source map.
fn distinct(output: &args::Output, to: &Notation) -> Result<(), Failure> {
    let map = output.source_map.as_deref();
    let Some(path) = path(output) else {
        if map.is_some_and(io::is_stdout) {
            let message = "result and source map cannot both go to standard output; use -o or name a file";
            return Err(Failure::Message(message.to_owned()));
        }
        return Ok(());
    };
    let data = matches!(to.writer, Writer::Pnnx(_)).then(|| path.with_extension(encode::PNNX_DATA));
    let map = map.filter(|map| !io::is_stdout(map)).map(Path::to_owned);
    let mut files = vec![("the graph", path.to_owned()), ("a graph", path.join(model::GRAPH))];
    files.extend(data.map(|data| ("the data of the graph", data)));
    files.extend(map.map(|map| ("the source map", map)));
    for (i, (what, file)) in files.iter().enumerate() {
        if let Some((other, _)) = files[..i].iter().find(|(_, other)| io::is_same_file(file, other)) {
            let message = format!("{}: {other} and {what} cannot both be written to this file", file.display());
            return Err(Failure::Message(message));
        }
    }
    Ok(())
}

/// The output of a graph: its file and its notation.
pub(super) struct Target<'o> {
    pub(super) output: &'o args::Output,
    pub(super) to: &'o Notation,
    /// The whole NNEF model, if one is written.
    pub(super) whole: Option<Whole>,
    /// The encoder, for notations with data.
    pub(super) model: Option<Encode>,
}

/// Reports the diagnostics and writes the graph.
pub(super) fn finish(
    sources: &Sources,
    result: Result<(Graph, Diagnostics), Diagnostics>,
    Target { output, to, whole, model }: Target,
    reporter: &mut Reporter,
    verify: impl FnOnce(&Graph, &mut Reporter) -> Result<bool, Failure>,
) -> RunResult {
    let (graph, diagnostics) = match result {
        Ok((graph, diagnostics)) => (Some(graph), diagnostics),
        Err(diagnostics) => (None, diagnostics),
    };
    let found = reporter.all(sources, diagnostics);
    let graph = graph.filter(|_| found.errors == 0);
    if let Some(graph) = &graph
        && !verify(graph, reporter)?
    {
        return Ok(Status::Refused);
    }
    let encoded = match graph.as_ref().zip(model).map(|(graph, model)| model.encode(graph)).transpose() {
        Ok(encoded) => encoded.map(|(bytes, warnings)| {
            reporter.all(sources, warnings);
            bytes
        }),
        Err(errors) => {
            reporter.all(sources, errors);
            reporter.summary();
            return Ok(Status::Refused);
        }
    };
    let picture = match graph.as_ref().filter(|_| matches!(to.writer, Writer::Picture(_))) {
        Some(graph) => match Picture::new(graph, sources) {
            Some(picture) => Some(picture),
            None => {
                let at = graph.operations.first().map(|operation| operation.at).unwrap_or_default();
                let count = graph.operations.len();
                let message = format!("the graph has {count} operations; pictures show at most {MAX_OPERATIONS}");
                reporter.one(sources, &Diagnostic::new(Code::PictureTooLarge, at, message));
                reporter.summary();
                return Ok(Status::Refused);
            }
        },
        None => None,
    };
    reporter.summary();
    let outcome = match &graph {
        Some(graph) => {
            let written = match whole {
                Some(whole) => whole.write(graph, output.threads, reporter),
                None => write(graph, (picture.as_ref(), encoded.as_deref()), output, to),
            };
            let written = written.and_then(|()| write_source_map(graph, sources, output));
            std::mem::forget(picture);
            written.map(|()| Status::Done)
        }
        None => Ok(Status::Refused),
    };
    // The process ends here, so freeing large tables would only take time.
    std::mem::forget(graph);
    outcome
}

/// A document with its graph and warnings, or with its errors.
pub(crate) type Processed = (Document, Result<(Graph, Diagnostics), Diagnostics>);

/// Parses and expands an input for a notation: NNEF 1.0 and ONNX need a migration from the provisional
/// dialect, and for ONNX, the compounds of NNEF that are not operators of ONNX are expanded.
pub(crate) fn process(input: Input, language: &Language, to: &Notation) -> Result<Processed, Unread> {
    let for_onnx = matches!(to.writer, Writer::Onnx(_));
    let compounds = for_onnx.then(|| from_nnef::names().collect());
    let migrate = for_onnx || to.dialect == Some(Dialect::V1);
    let (document, result) = process_with(input, Options { migrate, compounds, ..options(language) }, language)?;
    let without_registries = for_onnx || matches!(to.writer, Writer::Pnnx(_));
    let result = result.and_then(|(mut graph, mut warnings)| {
        let Some(errors) = without_registries.then(|| standardize(&mut graph).err()).flatten() else {
            return Ok((graph, warnings));
        };
        warnings.extend(errors);
        Err(warnings)
    });
    Ok((document, result))
}

/// Parses and expands an input for commands that do not write the graph: loops are always expanded, and
/// the dialect is kept.
pub(crate) fn process_for_use(input: Input, language: &Language) -> Result<Processed, Unread> {
    process_with(input, Options { expand_loops: true, ..options(language) }, language)
}

/// Parses and expands an input with options of the library and the declaration files.
fn process_with(input: Input, mut options: Options, language: &Language) -> Result<Processed, Unread> {
    let dialect = options.dialect.unwrap_or_else(|| dialect::detect(&input.text));
    language.usable(Some(args::From::of_dialect(dialect))).map_err(Unread::Failure)?;
    for path in &language.fragments {
        options.libraries.push(match path.to_str().and_then(registries::find) {
            Some(registry) => (registry.name.to_owned(), String::new()),
            None => io::read(path, options.max_text).map(|library| (library.name, library.text))?,
        });
    }
    let options = &options;
    let mut parsed = crate::parse(&input.name, input.text, options);
    let mut diagnostics = Diagnostics::new(options.strict);
    let refused = parsed.diagnostics.has_errors();
    diagnostics.extend(parsed.diagnostics);
    if refused {
        // The part that could be parsed may have further errors, which are reported in the same run.
        diagnostics.extend(crate::check(&parsed.document, options));
        return Ok((parsed.document, Err(diagnostics)));
    }
    let result = match crate::expand(&parsed.document, options) {
        Ok(expansion) => {
            diagnostics.extend(expansion.diagnostics);
            if diagnostics.has_errors() { Err(diagnostics) } else { Ok((expansion.graph, diagnostics)) }
        }
        Err(mut errors) => {
            language.locate(&mut errors, |option, name| parsed.document.add_source(option, name.to_owned()));
            diagnostics.extend(errors);
            Err(diagnostics)
        }
    };
    Ok((parsed.document, result))
}

/// The options of the library, without declaration files: a document has those that it was parsed with.
pub(crate) fn options(language: &Language) -> Options {
    Options {
        strict: language.strict,
        lower: language.lower.clone().unwrap_or_default(),
        dialect: language.from.and_then(args::From::dialect),
        keep: language.keep.clone(),
        keep_unused: language.keep_unused,
        shapes: language.shapes(),
        unroll: language.unroll,
        max_trips: language.max_trips,
        flat: language.flat,
        ..language.limits.options()
    }
}

/// Reports why an input was not read.
pub(crate) fn report_unread(unread: Unread, reporter: &mut Reporter) -> RunResult {
    match unread {
        Unread::Failure(failure) => Err(failure),
        Unread::Refused(refused) => {
            reporter.one(&refused.0, &refused.1);
            reporter.summary();
            Ok(Status::Refused)
        }
    }
}

/// The path of the result, unless it is standard output.
pub(super) fn path(output: &args::Output) -> Option<&Path> {
    output.output.as_deref().filter(|path| !io::is_stdout(path))
}

/// Writes the graph or its picture.
fn write(
    graph: &Graph,
    (picture, encoded): (Option<&Picture>, Option<&[u8]>),
    output: &args::Output,
    to: &Notation,
) -> Result<(), Failure> {
    let mut content = |out: &mut dyn std::io::Write| match (to.writer, picture, encoded) {
        (Writer::Picture(write), Some(picture), _) => write(picture, out),
        (Writer::Graph(write), ..) => write(graph, output.threads, out),
        (Writer::Pnnx(write), ..) => write(graph, out),
        (Writer::Onnx(_), _, Some(encoded)) => out.write_all(encoded),
        _ => Ok(()),
    };
    match path(output) {
        Some(path) => {
            if let (Writer::Pnnx(_), Some(data)) = (to.writer, encoded.filter(|data| !data.is_empty())) {
                io::write_file(&path.with_extension(encode::PNNX_DATA), &mut |out| out.write_all(data))?;
            }
            io::write_file(path, &mut content)
        }
        None => io::write_stdout(&mut content),
    }
}

/// Writes the source map, if it is requested.
pub(super) fn write_source_map(graph: &Graph, sources: &Sources, output: &args::Output) -> Result<(), Failure> {
    let mut map = |out: &mut dyn std::io::Write| graph.write_source_map(sources, out);
    match output.source_map.as_deref() {
        Some(path) if io::is_stdout(path) => io::write_stdout(&mut map),
        Some(path) => io::write_file(path, &mut map),
        None => Ok(()),
    }
}
