//! The dependencies between parts of a graph: each part is an item of a level.

use rustc_hash::FxHashMap;

use super::layout::ranks::{Level, Net};
use crate::graph::{Graph, TensorId};

/// The part of each operation, for one level at a time.
#[derive(Debug)]
pub(super) struct Quotient<'g> {
    graph: &'g Graph,
    /// The last level that an operation was on, and its item there.
    places: Vec<(u32, u32)>,
    level: u32,
}

impl<'g> Quotient<'g> {
    pub(super) fn new(graph: &'g Graph) -> Self {
        Quotient { graph, places: vec![(0, 0); graph.operations.len()], level: 0 }
    }

    /// The level of some operations, given with their items. What is outside of them is left out.
    pub(super) fn level(&mut self, items: usize, operations: impl Iterator<Item = (usize, u32)> + Clone) -> Level {
        self.level += 1;
        for (operation, item) in operations.clone() {
            self.places[operation] = (self.level, item);
        }
        let mut numbers: FxHashMap<TensorId, usize> = FxHashMap::default();
        let mut nets: Vec<Net> = Vec::new();
        for (operation, item) in operations {
            for (_, value) in self.graph.arguments(&self.graph.operations[operation]) {
                value.each_tensor(&mut |tensor| {
                    let Some(producer) = self.graph.tensors[tensor.index()].producer else { return };
                    let (level, source) = self.places[producer.index()];
                    if level != self.level || source == item {
                        return;
                    }
                    let net = *numbers.entry(tensor).or_insert_with(|| {
                        nets.push(Net { source: Some(source), ..Net::default() });
                        nets.len() - 1
                    });
                    nets[net].targets.push(item);
                });
            }
        }
        Level { items: vec![1; items], nets }
    }
}
