//! The limits on the work and the memory of inference.

use super::facts::ValueType;
use crate::Options;
use crate::cancel;
use crate::graph::dims::Dim;
use crate::live::Held;
use crate::onnx::model::ModelProto;
use crate::onnx::walk::each_node_of_model;

/// The number of visits of nodes that every model is allowed, and that for each of its nodes. Bodies of loops are visited
/// several times, and those of functions for each call; a model of ordinary nesting stays far below this.
const VISITS: u64 = 100_000;
const VISITS_OF_NODE: u64 = 16;

/// The memory of a value, excluding its extents and items.
const VALUE: u64 = 160;

/// The memory of a new symbol.
const SYMBOL: u64 = 256;

/// What remains of the limits.
#[derive(Debug, Default)]
pub(super) struct InferBudget {
    /// The number of nodes that may still be visited, and whether it includes what the nodes of the model add.
    visits: u64,
    is_complete: bool,
    /// The number of open calls of functions that are still allowed.
    pub(super) depth: u64,
    /// How often a limit kept something from becoming known.
    pub(super) refused: u64,
    /// The number of bytes of extents and items that may still be made, and all bytes that are taken.
    bytes: u64,
    used: Held,
    /// The most bytes of a run.
    max_memory: u64,
}

impl InferBudget {
    pub(super) fn new(options: &Options) -> InferBudget {
        let (visits, bytes) = (VISITS.min(options.max_ops), options.max_memory / 4);
        InferBudget {
            visits,
            is_complete: false,
            depth: options.max_depth,
            refused: 0,
            bytes,
            used: Held::default(),
            max_memory: options.max_memory,
        }
    }

    /// Counts a visit of a node.
    pub(super) fn visit(&mut self) {
        cancel::look();
        self.visits = self.visits.saturating_sub(1);
    }

    /// Whether nodes of graphs and functions may still be visited. The nodes of the model are counted when it matters.
    pub(super) fn has_visits(&mut self, model: &ModelProto) -> bool {
        if self.visits == 0 && !self.is_complete {
            self.is_complete = true;
            let mut nodes = 0;
            each_node_of_model(model, &mut |_| nodes += 1);
            self.visits = nodes * VISITS_OF_NODE;
        }
        self.refused += u64::from(self.visits == 0);
        self.visits > 0
    }

    /// Whether another call may be open.
    pub(super) fn has_depth(&mut self) -> bool {
        self.refused += u64::from(self.depth == 0);
        self.depth > 0
    }

    /// Takes the memory of a type. If there is not enough left, its extents and items are forgotten.
    pub(super) fn allows(&mut self, ty: &mut ValueType) -> bool {
        self.used.add(VALUE);
        let ValueType::Tensor(facts) = ty else { return true };
        let lists = [facts.shape.as_ref(), facts.items.as_ref()];
        let cost = |dim: &Dim| if *dim == Dim::Unknown { SYMBOL } else { dim.bytes() as u64 };
        let bytes: u64 = lists.into_iter().flatten().flat_map(|list| list.iter()).map(cost).sum();
        match self.bytes.checked_sub(bytes).filter(|_| self.used.fits(bytes, self.max_memory)) {
            Some(rest) => {
                self.bytes = rest;
                self.used.add(bytes);
                true
            }
            None => {
                self.refused += 1;
                (facts.shape, facts.items) = (None, None);
                false
            }
        }
    }

    /// The number of bytes that are taken.
    pub(super) fn used(&self) -> u64 {
        self.used.bytes()
    }
}
