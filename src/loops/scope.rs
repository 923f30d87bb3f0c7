//! Infers from data flow which loops a tensor is inside, and which loops a loop is nested in.
//!
//! The result of an iterator or a recurrence is inside its loop, and so are results computed from it; the result of
//! a loop output is outside. A loop is nested in the loops that the inputs of its boundary layers are inside. (An
//! operation that uses tensors of two loops does not determine which of them is the inner one; the boundary does.)
//! Both relations are the least fixed point of these rules.

use smallvec::SmallVec;

use super::network::{LayerId, LayerKind, LoopId, Network, TensorId};

/// Loops, in ascending order.
pub(crate) type Loops = SmallVec<[LoopId; 4]>;

/// The maximum nesting depth of loops.
pub(crate) const MAX_NESTING: usize = 64;

/// The loops around tensors, layers and loops.
#[derive(Clone, Debug)]
pub(crate) struct Scopes {
    /// For each tensor, the loops it is inside.
    inside: Vec<Loops>,
    /// For each loop, the loops it is nested in.
    around: Vec<Loops>,
    /// For each tensor, the innermost loop it is inside.
    homes: Vec<Option<LoopId>>,
    /// For each loop, the innermost loop around it.
    parents: Vec<Option<LoopId>>,
    /// Whether loops are nested deeper than [`MAX_NESTING`].
    pub(crate) too_deep: bool,
}

impl Scopes {
    /// Computes the scopes of a network.
    pub(crate) fn new(net: &Network) -> Scopes {
        let mut scopes = Scopes {
            inside: vec![Loops::new(); net.tensors.len()],
            around: vec![Loops::new(); net.loops.len()],
            homes: Vec::new(),
            parents: Vec::new(),
            too_deep: false,
        };
        scopes.solve(net);
        scopes.parents = scopes.around.iter().map(|loops| scopes.innermost(loops)).collect();
        scopes.homes = scopes.inside.iter().map(|loops| scopes.innermost(loops)).collect();
        scopes
    }

    fn solve(&mut self, net: &Network) {
        let users = users(net);
        let mut waiting: Vec<LayerId> = (0..net.layers.len()).rev().map(|at| LayerId(at as u32)).collect();
        let mut is_waiting = vec![true; net.layers.len()];
        while let Some(id) = waiting.pop() {
            is_waiting[id.index()] = false;
            let layer = net.layer(id);
            let mut wake = |id: LayerId| {
                if !std::mem::replace(&mut is_waiting[id.index()], true) {
                    waiting.push(id);
                }
            };
            if let Some(of) = layer.kind.boundary() {
                let mut around = self.around[of.index()].clone();
                let loops = layer.kind.inputs().flat_map(|input| &self.inside[input.tensor.index()]);
                loops.filter(|&&other| other != of).for_each(|&other| insert(&mut around, other));
                if around.len() > self.around[of.index()].len() {
                    self.around[of.index()] = around;
                    net.loops[of.index()].layers.iter().for_each(|&other| wake(other));
                }
            }
            let Some(output) = layer.output else { continue };
            let found = self.of_output(&layer.kind);
            if found.len() > MAX_NESTING {
                self.too_deep = true;
                return;
            }
            if found.len() > self.inside[output.index()].len() {
                self.inside[output.index()] = found;
                users[output.index()].iter().for_each(|&user| wake(user));
            }
        }
    }

    /// The loops that the result of a layer is inside.
    fn of_output(&self, kind: &LayerKind) -> Loops {
        let mut all = kind.boundary().map_or_else(Loops::new, |of| self.around[of.index()].clone());
        match kind {
            LayerKind::Operation { inputs, .. } => {
                let loops = inputs.iter().flat_map(|input| &self.inside[input.tensor.index()]);
                loops.for_each(|&of| insert(&mut all, of));
            }
            LayerKind::Iterator { of, .. } | LayerKind::Recurrence { of, .. } => insert(&mut all, *of),
            LayerKind::LoopOutput { .. } | LayerKind::TripLimit { .. } => {}
        }
        all
    }

