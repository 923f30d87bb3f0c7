//! How much larger a model becomes by a constant in place of what computes it.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::pure;
use crate::Options;
use crate::graph::names::NameId;
use crate::onnx::model::{ModelNames, ModelProto, NodeProto, PartSizes, TensorProto};
use crate::onnx::run::number_of;
use crate::onnx::types::ElementType;
use crate::onnx::walk::each_node;
use crate::tensor::Tensor;

/// The bytes by which a constant may be larger than what it replaces.
const USUAL: u64 = 1 << 10;

/// The bytes of an initializer beside its name, its extents and its data.
const INITIALIZER: u64 = 16;

/// What may grow, and the bytes that go with constants that one node uses.
pub(super) struct Growth {
    allowed: Allowed,
    /// The stored bytes that each value takes along if nothing needs it any more.
    sizes: FxHashMap<NameId, u64>,
}

enum Allowed {
    Everything,
    /// So many bytes for a constant.
    Bytes(u64),
    /// Nothing: a constant takes at most as much as the node, with these lengths of names.
    Nothing(Vec<u32>),
}

impl Growth {
    /// What the options allow for a model.
    pub(super) fn of(model: &ModelProto, options: &Options) -> Growth {
        let mut is_quantized = false;
        if let Some(graph) = &model.graph {
            each_node(&graph.nodes, &mut |node| is_quantized |= pure::is_quantized(&model.names, node));
        }
        let allowed = match options.internal.fold_growth {
            _ if options.internal.translates => Allowed::Everything,
            Some(bytes) => Allowed::Bytes(bytes),
            None if is_quantized => Allowed::Nothing(model.names.values.lengths(&model.names.texts)),
            None => Allowed::Bytes(USUAL),
        };
        Growth { allowed, sizes: FxHashMap::default() }
    }

    /// Notes the bytes of a constant.
    pub(super) fn stored(&mut self, name: NameId, constant: &TensorProto) {
        let bytes = constant.external_bytes().filter(|_| constant.is_external());
        self.sizes.insert(name, bytes.unwrap_or(constant.stored_bytes() as u64));
    }

    /// Notes the bytes of a constant with the items of a tensor.
    pub(super) fn computed(&mut self, name: NameId, tensor: &Tensor) {
        self.sizes.insert(name, bytes_of(tensor));
    }

