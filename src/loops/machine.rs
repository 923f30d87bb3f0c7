//! Runs a plan trip by trip. Only the values that the running trip may need are in memory.
//!
//! The machine determines when a value is computed, [`Symbols`] how: values are numbers, or tensors of a flat graph
//! if they depend on inputs that are not known (partial evaluation). In an evaluation all inputs are known. A failed
//! computation is a value that propagates to its users; it is an error only if an output needs it.

use std::sync::Arc;

use smallvec::SmallVec;

use super::collect::Collector;
use super::infer::Types;
use super::network::{LayerId, LayerKind, LoopId, Network, OutputKind, TensorId, TensorSource};
use super::order::ComputationUnit;
use super::plan::{LoopPlan, Outlet, Plan, PlannedUnit};
use super::site::{ComputationError, Computed, Site};
use super::symbols::{Sym, Symbols};
use crate::diagnostics::Code;
use crate::graph::predication::{Predicated, Verdict};
use crate::progress;

/// The default trip limit of loops without a count.
const MAX_TRIPS: u64 = 1_000_000;

/// Whether a failure with a code ends the run at once instead of propagating.
fn is_fatal(code: Code) -> bool {
    code.is_spent() || code == Code::LengthBudget
}

/// The state of a run.
pub(crate) struct Machine<'n> {
    net: &'n Network,
    plan: &'n Plan,
    types: &'n Types,
    /// Computes values.
    pub(crate) symbols: Symbols<'n>,
    values: Vec<Option<Computed<Sym>>>,
    trips: Vec<(LoopId, u64)>,
    /// The predicates of the running trips, each with the number of running loops down to its own.
    actives: Vec<(usize, Sym)>,
    /// The trip limit of loops without a count, and of loops whose condition depends on run-time data.
    max_trips: Option<u64>,
}

/// An error ends the run.
type MachineResult = Computed<()>;

/// A loop that is running.
struct Running<'n> {
    of: LoopId,
    plan: &'n LoopPlan,
    /// The trip count.
    count: Option<u64>,
    /// The number of trips, if it is the trip count: no condition can end the loop earlier.
    known: Option<u64>,
    /// The predicate of the trip, once it depends on run-time data.
    active: Option<Sym>,
    outlets: Vec<Leaving<'n>>,
}

/// A loop output while its loop runs.
struct Leaving<'n> {
    outlet: &'n Outlet,
    /// The elements collected so far, or the failure; none for a last value.
    collected: Option<Computed<Collector<'n>>>,
    /// The last value after the trips so far, once the loop is predicated.
    last: Option<Computed<Sym>>,
}

/// Whether the loop continues with the next trip.
type GoesOn = Computed<bool>;

impl<'n> Machine<'n> {
    /// A new machine; `start` has the values of inputs.
    pub(crate) fn new(
        net: &'n Network,
        plan: &'n Plan,
        types: &'n Types,
        symbols: Symbols<'n>,
        max_trips: Option<u64>,
        start: Vec<(TensorId, Sym)>,
    ) -> Self {
        let constant = |origin: &TensorSource| match origin {
            TensorSource::Constant(value) => Some(Ok(Sym::Known(Arc::clone(value)))),
            _ => None,
        };
        let mut values: Vec<Option<Computed<Sym>>> = net.tensors.iter().map(|info| constant(&info.origin)).collect();
        for (tensor, value) in start {
            values[tensor.index()] = Some(Ok(value));
        }
        Machine { net, plan, types, symbols, values, trips: Vec::new(), actives: Vec::new(), max_trips }
    }

    /// Runs the plan.
    ///
    /// # Errors
    ///
    /// The failure that ended the run.
    pub(crate) fn run(&mut self) -> MachineResult {
        let plan = self.plan;
        self.steps(&plan.top, 0, None)
    }

    /// The value of a tensor; the plan guarantees that it has been computed.
    pub(crate) fn value(&self, tensor: TensorId) -> Computed<Sym> {
        self.values[tensor.index()].clone().unwrap_or_else(|| {
            let message = format!("`{}` has no value", self.net.name_of(tensor));
            Err(self.fail_at(tensor, Code::LayerOperands, message))
        })
    }

    fn fail_at(&self, tensor: TensorId, code: Code, message: String) -> Arc<ComputationError> {
        let at = self.net.tensors[tensor.index()].at;
        Arc::new(ComputationError { code, at, message, trips: self.trips.clone() })
    }

