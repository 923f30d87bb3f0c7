//! Operators with graphs: branches, loops, and functions of the items of sequences.

use std::rc::Rc;
use std::sync::Arc;

use super::body::RunBody;
use super::element::dtype_of;
use super::failure::RunFailure;
use super::flex::flex_attention;
use super::interpreter::{Interpreter, RunFrame};
use super::node_call::{NodeCall, logicals};
use super::scope::{Around, RunScope};
use crate::diagnostics::Code;
use crate::eval::EvalError;
use crate::graph::names::NameId;
use crate::graph::trips::{Condition, LoopStart, TripDomain, TripResults, walk};
use crate::onnx::model::{Extent, GraphProto, TypeForm, ValueInfo};
use crate::onnx::scan_form::{ScanForm, ScanSide, ScannedOperand, TripFeed, WITHOUT_BATCHES};
use crate::tensor::value::{RunValue, SLOT, TENSOR};
use crate::tensor::{Data, Tensor};

/// Where a node with graphs is.
pub(super) struct Control<'c, 'm> {
    pub(super) interpreter: &'c Interpreter<'m>,
    pub(super) scope: &'c RunScope<'c>,
    pub(super) frame: RunFrame<'c, 'm>,
}

/// The results of an operator with graphs.
pub(super) type ControlResult = Result<Vec<RunValue>, RunFailure>;

/// The operators with graphs.
pub(super) const CONTROL: &[(&str, &str, ControlKernel)] = &[
    ("", "If", branch),
    ("", "Loop", repeat),
    ("", "Scan", scan),
    ("", "SequenceMap", sequence_map),
    ("ai.onnx.preview", "FlexAttention", flex_attention),
];

/// Runs an operator with graphs.
pub(super) type ControlKernel = for<'c, 'm> fn(&Control<'c, 'm>, &NodeCall<'c, 'm>) -> ControlResult;

impl<'m> Control<'_, 'm> {
    /// The graph of the node in an attribute.
    pub(super) fn graph(&self, call: &NodeCall<'_, 'm>, name: &str) -> Result<PlacedGraph<'m>, RunFailure> {
        let (graph, handed_on) = call.attributes.graph(name)?;
        Ok(PlacedGraph { graph, body: self.interpreter.body_of(graph)?, handed_on })
    }

    /// Runs a graph on values of its inputs.
    pub(super) fn run(&self, of: &PlacedGraph<'m>, values: Vec<RunValue>) -> ControlResult {
        let inputs = &of.body.inputs;
        if values.len() != inputs.len() {
            let message = format!("the graph has {} inputs, not {}", inputs.len(), values.len());
            return Err(RunFailure::new(Code::EvalArgument, message));
        }
        let given: Vec<(NameId, Option<RunValue>)> = inputs.iter().copied().zip(values.into_iter().map(Some)).collect();
        let around = Around::Graph { scope: self.scope, handed_on: of.handed_on };
        self.interpreter.body(&of.body, given, around, self.frame)
    }
}

/// A graph where it runs.
pub(super) struct PlacedGraph<'m> {
    pub(super) graph: &'m GraphProto,
    pub(super) body: Rc<RunBody<'m>>,
    /// How many functions were given it by the function around them.
    handed_on: usize,
}

fn condition(value: &RunValue) -> Result<bool, EvalError> {
    let RunValue::Tensor(tensor) = value else { return Err(EvalError::argument("the condition is not a tensor")) };
    match logicals(tensor)? {
        [condition] => Ok(*condition),
        items => Err(EvalError::shapes(format!("the condition has {} items, not one", items.len()))),
    }
}

fn branch<'c, 'm>(at: &Control<'c, 'm>, call: &NodeCall<'c, 'm>) -> ControlResult {
    let name = if condition(call.value(0)?)? { "then_branch" } else { "else_branch" };
    at.run(&at.graph(call, name)?, Vec::new())
}

/// Values of each trip, which become one tensor with a new axis.
struct CollectedTrips<'m> {
    declared: Option<&'m ValueInfo>,
    side: ScanSide,
    parts: Vec<Tensor>,
}

