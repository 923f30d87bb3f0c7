//! `tract_core_scan`: a fragment that is run once for each step along an axis.
//!
//! `scan` has `(name, tensor, axis, chunk)` for inputs of which a step sees a section, `full` has
//! `(name, tensor)` for those it sees whole, `state` has `(name, initial, result)` for what one
//! step hands to the next, and `output` has `(result, "full" or "last", axis, chunk)`. Sections
//! are taken from the end where the chunk is negative.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::call::{Call, Outcome};
use super::fault::Fault;
use super::sections::{concatenated, section};
use crate::diagnostics::Code;
use crate::graph::{Graph, KeptFragment, TensorId, Value};
use crate::tensor::Tensor;

/// An input that steps see in sections.
struct Scanned {
    input: TensorId,
    tensor: Arc<Tensor>,
    axis: usize,
    chunk: i64,
}

/// Something that steps hand on.
struct State {
    input: TensorId,
    value: Arc<Tensor>,
    result: usize,
}

/// What is collected from a result.
struct Collected {
    result: usize,
    axis: usize,
    chunk: i64,
    last: bool,
    parts: Vec<Tensor>,
}

fn malformed(what: &str) -> Fault {
    Fault::argument(format!("`{what}` of `tract_core_scan` is malformed"))
}

/// The tuples of an argument.
fn tuples<'a>(call: &Call<'a>, name: &str) -> Result<Vec<&'a [Value]>, Fault> {
    let tuple = |item: &'a Value| match item {
        Value::Tuple(items) | Value::Array(items) => Ok(&items[..]),
        _ => Err(malformed(name)),
    };
    match call.attribute(name) {
        None => Ok(Vec::new()),
        Some(Value::Integers(items)) if items.is_empty() => Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(tuple).collect(),
        Some(_) => Err(malformed(name)),
    }
}

fn text<'v>(value: &'v Value, name: &str) -> Result<&'v str, Fault> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(malformed(name)),
    }
}

/// The flat body.
fn body<'a>(call: &Call<'a>) -> Result<&'a Graph, Fault> {
    let name = call.string("body")?;
    let found = call.run.outer.fragments.iter().find_map(|fragment| match fragment {
        KeptFragment::Flat(_, body) if body.text_of(body.name) == name => Some(&**body),
        _ => None,
    });
    found.ok_or_else(|| Fault::new(Code::NotEvaluated, format!("the body `{name}` of a scan is not flat")))
}

fn input(body: &Graph, name: &str) -> Result<TensorId, Fault> {
    let found = body.inputs.iter().find(|input| body.tensor_name(**input) == name);
    found.copied().ok_or_else(|| Fault::argument(format!("the body of a scan has no parameter `{name}`")))
}

fn result(body: &Graph, name: &str) -> Result<usize, Fault> {
    let found = body.outputs.iter().position(|output| body.tensor_name(*output) == name);
    found.ok_or_else(|| Fault::argument(format!("the body of a scan has no result `{name}`")))
}

/// An axis and a chunk, which is not 0.
fn step(call: &Call, axis: &Value, chunk: &Value, name: &str) -> Result<(usize, i64), Fault> {
    let axis = usize::try_from(call.int_of(name, axis)?).map_err(|_| malformed(name))?;
    let chunk = call.int_of(name, chunk)?;
    if chunk == 0 || chunk == i64::MIN { Err(malformed(name)) } else { Ok((axis, chunk)) }
}

fn scanned(call: &Call, body: &Graph) -> Result<Vec<Scanned>, Fault> {
    let read = |items: &[Value]| match items {
        [name, tensor, axis, chunk] => {
            let (axis, chunk) = step(call, axis, chunk, "scan")?;
            let tensor = call.tensor_of(tensor)?;
            call.check_axis(axis as i64, tensor.rank())?;
            Ok(Scanned { input: input(body, text(name, "scan")?)?, tensor, axis, chunk })
        }
        _ => Err(malformed("scan")),
    };
    tuples(call, "scan")?.into_iter().map(read).collect()
}

