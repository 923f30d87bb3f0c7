//! What recording and replaying of statements needs of a graph, and nobody else.

use super::building::Common;
use super::{Graph, Kept, Operand, Operation, OperationId, OriginId, Primitive, ShapeId};
use crate::source::Location;
use crate::source::names::Name;

/// How much there is in a graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    pub operations: usize,
    pub tensors: usize,
    pub names: usize,
    pub origins: usize,
    pub call_places: usize,
    operands: u32,
}

impl Graph {
    /// How much there is.
    pub(crate) fn marks(&self) -> Marks {
        Marks {
            operations: self.operations.len(),
            tensors: self.tensors.len(),
            names: self.names.len(),
            origins: self.origins.len(),
            call_places: self.call_places.len(),
            operands: self.packed.operands_len(),
        }
    }

    /// Forgets the operations that were added later, their tensors, and the calls they come from.
    /// Each of them has one result. Places of calls and values stay, which say nothing by themselves.
    pub(crate) fn rewind(&mut self, marks: Marks) {
        self.operations.truncate(marks.operations);
        self.tensors.truncate(marks.tensors);
        self.names.truncate(marks.names);
        self.origins.truncate(marks.origins);
        self.packed.truncate(marks.operands);
    }

    /// Adds a value that was an argument before to the arguments of the operation that is finished
    /// next.
    pub(crate) fn push_again(&mut self, kept: Kept, common: &mut Common) {
        self.packed.push_again(kept);
        if !common.differs {
            self.packed.last_operands(1).for_each(|operand| self.join(operand, common));
        }
    }

    /// The arguments of an operation, as they can be given to another one.
    pub(crate) fn kept_of(&self, operation: &Operation) -> impl ExactSizeIterator<Item = (Kept, Operand<'_>)> {
        let (_, count, _) = self.signatures.counts(operation.signature());
        self.packed.kept(operation.operands..operation.operands + count)
    }

    /// The call with this number, which is within another one and stands in one of the places.
    pub(crate) fn call(&self, call: usize) -> (OriginId, u32) {
        self.origins[call]
    }

    /// What is called in a place of the graph, and where that is.
    pub(crate) fn call_place(&self, place: u32) -> (Name, Location) {
        self.call_places[place as usize]
    }

    /// Takes the last arguments back.
    pub(crate) fn drop_operands(&mut self, count: usize) {
        self.packed.drop_operands(count);
    }

    /// What tells the shape of an argument: for tensors of one shape it is the same. What is no tensor
    /// has one of its own.
    pub(crate) fn shape_number(&self, argument: Kept) -> u32 {
        match argument.as_tensor() {
            Some(tensor) => self.tensors.get(tensor.index()).and_then(|tensor| tensor.shape).map_or(0, ShapeId::number),
            None => argument.word(),
        }
    }

    /// The elements of an argument, if it is a tensor.
    pub(crate) fn dtype_of(&self, argument: Kept) -> Option<Primitive> {
        self.tensors.get(argument.as_tensor()?.index())?.dtype
    }

    /// The shape of the first result of an operation.
    pub(crate) fn shape_of_result(&self, operation: OperationId) -> Option<ShapeId> {
        let tensor = self.tensors_of(&self.operations[operation.index()]).next()?;
        self.tensors[tensor.index()].shape
    }
}
