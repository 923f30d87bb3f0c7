//! Public methods that read a flat graph.

use super::names::NameId;
use super::{Dialect, Graph, KeptFragment, Key, Note, Operand, Operation, Primitive, ShapeId, TensorId};
use crate::source::Location;

impl Graph {
    /// Its name.
    pub fn name(&self) -> &str {
        self.symbols.text(self.name)
    }

    /// The dialect of its operations.
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

    /// The fragments that the output keeps.
    pub fn fragments(&self) -> &[KeptFragment] {
        &self.fragments
    }

    /// The element type of a tensor, if known.
    pub fn dtype(&self, tensor: TensorId) -> Option<Primitive> {
        self.tensors[tensor.index()].dtype
    }

    /// The name of a tensor.
    pub(crate) fn name_of(&self, tensor: TensorId) -> NameId {
        self.tensors[tensor.index()].name
    }

    /// The number of the shape of a tensor, if the rank is known. Tensors of equal shapes have the same.
    pub(crate) fn shape_id(&self, tensor: TensorId) -> Option<ShapeId> {
        self.tensors[tensor.index()].shape
    }

    /// The bytes of the shapes of its tensors.
    #[inline]
    pub(crate) fn bytes_of_shapes(&self) -> usize {
        self.shapes.bytes()
    }

    /// The bytes of its operations, tensors, arguments and names.
    pub(crate) fn bytes(&self) -> u64 {
        let notes = self.provenance.notes.values().map(Note::bytes).sum::<usize>();
        (self.bytes_of_tables() + notes + self.packed.bytes()) as u64
    }

    fn bytes_of_tables(&self) -> usize {
        size_of_val(&self.operations[..])
            + size_of_val(&self.tensors[..])
            + self.bytes_of_shapes()
            + size_of_val(&self.provenance.calls[..])
            + self.names.bytes()
    }

    /// Counts its bytes while it is built, in constant time.
    ///
    /// # Errors
    ///
    /// The limit that does not allow this many further bytes: the one that is given, or that of the run.
    pub(crate) fn may_grow(&self, more: u64, limit: u64) -> Result<(), u64> {
        let held = &self.packed.held;
        held.set((self.bytes_of_tables() + self.packed.bytes_at_most()) as u64);
        if held.fits(more, limit) { Ok(()) } else { Err(held.exceeded(more, limit)) }
    }

    /// Counts its bytes in the memory of the run, until it is dropped or counted again.
    pub(crate) fn count_memory(&self) {
        self.packed.held.set(self.bytes());
    }

    /// Whether an operation is declared: by the standard library, the document or a library.
    pub fn is_declared(&self, operation: &Operation) -> bool {
        self.kind(operation).declared
    }

    /// The specified arguments of an operation, with the names of their parameters. An argument of an operation
    /// that is not declared may have no name. [`Graph::argument`] also returns defaults.
    pub fn named_arguments(&self, operation: &Operation) -> impl Iterator<Item = (Option<&str>, Operand<'_>)> {
        let kind = self.kind(operation);
        let name = move |key| match key {
            Key::Param(i) => Some(self.symbols.text(kind.params[i as usize].name)),
            Key::Named(name) => Some(self.symbols.text(name)),
            Key::Positional => None,
        };
        self.arguments(operation).map(move |(key, operand)| (name(key), operand))
    }

    /// The nested calls that produced an operation, the innermost first: the called fragment, and the location
    /// of the call.
    pub fn calls(&self, operation: &Operation) -> impl Iterator<Item = (&str, Location)> {
        let calls = std::iter::successors(self.origin(operation.origin), |call| self.origin(call.parent));
        calls.map(|call| (self.symbols.text(call.fragment), call.at))
    }
}
