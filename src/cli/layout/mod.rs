//! `nnef-flatten layout`: shapes of XLA, and where their elements are in memory.

mod drawing;
mod json;
mod listing;

use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::diagnostics::{Code, Diagnostic};
use crate::model::GZIP;
use crate::source::{Location, Sources, Span};
use crate::tensor::{ArrayShape, PaddingValue, Shape, TensorError};
use crate::{Diagnostics, Graph};

use super::args::{self, LayoutTo, Numbers};
use super::io::Unread;
use super::report::Reporter;
use super::{RunResult, Status, flatten, io};
use listing::Listing;

/// An answer, or diagnostics with locations in the sources of the command.
type Answer<T> = Result<T, Diagnostics>;

/// A shape and the questions about it, each with its location.
struct Asked {
    shape: Shape,
    at: Location,
    /// The indices of elements whose places in memory are requested.
    indices: Vec<(Vec<u64>, Location)>,
    /// The result of a reshape, or of a transposition with its permutation.
    result: Option<(ArrayShape, Option<Vec<usize>>, Location)>,
    /// Whether the memory is to be listed.
    memory: bool,
}

/// Answers the questions about a shape, or lists the shapes in a text.
pub(crate) fn run(arguments: &args::Layout, reporter: &mut Reporter) -> RunResult {
    let text = match (&arguments.shape, &arguments.text) {
        (Some(shape), None) if shape != "-" => shape,
        (None, Some(text)) => text,
        _ => return listing(arguments, reporter),
    };
    if arguments.to == Some(LayoutTo::Nnef) {
        let options = [("--index", !arguments.index.is_empty()), ("--memory", arguments.memory)];
        flatten::refuse_vain("--to nnef", &[&options[..], &compared(arguments)].concat())?;
    }
    let mut sources = Sources::new();
    match ask(arguments, text, &mut sources).and_then(|asked| asked.answer(arguments.to)) {
        Ok(answer) => io::write_stdout(&mut |out| out.write_all(&answer)).map(|()| Status::Done),
        Err(found) => {
            reporter.all(&sources, found);
            reporter.summary();
            Ok(Status::Refused)
        }
    }
}

