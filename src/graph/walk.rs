//! Public methods for reading a flat graph.

use super::{Dialect, Graph, KeptFragment, Key, Operand, Operation, Primitive, TensorId};
use crate::source::Location;

impl Graph {
    /// Its name.
    pub fn name(&self) -> &str {
        self.symbols.text(self.name)
    }

    /// The dialect whose operations it is made of.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Its inputs.
    pub fn inputs(&self) -> &[TensorId] {
        &self.inputs
    }

    /// Its outputs.
    pub fn outputs(&self) -> &[TensorId] {
        &self.outputs
    }

    /// Its operations, each after those it depends on.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The fragments that the output keeps.
    pub fn fragments(&self) -> &[KeptFragment] {
        &self.fragments
    }

    /// The type of the elements of a tensor, where known.
    pub fn dtype(&self, tensor: TensorId) -> Option<Primitive> {
        self.tensors[tensor.index()].dtype
    }

    /// The operation whose result a tensor is; an input of a kept fragment has none.
    pub fn producer(&self, tensor: TensorId) -> Option<&Operation> {
        self.operations.get(self.tensors[tensor.index()].producer?.index())
    }

    /// Whether an operation is declared: by the standard library, the document or a library.
    pub fn is_declared(&self, operation: &Operation) -> bool {
        self.kind(operation).declared
    }

    /// The arguments that an operation was given, with the names of their parameters; those of an
    /// operation that is not declared may have no name. [`Graph::argument`] also gives defaults.
    pub fn named_arguments(&self, operation: &Operation) -> impl Iterator<Item = (Option<&str>, Operand<'_>)> {
        let kind = self.kind(operation);
        let name = move |key| match key {
            Key::Param(i) => Some(self.symbols.text(kind.params[i as usize].name)),
            Key::Named(name) => Some(self.symbols.text(name)),
            Key::Positional => None,
        };
        self.arguments(operation).map(move |(key, operand)| (name(key), operand))
    }

    /// The nested calls that an operation comes from, the innermost first: the fragment that was
    /// called, and the place of the call.
    pub fn calls(&self, operation: &Operation) -> impl Iterator<Item = (&str, Location)> {
        let calls = std::iter::successors(self.origin(operation.origin), |call| self.origin(call.parent));
        calls.map(|call| (self.symbols.text(call.fragment), call.at))
    }
}
