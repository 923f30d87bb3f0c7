//! The order in which things can be computed: for the network and for each loop, its operations,
//! iterators and inner loops, each after what it uses.

use super::network::{LayerId, LayerKind, LoopId, Network, Origin, TensorId};
use super::scope::Scopes;

/// Something that is computed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Item {
    /// An operation or an iterator.
    Layer(LayerId),
    /// An inner loop.
    Loop(LoopId),
}

/// The items of the network and of each loop, in order.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    blocks: Vec<Vec<Item>>,
}

/// Layers that depend on themselves other than by a recurrence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cycle {
    /// The tensors on the way around, as far as they are of one loop.
    pub(crate) tensors: Vec<TensorId>,
}

/// The place of a block: that of the network itself is the first.
fn block(of: Option<LoopId>) -> usize {
    of.map_or(0, |of| of.index() + 1)
}

/// The items with numbers: layers first, then loops.
struct Numbers {
    layers: usize,
}

impl Numbers {
    fn of(&self, item: Item) -> usize {
        match item {
            Item::Layer(layer) => layer.index(),
            Item::Loop(of) => self.layers + of.index(),
        }
    }

    fn item(&self, number: usize) -> Item {
        match number.checked_sub(self.layers) {
            None => Item::Layer(LayerId::at(number)),
            Some(of) => Item::Loop(LoopId::at(of)),
        }
    }
}

impl Order {
    /// Orders the items of a network whose loops are cleanly nested.
    ///
    /// # Errors
    ///
    /// The cycles that there are.
    pub(crate) fn new(net: &Network, scopes: &Scopes) -> Result<Order, Vec<Cycle>> {
        let numbers = Numbers { layers: net.layers.len() };
        let count = net.layers.len() + net.loops.len();
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut missing = vec![0u32; count];
        for (i, layer) in net.layers.iter().enumerate() {
            let reader = scopes.reads_in(net, LayerId::at(i));
            for input in layer.kind.inputs(true) {
                let home = scopes.home(input.tensor);
                let Some(made_by) = maker(net, input.tensor) else { continue };
                let user = match reader {
                    Some(reader) if home != Some(reader) => scopes.below(reader, home).map(Item::Loop),
                    // What a boundary uses of its own loop is no dependency within the trip.
                    _ if layer.kind.boundary().is_some() => None,
                    _ => Some(Item::Layer(LayerId::at(i))),
                };
                if let Some(user) = user {
                    after[numbers.of(made_by)].push(numbers.of(user) as u32);
                    missing[numbers.of(user)] += 1;
                }
            }
        }
        let mut order = Order { blocks: vec![Vec::new(); net.loops.len() + 1] };
        // The last ones first on the stack, so that equals keep the order of the text.
        let mut ready: std::collections::BTreeSet<usize> =
            (0..count).filter(|&i| missing[i] == 0 && place(net, scopes, numbers.item(i)).is_some()).collect();
        while let Some(number) = ready.pop_first() {
            let item = numbers.item(number);
            if let Some(place) = place(net, scopes, item) {
                order.blocks[block(place)].push(item);
            }
            for &next in &after[number] {
                missing[next as usize] -= 1;
                if missing[next as usize] == 0 {
                    ready.insert(next as usize);
                }
            }
        }
        if missing.iter().all(|&missing| missing == 0) {
            Ok(order)
        } else {
            Err(cycles(net, &numbers, &after, &missing))
        }
    }

    /// The items of the network itself, or of a loop.
    pub(crate) fn items(&self, of: Option<LoopId>) -> &[Item] {
        &self.blocks[block(of)]
    }
}

/// The loop that an item is computed in; none of the boundary layers but iterators are items.
fn place(net: &Network, scopes: &Scopes, item: Item) -> Option<Option<LoopId>> {
    match item {
        Item::Loop(of) => Some(scopes.parent(of)),
        Item::Layer(id) => match &net.layer(id).kind {
            LayerKind::Iterator { of, .. } => Some(Some(*of)),
            LayerKind::Operation { .. } => Some(scopes.reads_in(net, id)),
            _ => None,
        },
    }
}

/// What makes a tensor, unless it is there from the beginning of the trip.
fn maker(net: &Network, tensor: TensorId) -> Option<Item> {
    let Origin::Layer(id) = net.tensors[tensor.index()].origin else { return None };
    match &net.layer(id).kind {
        LayerKind::Recurrence { .. } => None,
        LayerKind::LoopOutput { of, .. } | LayerKind::TripLimit { of, .. } => Some(Item::Loop(*of)),
        LayerKind::Iterator { .. } | LayerKind::Operation { .. } => Some(Item::Layer(id)),
    }
}

/// One cycle through each part of what could not be ordered.
fn cycles(net: &Network, numbers: &Numbers, after: &[Vec<u32>], missing: &[u32]) -> Vec<Cycle> {
    let mut found = Vec::new();
    // Who waits for an item of those left: following it leads into a cycle.
    let mut before: Vec<Option<usize>> = vec![None; after.len()];
    for (from, users) in after.iter().enumerate().filter(|(from, _)| missing[*from] > 0) {
        users.iter().for_each(|&user| before[user as usize] = Some(from));
    }
    let mut seen = vec![0usize; after.len()];
    for start in (0..after.len()).filter(|&i| missing[i] > 0) {
        let mut at = start;
        while seen[at] == 0 {
            seen[at] = start + 1;
            match before[at] {
                Some(next) => at = next,
                None => break,
            }
        }
        if seen[at] == start + 1 && before[at].is_some() {
            let mut tensors = Vec::new();
            let first = at;
            loop {
                tensors.extend(tensors_of(net, numbers.item(at)));
                at = before[at].unwrap_or(first);
                if at == first {
                    break;
                }
            }
            tensors.reverse();
            found.push(Cycle { tensors });
        }
    }
    found
}

fn tensors_of(net: &Network, item: Item) -> Option<TensorId> {
    let layer = match item {
        Item::Layer(layer) => Some(layer),
        Item::Loop(of) => {
            let outputs = |layer: &&LayerId| matches!(net.layer(**layer).kind, LayerKind::LoopOutput { .. });
            net.loops[of.index()].layers.iter().find(outputs).copied()
        }
    };
    layer.and_then(|layer| net.layer(layer).output)
}
