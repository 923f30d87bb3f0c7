//! The result of inference.

use rustc_hash::FxHashMap;

use super::contradictions::Contradiction;
use super::facts::ValueType;
use crate::graph::names::NameId;
use crate::onnx::model::{GraphProto, NodeProto};
use crate::room::with_stack;

/// The types of the values of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelTypes {
    /// Those of its graph.
    pub(crate) main: GraphTypes,
    /// Those of its functions, by their indices, if they are wanted: what is so in all calls.
    pub(crate) functions: FxHashMap<usize, GraphTypes>,
    /// An upper bound of the memory that they take.
    pub(crate) bytes: u64,
    /// What contradicts itself, in graphs that may not run, too.
    pub(crate) contradictions: Vec<Contradiction>,
}

/// The place of a graph in a node: the index of the node in its graph, that of the attribute in the node, and the
/// position in the attribute's list (0 for a single graph).
pub(crate) type InnerPlace = (usize, usize, usize);

/// The types of the values that a graph defines, and those of the graphs in its nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct GraphTypes {
    /// The types of inputs, initializers and results.
    pub(crate) values: TypeTable,
    /// The types in the graphs of attributes.
    pub(crate) inner: InnerTable,
    /// Whether operands contradict each other: the graph cannot run with these types.
    pub(crate) contradicts: bool,
}

/// The types of the graphs in the nodes of a graph, by their places.
#[derive(Clone, Debug, Default)]
pub(crate) struct InnerTable {
    /// Sorted by place, without two of one place.
    rows: Vec<(InnerPlace, GraphTypes)>,
}

/// Visits the graphs in a node with their types, as far as they are known; `index` is that of the node in its graph.
pub(crate) fn each_typed_graph<'t>(
    index: usize,
    node: &mut NodeProto,
    types: Option<&'t GraphTypes>,
    visit: &mut dyn FnMut(&mut GraphProto, Option<&'t GraphTypes>),
) {
    for (i, attribute) in node.attributes.iter_mut().enumerate() {
        for (position, graph) in attribute.value.graphs_mut().iter_mut().enumerate() {
            let types = types.and_then(|types| types.inner.get((index, i, position)));
            with_stack(|| visit(graph, types));
        }
    }
}

impl InnerTable {
    /// Adds the types of the graphs of a node, whose index in their places is not set.
    pub(super) fn add(&mut self, node: usize, graphs: Vec<(InnerPlace, GraphTypes)>) {
        if self.rows.is_empty() {
            // Most graphs have no other node with graphs.
            self.rows.reserve_exact(graphs.len());
        }
        for ((_, attribute, position), types) in graphs {
            self.insert((node, attribute, position), types);
        }
    }

    /// Adds the types of a graph; of two graphs of one place, the last one counts.
    fn insert(&mut self, place: InnerPlace, types: GraphTypes) {
        // Nodes are mostly visited in order.
        let found = match self.rows.last() {
            Some(last) if last.0 >= place => self.rows.binary_search_by_key(&place, |row| row.0),
            _ => Err(self.rows.len()),
        };
        match found {
            Ok(found) => self.rows[found].1 = types,
            Err(next) => self.rows.insert(next, (place, types)),
        }
    }

    /// The types in a graph.
    pub(crate) fn get(&self, place: InnerPlace) -> Option<&GraphTypes> {
        let found = self.rows.binary_search_by_key(&place, |row| row.0).ok()?;
        Some(&self.rows[found].1)
    }

    /// Keeps the types of the graphs that a function keeps; it may change them.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(InnerPlace, &mut GraphTypes) -> bool) {
        self.rows.retain_mut(|row| keeps(row.0, &mut row.1));
    }
}

/// Types by the names of values.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeTable {
    /// Sorted by name, without two of one name.
    rows: Vec<(NameId, ValueType)>,
}

impl TypeTable {
    /// The types of values in the order of their definition. Of a value that is defined twice, the last definition counts.
    pub(super) fn new(mut rows: Vec<(NameId, ValueType)>) -> Self {
        if !rows.is_sorted_by_key(|row| row.0) {
            rows.sort_by_key(|row| row.0);
        }
        rows.dedup_by(|later, kept| {
            later.0 == kept.0 && {
                std::mem::swap(kept, later);
                true
            }
        });
        TypeTable { rows }
    }

    /// The type of a value.
    pub(crate) fn get(&self, name: NameId) -> Option<&ValueType> {
        // Names of a graph mostly have consecutive numbers. A row never comes later than if there were no gaps.
        let distance = name.index().checked_sub(self.rows.first()?.0.index())?;
        let mut end = distance.min(self.rows.len() - 1);
        let mut step = 1;
        while self.rows[end].0 > name {
            let start = end.saturating_sub(step);
            if self.rows[start].0 <= name {
                let found = self.rows[start..end].binary_search_by_key(&name, |row| row.0).ok()?;
                return Some(&self.rows[start + found].1);
            }
            (end, step) = (start, step * 2);
        }
        (self.rows[end].0 == name).then(|| &self.rows[end].1)
    }

    /// Keeps the types that a function keeps; it may change them.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(NameId, &mut ValueType) -> bool) {
        self.rows.retain_mut(|row| keeps(row.0, &mut row.1));
    }
}

#[cfg(test)]
mod tests {
    use super::{GraphTypes, InnerTable, TypeTable, ValueType};
    use crate::graph::Element;
    use crate::graph::names::NameId;

    #[test]
    fn graphs_are_found_by_their_places() {
        let types = |name: usize| {
            let values = TypeTable::new(vec![(NameId::at(name), ValueType::Other)]);
            GraphTypes { values, ..GraphTypes::default() }
        };
        let mut table = InnerTable::default();
        for (i, place) in [(1, 0, 0), (1, 2, 0), (0, 3, 1), (1, 1, 5), (1, 2, 0)].into_iter().enumerate() {
            table.insert(place, types(i + 1));
        }
        for (place, name) in [((1, 0, 0), 1), ((0, 3, 1), 3), ((1, 1, 5), 4), ((1, 2, 0), 5)] {
            assert!(table.get(place).unwrap().values.get(NameId::at(name)).is_some(), "{place:?}");
        }
        assert!(table.get((0, 0, 0)).is_none());
        table.retain(|place, _| place.0 == 0);
        assert!(table.get((1, 0, 0)).is_none() && table.get((0, 3, 1)).is_some());
    }

    #[test]
    fn the_last_definition_of_a_name_counts() {
        let types = [Element::Float32, Element::Int64].map(|element| ValueType::tensor(Some(element), None));
        let names = [9usize, 5, 6, 900, 30, 7, 31, 5];
        let rows = names.iter().enumerate().map(|(i, name)| (NameId::at(*name), types[usize::from(i == 7)].clone()));
        let table = TypeTable::new(rows.collect());
        for name in 0..1000 {
            let wanted = names.contains(&name).then(|| &types[usize::from(name == 5)]);
            assert_eq!(table.get(NameId::at(name)), wanted, "{name}");
        }
        assert_eq!(TypeTable::default().get(NameId::at(3)), None);
    }
}