    /// The innermost of loops that are nested in each other.
    fn innermost(&self, loops: &Loops) -> Option<LoopId> {
        loops.iter().copied().max_by_key(|of| (self.around[of.index()].len(), of.index()))
    }

    /// The innermost loop that a tensor is inside.
    pub(crate) fn home(&self, tensor: TensorId) -> Option<LoopId> {
        self.homes[tensor.index()]
    }

    /// The loop around a loop.
    pub(crate) fn parent(&self, of: LoopId) -> Option<LoopId> {
        self.parents[of.index()]
    }

    /// The number of loops around a loop.
    pub(crate) fn depth(&self, of: LoopId) -> usize {
        self.around[of.index()].len()
    }

    /// Whether a tensor is inside a loop.
    pub(crate) fn is_inside(&self, tensor: TensorId, of: LoopId) -> bool {
        self.inside[tensor.index()].contains(&of)
    }

    /// Whether a loop is nested in another one.
    pub(crate) fn is_nested(&self, inner: LoopId, outer: LoopId) -> bool {
        self.around[inner.index()].contains(&outer)
    }

    /// The loop in which a layer reads its inputs; for a boundary layer, its own loop.
    pub(crate) fn reads_in(&self, net: &Network, layer: LayerId) -> Option<LoopId> {
        let layer = net.layer(layer);
        layer.kind.boundary().or_else(|| layer.output.and_then(|output| self.home(output)))
    }

    /// The loop directly inside `outer` that is `inner` or contains it, if there is one.
    pub(crate) fn below(&self, mut inner: LoopId, outer: Option<LoopId>) -> Option<LoopId> {
        // Each iteration leaves one loop, and the nesting depth is limited.
        for _ in 0..=MAX_NESTING {
            let parent = self.parent(inner);
            if parent == outer {
                return Some(inner);
            }
            inner = parent?;
        }
        None
    }

    /// Two of these loops, neither of which is nested in the other.
    fn unrelated(&self, loops: &Loops) -> Option<(LoopId, LoopId)> {
        let pairs = loops.iter().enumerate().flat_map(|(i, a)| loops[i + 1..].iter().map(move |b| (*a, *b)));
        pairs.into_iter().find(|&(a, b)| !self.is_nested(a, b) && !self.is_nested(b, a))
    }

    /// Whether loops are properly nested: of any two loops around a loop, exactly one is nested in the other.
    pub(crate) fn are_clean(&self) -> bool {
        self.mutual().next().is_none() && self.torn_loops().next().is_none()
    }

    /// Pairs of loops that use each other's values.
    pub(crate) fn mutual(&self) -> impl Iterator<Item = (LoopId, LoopId)> {
        let pairs = |i: usize| self.around[i].iter().map(move |&other| (LoopId(i as u32), other));
        let all = (0..self.around.len()).flat_map(pairs);
        all.filter(|&(a, b)| a < b && self.is_nested(b, a))
    }

    /// Loops at whose boundary values of two loops are used, neither of which is nested in the other.
    pub(crate) fn torn_loops(&self) -> impl Iterator<Item = (LoopId, LoopId, LoopId)> {
        let torn = |i: usize| self.unrelated(&self.around[i]).map(|(a, b)| (LoopId(i as u32), a, b));
        (0..self.around.len()).filter_map(torn)
    }

    /// Tensors that are inside two loops, neither of which is nested in the other.
    pub(crate) fn torn_tensors(&self) -> impl Iterator<Item = (TensorId, LoopId, LoopId)> {
        let torn = |i: usize| self.unrelated(&self.inside[i]).map(|(a, b)| (TensorId(i as u32), a, b));
        (0..self.inside.len()).filter_map(torn)
    }
}

fn insert(loops: &mut Loops, new: LoopId) {
    if let Err(place) = loops.binary_search(&new) {
        loops.insert(place, new);
    }
}

/// The layers that use each tensor.
fn users(net: &Network) -> Vec<Vec<LayerId>> {
    let mut users = vec![Vec::new(); net.tensors.len()];
    for (i, layer) in net.layers.iter().enumerate() {
        for input in layer.kind.inputs() {
            users[input.tensor.index()].push(LayerId(i as u32));
        }
    }
    users
}
