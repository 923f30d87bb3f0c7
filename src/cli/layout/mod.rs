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
use crate::tensor::{ArrayShape, PaddingValue, Shape, ShapeList, TensorError};
use crate::{Diagnostics, Graph};

use super::args::{self, Language, LayoutTo, Numbers};
use super::limits::RunLimits;
use super::report::Reporter;
use super::{Failure, RunResult, Status, io, options};
use crate::input::foreign;
use crate::input::looks::Start;
use listing::Listing;

/// An answer, or diagnostics with locations in the sources of the command.
type Answer<T> = Result<T, Diagnostics>;

/// A shape and the questions about it, each with its location.
struct LayoutQuestions {
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
pub(crate) fn run(arguments: &args::Layout, mut language: Language, reporter: &mut Reporter) -> RunResult {
    language.asked.output = options::name(&arguments.to.unwrap_or(LayoutTo::Text));
    language.usable(None)?;
    let limits = &language.limits;
    let text = match (&arguments.shape, &arguments.text) {
        (Some(shape), None) if shape != "-" => shape,
        (None, Some(text)) => text,
        _ => return listing(arguments, limits, reporter),
    };
    let mut sources = Sources::new();
    match ask(arguments, text, &mut sources).and_then(|asked| asked.answer(arguments.to, limits)) {
        Ok(answer) => io::write_stdout(&mut |out| out.write_all(&answer)).map(|()| Status::Done),
        Err(found) => {
            reporter.all(&sources, found);
            reporter.summary();
            Ok(Status::Refused)
        }
    }
}

/// What a compressed text may unpack to for any size, and how many times larger than the compressed one a larger
/// text may be: dumps repeat themselves more than weights, and less than a decompression bomb.
const UNPACKED: u64 = 32 << 20;
const RATIO: u64 = 50;

/// The bytes from standard input. Traces are compressed texts, or binary files that contain texts.
fn bytes(limits: &RunLimits) -> Result<Vec<u8>, Failure> {
    let limit = limits.text();
    let (name, mut bytes) = io::read_bytes(Path::new("-"), limit)?;
    if bytes.starts_with(&GZIP) {
        let limit = limit.min(UNPACKED.max(RATIO.saturating_mul(bytes.len() as u64)));
        let mut unpacked = Vec::new();
        let read = MultiGzDecoder::new(bytes.as_slice()).take(limit + 1).read_to_end(&mut unpacked);
        if read.is_err() {
            let message = "the gzip data are damaged, or end too early".to_owned();
            return Err(io::refused(name, "", Span::default(), Code::ModelArchive, message));
        }
        if unpacked.len() as u64 > limit {
            let message = format!("the compressed text unpacks to more than {limit} bytes, too many for its size");
            return Err(io::refuse(name, String::new(), |at| {
                Diagnostic::new(Code::TooLarge, at, message)
                    .help("unpack it first: gunzip -c FILE | nnef-flatten layout -")
            }));
        }
        bytes = unpacked;
    }
    Ok(bytes)
}

/// Lists the shapes in the text from standard input.
fn listing(arguments: &args::Layout, limits: &RunLimits, reporter: &mut Reporter) -> RunResult {
    let bytes = bytes(limits)?;
    let refuse = |code: Code, message: String, help: Option<String>| {
        io::refuse("<stdin>".to_owned(), String::new(), |at| Diagnostic::new(code, at, message).help_if(help))
    };
    let list = ShapeList::of(&String::from_utf8_lossy(&bytes), limits.options().max_memory).map_err(|error| {
        refuse(Code::MemoryBudget, error.to_string(), Some("raise the limit with --max-memory".into()))
    })?;
    let found = Listing::new(&list);
    io::write_stdout(&mut |out| match arguments.to {
        Some(LayoutTo::Json) => found.write_json(out),
        _ => found.write_table(out),
    })?;
    if list.shapes().len() == 0 {
        let start = Start::new(&bytes, true);
        let format = foreign::name_of(&start).map(|what| format!(": it is {what}")).unwrap_or_default();
        let help =
            "HLO prints shapes as f32[2,3]{1,0}, StableHLO as tensor<2x3xf32>; dumps in protobuf do not contain them";
        let message = format!("the input has no shapes of arrays{format}");
        if let Failure::Refused(found) = refuse(Code::ShapeNone, message, Some(help.to_owned())) {
            reporter.all(&found.sources, found.diagnostics);
        }
    }
    reporter.all(&Sources::new(), Diagnostics::default());
    reporter.summary();
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

fn ask(arguments: &args::Layout, text: &str, sources: &mut Sources) -> Answer<LayoutQuestions> {
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
    Ok(LayoutQuestions { shape, at, indices, result, memory: arguments.memory })
}

impl LayoutQuestions {
    fn answer(&self, to: Option<LayoutTo>, limits: &RunLimits) -> Answer<Vec<u8>> {
        match to {
            Some(LayoutTo::Nnef) => {
                let graph = Graph::memory_within(array(&self.shape, self.at)?, limits.options().max_memory);
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
