//! The values that are visible at a node.

use rustc_hash::FxHashMap;

use super::call::Known;
use super::facts::ValueType;
use crate::graph::names::NameId;

/// The visible values of a graph and of the graphs around it. A value of an inner graph hides one of the same name
/// around it.
#[derive(Debug, Default)]
pub(super) struct Scope<'m> {
    values: FxHashMap<NameId, Known<'m>>,
    /// The definitions in open graphs, the latest last, with what they hide.
    definitions: Vec<(NameId, Option<Known<'m>>)>,
}

/// The start of a graph among the definitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct GraphStart(usize);

impl<'m> Scope<'m> {
    pub(super) fn get(&self, name: NameId) -> Option<&Known<'m>> {
        if name == NameId::ROOT { None } else { self.values.get(&name) }
    }

    /// The type of a value.
    pub(super) fn type_of(&self, name: NameId) -> ValueType {
        self.get(name).map(|known| known.ty.clone()).unwrap_or_default()
    }

    pub(super) fn define(&mut self, name: NameId, known: Known<'m>) {
        if name != NameId::ROOT {
            let hidden = self.values.insert(name, known);
            self.definitions.push((name, hidden));
        }
    }

    /// Opens a graph.
    pub(super) fn open(&mut self) -> GraphStart {
        GraphStart(self.definitions.len())
    }

    /// Closes a graph, and returns the types of the values that it defines.
    pub(super) fn close(&mut self, GraphStart(start): GraphStart) -> FxHashMap<NameId, ValueType> {
        let mut types = FxHashMap::default();
        types.reserve(self.definitions.len() - start);
        for (name, hidden) in self.definitions.drain(start..).rev() {
            let own = match hidden {
                Some(hidden) => self.values.insert(name, hidden),
                None => self.values.remove(&name),
            };
            // Of a value that is defined twice, the last definition counts.
            types.entry(name).or_insert(own.unwrap_or_default().ty);
        }
        types
    }
}
