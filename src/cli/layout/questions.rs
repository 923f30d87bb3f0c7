//! A shape, the questions about it, and their answers.
use crate::cli::args::{self, LayoutTo, Numbers};
use crate::cli::limits::RunLimits;
use crate::diagnostics::{Code, Diagnostic};
use crate::source::{Location, Sources, Span};
use crate::tensor::{ArrayShape, PaddingValue, Shape, TensorError};
use crate::{Diagnostics, Graph};

/// An answer, or diagnostics with locations in the sources of the command.
pub(super) type Answer<T> = Result<T, Diagnostics>;

/// A shape and the questions about it, each with its location.
pub(super) struct LayoutQuestions {
    pub(super) shape: Shape,
    pub(super) at: Location,
    /// The indices of elements whose places in memory are requested.
    pub(super) indices: Vec<(Vec<u64>, Location)>,
    /// The result of a reshape, or of a transposition with its permutation.
    pub(super) result: Option<(ArrayShape, Option<Vec<usize>>, Location)>,
    /// Whether the memory is to be listed.
    pub(super) memory: bool,
}

pub(super) fn located<T>(result: Result<T, TensorError>, code: Code, at: Location) -> Answer<T> {
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

pub(super) fn array(shape: &Shape, at: Location) -> Answer<&ArrayShape> {
    let wrong = || TensorError::new(format!("a {} has no dimensions and no layout", shape.kind()));
    located(shape.array().ok_or_else(wrong), Code::ShapeUnsized, at)
}

pub(super) fn ask(arguments: &args::Layout, text: &str, sources: &mut Sources) -> Answer<LayoutQuestions> {
    let tiled = |array: ArrayShape| if arguments.tpu_tiles { array.with_tpu_tiles() } else { array };
    let (mut shape, at) = read("<shape>", text, sources)?;
    if arguments.tpu_tiles {
        shape = Shape::Array(tiled(array(&shape, at)?.clone()));
    }
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
            let to = tiled(array(&to, place)?.clone());
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
    pub(super) fn answer(&self, to: Option<LayoutTo>, limits: &RunLimits) -> Answer<Vec<u8>> {
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
    pub(super) fn bitcast(&self) -> Answer<Option<bool>> {
        let Some((to, order, at)) = &self.result else { return Ok(None) };
        let from = array(&self.shape, self.at)?;
        let answer = match order {
            Some(order) => from.transpose_is_bitcast(to, order),
            None => from.reshape_is_bitcast(to),
        };
        located(answer, Code::ShapeMemory, *at).map(Some)
    }

    /// The place in memory of each requested element.
    pub(super) fn places(&self, array: &ArrayShape) -> Answer<Vec<(&[u64], u64)>> {
        let place = |(index, at): &(Vec<u64>, Location)| located(array.linear_index(index), Code::ShapeIndex, *at);
        self.indices.iter().map(|asked| Ok((asked.0.as_slice(), place(asked)?))).collect()
    }
}
