//! The stored form of an operation, and of the calls that produced it.

use super::ids::{OriginId, TensorId};
use super::packed::SignatureId;
use super::primitive::Primitive;
use crate::source::Location;
use crate::source::names::Name;

/// An operation of a graph. Its [`super::Graph`] has methods for its kind, arguments and results.
#[derive(Clone, Debug)]
pub struct Operation {
    form: Form,
    /// The index of its first argument in the graph's table of arguments.
    pub(super) operands: u32,
    /// Its result. If it does not have exactly one, the index of the first in the graph's table of results.
    pub(super) result: TensorId,
    /// The location of the call that produced it.
    pub(crate) at: Location,
    /// The enclosing calls.
    pub(crate) origin: OriginId,
}

const _: () = assert!(size_of::<Operation>() == 28);

/// The bytes of an operation of a graph with its result and its call, without names and values.
pub(crate) const BYTES_OF_OPERATION: u64 = 80;

impl Operation {
    /// An operation, given its signature, its type argument (and whether that was specified), the indices of
    /// its arguments and results, and its location with the enclosing calls.
    pub(super) fn new(
        signature: SignatureId,
        dtype: (Option<Primitive>, bool),
        operands: u32,
        result: TensorId,
        at: Location,
        origin: OriginId,
    ) -> Self {
        Operation { form: Form::new(signature, dtype), operands, result, at, origin }
    }

    /// Its signature: the kind, the parameters of the arguments, and the number of results.
    #[inline]
    pub(crate) fn signature(&self) -> SignatureId {
        self.form.signature()
    }

    /// The location of the call in the source that produced it.
    pub fn location(&self) -> Location {
        self.at
    }

    /// The type argument of a generic operation, if known.
    #[inline]
    pub fn dtype(&self) -> Option<Primitive> {
        self.type_argument().0
    }

    /// Whether the source specifies the type argument.
    #[inline]
    pub(crate) fn has_explicit_dtype(&self) -> bool {
        self.type_argument().1
    }

    /// The type argument, and whether the source specifies it.
    #[inline]
    pub(crate) fn type_argument(&self) -> (Option<Primitive>, bool) {
        self.form.type_argument()
    }
}

/// A signature and a type argument in one word: the three lowest bits are the type, the next one is set if the
/// source specifies the type, and the other 28 are the signature.
#[derive(Clone, Copy, Debug)]
struct Form(u32);

/// The number of bits of a [`Form`] that are not the signature.
const TYPE_BITS: u32 = 4;
/// Set if the source specifies the type argument.
const EXPLICIT: u32 = 8;

impl Form {
    #[inline]
    fn new(signature: SignatureId, (dtype, explicit): (Option<Primitive>, bool)) -> Self {
        let explicit = if explicit { EXPLICIT } else { 0 };
        Form((signature.index() as u32) << TYPE_BITS | explicit | Primitive::number_of(dtype))
    }

    #[inline]
    fn signature(self) -> SignatureId {
        SignatureId(self.0 >> TYPE_BITS)
    }

    #[inline]
    fn type_argument(self) -> (Option<Primitive>, bool) {
        (Primitive::of_number(self.0 & (EXPLICIT - 1)), self.0 & EXPLICIT != 0)
    }
}

/// One of the nested calls of fragments that produced an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The enclosing call.
    pub(crate) parent: OriginId,
    /// The fragment that was called.
    pub(crate) fragment: Name,
    /// The place of the call.
    pub(crate) at: Location,
}
