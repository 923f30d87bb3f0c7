//! Flattening: the way from an input to the result. What stands here is done for every notation.

use std::path::Path;

use crate::Graph;
use crate::graph::standard::VARIABLE;
use crate::input::Findings;
use crate::input::passes::rows::Stage;
use crate::input::passes::{changed, outlined, selected};
use crate::input::source::{Backing, Flat};
use crate::input::summaries::summaries;
use crate::picture::Summaries;
use crate::sink::ByteSink;
use crate::source::Sources;
use crate::tensor::Tensor;
use crate::write::encode::{Encode, Made, Within};

use super::args::Cli;
use super::inputs::NotationInput;
use super::io;
use super::models::Whole;
use super::outcome::{Failure, RunResult, Status};
use super::report::Reporter;
use super::request::{Destination, Request, path};
use super::spool::Spool;
use super::stats::Passed;
use super::verify::Comparison;
use super::{args, edit, external, inputs, process, stats};

/// Flattens an input and writes the result.
pub(crate) fn run(path: &Path, cli: &Cli, reporter: &mut Reporter) -> RunResult {
    let input = inputs::open(path, &cli.language)?;
    flatten(input, Flattening { output: &cli.output, verification: &cli.verification, bound: &[] }, reporter)
}

/// What is asked of flattening, besides what the options on the input say.
pub(super) struct Flattening<'f> {
    pub(super) output: &'f args::Output,
    pub(super) verification: &'f args::Verification,
    /// Values of inputs that are given as tensors.
    pub(super) bound: &'f [(String, Tensor)],
}

/// Flattens an input whose notation is known, and writes the result.
pub(super) fn flatten(mut input: NotationInput, asked: Flattening, reporter: &mut Reporter) -> RunResult {
    let Flattening { output, verification, bound } = asked;
    let destination = Destination::of(&mut input, output, reporter)?;
    let origin = external::ModelOrigin::new(&input.opened);
    let edited = input.notation.edited.contains(&destination.to.name);
    let (source, mut settings, language) = input.read()?;
    let compared = verification.verify.then(|| source.again());
    settings.counted = output.stats;
    settings.provenance = output.provenance;
    settings.passes = output.passes();
    settings.kept.clone_from(&output.keep_tensors);
    settings.layouts.clone_from(&output.layout);
    settings.bound.extend(bound.iter().cloned());
    settings.constants = destination.to.summarizes;
    let mut request = Request { language: &language, settings: &settings, output, verification, destination };
    if edited {
        return edit::run(source, compared, &origin, request, reporter);
    }
    let Flat { mut backing, mut result } = source.flatten(request.to(), &settings)?;
    // A model of which the graph is a view has gone through the passes itself.
    if !backing.is_bound() {
        result = selected(result, &mut *backing, &settings)?;
    }
    let (Ok((_, found)) | Err(found)) = &mut result;
    language.locate(found, |option, name| backing.add_source(option, name.to_owned()));
    let (mut removed, mut simplified) = (None, None);
    if let (Ok((graph, _)), false) = (&mut result, backing.is_view()) {
        for (row, did) in changed(graph, &mut *backing, &[Stage::Change, Stage::Note], &settings)? {
            if let Some(count) = did.count {
                reporter.remark(&format!("{}: {count}", row.counts));
            }
            did.removed.iter().for_each(|removed| reporter.remark(&removed.told()));
            removed = did.removed.or(removed);
            simplified = did.simplified.or(simplified);
        }
    }
    let whole = match request.destination.target.take() {
        Some(target) => {
            let files = backing.files(&mut result, &settings)?;
            Some(Whole { target, files, limit: request.limit() })
        }
        None => None,
    };
    let encode = match &result {
        Ok((graph, _)) if request.to().has_data(true) => encoder(&mut *backing, graph, &request)?,
        _ => None,
    };
    let Some(mut graph) = reporter.accepted(backing.sources(), result) else { return Ok(Status::Refused) };
    let calls = outlined(&mut *backing, &mut graph, &settings)?;
    let graphs = (&graph, calls.as_ref().unwrap_or(&graph));
    let values = summaries(&mut *backing, &graph, request.to(), &settings);
    let comparison = Comparison::of(compared, &request).map(|of| of.of_graph(&*backing));
    if whole.is_none() && request.to().dialect.is_some() {
        tell_of_data(&graph, &*backing, &request, reporter);
    }
    let passed = Passed { simplified: backing.simplified().or(simplified.as_ref()), removed };
    let status = written(graphs, (&*backing, passed, values), (encode, whole, comparison), &request, reporter);
    process::leave((graph, calls));
    status
}

