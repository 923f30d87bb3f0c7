//! What comprehensions and loops have in common: a comprehension is a loop that hands nothing on
//! from one trip to the next. Arrays are run over side by side, and what the trips give is
//! collected.

use smallvec::SmallVec;

use super::budget::{Failure, Outcome};
use super::frame::Slot;
use super::list::List;
use super::looping::LoopRun;
use super::machine::Machine;
use super::scan::Unrolling;
use super::value::Value;
use crate::diagnostics::Code;
use crate::graph::TensorId;

/// What is running of each kind, the innermost one last.
#[derive(Debug, Default)]
pub(super) struct Iterations {
    pub(super) scans: Vec<Unrolling>,
    pub(super) loops: Vec<LoopRun>,
}

/// Trips over arrays of one length; a count or a bound can set their number.
#[derive(Debug)]
pub(super) struct Iteration {
    lists: SmallVec<[List; 2]>,
    /// How many trips there are at most; none where only a condition ends them.
    len: Option<u64>,
    trip: u64,
}

impl Iteration {
    /// The number of trips, as far as it is bound.
    pub(super) fn len(&self) -> Option<u64> {
        self.len
    }

    /// Sets the number of trips, which is no more than the arrays have items.
    pub(super) fn limit(&mut self, len: u64) {
        self.len = Some(len);
    }

    /// The trip, from 0.
    pub(super) fn trip(&self) -> u64 {
        self.trip
    }

    /// Whether all trips are done.
    pub(super) fn is_over(&self) -> bool {
        self.len.is_some_and(|len| self.trip >= len)
    }

    /// Puts the items of this trip into slots; of arrays that are reversed those from the other
    /// end.
    pub(super) fn enter(&self, reversed: &[bool], slots: &mut [Slot]) {
        for (i, (list, slot)) in self.lists.iter().zip(slots).enumerate() {
            let place = match reversed.get(i) {
                Some(true) => self.len.unwrap_or(0).saturating_sub(self.trip + 1),
                _ => self.trip,
            };
            if let Some(item) = list.get(place as usize) {
                slot.set(Slot::Ready(item));
            }
        }
    }

    /// Ends a trip.
    pub(super) fn advance(&mut self) {
        self.trip += 1;
    }
}

/// What the trips gave so far, packed as an array keeps it as long as all are tensors.
#[derive(Debug)]
pub(super) enum Collected {
    Tensors(Vec<TensorId>),
    Values(Vec<Value>),
}

impl Collected {
    pub(super) fn new() -> Self {
        Collected::Tensors(Vec::new())
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Collected::Tensors(tensors) => tensors.len(),
            Collected::Values(values) => values.len(),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, value: Value) {
        match (&mut *self, value) {
            (Collected::Tensors(tensors), Value::Tensor(tensor)) => tensors.push(tensor),
            (Collected::Values(values), value) => values.push(value),
            (Collected::Tensors(tensors), value) => {
                let before = tensors.iter().map(|&tensor| Value::Tensor(tensor));
                *self = Collected::Values(before.chain([value]).collect());
            }
        }
    }
}

impl Machine {
    /// What the trips gave, as an array.
    pub(super) fn collected(&mut self, items: Collected) -> Outcome<Value> {
        match items {
            Collected::Tensors(tensors) if !tensors.is_empty() => {
                self.budget.allow(tensors.len(), tensors.len() as u64 * 24)?;
                Ok(Value::Array(List::from_tensors(tensors, Some(&self.budget.meter))))
            }
            Collected::Tensors(_) => self.array_of(Vec::new()),
            Collected::Values(values) => self.array_of(values),
        }
    }

    /// Starts to run over the arrays on top of the stack, all of one length. `what` runs, for
    /// messages.
    pub(super) fn iteration(&mut self, count: usize, what: &str) -> Outcome<Iteration> {
        let values = self.stack.split_off(self.stack.len() - count);
        let mut lists: SmallVec<[List; 2]> = SmallVec::new();
        for value in values {
            match value {
                Value::Array(list) => lists.push(list),
                Value::Tensor(_) | Value::Symbol(_) => {
                    let message = format!("a {what} runs over arrays whose items are known while expanding");
                    return Err(Failure::new(Code::NotCompileTime, message));
                }
                other => {
                    let message = format!("a {what} runs over arrays, this is {}", other.kind());
                    return Err(Failure::new(Code::Iterable, message));
                }
            }
        }
        let len = lists.first().map(List::len);
        if let Some(other) = lists.iter().find(|list| Some(list.len()) != len) {
            let len = len.unwrap_or_default();
            let message =
                format!("a {what} runs over arrays of equal length; these have {len} and {} items", other.len());
            return Err(Failure::new(Code::Iterable, message));
        }
        Ok(Iteration { lists, len: len.map(|len| len as u64), trip: 0 })
    }

    fn array_of(&mut self, items: Vec<Value>) -> Outcome<Value> {
        self.budget.allow(items.len(), items.len() as u64 * 24)?;
        Ok(Value::Array(List::from_values(items, Some(&self.budget.meter))))
    }
}
