//! Adding operations to a graph: the one way, whatever makes them.
//!
//! First the arguments of the operation are pushed one after the other. A signature tells which
//! parameters they are for; all operations of a call site share it ([`Graph::signature`]). Then the
//! operation is finished: with one new tensor as result ([`Graph::add_single`]), or with tensors that
//! were added before ([`Graph::finish_operation`]). [`Graph::add_operation`] does all of this for
//! callers that have all arguments at once.

use smallvec::SmallVec;

use super::names::NameId;
use super::{
    Argument, Graph, Kept, Key, Kind, KindId, Operand, Operation, OperationId, OriginId, Output, Shape, ShapeId,
    SignatureId, Tensor, TensorId, Value, shapes,
};
use crate::graph::Primitive;
use crate::room;
use crate::source::Location;
use crate::source::names::Name;

/// The shape that all arguments of an operation have, if there is one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Common {
    /// The type of the elements of all arguments that are tensors.
    pub(crate) elements: Option<Primitive>,
    /// The same of numbers, which count where no argument is a tensor.
    literals: Option<Primitive>,
    /// Whether the items of some argument are known.
    pub(crate) known: bool,
    shape: Option<ShapeId>,
    /// Whether some argument has another shape, or one that is not known.
    differs: bool,
}

impl Common {
    /// Adds the shape of an argument.
    #[inline]
    pub(crate) fn add(&mut self, shape: Option<ShapeId>) {
        self.differs |= shape.is_none() || self.shape.is_some() && self.shape != shape;
        self.shape = shape;
    }

    /// The elements of what is computed item by item where they follow the operands.
    pub(crate) fn elements(self) -> Option<Primitive> {
        self.elements.or(self.literals)
    }

    /// The shape, if there is one.
    #[inline]
    pub(crate) fn shape(self) -> Option<ShapeId> {
        self.shape.filter(|_| !self.differs)
    }
}

/// The operations and tensors that a graph has at some time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    operations: usize,
    tensors: usize,
    operands: u32,
}

impl Graph {
    /// The operations and tensors that there are now, to remove later ones.
    pub(crate) fn mark(&self) -> Mark {
        Mark { operations: self.operations.len(), tensors: self.tensors.len(), operands: self.packed.operands_len() }
    }

    /// Removes the operations and tensors that were added since. Nothing else may refer to them; stored values
    /// stay.
    pub(crate) fn rewind(&mut self, mark: Mark) {
        self.operations.truncate(mark.operations);
        for removed in mark.tensors..self.tensors.len() {
            self.values.remove(&TensorId(removed as u32));
        }
        self.tensors.truncate(mark.tensors);
        self.packed.truncate_operands(mark.operands);
    }

    /// Adds a kind of operations.
    pub(crate) fn add_kind(&mut self, kind: Kind) -> KindId {
        self.kinds.push(kind);
        KindId(self.kinds.len() as u32 - 1)
    }

    /// Adds a tensor, which is not yet the result of an operation.
    pub(crate) fn add_tensor(&mut self, name: NameId, dtype: Option<Primitive>) -> TensorId {
        room::push(
            &mut self.tensors,
            Tensor { name, dtype, known: false, literal: false, shape: None, producer: None },
        );
        TensorId(self.tensors.len() as u32 - 1)
    }

    /// Adds an operation and makes it the producer of its results.
    pub(crate) fn add_operation(
        &mut self,
        kind: KindId,
        dtype: (Option<Primitive>, bool),
        arguments: impl IntoIterator<Item = Argument>,
        outputs: &[Output],
        source: (Location, OriginId),
    ) -> OperationId {
        let mut keys: SmallVec<[Key; 8]> = SmallVec::new();
        for argument in arguments {
            keys.push(argument.key);
            self.packed.push_value(argument.value);
        }
        outputs.iter().for_each(|output| self.packed.push_output(*output));
        let signature = self.signature(kind, &keys, outputs.len());
        self.finish_operation(signature, dtype, source)
    }

    /// The signature of operations of a kind with arguments for these parameters and a number of
    /// results.
    pub(crate) fn signature(&mut self, kind: KindId, keys: &[Key], results: usize) -> SignatureId {
        self.signatures.intern(kind, keys, results as u32)
    }

    /// Adds a tensor to the arguments of the operation that is finished next, and its shape to the
    /// common one.
    #[inline]
    pub(crate) fn push_tensor_operand(&mut self, tensor: TensorId, common: &mut Common) {
        let Tensor { shape, dtype, known, .. } = self.tensors[tensor.index()];
        common.add(shape);
        common.known |= known;
        common.elements = Primitive::wider(common.elements, dtype);
        self.packed.push_tensor(tensor);
    }

    /// The same for any value.
    pub(crate) fn push_operand(&mut self, value: Value, common: &mut Common) -> Kept {
        self.join(Operand::from(&value), common);
        self.packed.push_value(value)
    }

