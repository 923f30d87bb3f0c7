//! Runs a plan: trip after trip, with what only the running trip can ask for in memory.
//!
//! The machine knows when what is computed, [`Symbols`] how: values are numbers, or tensors of a flat
//! graph where they depend on inputs that are not known (partial evaluation); an evaluation is
//! the case in which all inputs are known. An element that cannot be computed is no error until
//! something asks for it that is not such an element itself: a failure is a value that spreads.

use std::sync::Arc;

use super::domain::{Collecting, Failure, Site, Slot};
use super::infer::Types;
use super::network::{LayerId, LayerKind, Limit, LoopId, Network, Origin, Output, TensorId};
use super::order::Item;
use super::plan::{LoopPlan, Plan, Step};
use super::symbols::{Gathered, Sym, Symbols};
use crate::Options;
use crate::diagnostics::Code;
use crate::graph::predication::Predicated;
use crate::tensor::usage::Usage;

/// The most trips of a loop without a count, unless the caller says otherwise.
const MAX_TRIPS: u64 = 1_000_000;

/// Codes of failures that end the run, whoever asks.
const FATAL: &[Code] = &[Code::StepBudget, Code::MemoryBudget, Code::LengthBudget, Code::OperationBudget];

/// The state of a run.
pub(crate) struct Machine<'n> {
    net: &'n Network,
    plan: &'n Plan,
    types: &'n Types,
    /// How things are computed.
    pub(crate) symbols: Symbols<'n>,
    slots: Vec<Option<Slot<Sym>>>,
    trips: Vec<(LoopId, u64)>,
    /// The predicates of the running trips, with the number of loops around.
    actives: Vec<(usize, Sym)>,
    /// Steps, and bytes of values.
    usage: Usage,
    /// The most trips of a loop without a count.
    max_trips: u64,
}

/// Fails only if the run must end.
type Run = Result<(), Arc<Failure>>;

/// A loop output while the loop runs.
enum Leaving<'n> {
    Last { output: TensorId, state: TensorId },
    Gathering { output: TensorId, input: TensorId, collecting: Collecting<'n>, gathered: Slot<Gathered> },
    Failed { output: TensorId, failure: Arc<Failure> },
}

/// How a trip ended.
enum Trip {
    Done,
    /// The loop is left for good.
    Over,
}

impl<'n> Machine<'n> {
    /// A machine before its run; `start` has the values of inputs.
    pub(crate) fn new(
        net: &'n Network,
        plan: &'n Plan,
        types: &'n Types,
        options: &Options,
        symbols: Symbols<'n>,
        start: Vec<(TensorId, Sym)>,
    ) -> Self {
        let mut slots: Vec<Option<Slot<Sym>>> = net.tensors.iter().map(|_| None).collect();
        for (i, info) in net.tensors.iter().enumerate() {
            if let Origin::Constant(value) = &info.origin {
                slots[i] = Some(Ok(Sym::Known(Arc::clone(value))));
            }
        }
        for (tensor, value) in start {
            slots[tensor.index()] = Some(Ok(value));
        }
        let usage = Usage::new(options.max_steps, options.max_bytes);
        let max_trips = options.max_trips.unwrap_or(MAX_TRIPS);
        Machine { net, plan, types, symbols, slots, trips: Vec::new(), actives: Vec::new(), usage, max_trips }
    }

    /// Runs the plan.
    ///
    /// # Errors
    ///
    /// What ended the run.
    pub(crate) fn run(&mut self) -> Run {
        let plan = self.plan;
        self.steps(&plan.top, 0, None)
    }

    /// The value of a tensor.
    pub(crate) fn value(&self, tensor: TensorId) -> Slot<Sym> {
        self.slots[tensor.index()].clone().unwrap_or_else(|| Err(self.nothing(tensor)))
    }

    /// The failure of reading a tensor without a value, which the plan rules out.
    fn nothing(&self, tensor: TensorId) -> Arc<Failure> {
        let info = &self.net.tensors[tensor.index()];
        let message = format!("`{}` has no value", info.name);
        Arc::new(Failure { code: Code::LayerOperands, at: info.at, message, trips: self.trips.clone() })
    }

