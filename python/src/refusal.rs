//! How work ends that has no result: as exceptions.

use std::panic::{AssertUnwindSafe, catch_unwind};

use nnef_flatten::Diagnostics;
use nnef_flatten::input::{Findings, Refusal};
use nnef_flatten::source::Sources;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(_native, Refused, PyValueError, "An input is refused; the argument is the findings as JSON.");

/// Findings as lines of JSON: errors first, then by their locations.
fn json(sources: &Sources, diagnostics: Diagnostics) -> String {
    let mut sorted = diagnostics.into_sorted();
    sorted.sort_by_key(|found| !found.is_error());
    let mut lines = Vec::new();
    for found in &sorted {
        // A vector in memory takes all bytes.
        let _ = found.write_json(&mut lines, sources);
    }
    String::from_utf8_lossy(&lines).into_owned()
}

/// Findings as JSON, most inputs have none, and the sources that they refer to.
pub(crate) fn told(findings: Findings) -> (String, Sources) {
    let Findings { sources, diagnostics, .. } = findings;
    let told = if diagnostics.is_empty() { String::new() } else { json(&sources, diagnostics) };
    (told, sources)
}

/// The exception of a refusal.
fn exception(refusal: Refusal) -> PyErr {
    match refusal {
        Refusal::Found(findings) => Refused::new_err(told(*findings).0),
        Refusal::Io { name, error } => match error.raw_os_error() {
            // With a number, the exception is of the class that fits, such as FileNotFoundError.
            Some(number) => {
                let text = error.to_string();
                let text = text.split(" (os error").next().unwrap_or_default().to_owned();
                PyOSError::new_err((number, text, name))
            }
            None => PyOSError::new_err(format!("{name}: {error}")),
        },
        other => PyValueError::new_err(other.to_string()),
    }
}

/// Does work without the interpreter's lock. A panic, which is a mistake in this program, becomes a `RuntimeError`.
pub(crate) fn work<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Refusal> + Send) -> PyResult<T> {
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    match done {
        Ok(result) => result.map_err(exception),
        Err(payload) => {
            let told = payload.downcast_ref::<&str>().copied();
            let told = told.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown");
            Err(PyRuntimeError::new_err(format!("internal error, please report it: {told}")))
        }
    }
}

/// Panics, so that tests can see what becomes of it.
#[expect(clippy::panic, reason = "it is what this is for")]
#[pyfunction(name = "_panic")]
pub(crate) fn panic(py: Python<'_>) -> PyResult<()> {
    work(py, || std::panic::panic_any("a test of panics"))
}