/// Tells that a file of NNEF is the text alone, if the data of its variables are in no files of NNEF.
fn tell_of_data(graph: &Graph, backing: &dyn Backing, request: &Request, reporter: &mut Reporter) {
    let variables = graph.operations.iter().filter(|of| graph.operation_name(of) == VARIABLE).count();
    let Some(path) = path(request.output).filter(|_| variables > 0 && backing.weights().is_some()) else { return };
    let data = if variables == 1 { "1 variable" } else { &format!("{variables} variables") };
    let path = path.display();
    reporter.remark(&format!("{path} has no data for {data}: --to nnef -o FOLDER/ or -o FILE.tgz writes them, too"));
}

/// The encoder of the graph, for notations with data.
fn encoder(backing: &mut dyn Backing, graph: &Graph, request: &Request) -> Result<Option<Encode>, Failure> {
    let (to, settings) = (request.to(), request.settings);
    let in_file = path(request.output).is_some() || request.verification.verify;
    let data = backing.data(graph, (to, in_file), settings)?;
    Ok(Encode::new(to, in_file, graph, data, Within::of(&settings.options, settings.evaluation)))
}

/// Counts a graph, and writes it in another form, which is compared with its source before it gets its place.
fn written(
    (graph, form): (&Graph, &Graph),
    (backing, passed, values): (&dyn Backing, Passed, Summaries),
    (encode, whole, comparison): (Option<Encode>, Option<Whole>, Option<Comparison>),
    request: &Request,
    reporter: &mut Reporter,
) -> RunResult {
    if request.output.stats {
        stats::run(backing, graph, passed, request, reporter);
    }
    let made = Made::new(request.to(), (form, backing.sources()), encode);
    let refused = |errors| Failure::Refused(Box::new(Findings::new(backing.sources().clone(), errors)));
    let (made, warnings) = made.map_err(refused)?;
    let made = made.with_values(values).with_facts(|| backing.facts());
    // Warnings that are denied are errors for the reporter only.
    if reporter.all(backing.sources(), warnings).errors > 0 {
        reporter.summary();
        return Ok(Status::Refused);
    }
    let threads = request.output.threads;
    let mut content = |out: &mut dyn ByteSink| made.write(threads, out);
    match whole {
        Some(whole) => whole.write(form, threads, comparison, reporter)?,
        None => write_file(&mut content, made.beside(), comparison, request, reporter)?,
    }
    reporter.summary();
    process::leave(made);
    if request.output.source_map.is_some() {
        write_source_map(graph, backing.sources(), request)?;
    }
    Ok(Status::Done)
}

/// Writes a result into a file with data beside it, or to standard output without them, after a comparison with its
/// source.
pub(super) fn write_file(
    content: io::Writing,
    data: Option<(&str, &[u8])>,
    comparison: Option<Comparison>,
    request: &Request,
    reporter: &mut Reporter,
) -> Result<(), Failure> {
    let spool = match comparison {
        Some(comparison) => {
            let spool = Spool::new(request.to(), request.limit(), content, data)?;
            comparison.file(spool.path(), reporter)?;
            Some(spool)
        }
        None => None,
    };
    let mut content = |out: &mut dyn ByteSink| match &spool {
        Some(spool) => spool.write(out),
        None => content(out),
    };
    let limit = request.limit();
    let Some(path) = path(request.output) else { return io::write_stdout(limit, &mut content) };
    if let Some((extension, data)) = data {
        io::write_file(&path.with_extension(extension), limit, &mut |out| out.write_all(data))?;
    }
    io::write_file(path, limit, &mut content)
}

/// Writes the source map, if it is requested.
pub(super) fn write_source_map(graph: &Graph, sources: &Sources, request: &Request) -> Result<(), Failure> {
    let mut map = |out: &mut dyn ByteSink| graph.write_source_map(sources, out);
    match request.output.source_map.as_deref() {
        Some(path) if io::is_stdout(path) => io::write_stdout(request.limit(), &mut map),
        Some(path) => io::write_file(path, request.limit(), &mut map),
        None => Ok(()),
    }
}
