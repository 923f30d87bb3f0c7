//! The one way from a flat graph to the result: passes, the data that go along, verification, statistics, writing.
//!
//! A notation says what it has besides the graph by [`Source`].

use crate::Graph;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::graph::names::NameId;
use crate::layout::Removed;
use crate::model::Target;
use crate::picture::{MAX_OPERATIONS, Picture};
use crate::source::Sources;
use crate::write::Writer;

use super::args::Output;
use super::encode::{self, Encode};
use super::flatten::report_unread;
use super::io::{self, Unread};
use super::models::{Expanded, Whole};
use super::passes;
use super::report::Reporter;
use super::request::{Request, path};
use super::{Failure, RunResult, Status};

/// An input of a flat graph.
pub(super) trait Source {
    /// The texts in which diagnostics have their places.
    fn sources(&self) -> &Sources;

    /// The names of tensors that passes leave as they are.
    fn apart(&mut self, _: &Expanded, _: &Request) -> Result<Vec<NameId>, Unread> {
        Ok(Vec::new())
    }

    /// The whole model with the graph, which is written to a folder or an archive.
    fn whole(&mut self, target: Target, _: &mut Expanded, _: &Request) -> Result<Whole, Unread> {
        Ok(Whole::without_data(target))
    }

    /// The encoder, for notations with data.
    fn encode(&mut self, _: &Expanded, request: &Request) -> Result<Option<Encode>, Unread> {
        Ok(Encode::new(request.to(), path(request.output), request.language, None))
    }

    /// Compares the graph with its source, if that is asked for. Returns whether they agree.
    fn verify(&self, _: &Graph, _: &Request, _: &mut Reporter) -> Result<bool, Failure> {
        Ok(true)
    }

    /// Tells the statistics of the graph.
    fn stats(&self, graph: &Graph, removed: Option<Removed>, request: &Request, reporter: &mut Reporter);
}

/// Runs the passes over a flat graph, verifies and counts it, and writes it.
pub(super) fn run<S: Source>(
    flat: Result<(S, Expanded), Unread>,
    mut request: Request,
    reporter: &mut Reporter,
) -> RunResult {
    let written = flat.and_then(|(mut source, mut result)| {
        let apart = source.apart(&result, &request)?;
        let options = (request.output, request.language);
        let Some(removed) = passes::run(options, &apart, &mut result, reporter) else { return Ok(Status::Refused) };
        let target = request.destination.target.take();
        let whole = target.map(|target| source.whole(target, &mut result, &request)).transpose()?;
        let encode = source.encode(&result, &request)?;
        let (graph, found) = match result {
            Ok((graph, warnings)) => (Some(graph), warnings),
            Err(errors) => (None, errors),
        };
        let found = reporter.all(source.sources(), found);
        let Some(graph) = graph.filter(|_| found.errors == 0) else {
            reporter.summary();
            return Ok(Status::Refused);
        };
        let checked = checked(&source, (&graph, removed), encode, &request, reporter);
        let status = checked.and_then(|made| match made {
            Some(made) => write(&graph, made, whole, (source.sources(), &request), reporter).map(|()| Status::Done),
            None => Ok(Status::Refused),
        });
        // The process ends here, so freeing large tables would only take time.
        std::mem::forget(graph);
        status.map_err(Unread::Failure)
    });
    written.or_else(|unread| report_unread(unread, reporter))
}

/// What is made of a graph before anything is written: its encoding, and its picture.
type Made<'a> = (Option<Vec<u8>>, Option<Picture<'a>>);

/// Verifies and counts a graph, and makes what is written of it; none if it is refused, which is reported.
fn checked<'a>(
    source: &'a impl Source,
    (graph, removed): (&'a Graph, Option<Removed>),
    encode: Option<Encode>,
    request: &Request,
    reporter: &mut Reporter,
) -> Result<Option<Made<'a>>, Failure> {
    let agrees = source.verify(graph, request, reporter)?;
    if request.output.stats {
        source.stats(graph, removed, request, reporter);
    }
    if !agrees {
        return Ok(None);
    }
    let made = encoded(graph, encode, source.sources(), reporter).and_then(|encoded| {
        let drawn = matches!(request.to().writer, Writer::Picture(_));
        let picture = if drawn { Some(picture(graph, source.sources())?) } else { None };
        Ok((encoded, picture))
    });
    let made = made.map_err(|errors| reporter.all(source.sources(), errors)).ok();
    reporter.summary();
    Ok(made)
}

/// The graph in a notation with data.
fn encoded(
    graph: &Graph,
    encode: Option<Encode>,
    sources: &Sources,
    reporter: &mut Reporter,
) -> Result<Option<Vec<u8>>, Diagnostics> {
    let Some(encode) = encode else { return Ok(None) };
    let (bytes, warnings) = encode.encode(graph)?;
    reporter.all(sources, warnings);
    Ok(Some(bytes))
}

fn picture<'a>(graph: &'a Graph, sources: &'a Sources) -> Result<Picture<'a>, Diagnostics> {
    Picture::new(graph, sources).ok_or_else(|| {
        let at = graph.operations.first().map(|operation| operation.at).unwrap_or_default();
        let count = graph.operations.len();
        let message = format!("the graph has {count} operations; pictures show at most {MAX_OPERATIONS}");
        let mut found = Diagnostics::default();
        found.report(Diagnostic::new(Code::PictureTooLarge, at, message));
        found
    })
}

/// Writes the graph, its picture or the whole model, and the source map.
fn write(
    graph: &Graph,
    (encoded, picture): Made,
    whole: Option<Whole>,
    (sources, request): (&Sources, &Request),
    reporter: &mut Reporter,
) -> Result<(), Failure> {
    match whole {
        Some(whole) => whole.write(graph, request.output.threads, reporter)?,
        None => write_file(graph, (picture.as_ref(), encoded.as_deref()), request)?,
    }
    std::mem::forget(picture);
    write_source_map(graph, sources, request.output)
}

/// Writes the graph or its picture.
fn write_file(
    graph: &Graph,
    (picture, encoded): (Option<&Picture>, Option<&[u8]>),
    request: &Request,
) -> Result<(), Failure> {
    let (output, to) = (request.output, request.to());
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
pub(super) fn write_source_map(graph: &Graph, sources: &Sources, output: &Output) -> Result<(), Failure> {
    let mut map = |out: &mut dyn std::io::Write| graph.write_source_map(sources, out);
    match output.source_map.as_deref() {
        Some(path) if io::is_stdout(path) => io::write_stdout(&mut map),
        Some(path) => io::write_file(path, &mut map),
        None => Ok(()),
    }
}