    fn set(&mut self, tensor: TensorId, slot: Option<Slot<Sym>>) -> Run {
        let size = |slot: &Option<Slot<Sym>>| match slot {
            Some(Ok(value)) => self.symbols.bytes(value),
            _ => 0,
        };
        let more = size(&slot);
        self.usage.hold(more);
        self.usage.release(size(&self.slots[tensor.index()]));
        self.slots[tensor.index()] = slot;
        if more > 0 && !self.usage.fits(self.symbols.held()) {
            let info = &self.net.tensors[tensor.index()];
            let message = format!("tensors alive at `{}` take more than {} bytes", info.name, self.usage.max_alive);
            let trips = self.trips.clone();
            return Err(Arc::new(Failure { code: Code::MemoryBudget, at: info.at, message, trips }));
        }
        Ok(())
    }

    /// Sets what was computed, or ends the run.
    fn give(&mut self, tensor: TensorId, slot: Slot<Sym>) -> Run {
        match slot {
            Err(failure) if FATAL.contains(&failure.code) => Err(failure),
            slot => self.set(tensor, Some(slot)),
        }
    }

    fn steps(&mut self, steps: &'n [Step], i: u64, trips: Option<u64>) -> Run {
        for step in steps.iter().filter(|step| step.window.covers(i, trips)) {
            let allowed = self.usage.spend(1 + self.symbols.work());
            match step.item {
                Item::Layer(layer) => {
                    if !allowed {
                        let site = Site { net: self.net, layer, trips: &self.trips };
                        let message = format!("evaluation takes more than {} steps", self.usage.max_steps);
                        return Err(site.fail(Code::StepBudget, message));
                    }
                    self.layer(layer, i, trips)?;
                }
                Item::Loop(of) => self.run_loop(of)?,
            }
            for &tensor in &step.frees {
                self.set(tensor, None)?;
            }
        }
        Ok(())
    }

    fn layer(&mut self, layer: LayerId, i: u64, trips: Option<u64>) -> Run {
        let Machine { net, types, symbols, slots, trips: running, .. } = self;
        let (net, site) = (*net, Site { net, layer, trips: running });
        let Some(output) = net.layer(layer).output else { return Ok(()) };
        let slot = match &net.layer(layer).kind {
            LayerKind::Operation { op, inputs, attributes } => {
                let mut values: smallvec::SmallVec<[&Sym; 4]> = smallvec::SmallVec::new();
                let mut failed = None;
                for input in inputs {
                    match &slots[input.tensor.index()] {
                        Some(Ok(value)) => values.push(value),
                        Some(Err(failure)) => failed = failed.or(Some(Arc::clone(failure))),
                        None => failed = failed.or(Some(site.fail(Code::LayerOperands, "an operand has no value"))),
                    }
                }
                match failed {
                    Some(failure) => Err(failure),
                    None => symbols.operation(&site, (*op, attributes.as_ref(), types.get(output)), &values),
                }
            }
            LayerKind::Iterator { of, input, axis, reverse } => {
                let count = self.plan.loops[of.index()].count.map(|count| &slots[count.index()]);
                let count = match count {
                    Some(Some(Ok(count))) => symbols.number(count),
                    _ => None,
                };
                let index = if *reverse { count.map_or(-1, |count| count - 1 - i as i64) } else { i as i64 };
                match &slots[input.tensor.index()] {
                    Some(Ok(value)) => symbols.element(&site, (input.tensor, value), *axis as usize, index, trips),
                    Some(Err(failure)) => Err(Arc::clone(failure)),
                    None => Err(site.fail(Code::LayerOperands, "what it runs over has no value")),
                }
            }
            _ => return Ok(()),
        };
        self.give(output, slot)
    }