    fn set(&mut self, tensor: TensorId, value: Option<Computed<Sym>>) -> MachineResult {
        let size = |value: &Option<Computed<Sym>>| if let Some(Ok(value)) = value { value.bytes() } else { 0 };
        let more = size(&value);
        let usage = &self.symbols.usage;
        usage.hold(more);
        usage.release(size(&self.values[tensor.index()]));
        self.values[tensor.index()] = value;
        if more > 0 && !usage.fits(0) {
            let (name, most) = (self.net.name_of(tensor), usage.max_alive);
            let message = format!("tensors alive at `{name}` take more than {most} bytes");
            return Err(self.fail_at(tensor, Code::MemoryBudget, message));
        }
        Ok(())
    }

    /// Sets the value of a tensor, or ends the run if its failure is fatal.
    fn give(&mut self, tensor: TensorId, value: Computed<Sym>) -> MachineResult {
        match value {
            Err(failure) if is_fatal(failure.code) => Err(failure),
            value => self.set(tensor, Some(value)),
        }
    }

    fn steps(&mut self, steps: &'n [PlannedUnit], i: u64, trips: Option<u64>) -> MachineResult {
        for step in steps.iter().filter(|step| step.window.covers(i, trips)) {
            progress::add(1);
            let allowed = self.symbols.usage.spend(1);
            match step.item {
                ComputationUnit::Layer(layer) if !allowed => {
                    let site = Site { net: self.net, layer, trips: &self.trips };
                    let message = format!("evaluation takes more than {} steps", self.symbols.usage.max_steps);
                    return Err(site.fail(Code::StepBudget, message));
                }
                ComputationUnit::Layer(layer) => self.layer(layer, i, trips)?,
                ComputationUnit::Loop(of) => self.run_loop(of)?,
            }
            for &tensor in &step.frees {
                self.set(tensor, None)?;
            }
        }
        Ok(())
    }

    fn layer(&mut self, layer: LayerId, i: u64, trips: Option<u64>) -> MachineResult {
        let Machine { net, types, symbols, values, trips: running, plan, .. } = self;
        let (net, site) = (*net, Site { net, layer, trips: running });
        let Some(output) = net.layer(layer).output else { return Ok(()) };
        let operand = |input: TensorId| match &values[input.index()] {
            Some(value) => value.as_ref().map_err(Arc::clone),
            None => Err(site.fail(Code::LayerOperands, "an operand has no value")),
        };
        let value = match &net.layer(layer).kind {
            LayerKind::Operation { op, inputs, attributes } => {
                let inputs: Computed<SmallVec<[&Sym; 4]>> = inputs.iter().map(|input| operand(input.tensor)).collect();
                inputs.and_then(|inputs| symbols.operation(&site, (*op, attributes, types.get(output)), &inputs))
            }
            LayerKind::Iterator { of, input, axis, reverse } => {
                let count = plan.loops[of.index()].count.and_then(|count| values[count.index()].as_ref());
                let count = count.and_then(|count| count.as_ref().ok()?.number());
                let index = if *reverse { count.map_or(-1, |count| count - 1 - i as i64) } else { i as i64 };
                let (axis, depth) = (*axis as usize, plan.depths[input.tensor.index()]);
                operand(input.tensor).and_then(|value| {
                    let place = usize::try_from(index).unwrap_or(usize::MAX);
                    let found = symbols.element(&site, value, depth, axis, place, trips)?;
                    found.ok_or_else(|| {
                        let (name, tensor) = (site.name(), net.name_of(input.tensor));
                        let extent = value.shape().get(axis).copied().unwrap_or(0);
                        let of = format!("an axis of `{tensor}` that has {extent}");
                        site.fail(Code::IteratorRange, format!("iterator `{name}` asks for index {index} of {of}"))
                    })
                })
            }
            _ => return Ok(()),
        };
        self.give(output, value)
    }

    fn run_loop(&mut self, of: LoopId) -> MachineResult {
        let plan = &self.plan.loops[of.index()];
        let outlets = plan.outputs.iter().map(|outlet| self.leaving(outlet)).collect();
        let mut running = Running { of, plan, count: None, known: None, active: None, outlets };
        self.trips.push((of, 0));
        let outcome = self.trips(&mut running);
        let depth = self.trips.len();
        self.actives.retain(|(other, _)| *other < depth);
        self.trips.pop();
        for Leaving { outlet, collected, .. } in running.outlets {
            let value = match (&outcome, collected) {
                // All outputs of a failed loop fail, or the first ends the run.
                (Err(failure), _) => Err(Arc::clone(failure)),
                (Ok(()), Some(collected)) => collected.and_then(|collected| {
                    let site = Site { net: self.net, layer: outlet.layer, trips: &self.trips };
                    collected.close(&mut self.symbols, &site)
                }),
                (Ok(()), None) => self.value(outlet.input),
            };
            self.give(outlet.output, value)?;
        }
        plan.interior.iter().try_for_each(|&tensor| self.set(tensor, None))
    }

