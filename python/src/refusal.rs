//! How work ends that has no result: as exceptions.

use nnef_flatten::Diagnostics;
use nnef_flatten::input::{Findings, Refusal};
use nnef_flatten::source::Sources;
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::work::{Length, work};

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
pub(crate) fn exception(refusal: Refusal) -> PyErr {
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

/// Messages of what was written, as the argument of the exception of a refusal.
pub(crate) fn refused(lines: String) -> PyErr {
    Refused::new_err(lines)
}

/// Panics, so that tests can see what becomes of it.
#[expect(clippy::panic, reason = "it is what this is for")]
#[pyfunction(name = "_panic")]
pub(crate) fn panic(py: Python<'_>) -> PyResult<()> {
    work(py, Length::Short, || std::panic::panic_any("a test of panics"))
}