    /// The stored bytes that nothing needs without a node.
    fn freed(&self, node: &NodeProto, uses: &[u32]) -> u64 {
        let only = node.inputs.iter().filter(|input| uses.get(input.index()) == Some(&1));
        only.filter_map(|input| self.sizes.get(input)).fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// Whether a model becomes larger than it may with constants in place of a node.
    pub(super) fn exceeds<'t>(
        &self,
        names: &ModelNames,
        uses: &[u32],
        node: &NodeProto,
        results: impl Iterator<Item = (NameId, &'t Tensor)>,
    ) -> bool {
        let added = results.fold(0u64, |sum, (name, tensor)| sum.saturating_add(self.constant(name, tensor)));
        added > self.freed(node, uses).saturating_add(self.of_nodes(names, &[node], 1))
    }

    /// The bytes of a constant in a model.
    fn constant(&self, name: NameId, tensor: &Tensor) -> u64 {
        match &self.allowed {
            Allowed::Everything => 0,
            Allowed::Bytes(_) => bytes_of(tensor),
            Allowed::Nothing(lengths) => {
                let name = lengths.get(name.index()).map_or(0, |length| u64::from(*length));
                bytes_of(tensor).saturating_add(INITIALIZER + name + 2 * tensor.shape().len() as u64)
            }
        }
    }

    /// The bytes that so many constants may take in addition, in place of nodes.
    fn of_nodes(&self, names: &ModelNames, nodes: &[&NodeProto], constants: u64) -> u64 {
        match &self.allowed {
            Allowed::Everything => u64::MAX,
            Allowed::Bytes(most) => most.saturating_mul(constants),
            Allowed::Nothing(lengths) => {
                let sizes = PartSizes { texts: &names.texts, lengths };
                nodes.iter().fold(0, |sum, node| sum.saturating_add(sizes.node(node)))
            }
        }
    }

    /// Of nodes that stay though their results are known, those for whose results constants may stand because, all
    /// together, they take what nothing needs then: a weight that is cut into parts. `is_output` tells outputs of the graph.
    pub(super) fn together(
        &self,
        names: &ModelNames,
        uses: &[u32],
        kept: &[KeptNode],
        is_output: impl Fn(NameId) -> bool,
    ) -> Vec<usize> {
        let groups = Groups::of(kept, |name| self.sizes.get(&name).is_some_and(|bytes| *bytes > SHARED));
        let mut inside: FxHashMap<NameId, u32> = FxHashMap::default();
        kept.iter().flat_map(|kept| &kept.node.inputs).for_each(|input| *inside.entry(*input).or_default() += 1);
        let is_free = |name: NameId| uses.get(name.index()) == inside.get(&name) && !is_output(name);
        let made: FxHashSet<NameId> = kept.iter().flat_map(|kept| kept.node.outputs.iter().copied()).collect();
        let is_needed = |kept: &KeptNode| kept.node.outputs.iter().any(|name| *name != NameId::ROOT && !is_free(*name));
        let mut found = Vec::new();
        for group in groups.all() {
            let mut members = group.iter().filter_map(|at| kept.get(*at)).collect::<Vec<_>>();
            let inputs: FxHashSet<NameId> = members.iter().flat_map(|kept| kept.node.inputs.iter().copied()).collect();
            let freed = inputs.iter().filter(|name| !made.contains(name) && is_free(**name));
            let freed =
                freed.filter_map(|name| self.sizes.get(name)).fold(0u64, |sum, bytes| sum.saturating_add(*bytes));
            let nodes: Vec<&NodeProto> = members.iter().map(|kept| &kept.node).collect();
            members.retain(|kept| is_needed(kept));
            let results = members.iter().flat_map(|kept| &kept.results);
            let added = results.fold(0u64, |sum, (name, tensor)| sum.saturating_add(self.constant(*name, tensor)));
            if added <= freed.saturating_add(self.of_nodes(names, &nodes, members.len() as u64)) {
                found.extend(members.iter().map(|kept| kept.place));
            }
        }
        found
    }
}

/// A node that stays though its results are known.
#[derive(Clone)]
pub(super) struct KeptNode {
    /// Its position in its graph.
    pub(super) place: usize,
    pub(super) node: NodeProto,
    pub(super) results: Vec<(NameId, Arc<Tensor>)>,
}

impl KeptNode {
    /// Its result with a name.
    pub(super) fn result(&self, name: NameId) -> Option<Arc<Tensor>> {
        self.results.iter().find(|(own, _)| *own == name).map(|(_, tensor)| Arc::clone(tensor))
    }
}

/// The bytes up to which a constant does not connect the nodes that use it.
const SHARED: u64 = 256;

/// Nodes that are connected by values: for each the number of another one of its group, or its own.
struct Groups(Vec<usize>);

impl Groups {
    fn of(kept: &[KeptNode], connects: impl Fn(NameId) -> bool) -> Groups {
        let mut groups = Groups((0..kept.len()).collect());
        let mut first: FxHashMap<NameId, usize> = FxHashMap::default();
        for (at, kept) in kept.iter().enumerate() {
            kept.node.outputs.iter().for_each(|name| _ = first.insert(*name, at));
            for input in &kept.node.inputs {
                match first.get(input) {
                    Some(other) => groups.join(*other, at),
                    None if connects(*input) => _ = first.insert(*input, at),
                    None => {}
                }
            }
        }
        groups
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[b] = a;
    }

    /// The members of each group.
    fn all(mut self) -> Vec<Vec<usize>> {
        let mut groups: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for at in 0..self.0.len() {
            groups.entry(self.root(at)).or_default().push(at);
        }
        groups.into_values().collect()
    }
}

/// The bytes of the elements of a tensor in a model.
fn bytes_of(tensor: &Tensor) -> u64 {
    let bits = ElementType::numbered(number_of(tensor.dtype())).map_or(64, |element| element.bits);
    (tensor.len() as u64).saturating_mul(u64::from(bits)).div_ceil(8)
}
