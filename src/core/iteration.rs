//! The state of what is iterated: loops, comprehensions, which are loops without recurrences, and
//! scans. Loops run over arrays side by side, and the values of their trips are collected.

use std::sync::Arc;

use smallvec::SmallVec;

use super::list::List;
use super::program::Head;
use super::slots::Slot;
use super::unit::UnitId;
use super::value::Value;
use crate::graph::TensorId;
use crate::graph::names::NameId;
use crate::graph::scan;

/// What is running of each kind, the innermost one last.
#[derive(Debug, Default)]
pub(super) struct Iterations {
    pub(super) scans: Vec<Unrolling>,
    pub(super) loops: Vec<LoopRun>,
}

impl Iterations {
    /// Whether no scan or loop is running.
    pub(super) fn is_empty(&self) -> bool {
        self.scans.is_empty() && self.loops.is_empty()
    }
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
    /// Trips over arrays of one length, before the first one.
    pub(super) fn new(lists: SmallVec<[List; 2]>) -> Self {
        let len = lists.first().map(|list| list.len() as u64);
        Iteration { lists, len, trip: 0 }
    }

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

/// The values of the trips so far, packed as in an array as long as all are tensors.
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
    /// The trips, unless a condition ends them before.
    pub(super) iteration: Iteration,
    /// The path of the frame around, and that of the trips.
    pub(super) outer: NameId,
    pub(super) path: NameId,
    /// That of the latest trip.
    pub(super) named: Option<NameId>,
    /// The tensor that says whether the loop still goes on, once that depends on one.
    pub(super) active: Option<Value>,
    /// The last values as they would be if the loop ended here.
    pub(super) last: Vec<Value>,
    pub(super) collected: SmallVec<[Collected; 1]>,
}

/// An input of which a step sees a section.
#[derive(Debug)]
pub(super) struct Section {
    /// The parameter of the body.
    pub(super) param: usize,
    pub(super) tensor: TensorId,
    /// The axis, as `slice` has it.
    pub(super) axes: Arc<[i64]>,
    /// The extent of a section; negative where the last one comes first.
    pub(super) chunk: i64,
}

/// What is gathered from a result of the body.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) of: scan::Collected,
    /// The place of the result.
    pub(super) result: usize,
    /// The name of what all steps give.
    pub(super) name: NameId,
    pub(super) parts: Vec<Value>,
}

/// A scan that is being unrolled.
#[derive(Debug)]
pub(super) struct Unrolling {
    pub(super) site: u32,
    pub(super) unit: UnitId,
    pub(super) head: Head,
    pub(super) path: NameId,
    /// The number of steps, and of those that were started.
    pub(super) count: usize,
    pub(super) started: usize,
    /// The arguments of the next step by parameter; those of sections are filled in.
    pub(super) args: Vec<Value>,
    pub(super) sections: Vec<Section>,
    /// Parameters and the results that the next step has for them.
    pub(super) states: Vec<(usize, usize)>,
    pub(super) gathered: Vec<Gathered>,
    /// Ends of the latest sections, which begin others.
    pub(super) bounds: SmallVec<[Arc<[i64]>; 4]>,
}
