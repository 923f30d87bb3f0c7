//! An operation as rules see it: its operands and attributes, and what is known of them.

use crate::graph::constant::{bits, given};
use crate::graph::standard::CONSTANT;
use crate::graph::{Graph, Operand, Operation, TensorId, Value};

/// An operation that may be simplified.
pub(super) struct GraphStep<'s> {
    pub(super) graph: &'s Graph,
    pub(super) operation: &'s Operation,
    /// The tensor that stands for each tensor.
    pub(super) alias: &'s [TensorId],
}

impl<'s> GraphStep<'s> {
    /// The name of an operation of the standard; empty for others.
    pub(super) fn name(&self, operation: &'s Operation) -> &'s str {
        if self.graph.kind(operation).standard { self.graph.operation_name(operation) } else { "" }
    }

    fn argument_of(&self, operation: &'s Operation, name: &str) -> Option<Operand<'s>> {
        self.graph.argument(operation, name)
    }

    /// The tensor that is the argument of a name.
    pub(super) fn tensor(&self, name: &str) -> Option<TensorId> {
        self.tensor_of(self.operation, name)
    }

    /// [`Self::tensor`] of another operation.
    pub(super) fn tensor_of(&self, operation: &'s Operation, name: &str) -> Option<TensorId> {
        match self.argument_of(operation, name)? {
            Operand::Tensor(tensor) => Some(self.alias[tensor.index()]),
            _ => None,
        }
    }

    /// The tensors of the argument of a name.
    pub(super) fn tensors(&self, name: &str) -> Option<Vec<TensorId>> {
        match self.argument_of(self.operation, name)? {
            Operand::Tensors(tensors) => Some(tensors.iter().map(|tensor| self.alias[tensor.index()]).collect()),
            _ => None,
        }
    }

    /// The value of an attribute.
    pub(super) fn value(&self, name: &str) -> Option<&'s Value> {
        self.argument_of(self.operation, name)?.value()
    }

    /// The integers of an attribute.
    pub(super) fn integers(&self, name: &str) -> Option<&'s [i64]> {
        match self.value(name)? {
            Value::Integers(items) => Some(items),
            _ => None,
        }
    }

    /// The number that all items of an operand are: a literal, or a constant of the graph.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        match self.argument_of(self.operation, name)? {
            Operand::Value(Value::Scalar(number)) => Some(*number),
            Operand::Value(Value::Int(number)) => Some(*number as f64),
            Operand::Tensor(tensor) => self.uniform(self.alias[tensor.index()]),
            _ => None,
        }
    }

    /// The number that all items of a constant are.
    fn uniform(&self, tensor: TensorId) -> Option<f64> {
        let items = given(self.graph.attribute(self.maker(tensor, CONSTANT)?, "value")?)?;
        let alike = items.dtype().is_float() && (1..items.len()).all(|at| bits(&items, at) == bits(&items, 0));
        (alike && !items.is_empty()).then(|| items.float(0))
    }

    /// The truth value that all items of an operand are.
    pub(super) fn truth(&self, name: &str) -> Option<bool> {
        match self.argument_of(self.operation, name)? {
            Operand::Value(Value::Logical(truth)) => Some(*truth),
            _ => None,
        }
    }

    /// The only result, if there is one.
    pub(super) fn result(&self) -> Option<TensorId> {
        let mut tensors = self.graph.tensors_of(self.operation);
        tensors.next().filter(|_| tensors.next().is_none())
    }

    /// Whether two tensors have the same shape for all inputs.
    pub(super) fn same_shape(&self, a: TensorId, b: TensorId) -> bool {
        let (Some(a), Some(b)) = (self.graph.shape(a), self.graph.shape(b)) else { return false };
        a == b && !a.extents().iter().any(|extent| extent.is_unknown())
    }

    /// A tensor, if the result has its shape.
    pub(super) fn of_same_shape(&self, tensor: TensorId) -> Option<TensorId> {
        self.same_shape(tensor, self.result()?).then_some(tensor)
    }

    /// The operation of the standard with a name that makes a tensor.
    pub(super) fn maker(&self, tensor: TensorId, name: &str) -> Option<&'s Operation> {
        self.graph.maker(tensor).filter(|operation| self.name(operation) == name)
    }
}
