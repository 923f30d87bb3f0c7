//! `nnef-flatten INPUT`: the flat graph of a document.

use std::ffi::OsStr;
use std::path::Path;

use nnef_flatten::diagnostics::Diagnostics;
use nnef_flatten::graph::pieces;
use nnef_flatten::nnef::dialect::Dialect;
use nnef_flatten::source::Sources;
use nnef_flatten::{Document, Graph, Options};

use super::args::{self, Language, To};
use super::io::{self, Unread};
use super::report::Reporter;
use super::{Failure, Outcome, Status, loops, verify};

/// Flattens one input.
pub fn run(
    input: &Path,
    language: &Language,
    output: &args::Output,
    verification: &args::Verification,
    reporter: &mut Reporter,
) -> Outcome {
    let to = notation(output);
    if language.from == Some(args::From::Loops) {
        let (sources, result) = match loops::process(input, language) {
            Ok(processed) => processed,
            Err(unread) => return report_unread(unread, reporter),
        };
        if verification.verify {
            return Err(Failure::Message("--verify is for documents; loops are not verified yet".to_owned()));
        }
        return finish(&sources, result, output, reporter, |_, _| Ok(true));
    }
    let (document, result) = match process(input, language, to == To::Nnef) {
        Ok(processed) => processed,
        Err(unread) => return report_unread(unread, reporter),
    };
    finish(document.sources(), result, output, reporter, |graph, reporter| {
        Ok(!verification.verify || verify::verify(input, &document, graph, language, verification, reporter)?)
    })
}

/// Reports what was found and writes the graph.
fn finish(
    sources: &Sources,
    result: Result<(Graph, Diagnostics), Diagnostics>,
    output: &args::Output,
    reporter: &mut Reporter,
    verify: impl FnOnce(&Graph, &mut Reporter) -> Result<bool, Failure>,
) -> Outcome {
    let to = notation(output);
    let (graph, diagnostics) = match result {
        Ok((graph, diagnostics)) => (Some(graph), diagnostics),
        Err(diagnostics) => (None, diagnostics),
    };
    reporter.all(sources, diagnostics);
    if let Some(graph) = &graph
        && !verify(graph, reporter)?
    {
        return Ok(Status::Refused);
    }
    reporter.summary();
    match graph {
        Some(graph) if to == To::NnefDraft && graph.dialect != Dialect::Draft => {
            Err(Failure::Message("only documents of the provisional dialect can be written in it".to_owned()))
        }
        Some(graph) => {
            let written = write(&graph, output, to).map(|()| Status::Done);
            // The process ends here; to take large tables apart would only take time.
            std::mem::forget(graph);
            written
        }
        None => Ok(Status::Refused),
    }
}

/// A document with its graph and warnings, or with the reasons for its refusal.
pub type Processed = (Document, Result<(Graph, Diagnostics), Diagnostics>);

/// Reads and expands an input; `migrate` turns the provisional dialect into NNEF 1.0.
pub fn process(input: &Path, language: &Language, migrate: bool) -> Result<Processed, Unread> {
    process_with(input, &Options { migrate, ..options(language)? })
}

/// The same for those who do not write the graph: loops are expanded whoever asked for it, and the
/// dialect stays.
pub fn process_for_use(input: &Path, language: &Language) -> Result<Processed, Unread> {
    process_with(input, &Options { expand_loops: true, ..options(language)? })
}

/// The same with the options of the library.
fn process_with(input: &Path, options: &Options) -> Result<Processed, Unread> {
    let input = io::read(input)?;
    let parsed = nnef_flatten::parse(&input.name, input.text, options);
    let mut diagnostics = Diagnostics::new(options.strict);
    let refused = parsed.diagnostics.has_errors();
    diagnostics.extend(parsed.diagnostics);
    if refused {
        // What could be read may have errors of other kinds, which are better told at once.
        diagnostics.extend(nnef_flatten::check(&parsed.document, options));
        return Ok((parsed.document, Err(diagnostics)));
    }
    let result = match nnef_flatten::expand(&parsed.document, options) {
        Ok(expansion) => {
            diagnostics.extend(expansion.diagnostics);
            if diagnostics.has_errors() { Err(diagnostics) } else { Ok((expansion.graph, diagnostics)) }
        }
        Err(errors) => {
            diagnostics.extend(errors);
            Err(diagnostics)
        }
    };
    Ok((parsed.document, result))
}

/// The options of the library, with the declaration files read.
pub fn options(language: &Language) -> Result<Options, Unread> {
    let mut options = Options {
        strict: language.strict,
        from: from(language.from),
        keep: language.keep.clone(),
        keep_unused: language.keep_unused,
        input_shapes: language.input_shape.clone(),
        unroll: language.unroll,
        max_trips: language.max_trips,
        flat: language.flat,
        ..Options::default()
    };
    if let Some(lower) = &language.lower {
        options.lower = lower.clone();
    }
    if let Some(max_ops) = language.max_ops {
        options.max_ops = max_ops;
    }
    if let Some(max_depth) = language.max_depth {
        options.max_depth = max_depth;
    }
    for path in &language.fragments {
        let library = io::read(path)?;
        options.libraries.push((library.name, library.text));
    }
    Ok(options)
}

/// The notation as the library names it.
pub fn from(from: Option<args::From>) -> nnef_flatten::From {
    match from {
        // Networks with loops are no documents; who asks for one to be read as such gets the usual reader.
        None | Some(args::From::Auto | args::From::Loops) => nnef_flatten::From::Auto,
        Some(args::From::Nnef) => nnef_flatten::From::Nnef,
        Some(args::From::NnefDraft) => nnef_flatten::From::NnefDraft,
    }
}

/// Says why an input was not read.
pub fn report_unread(unread: Unread, reporter: &mut Reporter) -> Outcome {
    match unread {
        Unread::Failure(failure) => Err(failure),
        Unread::Refused(refused) => {
            reporter.one(&refused.0, &refused.1);
            reporter.summary();
            Ok(Status::Refused)
        }
    }
}

/// Where the result goes, unless to standard output.
fn path(output: &args::Output) -> Option<&Path> {
    output.output.as_deref().filter(|path| !io::is_stream(path))
}

/// What the result is written as.
fn notation(output: &args::Output) -> To {
    output.to.unwrap_or_else(|| by_extension(path(output)))
}

fn write(graph: &Graph, output: &args::Output, to: To) -> Result<(), Failure> {
    let path = path(output);
    let threads = output.threads.unwrap_or_else(pieces::all_threads);
    let mut content = |out: &mut dyn std::io::Write| match to {
        To::Nnef | To::NnefDraft => graph.write_nnef_with(threads, out),
        To::Json => graph.write_json_with(threads, out),
    };
    match path {
        Some(path) => io::write_file(path, &mut content),
        None => io::write_stdout(&mut content),
    }
}

fn by_extension(path: Option<&Path>) -> To {
    match path.and_then(Path::extension).and_then(OsStr::to_str) {
        Some(extension) if extension.eq_ignore_ascii_case("json") => To::Json,
        _ => To::Nnef,
    }
}
