//! Adding operations to a graph.
//!
//! First, the arguments of the operation are pushed one after the other. A signature specifies their parameters; all
//! operations of a site share it ([`Graph::signature`]). Then the operation is added: with one new tensor as its
//! result ([`Graph::add_single`]), or with tensors that were added before ([`Graph::finish_operation`]).
//! [`Graph::add_operation`] does all of this for callers that have all arguments at once.

use std::sync::Arc;

use smallvec::SmallVec;

use super::element::Element;
use super::names::NameId;
use super::{
    Argument, Graph, Kept, Key, Kind, KindId, Operand, Operation, OperationId, OriginId, Output, Shape, ShapeId,
    SignatureId, Tensor, TensorId, Value, shapes,
};
use crate::graph::Primitive;
use crate::progress;
use crate::room;
use crate::source::Location;
use crate::source::names::Name;

/// The shape and the element type that the arguments of an operation have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Common {
    /// The widest element type of the arguments that are tensors.
    pub(crate) elements: Option<Primitive>,
    /// The widest type of the arguments that are numbers, which counts if no argument is a tensor.
    literals: Option<Primitive>,
    /// Whether the items of any argument are known.
    pub(crate) known: bool,
    shape: Option<ShapeId>,
    /// Whether the shape of any argument differs or is unknown.
    differs: bool,
}

impl Common {
    /// Adds the shape of an argument.
    #[inline]
    pub(crate) fn add(&mut self, shape: Option<ShapeId>) {
        self.differs |= shape.is_none() || self.shape.is_some() && self.shape != shape;
        self.shape = shape;
    }

    /// The element type of an elementwise operation whose element type follows the operands.
    pub(crate) fn elements(self) -> Option<Primitive> {
        self.elements.or(self.literals)
    }

    /// The common shape, if there is one.
    #[inline]
    pub(crate) fn shape(self) -> Option<ShapeId> {
        self.shape.filter(|_| !self.differs)
    }
}

/// A checkpoint of a graph: its numbers of operations, tensors and operands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphMark {
    operations: usize,
    tensors: usize,
    operands: u32,
}

impl Graph {
    /// A checkpoint, for [`Graph::rewind`].
    pub(crate) fn mark(&self) -> GraphMark {
        GraphMark {
            operations: self.operations.len(),
            tensors: self.tensors.len(),
            operands: self.packed.operands_len(),
        }
    }

    /// Removes the operations and tensors that were added after a checkpoint. Nothing else may refer to them.
    /// Stored values are not removed.
    pub(crate) fn rewind(&mut self, mark: GraphMark) {
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

    /// The kind of a standard operation, which is added if the graph does not have it.
    pub(crate) fn standard_kind(&mut self, kind: &Kind) -> KindId {
        match self.kinds.iter().position(|known| known.name == kind.name && known.standard) {
            Some(known) => KindId(known as u32),
            None => self.add_kind(kind.clone()),
        }
    }

    /// Adds an input that nothing uses, since NNEF requires one. `external` is the kind of operations that introduce
    /// inputs, and `name` the last segment of its name.
    pub(crate) fn add_unused_input(&mut self, external: KindId, name: Name, at: Location) {
        let id = self.names.child(NameId::ROOT, name, 0, false);
        let tensor = self.add_tensor(id, Some(Primitive::Scalar));
        let shape: Arc<[i64]> = [1].into();
        self.set_shape(tensor, Some(Shape::of(&shape)));
        let argument = Argument { key: Key::Param(0), value: Value::Integers(shape) };
        let dtype = (Some(Primitive::Scalar), false);
        self.add_operation(external, dtype, [argument], &[Output::Tensor(&tensor)], (at, OriginId::NONE));
        self.inputs.push(tensor);
    }

    /// Adds a copy of a tensor, with a name of its own. `copy` is the kind of the operation.
    pub(crate) fn add_copy(&mut self, copy: KindId, of: TensorId, at: Location) -> TensorId {
        let tensor = self.tensors[of.index()].clone();
        let name = self.names.sibling(tensor.name);
        let result = self.add_tensor(name, tensor.dtype);
        self.tensors[result.index()].element = tensor.element;
        self.set_shape(result, self.shape(of).cloned());
        let argument = Argument { key: Key::Param(0), value: Value::Tensor(of) };
        self.add_operation(copy, (tensor.dtype, false), [argument], &[Output::Tensor(&result)], (at, OriginId::NONE));
        result
    }

    /// Adds a tensor without a producer.
    pub(crate) fn add_tensor(&mut self, name: NameId, dtype: Option<Primitive>) -> TensorId {
        room::push(
            &mut self.tensors,
            Tensor { name, dtype, element: None, known: false, literal: false, shape: None, producer: None },
        );
        TensorId(self.tensors.len() as u32 - 1)
    }

    /// Notes the true element type of a tensor.
    #[cfg(any(feature = "onnx", feature = "pnnx"))]
    pub(crate) fn set_element(&mut self, tensor: TensorId, element: Option<Element>) {
        self.tensors[tensor.index()].element = element;
    }

    /// The element type of a tensor: the true one, such as `float16`, in notations that have it; else the type of NNEF.
    pub fn element_type(&self, tensor: TensorId) -> Option<&'static str> {
        let tensor = &self.tensors[tensor.index()];
        tensor.element.map(Element::text).or_else(|| tensor.dtype.map(Primitive::text))
    }

