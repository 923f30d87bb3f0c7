//! Expansion of loops and comprehensions: trips are run one after the other in the frame of the enclosing body.
//! A comprehension is a loop without recurrences, conditions and generated names.
//!
//! A condition that is known decides immediately. A tensor cannot end the expansion: all trips up to the limit
//! are expanded, and `select` chooses between their values (predication). With the predicate aᵢ = and(aᵢ₋₁,
//! condᵢ), the last value of a recurrence is yᵢ₊₁ = select(aᵢ, Xᵢ₊₁, yᵢ). Recurrences need no `select` between
//! trips: their values are correct while a holds, and are not used afterwards.

use smallvec::SmallVec;

use super::arithmetic::equal;
use super::budget::{Failure, Outcome};
use super::frame::first_name;
use super::iteration::{Collected, Iteration, LoopRun};
use super::list::List;
use super::machine::Machine;
use super::program::{CompiledLoop, Hint};
use super::slots::Slot;
use super::value::Value;
use crate::diagnostics::Code;
use crate::graph::Primitive;
use crate::graph::names::NameId;
use crate::graph::predication::{Predicated, Verdict};
use crate::graph::standard;
use crate::room::with_stack;

/// The default trip limit of a loop that only a known condition ends.
const ENDLESS: u64 = 1_000_000;

impl Machine {
    fn looping(&self, index: u32) -> &CompiledLoop {
        &self.program.loops[index as usize]
    }

    pub(super) fn loop_begin(&mut self, index: u32) -> Outcome<()> {
        let site = self.looping(index).clone();
        if !site.unroll && !site.comprehension && !self.settings.expand_loops {
            let message = "NNEF 1.0 has no loops, and the expansion of this loop is not enabled";
            let help = "expand it with --unroll, or write `unroll` instead of `do`";
            return Err(Failure::new(Code::NotFlattenable, message).help(help));
        }
        let count = if site.counted { Some(self.loop_count()?) } else { None };
        let mut iteration =
            self.iteration(site.reversed.len(), if site.comprehension { "comprehension" } else { "loop" })?;
        match (count, iteration.len()) {
            (Some(count), Some(items)) if count > items => {
                let message = format!("the loop has {count} trips, what it runs over {items} items");
                return Err(Failure::new(Code::IteratorRange, message));
            }
            (Some(count), _) => iteration.limit(count),
            (None, _) => {}
        }
        let last = self.stack.split_off(self.stack.len() - site.recurrences as usize);
        for (i, value) in last.iter().enumerate() {
            *self.slots.get(site.slot + i as u32) = Slot::Ready(value.clone());
        }
        let outer = self.frame().path;
        let path = self.loop_path(site.hint).unwrap_or(outer);
        let collected = (site.recurrences..site.results).map(|_| Collected::new()).collect();
        let (frames, named, active) = (self.frames.len() as u32, None, None);
        self.iterations.loops.push(LoopRun { frames, iteration, outer, path, named, active, last, collected });
        Ok(())
    }

    /// The trip count, which must not be a tensor. A negative count means no trips, as in other notations.
    fn loop_count(&mut self) -> Outcome<u64> {
        match self.pop() {
            Value::Int(count) => Ok(u64::try_from(count).unwrap_or(0)),
            value => {
                let what = self.told(&value);
                let message = format!("the count of this loop is {what}, which is not known while expanding");
                Err(Failure::new(Code::NotFlattenable, message))
            }
        }
    }

    /// A description of a value for messages.
    fn told(&self, value: &Value) -> String {
        match value {
            Value::Tensor(tensor) => format!("the tensor `{}`", self.graph.tensor_name(*tensor)),
            other => other.kind().to_owned(),
        }
    }

    /// The common name prefix of all trips: the first name on the left side.
    fn loop_path(&mut self, hint: Hint) -> Option<NameId> {
        let hints: SmallVec<[Hint; 4]> = self.program.items_of(&hint).into();
        hints.into_iter().find_map(|hint| first_name(&self.target(hint, 0, 1)))
    }

    pub(super) fn loop_next(&mut self, index: u32) -> Outcome<()> {
        let site = &self.program.loops[index as usize];
        let Some(LoopRun { iteration, .. }) = self.iterations.loops.last_mut() else { return Ok(()) };
        let trip = iteration.trip();
        if iteration.is_over() {
            self.pc = site.exit;
            return Ok(());
        }
        if iteration.len().is_none() && trip >= self.settings.max_trips.unwrap_or(ENDLESS) {
            let message = format!("the condition of this loop is still true after {trip} trips");
            return Err(Failure::new(Code::EndlessLoop, message).help("allow more with --max-trips"));
        }
        let slots = self.slots.from(site.slot + site.recurrences);
        iteration.enter(&site.reversed, slots);
        if site.index {
            slots[site.reversed.len()] = Slot::Ready(Value::Int(trip as i64));
        }
        iteration.advance();
        if !site.comprehension {
            self.name_trip(trip);
        }
        Ok(())
    }