impl<'m> CollectedTrips<'m> {
    fn new(declared: Option<&'m ValueInfo>, side: ScanSide) -> Self {
        CollectedTrips { declared, side, parts: Vec::new() }
    }

    fn push(&mut self, value: RunValue, call: &NodeCall) -> Result<(), EvalError> {
        let RunValue::Tensor(tensor) = value else {
            return Err(EvalError::argument("a value that is collected is not a tensor"));
        };
        let rank = tensor.rank() + 1;
        let axis = call.axis(self.side.axis, rank)?;
        // It counts as long as the loop runs.
        call.budget.memory(tensor.weight().saturating_add(TENSOR), "what a loop collects")?;
        self.parts.push(tensor.unsqueezed(axis));
        Ok(())
    }

    fn tensor(self, call: &NodeCall) -> Result<RunValue, EvalError> {
        let CollectedTrips { declared, side, mut parts } = self;
        if side.reverse {
            parts.reverse();
        }
        let Some(first) = parts.first() else { return empty(declared, side.axis, call) };
        let axis = call.axis(side.axis, first.rank())?;
        let parts: Vec<&Tensor> = parts.iter().collect();
        call.budget
            .memory(parts.iter().map(|part| part.len()).fold(0, usize::saturating_add), "what a loop collects")?;
        let joined = Tensor::joined(&parts, axis);
        Ok(joined.ok_or_else(|| call.misfit("values of different trips differ in shape or type"))?.into())
    }
}

/// The tensor without trips: of the declared type, unknown extents are 0.
fn empty(declared: Option<&ValueInfo>, axis: i64, call: &NodeCall) -> Result<RunValue, EvalError> {
    let unknown = || call.refused("there are no trips, and the type of what would be collected is not declared");
    let TypeForm::Tensor(ty) = &declared.and_then(|info| info.ty.as_ref()).ok_or_else(unknown)?.form else {
        return Err(unknown());
    };
    let dtype = ty.element.and_then(dtype_of).ok_or_else(unknown)?;
    let extent = |extent: &Extent| match extent {
        Extent::Value(extent) => usize::try_from(*extent).unwrap_or(0),
        Extent::Unknown | Extent::Symbol(_) => 0,
    };
    let mut shape: Vec<usize> =
        ty.shape.iter().flat_map(|shape| shape.dims.iter().map(|dim| extent(&dim.extent))).collect();
    let axis = call.axis(axis, shape.len() + 1)?;
    shape.insert(axis, 0);
    Ok(call.made(&shape, Data::zeros(dtype, 0))?.into())
}

/// The trips of a loop, each of which runs a graph.
struct RunTrips<'t, 'c, 'm> {
    at: &'t Control<'c, 'm>,
    call: &'t NodeCall<'c, 'm>,
    body: &'t PlacedGraph<'m>,
    feed: TripFeed<Arc<Tensor>>,
    collected: Vec<CollectedTrips<'m>>,
}

impl TripDomain for RunTrips<'_, '_, '_> {
    type Value = RunValue;
    type Failure = RunFailure;

    fn begin(&mut self, _: i64, active: Option<RunValue>) -> Result<Option<RunValue>, RunFailure> {
        if let TripFeed::Numbers = self.feed {
            self.call.budget.work(1)?;
        }
        Ok(active)
    }

    fn body(&mut self, trip: i64, states: Vec<RunValue>) -> Result<TripResults<RunValue>, RunFailure> {
        let (call, count) = (self.call, states.len());
        let TripFeed::Items(operands, trips) = &self.feed else {
            let index = RunValue::from(Tensor::integers(&[], vec![trip]).map_err(EvalError::from)?);
            let truth = RunValue::from(Tensor::logicals(&[], vec![true]).map_err(EvalError::from)?);
            let mut results = self.at.run(self.body, [index, truth].into_iter().chain(states).collect())?;
            if results.is_empty() {
                return Err(call.refused("the graph has no condition").into());
            }
            let goes_on = condition(&results.remove(0))?;
            return Ok(TripResults::new(Condition::Known(goes_on), results, count));
        };
        let slice = |of: &ScannedOperand<Arc<Tensor>>| {
            let length = of.tensor.shape()[of.axis];
            call.budget.work((of.tensor.len() / length.max(1)) as u64)?;
            let index = usize::try_from(of.side.item(trip, *trips)).unwrap_or(usize::MAX);
            of.tensor.element(of.axis, index).map(RunValue::from).ok_or_else(|| call.misfit("there is no such slice"))
        };
        let slices = operands.iter().map(slice).collect::<Result<Vec<_>, EvalError>>()?;
        let results = self.at.run(self.body, states.into_iter().chain(slices).collect())?;
        Ok(TripResults::new(Condition::Known(true), results, count))
    }

    fn collect(&mut self, items: Vec<RunValue>, _: Option<&RunValue>) -> Result<(), RunFailure> {
        for (into, value) in self.collected.iter_mut().zip(items) {
            into.push(value, self.call)?;
        }
        Ok(())
    }
}