    /// The state of a loop output before the first trip.
    fn leaving(&mut self, outlet: &'n Outlet) -> Leaving<'n> {
        let collected = (outlet.kind != OutputKind::LastValue).then(|| {
            let length = self.length(outlet)?;
            let declared = self.types.get(outlet.input);
            Ok(Collector::new(outlet.axis, length, outlet.kind == OutputKind::Reverse, declared))
        });
        Leaving { outlet, collected, last: None }
    }

    /// The extent of the new axis of a loop output.
    fn length(&self, outlet: &Outlet) -> Computed<usize> {
        let site = Site { net: self.net, layer: outlet.layer, trips: &self.trips };
        let Some(length) = outlet.length else {
            return Err(site.fail(Code::OutputWithoutLength, "a loop output has no length"));
        };
        let Some(number) = self.value(length)?.number() else {
            let message = format!("the length `{}` is known only at run time", self.net.name_of(length));
            return Err(site.fail(Code::NotFlattenable, message));
        };
        let negative = |_| site.fail(Code::OutputTooShort, format!("the length of a loop output is {number}"));
        usize::try_from(number).map_err(negative)
    }

    /// Runs the trips of a loop. An error is a failure of the whole loop.
    fn trips(&mut self, running: &mut Running<'n>) -> MachineResult {
        let plan = running.plan;
        running.count = plan.count.map(|count| self.count(running, count)).transpose()?;
        running.known = running.count.filter(|_| plan.condition.is_none());
        for state in plan.states.iter().filter(|state| state.window.covers(0, running.known)) {
            let initial = self.value(state.initial);
            self.give(state.output, initial)?;
        }
        let mut trip = 0;
        while running.count.is_none_or(|count| trip < count) {
            if let Some((_, current)) = self.trips.last_mut() {
                *current = trip;
            }
            if !self.trip(running, trip)? {
                break;
            }
            trip += 1;
        }
        for Leaving { outlet, last, .. } in &mut running.outlets {
            if let Some(last) = last.take() {
                self.give(outlet.input, last)?;
            }
        }
        Ok(())
    }

    /// Runs a trip, unless the condition ends the loop.
    fn trip(&mut self, running: &mut Running<'n>, i: u64) -> GoesOn {
        let plan = running.plan;
        if let Some(condition) = plan.condition
            && !self.test(running, condition, i)?
        {
            return Ok(false);
        }
        self.steps(&plan.body, i, running.known)?;
        if !self.collect(running)? {
            return Ok(false);
        }
        self.advance(plan, i + 1, running.known)?;
        self.choose_last(running)
    }

    /// The trip count of a loop; a negative count is 0.
    fn count(&self, running: &Running, count: TensorId) -> Computed<u64> {
        match self.value(count)?.number() {
            Some(number) => Ok(u64::try_from(number).unwrap_or(0)),
            None => {
                let (name, count) = (&self.net.loops[running.of.index()].name, self.net.name_of(count));
                let message = format!("the count of `{name}` is `{count}`, which is known only at run time");
                Err(self.fail(running, Code::NotFlattenable, message))
            }
        }
    }

    /// A failure of the whole loop.
    fn fail(&self, running: &Running, code: Code, message: String) -> Arc<ComputationError> {
        let outer = self.trips.len().saturating_sub(1);
        Site { net: self.net, layer: running.plan.limit, trips: &self.trips[..outer] }.fail(code, message)
    }

    /// Tests the condition before trip `i`.
    fn test(&mut self, running: &mut Running<'n>, condition: TensorId, i: u64) -> GoesOn {
        self.steps(&running.plan.test, i, None)?;
        let value = match self.value(condition) {
            Err(failure) if running.active.is_some() && failure.code != Code::NotFlattenable => {
                return self.give_up(running.plan.limit, running.active.as_ref());
            }
            value => value?,
        };
        let certain = running.active.is_none();
        let site = Site { net: self.net, layer: running.plan.limit, trips: &self.trips };
        let mut predication = self.symbols.at(&site);
        let open = predication.truth(&value).is_none();
        match predication.test(&value, &mut running.active, self.max_trips.is_some())? {
            Verdict::Ends => return Ok(false),
            Verdict::Unbounded => {
                let (name, condition) = (&self.net.loops[running.of.index()].name, self.net.name_of(condition));
                let message = format!("the condition of `{name}` is `{condition}`, which depends on run-time data");
                return Err(self.fail(running, Code::NotFlattenable, message));
            }
            Verdict::GoesOn => {}
        }
        if let Some(active) = running.active.as_ref().filter(|_| open) {
            if self.max_trips.is_some_and(|bound| i >= bound) {
                return self.give_up(running.plan.limit, running.active.as_ref());
            }
            let depth = self.trips.len();
            self.actives.retain(|(other, _)| *other < depth);
            self.actives.push((depth, active.clone()));
        }
        let most = self.max_trips.unwrap_or(MAX_TRIPS);
        if running.count.is_none() && i >= most {
            let name = &self.net.loops[running.of.index()].name;
            let message = format!("the condition of `{name}` is still true after {most} trips");
            return Err(self.fail(running, Code::EndlessLoop, message));
        }
        if certain && running.active.is_some() {
            for leaving in running.outlets.iter_mut().filter(|leaving| leaving.collected.is_none()) {
                leaving.last = Some(self.value(leaving.outlet.input));
            }
        }
        Ok(true)
    }

    /// Leaves a loop whose condition may still hold, and records that in `finished` if the loop is predicated.
    fn give_up(&mut self, layer: LayerId, active: Option<&Sym>) -> GoesOn {
        let Some(mut all) = active.cloned() else { return Ok(false) };
        let site = Site { net: self.net, layer, trips: &self.trips };
        for (_, outer) in self.actives.iter().filter(|(depth, _)| *depth < self.trips.len()) {
            all = self.symbols.at(&site).both(outer, &all)?;
        }
        self.symbols.unfinished(&site, &all)?;
        Ok(false)
    }

    /// Adds the elements of a trip to the loop outputs.
    fn collect(&mut self, running: &mut Running<'n>) -> GoesOn {
        let active = running.active.as_ref();
        for Leaving { outlet, collected, .. } in &mut running.outlets {
            let Some(Ok(collector)) = collected else { continue };
            let site = Site { net: self.net, layer: outlet.layer, trips: &self.trips };
            let value = self.value(outlet.input);
            match value.and_then(|value| collector.push(&mut self.symbols, &site, &value, active)) {
                Ok(()) => {}
                Err(failure) if is_fatal(failure.code) => return Err(failure),
                // The trip may be inactive, where a failure has no effect: the loop ends here.
                Err(failure) if active.is_some() && failure.code != Code::NotFlattenable => {
                    return self.give_up(running.plan.limit, active);
                }
                Err(failure) => *collected = Some(Err(failure)),
            }
        }
        Ok(true)
    }

    /// Advances all recurrences to their next values at the same time.
    fn advance(&mut self, plan: &'n LoopPlan, i: u64, known: Option<u64>) -> MachineResult {
        let next: SmallVec<[Option<Computed<Sym>>; 8]> =
            plan.states.iter().map(|state| state.window.covers(i, known).then(|| self.value(state.next))).collect();
        for (state, value) in plan.states.iter().zip(next) {
            self.set(state.output, value)?;
        }
        Ok(())
    }

    /// Predication of last values: selects the new values if the trip is active.
    fn choose_last(&mut self, running: &mut Running<'n>) -> GoesOn {
        let Some(active) = &running.active else { return Ok(true) };
        for Leaving { outlet, last, .. } in &mut running.outlets {
            let TensorSource::Layer(layer) = self.net.tensors[outlet.input.index()].origin else { continue };
            let Some(before) = last else { continue };
            let new = self.value(outlet.input);
            let site = Site { net: self.net, layer, trips: &self.trips };
            match (new, &*before) {
                (Ok(new), Ok(old)) => *before = Ok(self.symbols.at(&site).choose(active, &new, old)?),
                (Err(failure), _) if failure.code == Code::NotFlattenable => *before = Err(failure),
                (Err(_), Ok(_)) => {
                    return self.give_up(running.plan.limit, Some(active));
                }
                (_, Err(_)) => {}
            }
        }
        Ok(true)
    }
}
