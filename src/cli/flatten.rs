//! `nnef-flatten INPUT`: the flat graph of a document.

use std::ffi::OsStr;
use std::path::Path;

use nnef_flatten::diagnostics::{Code, Diagnostic, Diagnostics};
use nnef_flatten::graph::{pieces, source_map};
use nnef_flatten::nnef::dialect::Dialect;
use nnef_flatten::picture::Picture;
use nnef_flatten::source::Sources;
use nnef_flatten::{Document, Graph, Options};

use super::args::{self, Language, To};
use super::io::{self, Unread};
use super::report::Reporter;
use super::{Failure, Outcome, Status, loops, stats, verify};

/// Flattens one input.
pub fn run(
    input: &Path,
    language: &Language,
    output: &args::Output,
    verification: &args::Verification,
    reporter: &mut Reporter,
) -> Outcome {
    let to = notation(output);
    if path(output).is_none() && output.source_map.as_deref().is_some_and(io::is_stream) {
        let message = "result and source map cannot both go to standard output; use -o or name a file";
        return Err(Failure::Message(message.to_owned()));
    }
    if language.from == Some(args::From::Loops) {
        let (sources, result) = match loops::process(input, language) {
            Ok(processed) => processed,
            Err(unread) => return report_unread(unread, reporter),
        };
        if verification.verify {
            return Err(Failure::Message("--verify is for documents; loops are not verified yet".to_owned()));
        }
        return finish(&sources, result, output, reporter, |graph, reporter| {
            if output.stats {
                stats::tell(None, graph, language, false, reporter);
            }
            Ok(true)
        });
    }
    let (document, result) = match process(input, language, to == To::Nnef) {
        Ok(processed) => processed,
        Err(unread) => return report_unread(unread, reporter),
    };
    finish(document.sources(), result, output, reporter, |graph, reporter| {
        let verified =
            !verification.verify || verify::verify(input, &document, graph, language, verification, reporter)?;
        if output.stats {
            stats::tell(Some(&document), graph, language, to == To::Nnef, reporter);
        }
        Ok(verified)
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
    let picture = match graph.as_ref().filter(|_| matches!(to, To::Dot | To::Svg | To::Html)) {
        Some(graph) => match Picture::new(graph, sources) {
            Ok(picture) => Some(picture),
            Err(error) => {
                let at = graph.operations.first().map(|operation| operation.at).unwrap_or_default();
                reporter.one(sources, &Diagnostic::new(Code::PictureTooLarge, at, error.to_string()));
                reporter.summary();
                return Ok(Status::Refused);
            }
        },
        None => None,
    };
    reporter.summary();
    let outcome = match &graph {
        Some(graph) if to == To::NnefDraft && graph.dialect != Dialect::Draft => {
            Err(Failure::Message("only documents of the provisional dialect can be written in it".to_owned()))
        }
        Some(graph) => {
            let written = write(graph, picture.as_ref(), output, to);
            let written = written.and_then(|()| write_map(graph, sources, output)).map(|()| Status::Done);
            std::mem::forget(picture);
            written
        }
        None => Ok(Status::Refused),
    };
    // The process ends here; to take large tables apart would only take time.
    std::mem::forget(graph);
    outcome
}

/// A document with its graph and warnings, or with the reasons for its refusal.
pub type Processed = (Document, Result<(Graph, Diagnostics), Diagnostics>);

/// Reads and expands an input; `migrate` turns the provisional dialect into NNEF 1.0.
pub fn process(input: &Path, language: &Language, migrate: bool) -> Result<Processed, Unread> {
    let options = Options { migrate, ..options(language)? };
    let input = io::read(input)?;
    let parsed = nnef_flatten::parse(&input.name, input.text, &options);
    let mut diagnostics = Diagnostics::new(options.strict);
    let refused = parsed.diagnostics.has_errors();
    diagnostics.extend(parsed.diagnostics);
    if refused {
        // What could be read may have errors of other kinds, which are better told at once.
        diagnostics.extend(nnef_flatten::check(&parsed.document, &options));
        return Ok((parsed.document, Err(diagnostics)));
    }
    let result = match nnef_flatten::expand(&parsed.document, &options) {
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

fn write(graph: &Graph, picture: Option<&Picture>, output: &args::Output, to: To) -> Result<(), Failure> {
    let path = path(output);
    let threads = output.threads.unwrap_or_else(pieces::all_threads);
    let mut content = |out: &mut dyn std::io::Write| match (picture, to) {
        (Some(picture), To::Dot) => picture.write_dot(out),
        (Some(picture), To::Svg) => picture.write_svg(out),
        (Some(picture), _) => picture.write_html(out),
        (None, To::Json) => graph.write_json_with(threads, out),
        (None, _) => graph.write_nnef_with(threads, out),
    };
    match path {
        Some(path) => io::write_file(path, &mut content)?,
        None => io::write_stdout(&mut content)?,
    }
    Ok(())
}

/// Writes where the operations come from, if that is asked for.
fn write_map(graph: &Graph, sources: &Sources, output: &args::Output) -> Result<(), Failure> {
    let mut map = |out: &mut dyn std::io::Write| source_map::write(graph, sources, out);
    match output.source_map.as_deref() {
        Some(path) if io::is_stream(path) => io::write_stdout(&mut map),
        Some(path) => io::write_file(path, &mut map),
        None => Ok(()),
    }
}

/// What the extension of the result's path chooses.
const EXTENSIONS: &[(&str, To)] =
    &[("json", To::Json), ("dot", To::Dot), ("gv", To::Dot), ("svg", To::Svg), ("html", To::Html), ("htm", To::Html)];

fn by_extension(path: Option<&Path>) -> To {
    let extension = path.and_then(Path::extension).and_then(OsStr::to_str).unwrap_or_default();
    let known = EXTENSIONS.iter().find(|(known, _)| extension.eq_ignore_ascii_case(known));
    known.map_or(To::Nnef, |(_, to)| *to)
}
