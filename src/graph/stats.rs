//! Statistics of a graph: the numbers of operations, parameters and multiply-adds.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod amount;
mod counts;
mod elements;
mod extents;
mod memory;
mod modules;
mod open;
mod products;
mod stats_table;

use std::collections::BTreeMap;

use serde_json::json;

use super::{Graph, Kind, Operation, Value};
use crate::graph::standard::{CONSTANT, VARIABLE};
use amount::Amount;
pub(crate) use counts::Counts;
use elements::amount_of_bytes;
pub(crate) use elements::bytes_of;
use extents::items_or_unknown;
use memory::Peak;
use modules::{ModuleStats, Modules};
use open::OpenInputs;
use products::Count;

/// The number of bytes of the data of a variable, by its label, if there are data.
pub(crate) type StoredBytes<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// A graph without data of its variables.
pub(crate) const NO_DATA: StoredBytes<'static> = &|_| None;

/// Statistics of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    /// The number of operations of each name.
    pub(crate) operations: BTreeMap<String, u64>,
    /// What is counted in the whole graph.
    pub(crate) counts: Counts,
    /// The modules, the whole graph first; empty if it has none.
    modules: Vec<ModuleStats>,
    /// The memory that tensors between operations take at most.
    peak: Peak,
    /// The name of the tensor of the peak.
    peak_at: Option<String>,
    /// The variables and operations that are not counted, by name: a shape is unknown, or there is no rule.
    pub(crate) uncounted: BTreeMap<String, u64>,
    /// The inputs and symbols on which sizes depend.
    open: OpenInputs,
}

/// The operation that introduces a weight in ONNX.
const INITIALIZER: &str = "initializer";

/// The operation of ONNX that introduces a constant.
const CONSTANT_OF_ONNX: &str = "Constant";

/// What is counted for the operations of a kind.
#[derive(Clone, Copy)]
enum Counted {
    Nothing,
    Weights,
    Constants,
    Products(Count),
    /// It is not known whether there are products.
    Unknown,
}

impl Counted {
    /// What is counted for operations of a kind.
    fn by(graph: &Graph, kind: &Kind) -> Self {
        match graph.text_of(kind.name) {
            VARIABLE | INITIALIZER => Counted::Weights,
            CONSTANT | CONSTANT_OF_ONNX => Counted::Constants,
            name => match products::rule(kind.standard, name) {
                Some(count) => Counted::Products(count),
                None if products::has_none(graph, kind) => Counted::Nothing,
                None => Counted::Unknown,
            },
        }
    }

    /// Whether results are activations.
    fn is_activation(self) -> bool {
        !matches!(self, Counted::Weights | Counted::Constants)
    }

    /// What is counted for an operation, and whether that is complete.
    fn of(self, graph: &Graph, operation: &Operation, stored: StoredBytes) -> (Counts, bool) {
        let mut counts = Counts { operations: 1, ..Counts::default() };
        if self.is_activation() {
            graph.tensors_of(operation).for_each(|tensor| counts.activations.add(&items_or_unknown(graph, tensor)));
        }
        let complete = match self {
            Counted::Nothing | Counted::Constants => true,
            Counted::Unknown => false,
            Counted::Weights => weights(graph, operation, stored, &mut counts),
            Counted::Products(count) => {
                counts.multiply_adds = count(graph, operation).unwrap_or_else(Amount::unknown);
                !counts.multiply_adds.is_least()
            }
        };
        if matches!(self, Counted::Unknown) {
            counts.multiply_adds = Amount::unknown();
        }
        (counts, complete)
    }
}

/// Counts the items and bytes of a variable. Returns whether they are known.
fn weights(graph: &Graph, operation: &Operation, stored: StoredBytes, counts: &mut Counts) -> bool {
    let mut complete = true;
    for tensor in graph.tensors_of(operation) {
        let items = items_or_unknown(graph, tensor);
        complete &= !items.is_least();
        let of_data = || match graph.attribute(operation, "label")? {
            Value::String(label) => stored(label),
            _ => None,
        };
        let declared = || match graph.attribute(operation, "type")? {
            Value::Symbol(text) => amount_of_bytes(text.split('[').next().unwrap_or(text), &items),
            _ => None,
        };
        counts.parameters.add(&items);
        let known = of_data().map(Amount::from).or_else(declared);
        counts.bytes.add(&known.unwrap_or_else(|| memory::bytes(graph, tensor)));
    }
    complete
}

