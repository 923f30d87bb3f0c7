//! How much larger a model becomes by a constant in place of what computes it.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::fold::FoldRun;
use crate::Options;
use crate::graph::names::NameId;
use crate::onnx::model::{ModelNames, ModelProto, NodeProto, TensorProto};
use crate::onnx::protobuf::{CountedPart, writes_plain_texts, written_bytes};
use crate::onnx::run::number_of;
use crate::onnx::types::ElementType;
use crate::tensor::Tensor;

/// The bytes by which a constant may be larger than what it replaces.
const USUAL: u64 = 1 << 10;

/// What may grow, and the bytes that go with constants that one node uses.
pub(super) struct Growth {
    allowed: Allowed,
    /// Whether constants that nothing uses are removed.
    removes: bool,
    /// The stored bytes that each value takes along if nothing needs it any more.
    sizes: FxHashMap<NameId, u64>,
}

enum Allowed {
    Everything,
    /// So many bytes for a constant.
    Bytes(u64),
    /// Nothing: constants take at most what the node and what goes with it take in a file. `is_plain` is what
    /// [`writes_plain_texts`] says of the names.
    Nothing {
        is_plain: bool,
    },
}

impl Growth {
    /// What the options allow for a model in a run.
    pub(super) fn of(model: &ModelProto, run: &FoldRun, options: &Options) -> Growth {
        let allowed = match options.internal.fold_growth {
            _ if options.internal.translates => Allowed::Everything,
            Some(bytes) => Allowed::Bytes(bytes),
            None if run.is_quantized => Allowed::Nothing { is_plain: writes_plain_texts(&model.names) },
            None => Allowed::Bytes(USUAL),
        };
        Growth { allowed, removes: run.removes, sizes: FxHashMap::default() }
    }

    /// Notes the bytes of a constant.
    pub(super) fn stored(&mut self, names: &ModelNames, name: NameId, constant: &TensorProto) {
        let external = constant.external_bytes().filter(|_| constant.is_external());
        let bytes = match self.allowed {
            // What is in other files does not make that of the model larger.
            Allowed::Nothing { is_plain } => written_bytes(names, CountedPart::Initializer(constant), is_plain),
            _ => external.unwrap_or(constant.stored_bytes() as u64),
        };
        self.sizes.insert(name, bytes);
    }

    /// Notes the bytes of a node that is a constant.
    pub(super) fn computed(&mut self, names: &ModelNames, name: NameId, node: &NodeProto, tensor: &Tensor) {
        let bytes = match self.allowed {
            Allowed::Nothing { is_plain } => written_bytes(names, CountedPart::Node(node), is_plain),
            _ => bytes_of(tensor),
        };
        self.sizes.insert(name, bytes);
    }

    /// The bytes of constants with these items in a model; none where they count as they are written, see [`Self::added`].
    pub(super) fn added_items<'t>(&self, items: impl Iterator<Item = &'t Arc<Tensor>>) -> Option<u64> {
        match self.allowed {
            Allowed::Everything => Some(0),
            Allowed::Bytes(_) => Some(items.map(|tensor| bytes_of(tensor)).fold(0, u64::saturating_add)),
            Allowed::Nothing { .. } => None,
        }
    }

    /// The bytes of new constants in a file.
    pub(super) fn added(&self, names: &ModelNames, constants: &[NewConstant]) -> u64 {
        let is_plain = matches!(self.allowed, Allowed::Nothing { is_plain: true });
        let parts = constants.iter().map(|constant| match &constant.form {
            ConstantForm::Initializer(constant) => CountedPart::Initializer(constant),
            ConstantForm::Node(node) => CountedPart::Node(node),
        });
        parts.map(|part| written_bytes(names, part, is_plain)).fold(0, u64::saturating_add)
    }

    /// The stored bytes that nothing needs without a node.
    fn freed(&self, node: &NodeProto, uses: &[u32]) -> u64 {
        if !self.removes {
            return 0;
        }
        let only = node.inputs.iter().filter(|input| uses.get(input.index()) == Some(&1));
        only.filter_map(|input| self.sizes.get(input)).fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// Whether a model becomes larger than it may with constants of so many bytes in place of a node.
    pub(super) fn exceeds(&self, names: &ModelNames, uses: &[u32], node: &NodeProto, added: u64) -> bool {
        added > self.freed(node, uses).saturating_add(self.of_nodes(names, &[node], 1))
    }

    /// The bytes that so many constants may take in addition, in place of nodes.
    fn of_nodes(&self, names: &ModelNames, nodes: &[&NodeProto], constants: u64) -> u64 {
        match &self.allowed {
            Allowed::Everything => u64::MAX,
            Allowed::Bytes(most) => most.saturating_mul(constants),
            Allowed::Nothing { is_plain } => {
                let written = nodes.iter().map(|node| written_bytes(names, CountedPart::Node(node), *is_plain));
                written.fold(0, u64::saturating_add)
            }
        }
    }

    /// Of nodes that stay though their results are known, those for whose results constants may stand because, all
    /// together, they take what nothing needs then: a weight that is cut into parts.
    pub(super) fn together(&self, names: &ModelNames, uses: &[u32], kept: &[KeptNode]) -> Vec<usize> {
        let groups = Groups::of(kept, |name| self.sizes.get(&name).is_some_and(|bytes| *bytes > SHARED));
        let made: FxHashSet<NameId> = kept.iter().flat_map(|kept| kept.node.outputs.iter().copied()).collect();
        let mut found = Vec::new();
        for group in groups.all() {
            let mut members = group.iter().filter_map(|at| kept.get(*at)).collect::<Vec<_>>();
            // Other groups may stay, and need what they share with this one.
            let mut inside: FxHashMap<NameId, u32> = FxHashMap::default();
            members.iter().flat_map(|kept| &kept.node.inputs).for_each(|input| *inside.entry(*input).or_default() += 1);
            let is_free = |name: NameId| uses.get(name.index()) == inside.get(&name);
            let is_needed =
                |kept: &KeptNode| kept.node.outputs.iter().any(|name| *name != NameId::ROOT && !is_free(*name));
            let freed = inside.keys().filter(|name| self.removes && !made.contains(name) && is_free(**name));
            let freed =
                freed.filter_map(|name| self.sizes.get(name)).fold(0u64, |sum, bytes| sum.saturating_add(*bytes));
            let nodes: Vec<&NodeProto> = members.iter().map(|kept| &kept.node).collect();
            members.retain(|kept| is_needed(kept));
            let added = members.iter().map(|kept| kept.added).fold(0, u64::saturating_add);
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
    /// The bytes of constants for its results.
    pub(super) added: u64,
}

/// A constant for a result of a node.
pub(super) struct NewConstant {
    pub(super) name: NameId,
    pub(super) tensor: Arc<Tensor>,
    pub(super) form: ConstantForm,
}

/// How a constant stands in a graph.
pub(super) enum ConstantForm {
    Initializer(TensorProto),
    Node(NodeProto),
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