    fn run_loop(&mut self, of: LoopId) -> Run {
        let plan = &self.plan.loops[of.index()];
        let mut leaving = self.leaving(plan);
        self.trips.push((of, 0));
        let outcome = self.trips(of, plan, &mut leaving);
        let depth = self.trips.len();
        self.actives.retain(|(other, _)| *other < depth);
        self.trips.pop();
        match outcome {
            Err(failure) if FATAL.contains(&failure.code) => return Err(failure),
            Err(failure) => {
                for leaving in &leaving {
                    let (Leaving::Last { output, .. }
                    | Leaving::Gathering { output, .. }
                    | Leaving::Failed { output, .. }) = leaving;
                    self.set(*output, Some(Err(Arc::clone(&failure))))?;
                }
            }
            Ok(()) => leaving.into_iter().try_for_each(|leaving| self.leave(leaving))?,
        }
        plan.interior.iter().try_for_each(|&tensor| self.set(tensor, None))
    }

    /// The loop outputs before the first trip.
    fn leaving(&mut self, plan: &'n LoopPlan) -> Vec<Leaving<'n>> {
        let mut found = Vec::new();
        for &id in &plan.outputs {
            let layer = self.net.layer(id);
            let (LayerKind::LoopOutput { kind, input, axis, length, .. }, Some(output)) = (&layer.kind, layer.output)
            else {
                continue;
            };
            if *kind == Output::LastValue {
                found.push(Leaving::Last { output, state: input.tensor });
                continue;
            }
            let outer = self.trips.clone();
            let fail = |code: Code, message: String| Arc::new(Failure { code, at: layer.at, message, trips: outer });
            let number =
                length.map(|length| (length, self.value(length.tensor).map(|value| self.symbols.number(&value))));
            let length = match number {
                Some((_, Ok(Some(number)))) => usize::try_from(number)
                    .map_err(|_| fail(Code::OutputTooShort, format!("the length of a loop output is {number}"))),
                Some((_, Err(failure))) => Err(failure),
                Some((length, Ok(None))) => {
                    let name = self.net.name_of(length.tensor);
                    Err(fail(Code::NotFlattenable, format!("the length `{name}` is known only when the network runs")))
                }
                None => Err(fail(Code::OutputWithoutLength, "a loop output has no length".to_owned())),
            };
            found.push(match length {
                Err(failure) => Leaving::Failed { output, failure },
                Ok(length) => {
                    let site = Site { net: self.net, layer: id, trips: &[] };
                    let reverse = *kind == Output::Reverse;
                    let element = self.types.get(input.tensor);
                    let collecting = Collecting { site, axis: *axis as usize, length, reverse, element };
                    let gathered = Ok(Gathered::default());
                    Leaving::Gathering { output, input: input.tensor, collecting, gathered }
                }
            });
        }
        found
    }

    fn leave(&mut self, leaving: Leaving<'n>) -> Run {
        match leaving {
            Leaving::Last { output, state } => {
                let value = self.value(state);
                self.give(output, value)
            }
            Leaving::Failed { output, failure } => self.give(output, Err(failure)),
            Leaving::Gathering { output, collecting, gathered, .. } => {
                let trips = std::mem::take(&mut self.trips);
                let site = Site { trips: &trips, ..collecting.site };
                let slot =
                    gathered.and_then(|gathered| self.symbols.close(&Collecting { site, ..collecting }, gathered));
                self.trips = trips;
                self.give(output, slot)
            }
        }
    }

    /// Makes the trips of a loop. Fails if the loop as a whole does.
    fn trips(&mut self, of: LoopId, plan: &'n LoopPlan, leaving: &mut [Leaving<'n>]) -> Run {
        let count = plan.count.map(|count| self.count(of, count)).transpose()?;
        let known = count.filter(|_| plan.condition.is_none());
        for state in plan.states.iter().filter(|state| state.window.covers(0, known)) {
            let initial = self.value(state.initial);
            self.give(state.output, initial)?;
        }
        // The values after the last trip that was made, once that depends on run-time data.
        let mut lasting: Vec<(TensorId, Slot<Sym>)> = Vec::new();
        let mut active: Option<Sym> = None;
        let mut i = 0;
        while count.is_none_or(|count| i < count) {
            self.running(i);
            if let Some(condition) = plan.condition {
                self.steps(&plan.test, i, None)?;
                let before = active.is_some();
                if let Trip::Over = self.test(of, condition, i, count, &mut active)? {
                    break;
                }
                if !before && active.is_some() {
                    lasting = self.lasting(leaving);
                }
            }
            self.steps(&plan.body, i, known)?;
            if let Trip::Over = self.collect(plan, leaving, active.as_ref())? {
                break;
            }
            self.advance(plan, i + 1, known)?;
            if let Some(active) = &active
                && let Trip::Over = self.blend(plan, active, &mut lasting)?
            {
                break;
            }
            i += 1;
        }
        lasting.into_iter().try_for_each(|(state, slot)| self.give(state, slot))
    }

