//! What the machine computes with: how values are made, and why there may be none.

use std::sync::Arc;

use super::network::{LayerId, LoopId, Network, TensorId, Type};
use super::ops::{Attributes, Op};
use crate::diagnostics::Code;
use crate::source::Span;
use crate::tensor::Tensor;

/// Why something cannot be computed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What kind.
    pub code: Code,
    /// Where.
    pub at: Span,
    /// The sentence.
    pub message: String,
    /// In which trips.
    pub trips: Vec<(LoopId, u64)>,
}

/// A value, or why there is none.
pub type Slot<V> = Result<V, Arc<Failure>>;

/// What is being computed.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// The network.
    pub net: &'a Network,
    /// The layer.
    pub layer: LayerId,
    /// The running trips, the outermost first.
    pub trips: &'a [(LoopId, u64)],
}

impl Site<'_> {
    /// A failure here.
    pub fn fail(&self, code: Code, message: impl Into<String>) -> Arc<Failure> {
        let at = self.net.layer(self.layer).at;
        Arc::new(Failure { code, at, message: message.into(), trips: self.trips.to_vec() })
    }

    /// The name of the layer's result.
    pub fn name(&self) -> &str {
        self.net.layer(self.layer).output.map_or("", |output| self.net.name_of(output))
    }
}

/// A loop output that collects elements.
pub struct Collecting<'a> {
    /// Where.
    pub site: Site<'a>,
    /// The place of the new axis.
    pub axis: usize,
    /// The extent of the new axis.
    pub length: usize,
    /// Whether the last element comes first.
    pub reverse: bool,
    /// The type of elements, where known.
    pub element: Option<&'a Type>,
}

/// How things are computed.
pub trait Domain {
    /// What tensors are.
    type Value: Clone;
    /// What elements are collected in.
    type Gathered;

    /// A constant.
    fn constant(&mut self, value: &Arc<Tensor>) -> Self::Value;

    /// The result of an operation, whose type may be known.
    fn operation(
        &mut self,
        site: &Site,
        what: (Op, &Attributes, Option<&Type>),
        inputs: &[&Self::Value],
    ) -> Slot<Self::Value>;

    /// What is at an index of an axis; `trips` is the number of trips, where known.
    fn element(
        &mut self,
        site: &Site,
        of: (TensorId, &Self::Value),
        axis: usize,
        index: i64,
        trips: Option<u64>,
    ) -> Slot<Self::Value>;

    /// The number that a value is, if that is known.
    fn number(&self, value: &Self::Value) -> Option<i64>;

    /// The truth of a value, if that is known.
    fn truth(&self, value: &Self::Value) -> Option<bool>;

    /// Begins to collect.
    fn open(&mut self, collecting: &Collecting) -> Self::Gathered;

    /// Adds an element, which counts only if `active` holds.
    fn push(
        &mut self,
        collecting: &Collecting,
        to: &mut Self::Gathered,
        value: &Self::Value,
        active: Option<&Self::Value>,
    ) -> Slot<()>;

    /// The collected elements in one tensor.
    fn close(&mut self, collecting: &Collecting, from: Self::Gathered) -> Slot<Self::Value>;

    /// The memory that a value takes.
    fn bytes(&self, value: &Self::Value) -> u64;

    /// The memory of what is being collected.
    fn held(&self) -> u64 {
        0
    }

    /// The steps taken, beyond one for each layer.
    fn work(&mut self) -> u64;

    /// How many trips are made of a loop whose condition is not known; none if none at all.
    fn bound(&self) -> Option<u64>;

    /// Both of two conditions.
    fn both(&mut self, site: &Site, a: &Self::Value, b: &Self::Value) -> Slot<Self::Value>;

    /// One of two values.
    fn choose(&mut self, site: &Site, active: &Self::Value, new: &Self::Value, old: &Self::Value) -> Slot<Self::Value>;

    /// Notes that a loop was left although the condition may hold.
    fn unfinished(&mut self, site: &Site, active: &Self::Value) -> Slot<()>;
}
