//! What an operation of a layer is: its names, operands, attributes, type rule, computation and lowering.

use super::attributes::{Attribute, Attributes};
use super::compute::Operands;
use super::types::Elements;
use crate::dictionary::Row;
use crate::loops::network::StaticType;
use crate::tensor::Data;

/// A result, or the error message.
pub(super) type OpResult<T> = Result<T, String>;

/// The properties of an operation.
pub(crate) struct Spec {
    /// Its names; messages use the first.
    pub(crate) names: &'static [&'static str],
    /// The minimum and maximum number of operands.
    pub(crate) arity: (usize, usize),
    /// The attributes that it takes.
    pub(crate) attributes: Takes,
    /// The element types that its first operand may have.
    pub(super) elements: Elements,
    /// The type of its result.
    pub(super) infer: Infer,
    /// The elements of its result.
    pub(super) compute: Compute,
    /// Its lowering.
    pub(crate) lowering: Lowering,
}

/// The types of the operands and the attributes of an operation.
pub(crate) struct TypedCall<'a> {
    /// Their types.
    pub(crate) inputs: &'a [StaticType],
    /// The attributes.
    pub(crate) attributes: &'a Attributes,
}

pub(super) type Infer = fn(&TypedCall) -> OpResult<StaticType>;

/// How the elements of a result are computed.
pub(super) enum Compute {
    /// By the kernel of a meaning for each element.
    Kernel(&'static Row),
    /// By a function.
    With(fn(&Operands) -> OpResult<Data>),
}

/// How an operation is lowered to a flat graph.
#[derive(Clone, Copy)]
pub(crate) enum Lowering {
    /// The result is the operand.
    Alias,
    /// As NNEF computes an element-wise meaning.
    ByItem(&'static Row),
    /// The NNEF reduction of this name.
    Reduce(&'static str),
    /// A function of [`lower`](crate::loops::lower); fails if NNEF 1.0 cannot express the operation.
    Own,
}

pub(super) type Takes = &'static [Attribute];
