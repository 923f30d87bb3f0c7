//! The verbs: what is done with an input.

use nnef_flatten::input::Refusal;
use nnef_flatten::source::Sources;
use nnef_flatten::write::Notation;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::graph::Graph;
use crate::refusal::{refused, told};
use crate::source::{Keywords, Source};
use crate::work::{Length, work};

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
    let (length, source, keywords) = (keywords.length(source), source.clone(), keywords.clone());
    let (notation, flat, told) = work(py, length, move || {
        let input = keywords.0.open(source.given()?, None)?;
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

/// Reads an input as a graph, with options that expand nothing. Returns its notation, the graph and the findings.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, source: &Source, keywords: &Keywords) -> PyResult<(&'static str, Graph, String)> {
    let (length, source, keywords) = (keywords.length(source), source.clone(), keywords.clone());
    let (notation, graph, findings) = work(py, length, move || {
        let input = keywords.0.open(source.given()?, Some("json"))?;
        let notation = input.notation();
        input.flatten().map(|(graph, findings)| (notation, graph, findings))
    })?;
    let (told, sources) = told(findings);
    Ok((notation, Graph::new(graph, sources), told))
}

/// Checks an input completely. Returns the findings.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, source: &Source, keywords: &Keywords) -> PyResult<String> {
    let (length, source, keywords) = (keywords.length(source), source.clone(), keywords.clone());
    let findings =
        work(py, length, move || match keywords.0.open_to_look(source.given()?).and_then(|input| input.check()) {
            Err(Refusal::Found(findings)) => Ok(*findings),
            findings => findings,
        })?;
    Ok(told(findings).0)
}

/// Flattens an input and writes it in an output notation. Returns the text or the bytes, and the findings.
#[pyfunction]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    source: &Source,
    keywords: &Keywords,
    to: String,
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let is_binary = Notation::named(&to).is_some_and(Notation::is_binary);
    let (length, source, keywords) = (keywords.length(source), source.clone(), keywords.clone());
    let (bytes, findings) = work(py, length, move || {
        let mut bytes = Vec::new();
        let findings = keywords.0.open(source.given()?, Some(&to))?.print(&to, &mut bytes)?;
        Ok((bytes, findings))
    })?;
    let made = if is_binary { PyBytes::new(py, &bytes).into_any() } else { text(py, &bytes).into_any() };
    Ok((made, told(findings).0))
}

/// The statistics of the flat graph of an input, as JSON.
#[pyfunction]
pub(crate) fn statistics<'py>(py: Python<'py>, source: &Source, keywords: &Keywords) -> PyResult<Bound<'py, PyString>> {
    let (source, keywords) = (source.clone(), keywords.clone());
    let bytes = work(py, Length::Any, move || {
        let mut bytes = Vec::new();
        keywords.0.open(source.given()?, None)?.statistics(&mut bytes)?;
        Ok(bytes)
    })?;
    Ok(text(py, &bytes))
}

/// Flattens an input and writes the result to the path of the options, as the command does. Returns what the options ask to
/// be told, and the findings, as lines of JSON.
#[pyfunction]
pub(crate) fn write(py: Python<'_>, source: &Source, keywords: &Keywords) -> PyResult<String> {
    let (source, keywords) = (source.clone(), keywords.clone());
    let saved = work(py, Length::Any, move || keywords.0.save(source.given()?))?;
    let messages = String::from_utf8_lossy(&saved.messages).into_owned();
    if saved.accepted { Ok(messages) } else { Err(refused(messages)) }
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
    output: Option<String>,
) -> PyResult<(Arrays<'py>, String)> {
    let (source, keywords) = (source.clone(), keywords.clone());
    let (outputs, findings) =
        work(py, Length::Any, move || keywords.0.open(source.given()?, output.as_deref())?.evaluate_arrays(&inputs))?;
    let outputs = outputs.into_iter().map(|(name, array)| (name, PyBytes::new(py, &array))).collect();
    Ok((outputs, told(findings).0))
}

/// Compares two inputs, each with its options; others say what is told. Returns the changes as lines of JSON and as text, and
/// the findings about both.
#[pyfunction]
pub(crate) fn diff<'py>(
    py: Python<'py>,
    a: (Bound<'py, Source>, Bound<'py, Keywords>),
    b: (Bound<'py, Source>, Bound<'py, Keywords>),
    keywords: &Keywords,
) -> PyResult<(Bound<'py, PyString>, String, String)> {
    let [a, b] = [a, b].map(|(source, keywords)| (source.get().clone(), keywords.get().clone()));
    let keywords = keywords.clone();
    let (objects, shown, findings) = work(py, Length::Any, move || {
        let inputs = [(a.0.given()?, &*a.1.0), (b.0.given()?, &*b.1.0)];
        let (difference, findings) = keywords.0.diff(inputs)?;
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