    /// Sets the number of the running trip.
    fn running(&mut self, i: u64) {
        if let Some((_, trip)) = self.trips.last_mut() {
            *trip = i;
        }
    }

    /// The number of trips.
    fn count(&mut self, of: LoopId, count: TensorId) -> Result<u64, Arc<Failure>> {
        let value = self.value(count)?;
        match self.symbols.number(&value) {
            Some(number) => Ok(u64::try_from(number).unwrap_or(0)),
            None => {
                let (name, count) = (&self.net.loops[of.index()].name, self.net.name_of(count));
                Err(self.fail(
                    of,
                    Code::NotFlattenable,
                    format!("the count of `{name}` is `{count}`, which is known only when the network runs"),
                ))
            }
        }
    }

    /// The layer that ends a loop: its condition, if it has one.
    fn limit(&self, of: LoopId) -> LayerId {
        let layers = &self.net.loops[of.index()].layers;
        let is = |id: &&LayerId, wanted: Limit| matches!(self.net.layer(**id).kind, LayerKind::TripLimit { limit, .. } if limit == wanted);
        let of_kind = |wanted: Limit| layers.iter().find(|id| is(id, wanted)).copied();
        of_kind(Limit::While).or_else(|| of_kind(Limit::Count)).or(layers.first().copied()).unwrap_or(LayerId(0))
    }

    /// A failure at a loop.
    fn fail(&self, of: LoopId, code: Code, message: String) -> Arc<Failure> {
        let at = self.net.layer(self.limit(of)).at;
        let outer = self.trips.len().saturating_sub(1);
        Arc::new(Failure { code, at, message, trips: self.trips[..outer].to_vec() })
    }

    /// Tests the condition before trip `i`.
    fn test(
        &mut self,
        of: LoopId,
        condition: TensorId,
        i: u64,
        count: Option<u64>,
        active: &mut Option<Sym>,
    ) -> Result<Trip, Arc<Failure>> {
        let value = match (self.value(condition), &active) {
            (Ok(value), _) => value,
            (Err(failure), Some(active)) if failure.code != Code::NotFlattenable => {
                let active = active.clone();
                return self.give_up(of, &active);
            }
            (Err(failure), _) => return Err(failure),
        };
        match self.symbols.truth(&value) {
            Some(false) => return Ok(Trip::Over),
            Some(true) => {}
            None => {
                let Some(bound) = self.symbols.bound() else {
                    let (name, condition) = (&self.net.loops[of.index()].name, self.net.name_of(condition));
                    let message = format!("the condition of `{name}` is `{condition}`, which depends on run-time data");
                    return Err(self.fail(of, Code::NotFlattenable, message));
                };
                let layer = self.limit(of);
                let site = Site { net: self.net, layer, trips: &self.trips };
                let both = match &active {
                    Some(before) => self.symbols.at(&site).both(before, &value)?,
                    None => value,
                };
                *active = Some(both.clone());
                if i >= bound {
                    return self.give_up(of, &both);
                }
                let depth = self.trips.len();
                self.actives.retain(|(other, _)| *other < depth);
                self.actives.push((depth, both));
            }
        }
        if count.is_none() && i >= self.max_trips {
            let name = &self.net.loops[of.index()].name;
            let message = format!("the condition of `{name}` still holds after {} trips", self.max_trips);
            return Err(self.fail(of, Code::EndlessLoop, message));
        }
        Ok(Trip::Done)
    }

