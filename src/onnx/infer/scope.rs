//! The values that are visible at a node.

use super::call::Known;
use super::facts::ValueType;
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
        let row = |definition: Definition| (definition.name, definition.known.ty);
        if start == 0 {
            self.latest.clear();
            return TypeTable::new(std::mem::take(&mut self.definitions).into_iter().map(row).collect());
        }
        self.uncover(start);
        TypeTable::new(self.definitions.drain(start..).map(row).collect())
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
