//! What a graph keeps of an operation.

use super::packed::SignatureId;
use super::{OriginId, TensorId};
use crate::graph::Primitive;
use crate::source::Location;

/// An operation. Its kind, its arguments and its results are asked of its [`super::Graph`].
#[derive(Clone, Debug)]
pub struct Operation {
    form: Form,
    /// Its first argument in the table of the graph.
    pub(super) operands: u32,
    /// Its result, or where its results begin in the table of the graph if it has not just one.
    pub(super) result: TensorId,
    /// The call in the source from which it comes.
    pub(crate) at: Location,
    /// The calls around that one.
    pub(crate) origin: OriginId,
}

const _: () = assert!(size_of::<Operation>() == 28);

impl Operation {
    /// An operation of a signature and a type argument, from a place in the source and the calls
    /// around it. It has no arguments and results yet.
    pub(super) fn new(
        signature: SignatureId,
        dtype: (Option<Primitive>, bool),
        (operands, result): (u32, TensorId),
        (at, origin): (Location, OriginId),
    ) -> Self {
        Operation { form: Form::new(signature, dtype), operands, result, at, origin }
    }

    /// What it has in common with operations of its form.
    #[inline]
    pub(crate) fn signature(&self) -> SignatureId {
        self.form.signature()
    }

    /// Gives it another signature.
    pub(super) fn set_signature(&mut self, signature: SignatureId) {
        self.form = Form::new(signature, self.type_argument());
    }

    /// The call in the source from which it comes.
    pub fn location(&self) -> Location {
        self.at
    }

    /// The type argument of a generic operation, where known.
    #[inline]
    pub fn dtype(&self) -> Option<Primitive> {
        self.type_argument().0
    }

    /// Whether the type argument was written.
    #[inline]
    pub(crate) fn has_explicit_dtype(&self) -> bool {
        self.type_argument().1
    }

    /// The type argument, and whether it was written.
    #[inline]
    pub(crate) fn type_argument(&self) -> (Option<Primitive>, bool) {
        self.form.type_argument()
    }

    /// Gives it another type argument, which is written or not.
    pub(crate) fn set_type_argument(&mut self, dtype: (Option<Primitive>, bool)) {
        self.form = Form::new(self.signature(), dtype);
    }
}

/// A signature and a type argument in one word: the type in the last three bits, before them
/// whether it was written. A graph with too many signatures for the others would take terabytes.
#[derive(Clone, Copy, Debug)]
struct Form(u32);

/// The bits of a [`Form`] that are not the signature.
const TYPE_BITS: u32 = 4;
/// Set where the type argument was written.
const EXPLICIT: u32 = 8;
/// The types; one more than the place of each is its number, and 0 is none.
pub(super) const TYPES: [Primitive; 5] =
    [Primitive::Integer, Primitive::Scalar, Primitive::Logical, Primitive::String, Primitive::Generic];

impl Form {
    #[inline]
    fn new(signature: SignatureId, (dtype, explicit): (Option<Primitive>, bool)) -> Self {
        let number = dtype.map_or(0, |dtype| dtype as u32 + 1);
        let explicit = if explicit { EXPLICIT } else { 0 };
        Form((signature.index() as u32) << TYPE_BITS | explicit | number)
    }

    #[inline]
    fn signature(self) -> SignatureId {
        SignatureId::at(self.0 >> TYPE_BITS)
    }

    #[inline]
    fn type_argument(self) -> (Option<Primitive>, bool) {
        let number = (self.0 & (EXPLICIT - 1)) as usize;
        (number.checked_sub(1).and_then(|at| TYPES.get(at).copied()), self.0 & EXPLICIT != 0)
    }
}
