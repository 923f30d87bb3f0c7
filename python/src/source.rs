//! What is given: inputs, and the options of a verb.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use nnef_flatten::cli;
use nnef_flatten::input::Given;
use nnef_flatten::tensor::Tensor;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

enum Place {
    Path(PathBuf),
    Memory(String, SharedBytes),
}

/// Bytes of an object of Python, which are not copied.
#[derive(Clone)]
struct SharedBytes(Arc<PyBackedBytes>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

/// An input: a path, or bytes under a name for messages.
#[pyclass(frozen, module = "nnef_flatten._native")]
pub(crate) struct Source(Place);

#[pymethods]
impl Source {
    /// A file, a folder or an archive.
    #[staticmethod]
    fn path(path: PathBuf) -> Self {
        Source(Place::Path(path))
    }

    /// Bytes under a name for messages.
    #[staticmethod]
    fn memory(name: String, data: PyBackedBytes) -> Self {
        Source(Place::Memory(name, SharedBytes(Arc::new(data))))
    }
}

impl Source {
    /// The input, to be opened once.
    pub(crate) fn given(&self) -> Given<'_> {
        match &self.0 {
            Place::Path(path) => Given::from(path.as_path()),
            Place::Memory(name, data) => Given::owned_by(name, data.clone()),
        }
    }
}

/// The options of a verb, as words of the command line.
#[pyclass(frozen, module = "nnef_flatten._native")]
pub(crate) struct Keywords(pub(crate) cli::Keywords);

#[pymethods]
impl Keywords {
    #[new]
    fn new(words: Vec<OsString>) -> PyResult<Self> {
        cli::Keywords::new(&words).map(Keywords).map_err(PyValueError::new_err)
    }

    /// The same options, with values of inputs as arrays in the format `.npy`.
    fn binding(&self, values: Vec<(String, Vec<u8>)>) -> PyResult<Self> {
        let mut keywords = self.0.clone();
        for (name, array) in values {
            let value = Tensor::from_typed_npy(&array);
            let value = value.map_err(|error| PyValueError::new_err(format!("bind of `{name}`: {error}")))?;
            keywords.bind(&name, value);
        }
        Ok(Keywords(keywords))
    }
}
