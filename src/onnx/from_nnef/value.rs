//! Values of a model: their element types and extents, and the attributes of nodes.

use std::rc::Rc;

use crate::graph::names::NameId;
use crate::graph::{Primitive, constant};
use crate::onnx::model::AttributeValue;
pub(super) use crate::onnx::model::{ints_value as ints, text_value as text};
use crate::tensor::Data;

/// The element types of NNEF.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NnefElement {
    /// Scalars, as 32-bit floats.
    Float,
    /// Integers, with 64 bits.
    Int,
    /// Logicals.
    Bool,
}

impl NnefElement {
    /// The number in `TensorProto.DataType`.
    pub(crate) fn number(self) -> i32 {
        match self {
            NnefElement::Float => 1,
            NnefElement::Int => 7,
            NnefElement::Bool => 9,
        }
    }

    /// The element type of a primitive type of NNEF.
    pub(crate) fn of(primitive: Primitive) -> Option<NnefElement> {
        match primitive {
            Primitive::Scalar => Some(NnefElement::Float),
            Primitive::Integer => Some(NnefElement::Int),
            Primitive::Logical => Some(NnefElement::Bool),
            Primitive::String | Primitive::Generic => None,
        }
    }

    /// The bytes of elements in raw data.
    pub(super) fn bytes_of(self, data: &Data) -> Vec<u8> {
        constant::stored(
            data,
            match self {
                NnefElement::Float => Primitive::Scalar,
                NnefElement::Int => Primitive::Integer,
                NnefElement::Bool => Primitive::Logical,
            },
        )
    }

    /// The bytes of numbers in raw data.
    pub(super) fn bytes(self, items: &[f64]) -> Vec<u8> {
        self.bytes_of(&Data::Float64(items.to_vec()))
    }
}

/// The types of items of constant tensors, as numbers of `TensorProto.DataType`.
pub(super) type ItemType = i32;

/// Extents; none if one is not known. Tensors of equal shapes share them.
pub(super) type KnownExtents = Rc<[Option<i64>]>;

/// As many extents that are not known.
pub(super) fn open(rank: usize) -> KnownExtents {
    std::iter::repeat_n(None, rank).collect()
}

/// A value of the model.
#[derive(Clone, Debug)]
pub(super) struct ModelValue {
    pub(super) id: NameId,
    pub(super) element: NnefElement,
    /// The extents, if the rank is known.
    pub(super) dims: Option<KnownExtents>,
}

impl ModelValue {
    /// An omitted operand.
    pub(super) const ABSENT: ModelValue = ModelValue { id: NameId::ROOT, element: NnefElement::Float, dims: None };

    /// The rank, if it is known.
    pub(super) fn rank(&self) -> Option<usize> {
        self.dims.as_ref().map(|dims| dims.len())
    }

    /// The value with extents that it may share.
    pub(super) fn shaped(self, dims: KnownExtents) -> ModelValue {
        ModelValue { dims: Some(dims), ..self }
    }

    /// The value with these extents.
    pub(super) fn with(self, dims: impl IntoIterator<Item = Option<i64>>) -> ModelValue {
        ModelValue { dims: Some(dims.into_iter().collect()), ..self }
    }

    /// The extents, if all are known.
    pub(super) fn known(&self) -> Option<Vec<i64>> {
        self.dims.as_ref()?.iter().copied().collect()
    }
}

/// Attributes of a node: names and values.
pub(super) type Attributes<'a> = Vec<(&'a str, AttributeValue)>;
