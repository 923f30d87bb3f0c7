//! Reading and writing files of tensors, and the data of a model's variables.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::diagnostics::{Code, Diagnostic, ReadLimit};
use crate::eval::{Boundary, EvalError};
use crate::graph::Graph;
use crate::input::model_run::named_values;
use crate::onnx::ModelInput;
use crate::sink::{ByteSink, OutputLimit};
use crate::source::json::parse;
use crate::source::{Span, without_mark};
use crate::tensor::json::Misfit;
use crate::tensor::value::{NamedValues, RunValue, from_json, members, to_json};
use crate::tensor::{Tensor, TensorError, json, npy, npz};

use super::args::RunTo;
use super::io;
use super::limits::RunLimits;
use super::outcome::Failure;

/// The file of outputs, if it is not standard output, their form, and the most bytes of them.
pub(crate) type Written<'p> = (Option<&'p Path>, RunTo, OutputLimit);

/// Tensors by name.
pub(crate) type NamedTensors = Vec<(String, Tensor)>;

/// The limit on a file of tensors: a text, or arrays.
fn of_tensors(longest: u64, most: u64) -> ReadLimit {
    if most > longest { ReadLimit::arrays(most) } else { longest.into() }
}

/// Reads tensors for the inputs of a graph. The bytes determine the format; an array without a name is the
/// value of the only input. Members of an archive that belong to no input are not read.
pub(crate) fn read(path: &Path, graph: &Graph, limits: &RunLimits) -> Result<NamedTensors, Failure> {
    let (longest, most) = (limits.text(), limits.arrays());
    let (file, bytes) = io::read_bytes(path, of_tensors(longest, most))?;
    let refuse = |code: Code, message: String| io::refused(file.clone(), "", Span::default(), code, message);
    let unfit = |error: TensorError| refuse(Code::TensorFile, error.0);
    if npz::is_npz(&bytes) {
        let boundary = Boundary::new(graph);
        let read = npz::read_some(&bytes, most, &mut |name| Ok::<_, EvalError>(boundary.input(name)?.is_some()));
        return read.map_err(|error| match error.code {
            Code::EvalInput => refuse(error.code, error.message),
            _ => refuse(Code::TensorFile, error.message),
        });
    }
    if !npy::is_npy(&bytes) {
        return read_json(file, &bytes, longest, json::read);
    }
    match graph.inputs[..] {
        [input] => Ok(vec![(graph.tensor_name(input), Tensor::from_npy(&bytes).map_err(unfit)?)]),
        ref inputs => {
            let message = format!("the file has one array, and the graph {} inputs: use .npz or JSON", inputs.len());
            Err(refuse(Code::TensorFile, message))
        }
    }
}

/// The value of an option: JSON, or the path of a file with an array.
///
/// # Errors
///
/// The text is neither, or the file cannot be read.
pub(crate) fn value(name: &str, text: &str, limits: &RunLimits) -> Result<Tensor, Failure> {
    let path = Path::new(text);
    let refuse = |message: String| Failure::Message(format!("--bind of `{name}`: {message}"));
    if !path.is_file() {
        let read = parse(text)
            .map_err(|error| error.message)
            .and_then(|json| json::tensor(&json).or_else(|(_, wrong)| json::texts(&json).ok_or(wrong)));
        return read.map_err(|message| refuse(format!("`{text}` is neither a file nor a JSON value: {message}")));
    }
    let (file, bytes) = io::read_bytes(path, ReadLimit::arrays(limits.arrays()))?;
    npy::exact::read(&bytes).map_err(|error| {
        let message = format!("--bind of `{name}`: {}", error.0);
        io::refused(file, "", Span::default(), Code::TensorFile, message)
    })
}

/// Reads values for the inputs of a model of ONNX, as [`read`]. Arrays of NumPy keep the types of their items, JSON is
/// read in the types of the inputs.
pub(crate) fn read_model(path: &Path, inputs: &[ModelInput], limits: &RunLimits) -> Result<NamedValues, Failure> {
    let (longest, most) = (limits.text(), limits.arrays());
    let (file, bytes) = io::read_bytes(path, of_tensors(longest, most))?;
    let refuse = |message: String| io::refused(file.clone(), "", Span::default(), Code::TensorFile, message);
    let unfit = |error: TensorError| refuse(error.0);
    if npz::is_npz(&bytes) {
        let arrays = npz::read_exact(&bytes, most, &mut |_| Ok::<_, TensorError>(true)).map_err(unfit)?;
        return named_values(arrays, inputs).map_err(unfit);
    }
    if npy::is_npy(&bytes) {
        let wanted: Vec<&ModelInput> = inputs.iter().filter(|input| !input.has_default).collect();
        return match wanted[..] {
            [input] => Ok(vec![(input.name.clone(), npy::exact::read(&bytes).map_err(unfit)?.into())]),
            _ => {
                Err(refuse(format!("the file has one array, and the model {} inputs: use .npz or JSON", inputs.len())))
            }
        };
    }
    let form = |name: &str| inputs.iter().find(|input| input.name == name).and_then(|input| input.form.clone());
    read_json(file, &bytes, longest, |text| from_json(text, &form))
}