    /// Leaves a loop at its trip limit although the condition may still hold.
    fn give_up(&mut self, of: LoopId, active: &Sym) -> Result<Trip, Arc<Failure>> {
        let layer = self.limit(of);
        let site = Site { net: self.net, layer, trips: &self.trips };
        let mut all = active.clone();
        for (_, outer) in self.actives.iter().filter(|(depth, _)| *depth < self.trips.len()) {
            all = self.symbols.at(&site).both(outer, &all)?;
        }
        self.symbols.unfinished(&site, &all)?;
        Ok(Trip::Over)
    }

    fn lasting(&self, leaving: &[Leaving<'n>]) -> Vec<(TensorId, Slot<Sym>)> {
        let state = |leaving: &Leaving<'n>| match leaving {
            Leaving::Last { state, .. } => Some((*state, self.value(*state))),
            _ => None,
        };
        leaving.iter().filter_map(state).collect()
    }

    /// Adds the elements of a trip to the loop outputs.
    fn collect(
        &mut self,
        plan: &'n LoopPlan,
        leaving: &mut [Leaving<'n>],
        active: Option<&Sym>,
    ) -> Result<Trip, Arc<Failure>> {
        for leaving in leaving {
            let Leaving::Gathering { input, collecting, gathered, .. } = leaving else { continue };
            let Ok(to) = gathered else { continue };
            let site = Site { trips: &self.trips, ..collecting.site };
            let collecting = Collecting { site, element: collecting.element, ..*collecting };
            let value = self.slots[input.index()].as_ref();
            let pushed = match value {
                Some(Ok(value)) => self.symbols.push(&collecting, to, value, active),
                Some(Err(failure)) => Err(Arc::clone(failure)),
                None => Err(site.fail(Code::LayerOperands, "an element has no value")),
            };
            match (pushed, active) {
                (Ok(()), _) => {}
                (Err(failure), _) if FATAL.contains(&failure.code) => return Err(failure),
                // In a trip that is perhaps not made at all it is no failure.
                (Err(failure), Some(active)) if failure.code != Code::NotFlattenable => {
                    let of = self.trips.last().map_or(LoopId(0), |(of, _)| *of);
                    debug_assert!(plan.condition.is_some());
                    return self.give_up(of, &active.clone());
                }
                (Err(failure), _) => *gathered = Err(failure),
            }
        }
        Ok(Trip::Done)
    }

    /// Advances all recurrences to their next values at the same time.
    fn advance(&mut self, plan: &'n LoopPlan, i: u64, known: Option<u64>) -> Run {
        let next: smallvec::SmallVec<[Option<Slot<Sym>>; 8]> =
            plan.states.iter().map(|state| state.window.covers(i, known).then(|| self.value(state.next))).collect();
        for (state, value) in plan.states.iter().zip(next) {
            self.set(state.output, value)?;
        }
        Ok(())
    }

    /// Predication of last values: the new ones if the trip is active.
    fn blend(
        &mut self,
        plan: &'n LoopPlan,
        active: &Sym,
        lasting: &mut [(TensorId, Slot<Sym>)],
    ) -> Result<Trip, Arc<Failure>> {
        let of = self.trips.last().map_or(LoopId(0), |(of, _)| *of);
        debug_assert!(plan.condition.is_some());
        for (state, old) in lasting {
            let Origin::Layer(layer) = self.net.tensors[state.index()].origin else { continue };
            let new = self.value(*state);
            let site = Site { net: self.net, layer, trips: &self.trips };
            match (new, &*old) {
                (Ok(new), Ok(before)) => *old = Ok(self.symbols.at(&site).choose(active, &new, before)?),
                (Err(failure), _) if failure.code == Code::NotFlattenable => *old = Err(failure),
                (Err(_), Ok(_)) => return self.give_up(of, active),
                (_, Err(_)) => {}
            }
        }
        Ok(Trip::Done)
    }
}
