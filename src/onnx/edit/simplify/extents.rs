//! Values of integers that are computed from extents: two with the same items for all inputs are one.

use rustc_hash::FxHashMap;

use crate::graph::Element;
use crate::graph::dims::Dim;
use crate::graph::names::NameId;
use crate::onnx::infer::{TensorExtents, TensorFacts};

/// What two values have in common that are always equal.
type ExtentsKey = (Element, TensorExtents, TensorExtents);

/// The values of the open graphs whose items depend on extents only.
#[derive(Default)]
pub(super) struct KnownExtents {
    first: FxHashMap<ExtentsKey, NameId>,
    /// The keys in the order of their appearance.
    keys: Vec<ExtentsKey>,
    /// About how many nodes compute a value.
    costs: FxHashMap<NameId, u32>,
}

impl KnownExtents {
    /// The start of a graph.
    pub(super) fn open(&self) -> usize {
        self.keys.len()
    }

    /// Forgets what was seen since the start of a graph.
    pub(super) fn close(&mut self, start: usize) {
        self.keys.drain(start..).for_each(|key| _ = self.first.remove(&key));
    }

    /// An earlier value with the same items, which takes no more nodes to compute; else the value is remembered.
    pub(super) fn earlier(&mut self, name: NameId, facts: &TensorFacts, operands: &[NameId]) -> Option<NameId> {
        let key = key(facts)?;
        let cost = |name: &NameId| self.costs.get(name).copied().unwrap_or(0);
        let own = operands.iter().map(cost).fold(1, u32::saturating_add);
        match self.first.get(&key).copied() {
            Some(first) if cost(&first) <= own => return Some(first),
            Some(_) => {}
            None => {
                self.first.insert(key.clone(), name);
                self.keys.push(key);
            }
        }
        self.costs.insert(name, own);
        None
    }
}

/// The type and the items of a value, if they all are known and one depends on a symbol.
fn key(facts: &TensorFacts) -> Option<ExtentsKey> {
    let (items, shape) = (facts.items.as_ref()?, facts.shape.as_ref()?);
    let is_open = |dim: &Dim| *dim == Dim::Unknown;
    let is_symbolic = items.iter().any(|item| item.known().is_none());
    let fits = is_symbolic && !items.iter().any(is_open) && !shape.iter().any(is_open);
    fits.then(|| Some((facts.element?, shape.clone(), items.clone()))).flatten()
}