/// Reads values from the text of a file.
fn read_json<T>(
    file: String,
    bytes: &[u8],
    longest: u64,
    read: impl FnOnce(&str) -> Result<Vec<(String, T)>, Misfit>,
) -> Result<Vec<(String, T)>, Failure> {
    if bytes.len() as u64 > longest {
        return Err(io::refuse(file, String::new(), |at| Diagnostic::too_large(at, longest)));
    }
    let text = String::from_utf8_lossy(bytes);
    let text = without_mark(&text);
    read(text).map_err(|(at, message)| io::refused(file, text, at, Code::TensorFile, message))
}

/// The extensions of files of tensors.
const ENDINGS: &[(&str, RunTo)] = &[("json", RunTo::Json), ("npz", RunTo::Npz), ("npy", RunTo::Npy)];

/// The format of a file of tensors: from `--to`, or from its extension.
///
/// # Errors
///
/// The extension is not known.
pub(crate) fn form(path: Option<&Path>, to: Option<RunTo>) -> Result<RunTo, Failure> {
    let meaning =
        |ending: &str| ENDINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(ending)).map(|(_, form)| *form);
    match (to, path) {
        (Some(to), _) => Ok(to),
        (None, Some(path)) => {
            let found = io::by_ending(path, meaning, ENDINGS.iter().map(|(ending, _)| ending))?;
            Ok(found.unwrap_or(RunTo::Json))
        }
        (None, None) => Ok(RunTo::Json),
    }
}

/// Refuses to write binary data to a terminal.
///
/// # Errors
///
/// Standard output is a terminal, and the format is binary.
pub(crate) fn fits_stdout(path: Option<&Path>, to: RunTo) -> Result<(), Failure> {
    if path.is_some() || to == RunTo::Json || !std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure::Message("arrays of NumPy are not written to a terminal: name a file with -o".to_owned()))
}

/// Writes named tensors to a file, or to standard output: scalars in 32 bits, integers in 64.
pub(crate) fn write(tensors: &[(String, Arc<Tensor>)], written: Written) -> Result<(), Failure> {
    let named = || tensors.iter().map(|(name, tensor)| (name.as_str(), &**tensor));
    write_as(tensors, written, &|out| json::write(named(), json::Style::Graph, out), npy::write)
}

/// Writes the outputs of a model to a file, or to standard output, in their types.
pub(crate) fn write_exact(values: &[(String, RunValue)], written: Written) -> Result<(), Failure> {
    // An output that a model lists twice is one value.
    let mut names = FxHashSet::default();
    let values: Vec<_> = values.iter().filter(|(name, _)| names.insert(name.as_str())).collect();
    let arrays: Vec<_> = values.iter().flat_map(|(name, value)| members(name, value)).collect();
    let named = || values.iter().map(|(name, value)| (name.as_str(), value));
    write_as(&arrays, written, &|out| to_json(named(), out), npy::exact::write)
}

/// Writes arrays with a function for each, or JSON.
fn write_as(
    arrays: &[(String, Arc<Tensor>)],
    (path, to, limit): Written,
    json: &dyn Fn(&mut dyn Write) -> std::io::Result<()>,
    array: fn(&Tensor) -> Vec<u8>,
) -> Result<(), Failure> {
    let named = || arrays.iter().map(|(name, tensor)| (name.as_str(), &**tensor));
    let bytes = match (to, arrays) {
        (RunTo::Json, _) => None,
        (RunTo::Npz, _) => Some(npz::write_as(named(), array).map_err(|error| Failure::Message(error.0))?),
        (RunTo::Npy, [(_, tensor)]) => Some(array(tensor)),
        (RunTo::Npy, arrays) => {
            let count = arrays.len();
            return Err(Failure::Message(format!(
                "an .npy file has one array, and there are {count}: use .npz or JSON"
            )));
        }
    };
    let mut content = |out: &mut dyn ByteSink| match &bytes {
        Some(bytes) => out.write_all(bytes),
        None => json(&mut *out),
    };
    match path {
        Some(path) => io::write_file(path, limit, &mut content),
        None => io::write_stdout(limit, &mut content),
    }
}