impl RunTrips<'_, '_, '_> {
    /// The results of a loop: its states, and what was collected.
    fn walked(mut self, start: LoopStart<RunValue>) -> ControlResult {
        let states = walk(&mut self, start)?;
        let collected = self.collected.into_iter().map(|of| of.tensor(self.call)).collect::<Result<Vec<_>, _>>()?;
        Ok(states.into_iter().chain(collected).collect())
    }
}

/// Repeats a graph as long as its condition holds, at most the number of trips.
fn repeat<'c, 'm>(at: &Control<'c, 'm>, call: &NodeCall<'c, 'm>) -> ControlResult {
    let most = call.optional_single(0)?;
    let condition = Condition::Known(call.given(1).map(condition).transpose()?.unwrap_or(true));
    let body = at.graph(call, "body")?;
    let states = (2..call.count()).map(|i| call.value(i).cloned()).collect::<Result<Vec<_>, _>>()?;
    let collected = body.graph.outputs.iter().skip(1 + states.len());
    let collected = collected.map(|output| CollectedTrips::new(Some(output), ScanSide::default())).collect();
    RunTrips { at, call, body: &body, feed: TripFeed::Numbers, collected }.walked(LoopStart { most, condition, states })
}

/// Runs a graph on the slices of its scanned operands.
fn scan<'c, 'm>(at: &Control<'c, 'm>, call: &NodeCall<'c, 'm>) -> ControlResult {
    if call.version < WITHOUT_BATCHES {
        return scan_of_batches(at, call);
    }
    let operands = (0..call.count()).map(|i| call.value(i).cloned()).collect::<Result<Vec<_>, _>>()?;
    scanned(at, call, &at.graph(call, "body")?, operands, None)
}

/// Runs a graph on slices, at most a number of them.
fn scanned<'c, 'm>(
    at: &Control<'c, 'm>,
    call: &NodeCall<'c, 'm>,
    body: &PlacedGraph<'m>,
    mut states: Vec<RunValue>,
    most: Option<usize>,
) -> ControlResult {
    let form = ScanForm::read(call.int_or("num_scan_inputs", 0)?, states.len(), |name| call.ints(name))?;
    let form = form.ok_or_else(|| call.refused("there are too few operands"))?;
    let mut operands = Vec::new();
    for (input, side) in states.split_off(form.states).into_iter().zip(&form.inputs) {
        let RunValue::Tensor(tensor) = input else {
            return Err(call.refused("what is scanned is not a tensor").into());
        };
        operands.push(ScannedOperand { axis: call.axis(side.axis, tensor.rank())?, side: *side, tensor });
    }
    let length = |of: &ScannedOperand<Arc<Tensor>>| of.tensor.shape()[of.axis];
    let trips = operands.first().map_or(0, length);
    if operands.iter().any(|of| length(of) != trips) {
        return Err(call.misfit("the scanned operands have different lengths").into());
    }
    let collected = body.graph.outputs.iter().skip(form.states).enumerate();
    let collected = collected.map(|(i, output)| CollectedTrips::new(Some(output), form.output(i))).collect();
    let trips = most.map_or(trips, |most| most.min(trips)) as i64;
    let feed = TripFeed::Items(operands, trips);
    RunTrips { at, call, body, feed, collected }.walked(LoopStart::counted(trips, states))
}