    /// Sets the name prefix for the tensors of a trip. Trips without tensors need no memory for it.
    fn name_trip(&mut self, trip: u64) {
        let Some(&LoopRun { path, named, .. }) = self.iterations.loops.last() else { return };
        let named = self.trip_path(path, named, trip);
        if let Some(run) = self.iterations.loops.last_mut() {
            run.named = Some(named);
        }
        self.frame().path = named;
    }

    /// The name prefix of a trip, counted from 0. The prefix of the previous trip is renumbered if no name uses it.
    pub(super) fn trip_path(&mut self, path: NameId, before: Option<NameId>, trip: u64) -> NameId {
        let inner = self.frame().inner;
        let Some(word) = self.units.names().get(standard::TRIP) else { return path };
        let ordinal = u32::try_from(trip + 1).unwrap_or(u32::MAX);
        match before {
            Some(before) if self.graph.names.renumber_last(before, ordinal) => before,
            _ => self.graph.names.child(path, word, ordinal, inner),
        }
    }

    pub(super) fn loop_while(&mut self, index: u32) -> Outcome<()> {
        let condition = self.pop();
        if !matches!(condition, Value::Logical(_) | Value::Tensor(_)) {
            let message = format!("the condition of this loop is {}, not a single logical", self.told(&condition));
            return Err(Failure::new(Code::WhileType, message));
        }
        let Some(run) = self.iterations.loops.last_mut() else { return Ok(()) };
        let (bound, mut active) = (run.iteration.len().or(self.settings.max_trips), run.active.take());
        let verdict = self.test(&condition, &mut active, bound.is_some())?;
        if let Some(run) = self.iterations.loops.last_mut() {
            run.active = active;
            if let (Value::Tensor(_), Some(bound)) = (&condition, bound) {
                run.iteration.limit(bound);
            }
        }
        match verdict {
            Verdict::GoesOn => Ok(()),
            Verdict::Ends => {
                self.pc = self.looping(index).exit;
                Ok(())
            }
            Verdict::Unbounded => {
                let told = self.told(&condition);
                let message = format!("the condition of this loop is {told}, which depends on run-time data");
                let help = "give the maximum number of trips: `do..(n)`, or --max-trips";
                Err(Failure::new(Code::NotFlattenable, message).help(help))
            }
        }
    }

    pub(super) fn loop_turn(&mut self, index: u32) -> Outcome<()> {
        if self.looping(index).comprehension {
            let item = self.pop();
            let collected = self.iterations.loops.last().and_then(|run| run.collected.first());
            self.budget.allow(collected.map_or(0, Collected::len) + 1, 0)?;
            if let Some(items) = self.iterations.loops.last_mut().and_then(|run| run.collected.first_mut()) {
                items.push(item);
            }
            return Ok(());
        }
        let (slot, wanted) = (self.looping(index).slot, self.looping(index).results as usize);
        let values = match self.pop() {
            Value::Tuple(list) if list.len() == wanted => list.to_values(),
            _ => {
                let message = format!("the body of this loop does not give the {wanted} values that it declares");
                return Err(Failure::new(Code::StructureMismatch, message));
            }
        };
        let Some(mut run) = self.iterations.loops.pop() else { return Ok(()) };
        for (i, value) in values.into_iter().enumerate() {
            let chosen = match (&run.active, run.last.get(i)) {
                (None, _) => value.clone(),
                (Some(active), Some(last)) => self.choose_value(active, &value, last)?,
                (Some(active), None) => {
                    let filling = self.filling(&value);
                    self.choose_value(active, &value, &filling)?
                }
            };
            if i < run.last.len() {
                *self.slots.get(slot + i as u32) = Slot::Ready(value);
                run.last[i] = chosen;
            } else {
                let items = &mut run.collected[i - run.last.len()];
                self.budget.allow(items.len() + 1, items.len() as u64 * 24)?;
                items.push(chosen);
            }
        }
        self.iterations.loops.push(run);
        Ok(())
    }