/// The options that compare the shape with another one.
fn compared(arguments: &args::Layout) -> [(&'static str, bool); 2] {
    [("--reshape", arguments.reshape.is_some()), ("--transpose", arguments.transpose.is_some())]
}

/// The text from standard input. Traces are compressed texts, or binary files that contain texts.
fn text() -> Result<String, Unread> {
    let limit = crate::Options::default().max_text;
    let (name, mut bytes) = io::read_bytes(Path::new("-"), limit)?;
    if bytes.starts_with(&GZIP) {
        let mut unpacked = Vec::new();
        let read = MultiGzDecoder::new(bytes.as_slice()).take(limit + 1).read_to_end(&mut unpacked);
        if read.is_err() {
            let message = "the gzip data are damaged, or end too early".to_owned();
            return Err(io::refused(name, "", Span::default(), Code::ModelArchive, message));
        }
        if unpacked.len() as u64 > limit {
            return Err(io::refuse(name, String::new(), |at| Diagnostic::too_large(at, limit)));
        }
        bytes = unpacked;
    }
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Lists the shapes in the text from standard input.
fn listing(arguments: &args::Layout, reporter: &mut Reporter) -> RunResult {
    let options = [
        ("--to nnef", arguments.to == Some(LayoutTo::Nnef)),
        ("--padded", arguments.padded.is_some()),
        ("--index", !arguments.index.is_empty()),
        ("--memory", arguments.memory),
    ];
    flatten::refuse_vain("a text with shapes", &[&options[..], &compared(arguments)].concat())?;
    let text = match text() {
        Ok(text) => text,
        Err(unread) => return flatten::report_unread(unread, reporter),
    };
    let found = Listing::new(&text);
    io::write_stdout(&mut |out| match arguments.to {
        Some(LayoutTo::Json) => found.write_json(out),
        _ => found.write_table(out),
    })?;
    Ok(Status::Done)
}

fn located<T>(result: Result<T, TensorError>, code: Code, at: Location) -> Answer<T> {
    result.map_err(|error| {
        let mut found = Diagnostics::default();
        found.report(Diagnostic::new(code, at, error.to_string()));
        found
    })
}

/// Adds the value of an option to the sources.
fn source(sources: &mut Sources, name: &str, text: &str) -> Location {
    Location::new(sources.add(name, text.to_owned()), Span::new(0, text.len() as u32))
}

/// Parses a shape; `name` is the option that contains it.
fn read(name: &str, text: &str, sources: &mut Sources) -> Answer<(Shape, Location)> {
    let shape = Shape::read(name, text, sources)?;
    let file = sources.iter().last().map(|(file, _)| file).unwrap_or_default();
    Ok((shape, Location::new(file, Span::new(0, text.len() as u32))))
}

fn array(shape: &Shape, at: Location) -> Answer<&ArrayShape> {
    let wrong = || TensorError::new(format!("a {} has no dimensions and no layout", shape.kind()));
    located(shape.array().ok_or_else(wrong), Code::ShapeUnsized, at)
}

fn ask(arguments: &args::Layout, text: &str, sources: &mut Sources) -> Answer<Asked> {
    let (mut shape, at) = read("<shape>", text, sources)?;
    if let Some(sizes) = &arguments.padded {
        let option = source(sources, "--padded", &sizes.to_string());
        let array = array(&shape, at)?.clone();
        let value = arguments.padding_value.map_or(PaddingValue::Zero, |value| value.0);
        let layout = array.layout().clone().with_padding(&sizes.0, value);
        shape = Shape::Array(located(array.with_layout(layout), Code::ShapePadding, option)?);
    }
    let mut result = None;
    for (name, text) in [("--reshape", &arguments.reshape), ("--transpose", &arguments.transpose)] {
        if let Some(text) = text {
            let (to, place) = read(name, text, sources)?;
            let to = array(&to, place)?.clone();
            let order = arguments.permutation.as_ref().filter(|_| name == "--transpose");
            let place = order.map_or(place, |order| source(sources, "--permutation", &order.to_string()));
            let order = order.map(|order| order.0.iter().map(|&axis| axis as usize).collect());
            result = Some((to, order, place));
        }
    }
    let index = |index: &Numbers| (index.0.clone(), source(sources, "--index", &index.to_string()));
    let indices = arguments.index.iter().map(index).collect();
    Ok(Asked { shape, at, indices, result, memory: arguments.memory })
}

impl Asked {
    fn answer(&self, to: Option<LayoutTo>) -> Answer<Vec<u8>> {
        match to {
            Some(LayoutTo::Nnef) => {
                let graph = Graph::memory_of(array(&self.shape, self.at)?);
                let mut text = Vec::new();
                let graph = located(graph, Code::ShapeUnsized, self.at)?;
                let written = graph.write_nnef(&mut text).map_err(|error| TensorError::new(error.to_string()));
                located(written, Code::ShapeMemory, self.at).map(|()| text)
            }
            Some(LayoutTo::Json) => self.json().map(String::into_bytes),
            None | Some(LayoutTo::Text) => self.drawing().map(String::into_bytes),
        }
    }

    /// Whether the requested reshape or transposition is a bitcast; `None` if none is requested.
    fn bitcast(&self) -> Answer<Option<bool>> {
        let Some((to, order, at)) = &self.result else { return Ok(None) };
        let from = array(&self.shape, self.at)?;
        let answer = match order {
            Some(order) => from.transpose_is_bitcast(to, order),
            None => from.reshape_is_bitcast(to),
        };
        located(answer, Code::ShapeMemory, *at).map(Some)
    }

    /// The place in memory of each requested element.
    fn places(&self, array: &ArrayShape) -> Answer<Vec<(&[u64], u64)>> {
        let place = |(index, at): &(Vec<u64>, Location)| located(array.linear_index(index), Code::ShapeIndex, *at);
        self.indices.iter().map(|asked| Ok((asked.0.as_slice(), place(asked)?))).collect()
    }
}
