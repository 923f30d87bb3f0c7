//! The verbs: what is done with an input.

use nnef_flatten::input::Refusal;
use nnef_flatten::source::Sources;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::graph::Graph;
use crate::refusal::{told, work};
use crate::source::{Keywords, Source};

/// What becomes of an input.
enum Flat {
    Graph(Box<nnef_flatten::Graph>, Sources),
    Model(Vec<u8>),
}

/// Flattens an input. Returns its notation, the flat graph, or the bytes of the flat model of ONNX, and the findings.
#[pyfunction]
pub(crate) fn flatten<'py>(
    py: Python<'py>,
    source: &Source,
    keywords: &Keywords,
) -> PyResult<(&'static str, Bound<'py, PyAny>, String)> {
    let (notation, flat, told) = work(py, || {
        let input = keywords.0.open(source.given(), None)?;
        let notation = input.notation();
        if input.is_edited() {
            let mut bytes = Vec::new();
            let findings = input.print(notation, &mut bytes)?;
            return Ok((notation, Flat::Model(bytes), told(findings).0));
        }
        let (graph, findings) = input.flatten()?;
        let (told, sources) = told(findings);
        Ok((notation, Flat::Graph(Box::new(graph), sources), told))
    })?;
    let flat = match flat {
        Flat::Model(bytes) => PyBytes::new(py, &bytes).into_any(),
        Flat::Graph(graph, sources) => Bound::new(py, Graph::new(*graph, sources))?.into_any(),
    };
    Ok((notation, flat, told))
}

/// Reads an input as the graph that is written in it: nothing is expanded. Returns the graph and the findings.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, source: &Source, keywords: &Keywords) -> PyResult<(Graph, String)> {
    let (graph, findings) = work(py, || keywords.0.clone().unexpanded().open(source.given(), Some("json"))?.flatten())?;
    let (told, sources) = told(findings);
    Ok((Graph::new(graph, sources), told))
}

/// Checks an input completely. Returns the findings.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, source: &Source, keywords: &Keywords) -> PyResult<String> {
    let findings = work(py, || match keywords.0.open(source.given(), Some("")).and_then(|input| input.check()) {
        Err(Refusal::Found(findings)) => Ok(*findings),
        findings => findings,
    })?;
    Ok(told(findings).0)
}

/// Flattens an input and writes it in an output notation. Returns the bytes and the findings.
#[pyfunction]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    source: &Source,
    keywords: &Keywords,
    to: &str,
) -> PyResult<(Bound<'py, PyBytes>, String)> {
    let (bytes, findings) = work(py, || {
        let mut bytes = Vec::new();
        let findings = keywords.0.open(source.given(), Some(to))?.print(to, &mut bytes)?;
        Ok((bytes, findings))
    })?;
    Ok((PyBytes::new(py, &bytes), told(findings).0))
}

/// Arrays by name, in the format `.npy`.
type Arrays<'py> = Vec<(String, Bound<'py, PyBytes>)>;

/// Evaluates an input on arrays; `output` is the output notation that the options are for, if it is not that of the
/// input. Returns the outputs and the findings.
#[pyfunction]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    source: &Source,
    keywords: &Keywords,
    inputs: Vec<(String, Vec<u8>)>,
    output: Option<&str>,
) -> PyResult<(Arrays<'py>, String)> {
    let (outputs, findings) = work(py, || keywords.0.open(source.given(), output)?.evaluate_arrays(&inputs))?;
    let outputs = outputs.into_iter().map(|(name, array)| (name, PyBytes::new(py, &array))).collect();
    Ok((outputs, told(findings).0))
}

/// Compares two inputs. Returns the changes as lines of JSON and as text, and the findings about both.
#[pyfunction]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    a: &Source,
    b: &Source,
    keywords: &Keywords,
) -> PyResult<(Bound<'py, PyString>, String, String)> {
    let (objects, shown, findings) = work(py, || {
        let (difference, findings) = keywords.0.diff([a.given(), b.given()])?;
        let mut objects = Vec::new();
        // A vector in memory takes all bytes.
        let _ = difference.write_json(&mut objects);
        Ok((objects, difference.to_string(), findings))
    })?;
    Ok((text(py, &objects), shown, findings.map(|findings| told(findings).0).concat()))
}

/// The text of bytes that are UTF-8.
pub(crate) fn text<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyString> {
    PyString::new(py, &String::from_utf8_lossy(bytes))
}
