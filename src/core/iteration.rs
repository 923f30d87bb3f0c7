//! The state of running loops, comprehensions and repeated calls. A comprehension is a loop without recurrences. Loops
//! run over one or more arrays at the same time, and collect the values of their trips.

use smallvec::SmallVec;

use super::list::List;
use super::repetition::Running;
use super::slots::Slot;
use super::value::Value;
use crate::graph::TensorId;
use crate::graph::names::NameId;

/// The running repeated calls and loops, the innermost one last.
#[derive(Debug, Default)]
pub(super) struct Iterations {
    pub(super) repetitions: Vec<Running>,
    pub(super) loops: Vec<LoopRun>,
}

impl Iterations {
    /// The name prefix of a body outside of its loops, if the innermost loop is one of them. The body has the last of
    /// this number of open frames.
    pub(super) fn path_outside(&self, frames: u32) -> Option<NameId> {
        let own = self.loops.iter().rev().take_while(|run| run.frames == frames);
        own.last().map(|run| run.outer)
    }

    /// Whether no repeated call or loop is running.
    pub(super) fn is_empty(&self) -> bool {
        self.repetitions.is_empty() && self.loops.is_empty()
    }
}

/// The progress of trips over arrays of equal length. The number of trips can be limited further.
#[derive(Debug)]
pub(super) struct Iteration {
    lists: SmallVec<[List; 2]>,
    /// The maximum number of trips; none if only a condition ends the loop.
    len: Option<u64>,
    trip: u64,
}

impl Iteration {
    /// The state before the first trip over arrays of equal length.
    pub(super) fn new(lists: SmallVec<[List; 2]>) -> Self {
        let len = lists.first().map(|list| list.len() as u64);
        Iteration { lists, len, trip: 0 }
    }

    /// The maximum number of trips, if there is one.
    pub(super) fn len(&self) -> Option<u64> {
        self.len
    }

    /// Limits the number of trips, which must not be larger than the number of items.
    pub(super) fn limit(&mut self, len: u64) {
        self.len = Some(len);
    }

    /// The number of the next trip, from 0.
    pub(super) fn trip(&self) -> u64 {
        self.trip
    }

    /// Whether all trips are done.
    pub(super) fn is_over(&self) -> bool {
        self.len.is_some_and(|len| self.trip >= len)
    }

    /// Stores the items of the next trip in slots; reversed arrays are read from their end.
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

    /// Advances to the next trip.
    pub(super) fn advance(&mut self) {
        self.trip += 1;
    }
}

/// The collected values of the trips so far, packed as long as all of them are tensors.
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

/// A loop that is running.
#[derive(Debug)]
pub(super) struct LoopRun {
    /// The number of open frames: the last one is that of the body with the loop.
    pub(super) frames: u32,
    /// The trips; a condition can end the loop earlier.
    pub(super) iteration: Iteration,
    /// The name prefix outside of the loop, and the one that the prefixes of its trips start with.
    pub(super) outer: NameId,
    pub(super) path: NameId,
    /// The name prefix of the latest trip.
    pub(super) named: Option<NameId>,
    /// The predicate of the current trip, if a condition so far was a tensor.
    pub(super) active: Option<Value>,
    /// The values of the recurrences if the loop ended with the latest trip.
    pub(super) last: Vec<Value>,
    pub(super) collected: SmallVec<[Collected; 1]>,
}
