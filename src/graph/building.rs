//! How a graph grows: its tensors and operations with their shapes, and the calls they come from.

use smallvec::SmallVec;

use super::names::NameId;
use super::{
    Argument, Graph, Kept, Key, Kind, KindId, Operand, Operation, OperationId, OriginId, Output, Shape, SignatureId,
    Tensor, TensorId, Value, shapes,
};
use crate::nnef::ast::Primitive;
use crate::nnef::names::Name;
use crate::source::Location;

impl Graph {
    /// Adds a kind of operations.
    pub(crate) fn add_kind(&mut self, kind: Kind) -> KindId {
        self.kinds.push(kind);
        KindId(self.kinds.len() as u32 - 1)
    }

    /// Adds a tensor, which no operation makes yet.
    pub(crate) fn add_tensor(&mut self, name: NameId, dtype: Option<Primitive>) -> TensorId {
        self.tensors.push(Tensor { name, dtype, shape: None, producer: None });
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

    /// The signature of operations of a kind that are given these parameters and have so many
    /// results.
    pub(crate) fn signature(&mut self, kind: KindId, keys: &[Key], results: usize) -> SignatureId {
        self.signatures.intern(kind, keys, results as u32)
    }

    /// Adds a tensor to the arguments of the operation that is finished next.
    #[inline]
    pub(crate) fn push_tensor_operand(&mut self, tensor: TensorId) {
        self.packed.push_tensor(tensor);
    }

    /// Adds a value to the arguments of the operation that is finished next.
    pub(crate) fn push_operand(&mut self, value: Value) -> Kept {
        self.packed.push_value(value)
    }

    /// Adds a value that was an argument before.
    pub(crate) fn push_again(&mut self, kept: Kept) {
        self.packed.push_again(kept);
    }

    /// Takes the last arguments back.
    pub(crate) fn drop_operands(&mut self, count: usize) {
        self.packed.drop_operands(count);
    }

    /// Adds an operation of the arguments and results that were pushed, as many as its signature
    /// says.
    pub(crate) fn finish_operation(
        &mut self,
        signature: SignatureId,
        dtype: (Option<Primitive>, bool),
        source: (Location, OriginId),
    ) -> OperationId {
        let id = OperationId::at(self.operations.len());
        let results = self.push_operation(signature, dtype, source);
        for output in self.packed.outputs(results..self.packed.results_len()) {
            for tensor in output.tensors() {
                self.tensors[tensor.index()].producer = Some(id);
            }
        }
        id
    }

    /// Adds an operation, and tells where its results begin.
    #[inline]
    fn push_operation(
        &mut self,
        signature: SignatureId,
        dtype: (Option<Primitive>, bool),
        source: (Location, OriginId),
    ) -> u32 {
        let (kind, operands, results) = self.signatures.counts(signature);
        let (operands, results) = self.packed.last(operands, results);
        let (at, origin) = source;
        let (dtype, explicit_dtype) = dtype;
        self.operations.push(Operation { kind, signature, operands, results, at, origin, dtype, explicit_dtype });
        results
    }

    /// Adds an operation with one tensor as result, which it adds as well. Its arguments were pushed,
    /// as many as its signature says.
    pub(crate) fn add_single(
        &mut self,
        signature: SignatureId,
        dtype: (Option<Primitive>, bool),
        source: (Location, OriginId),
        result: (NameId, Option<Primitive>),
        shape: Option<Shape>,
    ) -> (OperationId, TensorId) {
        let id = OperationId::at(self.operations.len());
        let tensor = TensorId(self.tensors.len() as u32);
        self.tensors.push(Tensor { name: result.0, dtype: result.1, shape, producer: Some(id) });
        self.packed.push_result(tensor);
        self.push_operation(signature, dtype, source);
        (id, tensor)
    }

    /// The shape that the result of an operation shares with its arguments, which were pushed, if
    /// it is one by item.
    pub(crate) fn coming_shape(&self, signature: SignatureId) -> Option<Shape> {
        let (_, operands, _) = self.signatures.counts(signature);
        self.common_shape(self.packed.last_operands(operands))
    }

    /// Gives the one result of an operation the shape that all its tensors have; false where they
    /// differ, or where it is not known at once that they do not.
    pub(crate) fn share_shape(&mut self, operation: OperationId) -> bool {
        let operation = &self.operations[operation.index()];
        let shape = self.common_shape(self.operands_of(operation));
        let (Some(shape), Some(Output::Tensor(&result))) = (shape, self.outputs_of(operation).next()) else {
            return false;
        };
        self.tensors[result.index()].shape = Some(shape);
        true
    }

    #[inline]
    fn common_shape<'g>(&self, operands: impl Iterator<Item = Operand<'g>>) -> Option<Shape> {
        let mut shared: Option<&Shape> = None;
        for operand in operands {
            match operand {
                Operand::Tensor(tensor) => match (&self.tensors[tensor.index()].shape, shared) {
                    (Some(shape), None) => shared = Some(shape),
                    (Some(shape), Some(known)) if shape.is(known) => {}
                    _ => return None,
                },
                Operand::Value(Value::Int(_) | Value::Scalar(_) | Value::Logical(_)) => {}
                Operand::Value(_) => return None,
            }
        }
        shared.cloned()
    }

    /// Gives the results of an operation their shapes.
    pub(crate) fn set_shapes(&mut self, operation: OperationId, inferred: shapes::Inferred) {
        let operation = &self.operations[operation.index()];
        let (_, _, count) = self.signatures.counts(operation.signature);
        let mut outputs = self.packed.outputs(operation.results..operation.results + count);
        if let (1, Some(Output::Tensor(tensor))) = (count, outputs.clone().next()) {
            self.tensors[tensor.index()].shape = inferred.into_first();
            return;
        }
        let tensors = outputs.by_ref().flat_map(Output::tensors);
        for (i, tensor) in tensors.enumerate() {
            self.tensors[tensor.index()].shape = inferred.get(i);
        }
    }

    /// Adds a place that calls a fragment.
    pub(crate) fn add_call_place(&mut self, fragment: Name, at: Location) -> u32 {
        self.call_places.push((fragment, at));
        self.call_places.len() as u32 - 1
    }

    /// Adds a call from such a place.
    #[inline]
    pub(crate) fn add_origin(&mut self, parent: OriginId, place: u32) -> OriginId {
        self.origins.push((parent, place));
        OriginId(self.origins.len() as u32 - 1)
    }
}
