//! Arranges a scene: the rows of each group, the order of its ports, and what is named rather than drawn.

use rustc_hash::{FxHashMap, FxHashSet};

use super::ranks::{Level, Placed, Rows, Vertex};
use super::{order, ranks};
use crate::graph::TensorId;
use crate::picture::scene::{self, Item, Scene};
use crate::progress;

/// The rows of all groups of a scene.
#[derive(Debug)]
pub(crate) struct Arrangement {
    /// The rows of each group.
    pub(crate) levels: Vec<Arranged>,
}

/// The rows of a group.
#[derive(Debug)]
pub(crate) struct Arranged {
    /// The rows, in order.
    pub(crate) rows: Rows,
    /// The tensor of each net.
    pub(crate) tensors: Vec<TensorId>,
    /// The tensors that enter the group, from the left.
    pub(crate) ins: Vec<TensorId>,
    /// The tensors that leave the group, from the left.
    pub(crate) outs: Vec<TensorId>,
}

/// Arranges a scene. A box gets a text row for each tensor whose line to it is not drawn.
pub(crate) fn arrange(scene: &mut Scene) -> Arrangement {
    let mut levels = rank_all(scene);
    for group in (0..levels.len()).rev() {
        let ends = ends(scene, &levels, group);
        order::order(&mut levels[group].rows, &ends);
        let level = &mut levels[group];
        let named = |nets: Vec<u32>, tensors: &[TensorId]| nets.iter().map(|net| tensors[*net as usize]).collect();
        let last = level.rows.rows.len().saturating_sub(1);
        let is_in = |vertex: &u32| matches!(level.rows.vertices[*vertex as usize], Vertex::In(_));
        let first_is_in = level.rows.rows.first().is_some_and(|row| row.iter().any(is_in));
        level.ins = if first_is_in { named(order::ports(&level.rows, 0), &level.tensors) } else { Vec::new() };
        let is_out = |vertex: &u32| matches!(level.rows.vertices[*vertex as usize], Vertex::Out(_));
        let last_is_out = level.rows.rows.last().is_some_and(|row| row.iter().any(is_out));
        level.outs = if last_is_out { named(order::ports(&level.rows, last), &level.tensors) } else { Vec::new() };
    }
    Arrangement { levels }
}

/// Places the items of every group in rows, inner groups first: a row has space for few wide groups.
fn place_all(scene: &Scene) -> Vec<(Level, Placed)> {
    let mut columns = vec![0; scene.groups.len()];
    let place = |group: usize| {
        let level = scene.level(group as u32, &columns);
        let placed = ranks::place(&level);
        columns[group] = placed.columns;
        (level, placed)
    };
    let mut levels: Vec<(Level, Placed)> = (0..scene.groups.len()).rev().map(place).collect();
    levels.reverse();
    levels
}

/// The tensors that have no line into a group, and none out of it.
type Hidden = (FxHashSet<TensorId>, FxHashSet<TensorId>);

/// Makes the rows of every group, outer groups first: tensors without a line into a group are named within it, those
/// without a line out of it are not led to its border.
fn rank_all(scene: &mut Scene) -> Vec<Arranged> {
    let mut hidden = vec![Hidden::default(); scene.groups.len()];
    let mut named: Vec<(u32, TensorId)> = Vec::new();
    let mut levels = Vec::with_capacity(hidden.len());
    for (group, (mut level, placed)) in place_all(scene).into_iter().enumerate() {
        let (ins, outs) = std::mem::take(&mut hidden[group]);
        let items = &scene.groups[group].items;
        let mut tensors: Vec<TensorId> = Vec::new();
        let mut lost: Vec<(TensorId, u32)> = Vec::new();
        for (mut net, &tensor) in std::mem::take(&mut level.nets).into_iter().zip(scene.groups[group].nets.keys()) {
            net.leaves &= !outs.contains(&tensor);
            if net.source.is_none() && ins.contains(&tensor) {
                lost.extend(net.targets.iter().map(|target| (tensor, *target)));
            } else {
                tensors.push(tensor);
                level.nets.push(net);
            }
        }
        let rows = ranks::rank(&level, placed);
        progress::add(items.len() as u64);
        lost.extend(rows.named.iter().map(|(net, target)| (tensors[*net as usize], *target)));
        for (tensor, target) in lost {
            match items[target as usize] {
                Item::Node(node) => named.push((node, tensor)),
                Item::Group(within) => {
                    hidden[within as usize].0.insert(tensor);
                }
            }
        }
        let mut starts: Vec<Option<u32>> = level.nets.iter().map(|net| net.source).collect();
        for edge in &rows.edges {
            starts[edge.net as usize].take_if(|start| *start == edge.upper);
        }
        for (tensor, start) in tensors.iter().zip(starts) {
            if let Some(Item::Group(within)) = start.map(|start| items[start as usize]) {
                hidden[within as usize].1.insert(*tensor);
            }
        }
        levels.push(Arranged { rows, tensors, ins: Vec::new(), outs: Vec::new() });
    }
    tell(scene, named);
    levels
}

/// Adds the text rows that name tensors.
fn tell(scene: &mut Scene, mut named: Vec<(u32, TensorId)>) {
    named.sort_unstable();
    named.dedup();
    for of_one in named.chunk_by(|a, b| a.0 == b.0) {
        let row = |(_, tensor): &(u32, TensorId)| scene::row("from", &scene.graph.tensor_name(*tensor));
        let told = scene::limit(of_one.iter().map(row).collect());
        let node = &mut scene.nodes[of_one[0].0 as usize];
        node.told = told.len();
        node.rows.extend(told);
    }
}

/// The ends of the lines of a level at inner groups, as fractions of the width of the group from its middle.
fn ends(scene: &Scene, levels: &[Arranged], group: usize) -> Vec<order::Ends> {
    let level = &levels[group];
    let mut places: FxHashMap<(u32, TensorId, bool), f32> = FxHashMap::default();
    for item in &scene.groups[group].items {
        let Item::Group(within) = *item else { continue };
        for (ports, top) in [(&levels[within as usize].ins, true), (&levels[within as usize].outs, false)] {
            let part = |i: usize| (i as f32 + 0.5) / ports.len() as f32 - 0.5;
            places.extend(ports.iter().enumerate().map(|(i, tensor)| ((within, *tensor, top), part(i) * 0.9)));
        }
    }
    let part = |vertex: u32, net: u32, top: bool| match level.rows.vertices[vertex as usize] {
        Vertex::Item(item) => match scene.groups[group].items[item as usize] {
            Item::Group(within) => places.get(&(within, level.tensors[net as usize], top)).copied().unwrap_or(0.0),
            Item::Node(_) => 0.0,
        },
        _ => 0.0,
    };
    let edges = level.rows.edges.iter();
    edges.map(|edge| (part(edge.upper, edge.net, false), part(edge.lower, edge.net, true))).collect()
}