/// The first version of scans: the operands have batches, whose lengths may differ.
fn scan_of_batches<'c, 'm>(at: &Control<'c, 'm>, call: &NodeCall<'c, 'm>) -> ControlResult {
    let lengths = call.optional_list(0)?;
    let operands = (1..call.count()).map(|i| call.tensor(i)).collect::<Result<Vec<_>, _>>()?;
    let batches = operands.first().and_then(|operand| operand.shape().first()).copied().unwrap_or(0);
    let length = operands.last().and_then(|operand| operand.shape().get(1)).copied().unwrap_or(0);
    let scans = usize::try_from(call.int_or("num_scan_inputs", 0)?).unwrap_or(usize::MAX);
    let states = operands.len().saturating_sub(scans);
    let body = at.graph(call, "body")?;
    let mut collected: Vec<Vec<Tensor>> = Vec::new();
    for batch in 0..batches {
        let element = |operand: &&Arc<Tensor>| {
            let element = operand.element(0, batch).map(RunValue::from);
            element.ok_or_else(|| call.misfit("the operands have different numbers of batches"))
        };
        let values = operands.iter().map(element).collect::<Result<Vec<_>, _>>()?;
        let most = lengths.as_ref().and_then(|lengths| usize::try_from(*lengths.get(batch)?).ok());
        let results = scanned(at, call, &body, values, most)?;
        collected.resize_with(results.len(), Vec::new);
        for (i, (into, value)) in collected.iter_mut().zip(results).enumerate() {
            if let RunValue::Tensor(tensor) = value {
                call.budget.memory(tensor.weight().saturating_add(TENSOR), "the results of a batch")?;
                let longer = if i < states { None } else { lengthened(call, &tensor, length)? };
                into.push(longer.as_ref().unwrap_or(&tensor).unsqueezed(0));
            }
        }
    }
    let joined = |parts: Vec<Tensor>| {
        let joined = Tensor::joined(&parts.iter().collect::<Vec<_>>(), 0).map(RunValue::from);
        Ok(joined.ok_or_else(|| call.misfit("the results of different batches differ in shape"))?)
    };
    collected.into_iter().map(joined).collect()
}

/// What a shorter sequence of a batch has collected, with zeros up to the length of the others; none if it has that length.
fn lengthened(call: &NodeCall, tensor: &Tensor, length: usize) -> Result<Option<Tensor>, EvalError> {
    let mut shape = tensor.shape().to_vec();
    let Some(missing) = shape.first().and_then(|own| length.checked_sub(*own)).filter(|missing| *missing > 0) else {
        return Ok(None);
    };
    shape[0] = missing;
    let zeros = Tensor::with(&shape, Data::zeros(tensor.dtype(), call.budget.room(&shape)?))?;
    Ok(Tensor::joined(&[tensor, &zeros], 0))
}

/// Runs a graph on the items of sequences.
fn sequence_map<'c, 'm>(at: &Control<'c, 'm>, call: &NodeCall<'c, 'm>) -> ControlResult {
    let body = at.graph(call, "body")?;
    let count = call.sequence(0)?.len();
    let mut results = vec![Vec::new(); body.body.outputs.len()];
    for i in 0..count {
        let item = |operand: usize| match call.value(operand)? {
            RunValue::Sequence(items) => {
                items.get(i).cloned().ok_or_else(|| call.misfit("the sequences have different lengths"))
            }
            other => Ok(other.clone()),
        };
        let values = (0..call.count()).map(item).collect::<Result<Vec<_>, EvalError>>()?;
        call.budget.work(1)?;
        for (into, value) in results.iter_mut().zip(at.run(&body, values)?) {
            // It counts as long as the sequence is made.
            call.budget.memory(value.total_weight().saturating_add(SLOT), "the items of a sequence")?;
            into.push(value);
        }
    }
    Ok(results.into_iter().map(RunValue::sequence).collect())
}