    /// The new value if a predicate holds, otherwise the old one: of lists item by item, since `select` is on tensors.
    fn choose_value(&mut self, active: &Value, new: &Value, old: &Value) -> Outcome<Value> {
        match (new, old) {
            (Value::Array(a), Value::Array(b)) | (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => {
                let pairs = a.to_values().into_iter().zip(b.to_values());
                let chosen = pairs.map(|(new, old)| with_stack(|| self.choose_value(active, &new, &old)));
                let chosen = List::from_values(chosen.collect::<Outcome<_>>()?, Some(&self.budget.meter));
                Ok(if matches!(new, Value::Tuple(_)) { Value::Tuple(chosen) } else { Value::Array(chosen) })
            }
            (Value::Tensor(_) | Value::Int(_) | Value::Scalar(_) | Value::Logical(_), _) if old.is_plain() => {
                self.choose(active, new, old)
            }
            _ if equal(new, old, &self.budget)? == Some(true) => Ok(old.clone()),
            _ => {
                let message = format!("{} in this loop depends on run-time data and is not a tensor", new.kind());
                Err(Failure::new(Code::NotFlattenable, message))
            }
        }
    }

    /// The collected item for a trip that is not active, with the type of the other items.
    fn filling(&self, like: &Value) -> Value {
        let list = |list: &List| {
            let items = list.to_values().iter().map(|item| with_stack(|| self.filling(item))).collect();
            List::from_values(items, Some(&self.budget.meter))
        };
        let dtype = match like {
            Value::Array(items) => return Value::Array(list(items)),
            Value::Tuple(items) => return Value::Tuple(list(items)),
            Value::Tensor(tensor) => self.graph.tensors[tensor.index()].dtype,
            Value::Int(_) => Some(Primitive::Integer),
            Value::Logical(_) => Some(Primitive::Logical),
            _ => None,
        };
        match dtype {
            Some(Primitive::Logical) => Value::Logical(false),
            Some(Primitive::Integer) => Value::Int(0),
            _ => Value::Scalar(0.0),
        }
    }

    pub(super) fn loop_end(&mut self) -> Outcome<()> {
        let Some(run) = self.iterations.loops.pop() else { return Ok(()) };
        self.frame().path = run.outer;
        let mut values = run.last;
        for items in run.collected {
            values.push(self.collected(items)?);
        }
        let value = match values.len() {
            1 => values.pop().unwrap_or(Value::Logical(false)),
            _ => Value::Tuple(List::from_values(values, Some(&self.budget.meter))),
        };
        self.stack.push(value);
        Ok(())
    }

    /// The collected values of all trips as an array.
    fn collected(&self, items: Collected) -> Outcome<Value> {
        self.budget.allow(items.len(), items.len() as u64 * 24)?;
        let meter = Some(&self.budget.meter);
        Ok(Value::Array(match items {
            Collected::Tensors(tensors) if !tensors.is_empty() => List::from_tensors(tensors, meter),
            Collected::Tensors(_) => List::from_values(Vec::new(), meter),
            Collected::Values(values) => List::from_values(values, meter),
        }))
    }

    /// Pops `count` arrays, which must have equal lengths, to iterate over them. `what` is the word for the
    /// loop in messages.
    fn iteration(&mut self, count: usize, what: &str) -> Outcome<Iteration> {
        let values = self.stack.split_off(self.stack.len() - count);
        let mut lists: SmallVec<[List; 2]> = SmallVec::new();
        for value in values {
            match value {
                Value::Array(list) => lists.push(list),
                Value::Tensor(_) | Value::Symbol(_) => {
                    let message = format!("a {what} iterates over arrays whose items are known while expanding");
                    return Err(Failure::new(Code::NotCompileTime, message));
                }
                other => {
                    let found = other.kind();
                    let message = format!("a {what} iterates over arrays, this is {found}");
                    return Err(Failure::new(Code::Iterable, message).label(format!("this is {found}")));
                }
            }
        }
        let len = lists.first().map(List::len);
        if let Some(other) = lists.iter().find(|list| Some(list.len()) != len) {
            let len = len.unwrap_or_default();
            let other = other.len();
            let message = format!("a {what} iterates over arrays of equal length; these have {len} and {other} items");
            return Err(Failure::new(Code::Iterable, message).label(format!("{len} and {other} items")));
        }
        Ok(Iteration::new(lists))
    }
}

impl Predicated for Machine {
    type Value = Value;
    type Failure = Box<Failure>;

    fn truth(&self, value: &Value) -> Option<bool> {
        if let Value::Logical(truth) = value { Some(*truth) } else { None }
    }

    fn same(&self, a: &Value, b: &Value) -> bool {
        matches!((a, b), (Value::Tensor(a), Value::Tensor(b)) if a == b)
    }

    fn emit(&mut self, operation: &'static str, operands: &[&Value]) -> Outcome<Value> {
        let operands: SmallVec<[Value; 3]> = operands.iter().copied().cloned().collect();
        self.emit_operator(operation, &operands)
    }
}
