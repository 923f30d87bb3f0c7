//! What is given: inputs, and the options of a verb.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nnef_flatten::cli;
use nnef_flatten::input::{Given, Refusal};
use nnef_flatten::tensor::Tensor;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::stamp::Stamps;
use crate::work::Length;

/// The most bytes of an input that mostly takes less time than a thread.
const SHORT: usize = 32 << 10;

enum Place {
    Path(GivenPath),
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

/// A path as it was given, which stands for the same files whatever folder is the current one later.
struct GivenPath {
    given: PathBuf,
    absolute: PathBuf,
    /// What the files were like when they were read first: this one, and those of external data.
    stamps: Arc<Stamps>,
}

impl GivenPath {
    /// The path for messages and for reading.
    fn path(&self) -> &Path {
        match std::path::absolute(&self.given) {
            Ok(path) if path == self.absolute => &self.given,
            _ => &self.absolute,
        }
    }

    /// Refuses files that have changed since they were read first: what was made of them would silently be another one.
    fn unchanged(&self) -> Result<(), Refusal> {
        self.stamps.note(&self.absolute);
        let Some(changed) = self.stamps.changed() else { return Ok(()) };
        let shown = if changed == self.absolute { self.path() } else { &changed };
        let path = shown.display();
        Err(Refusal::Unfit(format!("{path} has changed since this result was made of it; make the result again")))
    }
}

/// An input: a path, or bytes under a name for messages.
#[pyclass(frozen, module = "nnef_flatten._native")]
#[derive(Clone)]
pub(crate) struct Source(Arc<Place>);

#[pymethods]
impl Source {
    /// A file, a folder or an archive.
    #[staticmethod]
    fn path(path: PathBuf) -> Self {
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        Source(Arc::new(Place::Path(GivenPath { given: path, absolute, stamps: Arc::default() })))
    }

    /// A file, a folder or an archive of which a result was made elsewhere, with what its files were like.
    #[staticmethod]
    fn pickled(path: PathBuf, stamps: Vec<(PathBuf, u64)>) -> Self {
        let stamps = Arc::new(Stamps::again(stamps));
        Source(Arc::new(Place::Path(GivenPath { given: path.clone(), absolute: path, stamps })))
    }

    /// Bytes under a name for messages.
    #[staticmethod]
    fn memory(name: String, data: PyBackedBytes) -> Self {
        Source(Arc::new(Place::Memory(name, SharedBytes(Arc::new(data)))))
    }

    /// For `pickle`: paths stay paths, with what their files were like.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, kind) = (slf.py(), slf.get_type());
        Ok(match &*slf.get().0 {
            Place::Path(path) => {
                let noted = path.stamps.noted();
                (kind.getattr("pickled")?, (path.absolute.clone(), noted).into_pyobject(py)?.into_any())
            }
            Place::Memory(name, data) => {
                let data = PyBytes::new(py, data.as_ref());
                (kind.getattr("memory")?, (name, data).into_pyobject(py)?.into_any())
            }
        })
    }
}

impl Source {
    /// How long reading it takes.
    pub(crate) fn length(&self) -> Length {
        match &*self.0 {
            Place::Memory(_, data) if data.as_ref().len() <= SHORT => Length::Short,
            _ => Length::Any,
        }
    }

    /// The input, to be opened once.
    ///
    /// # Errors
    ///
    /// Its files have changed since they were read first.
    pub(crate) fn given(&self) -> Result<Given<'_>, Refusal> {
        match &*self.0 {
            Place::Path(path) => path.unchanged().map(|()| {
                let stamps = Arc::clone(&path.stamps);
                Given::from(path.path()).noting(Arc::new(move |file| stamps.note(file)))
            }),
            Place::Memory(name, data) => Ok(Given::owned_by(name, data.clone())),
        }
    }
}

/// The options of a verb, as words of the command line.
#[pyclass(frozen, module = "nnef_flatten._native")]
#[derive(Clone)]
pub(crate) struct Keywords(pub(crate) Arc<cli::Keywords>);

#[pymethods]
impl Keywords {
    #[new]
    fn new(words: Vec<OsString>) -> PyResult<Self> {
        cli::Keywords::new(&words).map(Arc::new).map(Keywords).map_err(PyValueError::new_err)
    }

    /// The same options, with values of inputs as arrays in the format `.npy`.
    fn binding(&self, values: Vec<(String, Vec<u8>)>) -> PyResult<Self> {
        let mut keywords = cli::Keywords::clone(&self.0);
        for (name, array) in values {
            let value = Tensor::from_typed_npy(&array);
            let value = value.map_err(|error| PyValueError::new_err(format!("bind of `{name}`: {error}")))?;
            keywords.bind(&name, value);
        }
        Ok(Keywords(Arc::new(keywords)))
    }

    /// The same options, for the graph as it is written.
    fn unexpanded(&self) -> Self {
        Keywords(Arc::new(cli::Keywords::clone(&self.0).unexpanded()))
    }
}

impl Keywords {
    /// How long it takes to read an input with these options.
    pub(crate) fn length(&self, source: &Source) -> Length {
        if self.0.computes() { Length::Any } else { source.length() }
    }
}
