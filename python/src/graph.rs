//! Flat graphs, which Python looks into operation by operation.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use nnef_flatten::graph::TensorId;
use nnef_flatten::input::Refusal;
use nnef_flatten::picture::Picture;
use nnef_flatten::source::{Location, Sources};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::values::Objects;
use crate::verbs::text;
use crate::work::{Length, work};

/// The most operations of a graph that is written in less time than a thread takes.
const SHORT: usize = 100;

/// Where a tensor is: its number, the operation that produces it, and those that use it.
struct Entry {
    tensor: TensorId,
    producer: Option<usize>,
    consumers: Vec<usize>,
}

/// A flat graph.
#[pyclass(frozen, module = "nnef_flatten._native")]
pub(crate) struct Graph {
    graph: Arc<nnef_flatten::Graph>,
    sources: Arc<Sources>,
    /// The tensors by name, once they are asked for.
    index: OnceLock<HashMap<String, Entry>>,
}

/// File, line and column.
type Place = (String, u32, u32);

impl Graph {
    pub(crate) fn new(graph: nnef_flatten::Graph, sources: Sources) -> Self {
        Graph { graph: Arc::new(graph), sources: Arc::new(sources), index: OnceLock::new() }
    }

    fn index(&self) -> &HashMap<String, Entry> {
        self.index.get_or_init(|| {
            let graph = &self.graph;
            let entry = |tensor| Entry { tensor, producer: None, consumers: Vec::new() };
            let mut entries: HashMap<TensorId, Entry> = graph.tensors().map(|id| (id, entry(id))).collect();
            for (i, operation) in graph.operations().enumerate() {
                for tensor in operation.tensors() {
                    if let Some(entry) = entries.get_mut(&tensor) {
                        entry.producer = Some(i);
                    }
                }
                for (_, operand) in graph.named_arguments(&operation) {
                    operand.each_tensor(&mut |tensor| {
                        if let Some(entry) = entries.get_mut(&tensor).filter(|entry| entry.consumers.last() != Some(&i))
                        {
                            entry.consumers.push(i);
                        }
                    });
                }
            }
            entries.into_values().map(|entry| (graph.tensor_name(entry.tensor), entry)).collect()
        })
    }

    fn place(&self, at: Location) -> Place {
        let position = self.sources.start(at);
        (self.sources.name(at.file).to_owned(), position.line, position.column)
    }

    fn entry(&self, name: &str) -> PyResult<&Entry> {
        self.index().get(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

/// A graph in a notation; none if it has too many operations for a picture.
fn written(graph: &nnef_flatten::Graph, sources: &Sources, to: &str) -> Result<Option<Vec<u8>>, Refusal> {
    let mut out = Vec::new();
    let written = match to {
        "nnef" => graph.write_nnef(&mut out),
        "json" => graph.write_json(&mut out),
        _ => {
            let Some(picture) = Picture::new(graph, sources) else { return Ok(None) };
            match to {
                "dot" => picture.write_dot(&mut out),
                "svg" => picture.write_svg(&mut out),
                _ => picture.write_html(&mut out),
            }
        }
    };
    match written {
        Ok(()) => Ok(Some(out)),
        Err(error) => Err(Refusal::Io { name: "the output".to_owned(), error }),
    }
}

#[pymethods]
impl Graph {
    #[getter]
    fn name(&self) -> &str {
        self.graph.name()
    }

    /// The names of its inputs.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Objects { py, graph: &self.graph }.names(self.graph.inputs())
    }

    /// The names of its outputs.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Objects { py, graph: &self.graph }.names(self.graph.outputs())
    }

    /// The names of its tensors.
    fn tensor_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let tensors: Vec<TensorId> = self.graph.tensors().collect();
        Objects { py, graph: &self.graph }.names(&tensors)
    }

    /// The number of its operations.
    fn __len__(&self) -> usize {
        self.graph.operations().len()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.index().contains_key(name)
    }

    /// An operation: name, type, inputs, attributes, outputs.
    #[allow(clippy::type_complexity)]
    fn operation<'py>(
        &self,
        py: Python<'py>,
        index: usize,
    ) -> PyResult<(
        Bound<'py, PyString>,
        Option<&'static str>,
        Bound<'py, PyDict>,
        Bound<'py, PyDict>,
        Bound<'py, PyDict>,
    )> {
        let (graph, objects) = (&self.graph, Objects { py, graph: &self.graph });
        let operation = graph.operations().nth(index).ok_or_else(|| PyIndexError::new_err(index))?;
        let (inputs, attributes, outputs) = (PyDict::new(py), PyDict::new(py), PyDict::new(py));
        for (name, operand) in operation.inputs() {
            inputs.set_item(&*name, objects.operand(operand, true)?)?;
        }
        for (name, operand) in operation.attributes() {
            attributes.set_item(&*name, objects.operand(operand, false)?)?;
        }
        for (name, output) in operation.outputs() {
            outputs.set_item(&*name, objects.output(output)?)?;
        }
        let name = PyString::intern(py, operation.name());
        Ok((name, operation.dtype().map(|dtype| dtype.text()), inputs, attributes, outputs))
    }

    /// The place of an operation in its source, and the calls that it comes from, the innermost first.
    fn origin(&self, index: usize) -> PyResult<(Place, Vec<(String, Place)>)> {
        let operation = self.graph.operations().nth(index).ok_or_else(|| PyIndexError::new_err(index))?;
        let calls = operation.calls().map(|(fragment, at)| (fragment.to_owned(), self.place(at))).collect();
        Ok((self.place(operation.location()), calls))
    }

    /// A tensor: type, shape, the operation that produces it, and those that use it.
    #[allow(clippy::type_complexity)]
    fn tensor<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<(Option<&'static str>, Option<Bound<'py, PyAny>>, Option<usize>, Vec<usize>)> {
        let entry = self.entry(name)?;
        let shape = self.graph.shape(entry.tensor);
        let shape = shape.map(|shape| Objects { py, graph: &self.graph }.shape(shape.extents())).transpose()?;
        Ok((self.graph.element_type(entry.tensor), shape, entry.producer, entry.consumers.clone()))
    }

    /// The dimension symbols, each with the input and the axis that it is the extent of.
    fn symbols(&self) -> Vec<(String, Option<(String, usize)>)> {
        let named = |(tensor, axis)| (self.graph.tensor_name(tensor), axis);
        self.graph.dimension_symbols().into_iter().map(|(symbol, of)| (symbol, of.map(named))).collect()
    }

    /// The graph in a notation that needs nothing but the graph: `nnef`, `json`, `dot`, `svg` or `html`.
    fn write<'py>(&self, py: Python<'py>, to: &str) -> PyResult<Bound<'py, PyString>> {
        let (graph, sources, to) = (Arc::clone(&self.graph), Arc::clone(&self.sources), to.to_owned());
        let length = if graph.operations().len() > SHORT { Length::Any } else { Length::Short };
        let bytes = work(py, length, move || written(&graph, &sources, &to))?;
        let bytes = bytes.ok_or_else(|| PyValueError::new_err("the graph has too many operations for a picture"))?;
        Ok(text(py, &bytes))
    }
}
