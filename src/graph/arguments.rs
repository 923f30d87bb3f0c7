//! The arguments of operations, and the defaults of parameters.

use smallvec::SmallVec;

use super::{Graph, Key, Operand, Operation, Primitive, Shape, SignatureId, TensorId, Value};
use crate::source::names::Name;

/// The most operands that a message lists.
const MOST_SHOWN: usize = 4;

/// The most characters of a name in a list of operands.
const LONGEST_NAME: usize = 40;

impl Graph {
    /// The specified arguments of an operation, with their parameters.
    pub(crate) fn arguments(&self, operation: &Operation) -> impl ExactSizeIterator<Item = (Key, Operand<'_>)> + Clone {
        let keys = self.signatures.keys(operation.signature());
        let operands = operation.operands..operation.operands + keys.len() as u32;
        keys.iter().copied().zip(self.packed.operands(operands))
    }

    /// The specified arguments of an operation.
    pub(crate) fn operands_of(&self, operation: &Operation) -> impl ExactSizeIterator<Item = Operand<'_>> {
        let (_, count, _) = self.signatures.counts(operation.signature());
        self.packed.operands(operation.operands..operation.operands + count)
    }

    /// The operands with known shapes, for messages: "`x` has shape [2, 3], `w` has shape [4]".
    pub(crate) fn operand_shapes(&self, operation: &Operation) -> Option<String> {
        let mut tensors: SmallVec<[TensorId; 4]> = SmallVec::new();
        let mut more = false;
        self.each_operand_tensor(operation, |tensor| match tensors.contains(&tensor) {
            _ if tensors.len() == MOST_SHOWN => more = true,
            true => {}
            false if self.shape(tensor).is_some() => tensors.push(tensor),
            false => {}
        });
        let shapes: SmallVec<[String; 4]> = tensors.iter().map(|&tensor| self.with_shape(tensor)).collect();
        (!shapes.is_empty()).then(|| shapes.join(", ") + if more { ", …" } else { "" })
    }

    fn with_shape(&self, tensor: TensorId) -> String {
        let extents = self.shape(tensor).map_or(&[][..], Shape::extents);
        match self.tensor_name(tensor) {
            name if name.chars().count() <= LONGEST_NAME => format!("`{name}` has shape {extents:?}"),
            _ => format!("an operand has shape {extents:?}"),
        }
    }

    /// The `i`th specified argument of an operation.
    #[inline]
    pub(crate) fn operand(&self, operation: &Operation, i: usize) -> Operand<'_> {
        self.packed.operand(operation.operands + i as u32)
    }

    /// The last `count` arguments that were added, for the operation that is built next.
    pub(crate) fn last_operands(&self, count: u32) -> impl ExactSizeIterator<Item = Operand<'_>> {
        let end = self.packed.operands_len();
        self.packed.operands(end - count..end)
    }

    /// The element type of a tensor or a number, or of the first item of an array or a tuple.
    pub(crate) fn elements(&self, operand: Operand) -> Option<Primitive> {
        match operand {
            Operand::Tensor(tensor) | Operand::Value(&Value::Tensor(tensor)) => self.dtype(tensor),
            Operand::Tensors(tensors) => self.dtype(*tensors.first()?),
            Operand::Value(value) => match value {
                Value::Int(_) | Value::Integers(_) | Value::Symbol(_) => Some(Primitive::Integer),
                Value::Scalar(_) | Value::Scalars(_) => Some(Primitive::Scalar),
                Value::Logical(_) => Some(Primitive::Logical),
                Value::String(_) => Some(Primitive::String),
                Value::Array(items) | Value::Tuple(items) => self.elements(Operand::from(items.first()?)),
                Value::Tensor(_) => None,
            },
        }
    }

    /// The parameters of the specified arguments of an operation.
    #[inline]
    pub(crate) fn keys(&self, operation: &Operation) -> &[Key] {
        self.keys_of(operation.signature())
    }

    /// The parameters of the arguments of a signature.
    #[inline]
    pub(crate) fn keys_of(&self, signature: SignatureId) -> &[Key] {
        self.signatures.keys(signature)
    }

    /// The argument for the parameter of this name, or the default of the parameter.
    pub fn argument<'a>(&'a self, operation: &Operation, name: &str) -> Option<Operand<'a>> {
        self.argument_named(operation, self.symbols.get(name)?)
    }

    /// [`Graph::argument`] for an interned name.
    pub(crate) fn argument_named<'a>(&'a self, operation: &Operation, name: Name) -> Option<Operand<'a>> {
        match self.kind(operation).params.iter().position(|param| param.name == name) {
            Some(index) => self.argument_of(operation, index as u32),
            None => {
                let place = self.keys(operation).iter().position(|key| *key == Key::Named(name))?;
                Some(self.operand(operation, place))
            }
        }
    }

    /// The argument for a parameter, or its default.
    pub(crate) fn argument_of<'a>(&'a self, operation: &Operation, index: u32) -> Option<Operand<'a>> {
        let (keys, key) = (self.keys(operation), Key::Param(index));
        let place = match keys.get(index as usize) {
            // In most operations the arguments are for the first parameters, in order.
            Some(first) if *first == key => Some(index as usize),
            _ => keys.iter().position(|given| *given == key),
        };
        match place {
            Some(place) => Some(self.operand(operation, place)),
            None => self.kind(operation).params.get(index as usize)?.default.as_ref().map(Operand::from),
        }
    }

    /// [`Graph::argument`] for a value that is neither a tensor nor an array of tensors.
    pub fn attribute<'a>(&'a self, operation: &Operation, name: &str) -> Option<&'a Value> {
        self.argument(operation, name)?.value()
    }
}