fn states(call: &Call, body: &Graph) -> Result<Vec<State>, Fault> {
    let read = |items: &[Value]| match items {
        [name, initial, update] => Ok(State {
            input: input(body, text(name, "state")?)?,
            value: call.tensor_of(initial)?,
            result: result(body, text(update, "state")?)?,
        }),
        _ => Err(malformed("state")),
    };
    tuples(call, "state")?.into_iter().map(read).collect()
}

fn outputs(call: &Call, body: &Graph) -> Result<Vec<Collected>, Fault> {
    let read = |items: &[Value]| match items {
        [name, kind, axis, chunk] => {
            let (axis, chunk) = step(call, axis, chunk, "output")?;
            let last = match text(kind, "output")? {
                "full" => false,
                "last" => true,
                _ => return Err(malformed("output")),
            };
            Ok(Collected { result: result(body, text(name, "output")?)?, axis, chunk, last, parts: Vec::new() })
        }
        _ => Err(malformed("output")),
    };
    tuples(call, "output")?.into_iter().map(read).collect()
}

/// The number of steps, on which all scanned inputs have to agree.
fn steps(scanned: &[Scanned]) -> Result<usize, Fault> {
    let count = |scanned: &Scanned| {
        let (extent, chunk) = (scanned.tensor.shape()[scanned.axis], scanned.chunk.unsigned_abs() as usize);
        (extent % chunk == 0).then_some(extent / chunk)
    };
    let counts: Option<Vec<usize>> = scanned.iter().map(count).collect();
    match counts.as_deref() {
        Some([first, rest @ ..]) if rest.iter().all(|count| count == first) => Ok(*first),
        Some([]) => Err(Fault::argument("a scan without scanned inputs does not say how many steps it has")),
        _ => Err(Fault::shapes("the scanned inputs of a scan do not have the same number of whole steps")),
    }
}

/// Runs the body for each step.
pub fn scan(call: &Call) -> Outcome {
    let body = body(call)?;
    if call.value("skip").is_some() && call.int("skip")? != 0 {
        return Err(Fault::new(Code::NotEvaluated, "a scan that skips steps is not evaluated"));
    }
    let scanned = scanned(call, body)?;
    let (mut states, mut outputs) = (states(call, body)?, outputs(call, body)?);
    let mut whole = FxHashMap::default();
    for items in tuples(call, "full")? {
        let [name, tensor] = items else { return Err(malformed("full")) };
        whole.insert(input(body, text(name, "full")?)?, call.tensor_of(tensor)?);
    }
    let count = steps(&scanned)?;
    for step in 0..count {
        let mut inputs = whole.clone();
        inputs.extend(states.iter().map(|state| (state.input, Arc::clone(&state.value))));
        for scanned in &scanned {
            let chunk = scanned.chunk.unsigned_abs() as usize;
            let place = if scanned.chunk < 0 { count - 1 - step } else { step };
            let part = section(&scanned.tensor, scanned.axis, place * chunk, chunk);
            inputs.insert(scanned.input, Arc::new(part));
        }
        let run = call.run.inner(body, call.run.outer, inputs)?;
        let results = run.tensors(&body.outputs).map_err(|error| error.fault)?;
        for state in &mut states {
            state.value = Arc::clone(&results[state.result]);
        }
        for output in &mut outputs {
            if output.last {
                output.parts.clear();
            }
            let part = Tensor::clone(&results[output.result]);
            call.budget().room(&[part.len().saturating_mul(output.parts.len() + 1)])?;
            if output.axis >= part.rank() {
                return Err(malformed("output"));
            }
            output.parts.push(part);
        }
    }
    let gather = |mut output: Collected| {
        if output.chunk < 0 {
            output.parts.reverse();
        }
        concatenated(&output.parts, output.axis)
    };
    outputs.into_iter().map(gather).collect()
}
