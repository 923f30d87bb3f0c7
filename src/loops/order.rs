//! The order of computation: for the network and for each loop, its operations, iterators and inner loops, in
//! topological order.

use std::collections::{BTreeMap, BTreeSet};

use super::network::{LayerId, LayerKind, LoopId, Network, TensorId, TensorSource};
use super::scope::Scopes;

/// A unit of computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ComputationUnit {
    /// An operation or an iterator.
    Layer(LayerId),
    /// An inner loop.
    Loop(LoopId),
}

/// The items of the network and of each loop, in order.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    blocks: Vec<Vec<ComputationUnit>>,
}

/// The results of layers in a dependency cycle without a recurrence.
pub(crate) type Cycle = Vec<TensorId>;

/// The index of a block; that of the network itself is 0.
fn block(of: Option<LoopId>) -> usize {
    of.map_or(0, |of| of.index() + 1)
}

/// The items that depend on an item, and the number of its dependencies that are not ordered yet.
#[derive(Default)]
struct UnitNode {
    after: Vec<ComputationUnit>,
    missing: u32,
}

impl Order {
    /// Orders the items of a network whose loops are cleanly nested.
    ///
    /// # Errors
    ///
    /// The dependency cycles.
    pub(crate) fn new(net: &Network, scopes: &Scopes) -> Result<Order, Vec<Cycle>> {
        let layers = (0..net.layers.len()).map(|i| ComputationUnit::Layer(LayerId(i as u32)));
        let loops = (0..net.loops.len()).map(|i| ComputationUnit::Loop(LoopId(i as u32)));
        let mut nodes: BTreeMap<ComputationUnit, UnitNode> =
            layers.chain(loops).map(|item| (item, UnitNode::default())).collect();
        for (i, layer) in net.layers.iter().enumerate() {
            let reader = scopes.reads_in(net, LayerId(i as u32));
            for input in layer.kind.inputs() {
                let home = scopes.home(input.tensor);
                let Some(made_by) = maker(net, input.tensor) else { continue };
                let user = match reader {
                    Some(reader) if home != Some(reader) => scopes.below(reader, home).map(ComputationUnit::Loop),
                    // A use of a value of its own loop by a boundary layer is not a dependency within the trip.
                    _ if layer.kind.boundary().is_some() => None,
                    _ => Some(ComputationUnit::Layer(LayerId(i as u32))),
                };
                if let Some(user) = user {
                    nodes.entry(made_by).or_default().after.push(user);
                    nodes.entry(user).or_default().missing += 1;
                }
            }
        }
        let mut order = Order { blocks: vec![Vec::new(); net.loops.len() + 1] };
        // Ready items are taken in the order of the text.
        let is_ready =
            |(item, node): &(&ComputationUnit, &UnitNode)| node.missing == 0 && place(net, scopes, **item).is_some();
        let mut ready: BTreeSet<ComputationUnit> = nodes.iter().filter(is_ready).map(|(item, _)| *item).collect();
        while let Some(item) = ready.pop_first() {
            if let Some(place) = place(net, scopes, item) {
                order.blocks[block(place)].push(item);
            }
            for next in std::mem::take(&mut nodes.entry(item).or_default().after) {
                let node = nodes.entry(next).or_default();
                node.missing -= 1;
                if node.missing == 0 {
                    ready.insert(next);
                }
            }
        }
        nodes.retain(|_, node| node.missing > 0);
        if nodes.is_empty() { Ok(order) } else { Err(cycles(net, &nodes)) }
    }

    /// The items of the network itself, or of a loop.
    pub(crate) fn items(&self, of: Option<LoopId>) -> &[ComputationUnit] {
        &self.blocks[block(of)]
    }
}

/// The loop that an item is computed in; none for boundary layers that are not iterators, which are not ordered.
fn place(net: &Network, scopes: &Scopes, item: ComputationUnit) -> Option<Option<LoopId>> {
    match item {
        ComputationUnit::Loop(of) => Some(scopes.parent(of)),
        ComputationUnit::Layer(id) => match &net.layer(id).kind {
            LayerKind::Iterator { of, .. } => Some(Some(*of)),
            LayerKind::Operation { .. } => Some(scopes.reads_in(net, id)),
            _ => None,
        },
    }
}

/// The item that computes a tensor; none if the tensor has its value when the trip starts.
fn maker(net: &Network, tensor: TensorId) -> Option<ComputationUnit> {
    let TensorSource::Layer(id) = net.tensors[tensor.index()].origin else { return None };
    match &net.layer(id).kind {
        LayerKind::Recurrence { .. } => None,
        LayerKind::LoopOutput { of, .. } | LayerKind::TripLimit { of, .. } => Some(ComputationUnit::Loop(*of)),
        LayerKind::Iterator { .. } | LayerKind::Operation { .. } => Some(ComputationUnit::Layer(id)),
    }
}

/// One cycle in each connected part of the items that could not be ordered.
fn cycles(net: &Network, nodes: &BTreeMap<ComputationUnit, UnitNode>) -> Vec<Cycle> {
    let mut found = Vec::new();
    // For each remaining item, one that it depends on: following these links leads into a cycle.
    let mut before: BTreeMap<ComputationUnit, ComputationUnit> = BTreeMap::new();
    for (from, node) in nodes {
        before.extend(node.after.iter().map(|user| (*user, *from)));
    }
    let mut seen: BTreeMap<ComputationUnit, ComputationUnit> = BTreeMap::new();
    for &start in nodes.keys() {
        let mut at = start;
        while !seen.contains_key(&at) {
            seen.insert(at, start);
            at = before.get(&at).copied().unwrap_or(at);
        }
        if seen.get(&at) == Some(&start) && before.contains_key(&at) {
            let around = std::iter::successors(Some(at), |last| before.get(last).copied().filter(|next| *next != at));
            let mut tensors: Cycle = around.filter_map(|item| result_of(net, item)).collect();
            tensors.reverse();
            found.push(tensors);
        }
    }
    found
}

/// The result of an item; of a loop, its first output.
fn result_of(net: &Network, item: ComputationUnit) -> Option<TensorId> {
    let layer = match item {
        ComputationUnit::Layer(layer) => Some(layer),
        ComputationUnit::Loop(of) => {
            let outputs = |layer: &&LayerId| matches!(net.layer(**layer).kind, LayerKind::LoopOutput { .. });
            net.loops[of.index()].layers.iter().find(outputs).copied()
        }
    };
    layer.and_then(|layer| net.layer(layer).output)
}
