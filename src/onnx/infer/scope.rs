//! The values that are visible at a node.

use super::facts::ValueType;
use super::infer_call::Known;
use super::tables::TypeTable;
use crate::graph::names::NameId;

/// The visible values of a graph and of the graphs around it. A value of an inner graph hides one of the same name
/// around it, and the body of a function sees nothing around it.
#[derive(Debug, Default)]
pub(super) struct TypeScope<'m> {
    /// The number of the latest definition of each name, counted from 1; 0 for none.
    latest: Vec<u32>,
    /// The definitions in open graphs, the latest last.
    definitions: Vec<Definition<'m>>,
    /// The number of definitions outside the current function.
    outside: usize,
}

#[derive(Debug)]
struct Definition<'m> {
    name: NameId,
    known: Known<'m>,
    /// The number of the definition that it hides.
    hidden: u32,
}

/// The start of a graph among the definitions.
#[derive(Clone, Copy, Debug)]
pub(super) struct GraphStart(usize);

/// The start of the body of a function, and that of the function around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FunctionStart(GraphStart, usize);

impl<'m> TypeScope<'m> {
    pub(super) fn get(&self, name: NameId) -> Option<&Known<'m>> {
        let number = *self.latest.get(name.index())? as usize;
        if number <= self.outside {
            return None;
        }
        Some(&self.definitions.get(number - 1)?.known)
    }

    /// The type of a value.
    pub(super) fn type_of(&self, name: NameId) -> ValueType {
        self.get(name).map(|known| known.ty.clone()).unwrap_or_default()
    }

    pub(super) fn define(&mut self, name: NameId, known: Known<'m>) {
        if name == NameId::ROOT {
            return;
        }
        if self.latest.len() <= name.index() {
            self.latest.resize(name.index() + 1, 0);
        }
        let number = self.definitions.len() as u32 + 1;
        let hidden = std::mem::replace(&mut self.latest[name.index()], number);
        self.definitions.push(Definition { name, known, hidden });
    }

    /// Opens a graph with about as many values.
    pub(super) fn open(&mut self, values: usize) -> GraphStart {
        self.definitions.reserve(values);
        GraphStart(self.definitions.len())
    }

    /// Closes a graph, and returns the types of the values that it defines.
    pub(super) fn close(&mut self, GraphStart(start): GraphStart) -> TypeTable {
        if start == 0 {
            return TypeTable::new(self.outermost());
        }
        self.uncover(start);
        let row = |definition: Definition| (definition.name, definition.known.ty);
        TypeTable::new(self.definitions.drain(start..).map(row).collect())
    }

    /// Removes all definitions. Returns the types of the latest ones, sorted by name: the table of the latest ones has
    /// this order, so that they need not be sorted.
    fn outermost(&mut self) -> Vec<(NameId, ValueType)> {
        let mut definitions = std::mem::take(&mut self.definitions);
        let mut rows = Vec::with_capacity(definitions.len());
        for (name, number) in self.latest.drain(..).enumerate() {
            let place = (number as usize).checked_sub(1);
            if let Some(definition) = place.and_then(|place| definitions.get_mut(place)) {
                rows.push((NameId::at(name), std::mem::take(&mut definition.known.ty)));
            }
        }
        rows
    }

    /// Makes those definitions visible that definitions from a place on hide.
    fn uncover(&mut self, start: usize) {
        for definition in self.definitions[start..].iter().rev() {
            self.latest[definition.name.index()] = definition.hidden;
        }
    }

    /// Opens the body of a function.
    pub(super) fn open_function(&mut self) -> FunctionStart {
        let start = FunctionStart(self.open(0), self.outside);
        self.outside = self.definitions.len();
        start
    }

    /// Closes the body of a function, and returns the types of the values that it defines.
    pub(super) fn close_function(&mut self, FunctionStart(start, outside): FunctionStart) -> TypeTable {
        self.outside = outside;
        self.close(start)
    }

    /// Closes the body of a function without returning its types.
    pub(super) fn leave_function(&mut self, FunctionStart(GraphStart(start), outside): FunctionStart) {
        self.outside = outside;
        self.uncover(start);
        self.definitions.truncate(start);
    }
}