    /// Adds an array of at least one tensor to the arguments of the operation that is finished next.
    pub(crate) fn push_tensors(&mut self, tensors: impl Iterator<Item = TensorId>) {
        let kept = self.packed.keep_tensors(tensors);
        self.packed.push_again(kept);
    }

    /// Stores a value that is to be an argument.
    pub(crate) fn keep(&mut self, value: Value) -> Kept {
        self.packed.keep(value)
    }

    /// Adds a stored value to the arguments of the operation that is finished next.
    #[inline]
    pub(crate) fn push_kept(&mut self, kept: Kept) {
        self.packed.push_again(kept);
    }

    /// Adds a result to the operation that is finished next.
    pub(crate) fn push_output(&mut self, output: Output) {
        self.packed.push_output(output);
    }

    #[inline]
    fn join(&self, operand: Operand, common: &mut Common) {
        match operand {
            Operand::Tensor(tensor) => {
                let Tensor { shape, dtype, known, .. } = self.tensors[tensor.index()];
                common.add(shape);
                common.known |= known;
                common.elements = Primitive::wider(common.elements, dtype);
            }
            // Numbers are broadcast to any shape.
            Operand::Value(Value::Int(_) | Value::Symbol(_)) => {
                common.literals = Primitive::wider(common.literals, Some(Primitive::Integer));
            }
            Operand::Value(Value::Scalar(_)) => {
                common.literals = Some(Primitive::Scalar);
            }
            Operand::Value(Value::Logical(_)) => {
                common.literals = Primitive::wider(common.literals, Some(Primitive::Logical));
            }
            Operand::Tensors(_) | Operand::Value(_) => common.add(None),
        }
    }

    /// Adds an operation. Its arguments and results are those that were pushed last, as many as its
    /// signature says.
    pub(crate) fn finish_operation(
        &mut self,
        signature: SignatureId,
        dtype: (Option<Primitive>, bool),
        source: (Location, OriginId),
    ) -> OperationId {
        let id = OperationId::at(self.operations.len());
        let (_, operands, results) = self.signatures.counts(signature);
        let (operands, result) = self.packed.take_last(operands, results);
        let tensors = &mut self.tensors;
        let results = self.packed.results(&result, results);
        self.packed.each_result(results, &mut |tensor| tensors[tensor.index()].producer = Some(id));
        room::push(&mut self.operations, Operation::new(signature, dtype, (operands, result), source));
        id
    }

    /// Adds an operation and the one tensor that is its result. Its arguments are the `operands` that
    /// were pushed last, as many as its signature says.
    #[inline(always)]
    pub(crate) fn add_single(
        &mut self,
        (signature, dtype): (SignatureId, (Option<Primitive>, bool)),
        operands: u32,
        source: (Location, OriginId),
        result: (NameId, Option<Primitive>),
        shape: Option<ShapeId>,
    ) -> (OperationId, TensorId) {
        let id = OperationId::at(self.operations.len());
        let tensor = TensorId(self.tensors.len() as u32);
        room::push(
            &mut self.tensors,
            Tensor { name: result.0, dtype: result.1, known: false, literal: false, shape, producer: Some(id) },
        );
        let operands = self.packed.operands_len() - operands;
        room::push(&mut self.operations, Operation::new(signature, dtype, (operands, tensor), source));
        (id, tensor)
    }

    /// Gives the results of an operation their shapes.
    pub(crate) fn set_shapes(&mut self, operation: OperationId, inferred: shapes::Inferred) {
        let operation = &self.operations[operation.index()];
        let (_, _, count) = self.signatures.counts(operation.signature());
        let mut outputs = self.packed.outputs(self.packed.results(&operation.result, count));
        if let (1, Some(Output::Tensor(&tensor))) = (count, outputs.clone().next()) {
            self.tensors[tensor.index()].shape = inferred.into_first().map(|shape| self.shapes.intern(shape));
            return;
        }
        let tensors = outputs.by_ref().flat_map(Output::tensors);
        for (i, tensor) in tensors.enumerate() {
            self.tensors[tensor.index()].shape = inferred.get(i).map(|shape| self.shapes.intern(shape));
        }
    }

    /// Gives a tensor its shape.
    pub(crate) fn set_shape(&mut self, tensor: TensorId, shape: Option<Shape>) {
        self.tensors[tensor.index()].shape = shape.map(|shape| self.shapes.intern(shape));
    }

    /// Adds a place of the source that calls a fragment, and gives its index.
    pub(crate) fn add_call_place(&mut self, fragment: Name, at: Location) -> u32 {
        self.call_places.push((fragment, at));
        self.call_places.len() as u32 - 1
    }

    /// Adds a call at such a place, made within the call `parent`.
    #[inline]
    pub(crate) fn add_origin(&mut self, parent: OriginId, place: u32) -> OriginId {
        room::push(&mut self.origins, (parent, place));
        OriginId(self.origins.len() as u32 - 1)
    }
}