/// What is counted for each operation of a graph without data, and whether that is complete.
#[cfg(feature = "pictures")]
pub(crate) fn of_each(graph: &Graph) -> Vec<(Counts, bool)> {
    let kinds: Vec<Counted> = graph.kinds.iter().map(|kind| Counted::by(graph, kind)).collect();
    let counted = |operation: &Operation| kinds.get(graph.kind_id(operation).index()).copied();
    let of = |operation| counted(operation).map_or((Counts::default(), true), |of| of.of(graph, operation, NO_DATA));
    graph.operations.iter().map(of).collect()
}

impl Stats {
    /// The statistics of a graph.
    pub(crate) fn new(graph: &Graph, stored: StoredBytes) -> Self {
        let mut stats = Stats::default();
        let counted = |kind: &Kind| (Counted::by(graph, kind), 0u64, 0u64);
        let mut kinds: Vec<_> = graph.kinds.iter().map(counted).collect();
        let is_weight = |operation: &Operation| {
            kinds.get(graph.kind_id(operation).index()).is_some_and(|kind| matches!(kind.0, Counted::Weights))
        };
        let mut modules = Modules::of_operations(graph, is_weight);
        for (i, operation) in graph.operations.iter().enumerate() {
            let Some((counted, count, uncounted)) = kinds.get_mut(graph.kind_id(operation).index()) else { continue };
            let (counts, complete) = counted.of(graph, operation, stored);
            stats.counts.add(&counts);
            modules.add(i, &counts);
            *count = count.saturating_add(1);
            *uncounted = uncounted.saturating_add(u64::from(!complete));
        }
        stats.modules = modules.counted();
        let of = |operation: &Operation| kinds.get(graph.kind_id(operation).index()).map(|(counted, ..)| *counted);
        stats.peak = Peak::of(graph, |operation| of(operation).is_some_and(Counted::is_activation));
        stats.open = OpenInputs::of(graph, stats.amounts());
        stats.peak_at = stats.peak.at.map(|tensor| graph.tensor_name(tensor));
        for (kind, (_, count, uncounted)) in graph.kinds.iter().zip(kinds) {
            let add = |to: &mut BTreeMap<String, u64>, count: u64| {
                if count > 0 {
                    let sum = to.entry(graph.text_of(kind.name).to_owned()).or_default();
                    *sum = sum.saturating_add(count);
                }
            };
            add(&mut stats.operations, count);
            add(&mut stats.uncounted, uncounted);
        }
        stats
    }

    /// All sums of sizes.
    fn amounts(&self) -> [&Amount; 5] {
        let Counts { parameters, bytes, multiply_adds, activations, .. } = &self.counts;
        [parameters, bytes, multiply_adds, activations, &self.peak.bytes]
    }

    /// The number of operations.
    pub(crate) fn total(&self) -> u64 {
        self.counts.operations
    }

    /// The statistics as JSON; `before` are those of the document before it was flattened, if known.
    pub(crate) fn to_json(&self, before: Option<&Stats>) -> serde_json::Value {
        let mut fields = json!({
            "operations": { "before": before.map(|before| &before.operations), "after": self.operations },
            "total": { "before": before.map(Stats::total), "after": self.total() },
            "peak": { "bytes": self.peak.bytes.json(), "at": self.peak_at, "unknown": self.peak.unknown },
            "modules": stats_table::json(&self.modules),
            "unknown": self.uncounted.values().sum::<u64>(),
            "not_counted": self.uncounted,
            "open": self.open.json(),
        });
        let least = self.peak.bytes.is_least().then_some("peak");
        self.counts.push_json(&mut fields, least);
        fields
    }
}

#[cfg(test)]
mod tests;