    /// Adds an operation and sets the producer of its results.
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

    /// Adds an operation of another graph, which has the same tensors and kinds.
    pub(crate) fn add_again(&mut self, from: &Graph, operation: &Operation) -> OperationId {
        let (kind, operands, results) = from.signatures.counts(operation.signature());
        let range = operation.operands..operation.operands + operands;
        self.packed.copy(&from.packed, range, from.packed.results(&operation.result, results), |tensor| tensor);
        let signature = self.signatures.intern(kind, from.keys(operation), results);
        self.finish_operation(signature, operation.type_argument(), (operation.at, operation.origin))
    }

    /// The signature of operations of a kind, given the parameters of their arguments and the number of results.
    pub(crate) fn signature(&mut self, kind: KindId, keys: &[Key], results: usize) -> SignatureId {
        self.signatures.intern(kind, keys, results as u32)
    }

    /// Adds a tensor to the arguments of the operation that is built next, and updates `common`.
    #[inline]
    pub(crate) fn push_tensor_operand(&mut self, tensor: TensorId, common: &mut Common) {
        self.join(Operand::Tensor(tensor), common);
        self.packed.push_tensor(tensor);
    }

    /// [`Graph::push_tensor_operand`] for any value.
    pub(crate) fn push_operand(&mut self, value: Value, common: &mut Common) -> Kept {
        self.join(Operand::from(&value), common);
        self.packed.push_value(value)
    }

    /// Adds an array of at least one tensor to the arguments of the operation that is built next.
    pub(crate) fn push_tensors(&mut self, tensors: impl Iterator<Item = TensorId>) {
        let kept = self.packed.keep_tensors(tensors);
        self.packed.push_again(kept);
    }

    /// Stores a value for use as an argument.
    pub(crate) fn keep(&mut self, value: Value) -> Kept {
        self.packed.keep(value)
    }

    /// Adds a stored value to the arguments of the operation that is built next.
    #[inline]
    pub(crate) fn push_kept(&mut self, kept: Kept) {
        self.packed.push_again(kept);
    }

    /// Adds a result to the operation that is built next.
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

    /// Adds an operation. Its arguments and results are those that were pushed last; the signature determines
    /// their numbers.
    pub(crate) fn finish_operation(
        &mut self,
        signature: SignatureId,
        dtype: (Option<Primitive>, bool),
        source: (Location, OriginId),
    ) -> OperationId {
        progress::add(1);
        let id = OperationId::at(self.operations.len());
        let (_, operands, results) = self.signatures.counts(signature);
        let (operands, result) = self.packed.take_last(operands, results);
        let tensors = &mut self.tensors;
        let results = self.packed.results(&result, results);
        self.packed.each_result(results, &mut |tensor| tensors[tensor.index()].producer = Some(id));
        room::push(&mut self.operations, Operation::new(signature, dtype, operands, result, source.0, source.1));
        id
    }

    /// Adds an operation and the tensor that is its only result. Its arguments are the `operands` arguments
    /// that were pushed last, which must be the number of the signature.
    #[inline(always)]
    pub(crate) fn add_single(
        &mut self,
        (signature, dtype): (SignatureId, (Option<Primitive>, bool)),
        operands: u32,
        source: (Location, OriginId),
        result: (NameId, Option<Primitive>),
        shape: Option<ShapeId>,
    ) -> (OperationId, TensorId) {
        progress::add(1);
        let id = OperationId::at(self.operations.len());
        let tensor = TensorId(self.tensors.len() as u32);
        room::push(
            &mut self.tensors,
            Tensor {
                name: result.0,
                dtype: result.1,
                element: None,
                known: false,
                literal: false,
                shape,
                producer: Some(id),
            },
        );
        let operands = self.packed.operands_len() - operands;
        room::push(&mut self.operations, Operation::new(signature, dtype, operands, tensor, source.0, source.1));
        (id, tensor)
    }

    /// Sets the shapes of the results of an operation.
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

    /// Sets the shape of a tensor.
    pub(crate) fn set_shape(&mut self, tensor: TensorId, shape: Option<Shape>) {
        self.tensors[tensor.index()].shape = shape.map(|shape| self.shapes.intern(shape));
    }

    /// Adds a location where the source calls a fragment, and returns its index.
    pub(crate) fn add_call_place(&mut self, fragment: Name, at: Location) -> u32 {
        self.provenance.places.push((fragment, at));
        self.provenance.places.len() as u32 - 1
    }

    /// Adds a call at a location of [`Graph::add_call_place`], within the call `parent`.
    #[inline]
    pub(crate) fn add_origin(&mut self, parent: OriginId, place: u32) -> OriginId {
        room::push(&mut self.provenance.calls, (parent, place));
        OriginId(self.provenance.calls.len() as u32 - 1)
    }
}
