//! Values of arguments as objects of Python, in the form of the JSON of graphs.

use nnef_flatten::Graph;
use nnef_flatten::graph::{Extent, Operand, Output, TensorId, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// Makes the objects of a graph.
#[derive(Clone, Copy)]
pub(crate) struct Objects<'g, 'py> {
    pub(crate) py: Python<'py>,
    pub(crate) graph: &'g Graph,
}

impl<'g, 'py> Objects<'g, 'py> {
    fn name(self, tensor: TensorId) -> Bound<'py, PyAny> {
        PyString::new(self.py, &self.graph.tensor_name(tensor)).into_any()
    }

    fn list(self, items: impl Iterator<Item = PyResult<Bound<'py, PyAny>>>) -> PyResult<Bound<'py, PyAny>> {
        let items: Vec<Bound<'py, PyAny>> = items.collect::<PyResult<_>>()?;
        Ok(PyList::new(self.py, items)?.into_any())
    }

    /// The names of tensors.
    pub(crate) fn names(self, tensors: &[TensorId]) -> PyResult<Bound<'py, PyAny>> {
        self.list(tensors.iter().map(|tensor| Ok(self.name(*tensor))))
    }

    /// A result: a name, or a list of names.
    pub(crate) fn output(self, output: Output) -> PyResult<Bound<'py, PyAny>> {
        match output {
            Output::Tensor(tensor) => Ok(self.name(*tensor)),
            Output::Array(tensors) => self.names(tensors),
        }
    }

    /// The extents of a shape: numbers, expressions of symbols as texts, or none where they are not known.
    pub(crate) fn shape(self, extents: &[Extent]) -> PyResult<Bound<'py, PyAny>> {
        self.list(extents.iter().map(|extent| match extent.known() {
            Some(number) => Ok(number.into_pyobject(self.py)?.into_any()),
            None if extent.is_unknown() => Ok(self.py.None().into_bound(self.py)),
            None => Ok(PyString::new(self.py, &extent.to_string()).into_any()),
        }))
    }

    /// An argument; among inputs, a tensor is its bare name.
    pub(crate) fn operand(self, operand: Operand, input: bool) -> PyResult<Bound<'py, PyAny>> {
        match operand {
            Operand::Tensor(tensor) => self.tensor(tensor, input),
            Operand::Tensors(tensors) => self.list(tensors.iter().map(|tensor| self.tensor(*tensor, input))),
            Operand::Value(value) => self.value(value, input),
            _ => Ok(self.py.None().into_bound(self.py)),
        }
    }

    fn tensor(self, tensor: TensorId, input: bool) -> PyResult<Bound<'py, PyAny>> {
        if input { Ok(self.name(tensor)) } else { self.entry("tensor", self.name(tensor)) }
    }

    /// An object with one entry, which says what a text means.
    fn entry(self, key: &str, text: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let entry = PyDict::new(self.py);
        entry.set_item(key, text)?;
        Ok(entry.into_any())
    }

    fn value(self, value: &Value, input: bool) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match value {
            Value::Int(int) => Ok(int.into_pyobject(py)?.into_any()),
            Value::Scalar(scalar) => Ok(scalar.into_pyobject(py)?.into_any()),
            Value::Logical(logical) => Ok(logical.into_pyobject(py)?.to_owned().into_any()),
            Value::String(text) => Ok(PyString::new(py, text).into_any()),
            Value::Tensor(tensor) => self.tensor(*tensor, input),
            Value::Symbol(text) => self.entry("symbol", PyString::new(py, text).into_any()),
            Value::Integers(items) => Ok(PyList::new(py, items.iter())?.into_any()),
            Value::Scalars(items) => Ok(PyList::new(py, items.iter())?.into_any()),
            Value::Array(items) | Value::Tuple(items) => self.list(items.iter().map(|item| self.value(item, input))),
            _ => Ok(py.None().into_bound(py)),
        }
    }
}
