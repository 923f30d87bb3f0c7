//! `tract_core_scan`: a fragment that runs once for each step along an axis.
//! [`crate::graph::scan`] describes the arguments.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::error::EvalError;
use super::eval_call::{Call, KernelResult};
use super::joined::concatenated;
use crate::diagnostics::Code;
use crate::graph::scan::{self, Scan};
use crate::graph::trips::{Condition, LoopStart, TripDomain, TripResults, walk};
use crate::graph::{Graph, TensorId, Value};
use crate::tensor::Tensor;

/// An input that is divided into sections, one for each step.
struct Scanned {
    input: TensorId,
    tensor: Arc<Tensor>,
    axis: usize,
    chunk: i64,
}

/// A recurrence: a value that one step passes to the next.
struct CarriedValue {
    input: TensorId,
    result: usize,
}

/// An output, collected from a result of the body.
struct CollectedOutput {
    result: usize,
    of: scan::Collected,
    parts: Vec<Tensor>,
}

/// The flat graph of the body.
fn body<'a>(call: &Call<'a>, name: &str) -> Result<&'a Graph, EvalError> {
    call.run.outer.flat_body(name, "a scan").map_err(|message| EvalError::new(Code::NotEvaluated, message))
}

fn input(body: &Graph, name: &str) -> Result<TensorId, EvalError> {
    let found = body.inputs.iter().find(|input| scan::is_named(name, &body.tensor_name(**input)));
    found.copied().ok_or_else(|| EvalError::argument(format!("the body of a scan has no parameter `{name}`")))
}

fn result(body: &Graph, name: &str) -> Result<usize, EvalError> {
    let found = body.outputs.iter().position(|output| scan::is_named(name, &body.tensor_name(*output)));
    found.ok_or_else(|| EvalError::argument(format!("the body of a scan has no result `{name}`")))
}

fn scanned(call: &Call, body: &Graph, of: &scan::Scanned<Value>) -> Result<Scanned, EvalError> {
    let tensor = call.tensor_of(&of.tensor)?;
    call.check_axis(of.axis as i64, tensor.rank())?;
    Ok(Scanned { input: input(body, &of.param)?, tensor, axis: of.axis, chunk: of.chunk })
}

fn state(body: &Graph, of: &scan::State<Value>) -> Result<CarriedValue, EvalError> {
    Ok(CarriedValue { input: input(body, &of.param)?, result: result(body, &of.result)? })
}

/// Runs the body for each step.
pub(crate) fn scan(call: &Call) -> KernelResult {
    let of = Scan::read(|place, name| call.value_at(place, name)).map_err(EvalError::argument)?;
    let body = body(call, &of.body)?;
    if of.skip != 0 {
        return Err(EvalError::new(Code::NotEvaluated, "the evaluation of a scan that skips steps is not supported"));
    }
    let scanned: Vec<Scanned> = of.scanned.iter().map(|of| scanned(call, body, of)).collect::<Result<_, _>>()?;
    let initial = of.states.iter().map(|of| call.tensor_of(&of.initial)).collect::<Result<_, _>>()?;
    let states: Vec<CarriedValue> = of.states.iter().map(|of| state(body, of)).collect::<Result<_, _>>()?;
    let collect =
        |of: scan::Collected| Ok(CollectedOutput { result: result(body, &of.result)?, of, parts: Vec::new() });
    let outputs: Vec<CollectedOutput> = of.outputs.iter().cloned().map(collect).collect::<Result<_, EvalError>>()?;
    let mut whole = FxHashMap::default();
    for (param, tensor) in &of.full {
        whole.insert(input(body, param)?, call.tensor_of(tensor)?);
    }
    let extents: Vec<usize> = scanned.iter().map(|scanned| scanned.tensor.shape()[scanned.axis]).collect();
    let count = scan::steps(&of.scanned, &extents).map_err(EvalError::shapes)?;
    let start = LoopStart::counted(count as i64, initial);
    let mut steps = ScanSteps { call, body, count, scanned, states, whole, outputs };
    walk(&mut steps, start)?;
    steps.outputs.into_iter().map(gathered).collect()
}

/// The steps of a scan, each of which evaluates the body.
struct ScanSteps<'c, 'a> {
    call: &'c Call<'a>,
    body: &'a Graph,
    count: usize,
    scanned: Vec<Scanned>,
    states: Vec<CarriedValue>,
    /// The inputs that are the same in each step.
    whole: FxHashMap<TensorId, Arc<Tensor>>,
    outputs: Vec<CollectedOutput>,
}

impl TripDomain for ScanSteps<'_, '_> {
    type Value = Arc<Tensor>;
    type Failure = EvalError;

    fn begin(&mut self, _: i64, active: Option<Arc<Tensor>>) -> Result<Option<Arc<Tensor>>, EvalError> {
        Ok(active)
    }

    fn body(&mut self, step: i64, states: Vec<Arc<Tensor>>) -> Result<TripResults<Arc<Tensor>>, EvalError> {
        let mut inputs = self.whole.clone();
        inputs.extend(self.states.iter().map(|state| state.input).zip(states));
        for scanned in &self.scanned {
            let (chunk, step) = (scanned.chunk.unsigned_abs() as usize, step as usize);
            let place = if scanned.chunk < 0 { self.count - 1 - step } else { step };
            let part = scanned.tensor.section(scanned.axis, place * chunk, chunk);
            inputs.insert(scanned.input, Arc::new(part));
        }
        let run = self.call.run.inner(self.body, self.call.run.outer, inputs)?;
        let results = run.tensors(&self.body.outputs)?;
        let states = self.states.iter().map(|state| state.result);
        let wanted = states.chain(self.outputs.iter().map(|output| output.result));
        let results = wanted.map(|result| Arc::clone(&results[result])).collect();
        Ok(TripResults::new(Condition::Known(true), results, self.states.len()))
    }

    fn collect(&mut self, items: Vec<Arc<Tensor>>, _: Option<&Arc<Tensor>>) -> Result<(), EvalError> {
        for (output, item) in self.outputs.iter_mut().zip(items) {
            if output.of.last {
                output.parts.clear();
            }
            self.call.budget().room(&[item.len().saturating_mul(output.parts.len() + 1)])?;
            output.parts.push(Tensor::clone(&item));
        }
        Ok(())
    }
}

/// What was collected, as a result of the scan.
fn gathered(mut output: CollectedOutput) -> Result<Tensor, EvalError> {
    if output.of.last
        && let Some(last) = output.parts.pop()
    {
        return Ok(last);
    }
    if output.of.reverse {
        output.parts.reverse();
    }
    concatenated(&output.parts, output.of.axis)
}
